// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of the ops' assembly format, called by generated code: custom<Names>, custom<Window>, ...
#ifndef TAYLOR_DIALECT_TILE_TILESYNTAX_H
#define TAYLOR_DIALECT_TILE_TILESYNTAX_H
#include "dialect/Tile/TileDialect.h"

namespace mlir::tile {
/// `d`
ParseResult parseName(OpAsmParser &parser, StringAttr &name);
void printName(OpAsmPrinter &printer, Operation *, StringAttr name);
/// `(t, u)`
ParseResult parseNames(OpAsmParser &parser, ArrayAttr &names);
void printNames(OpAsmPrinter &printer, Operation *, ArrayAttr names);
/// `[b = %b, u as t = %t0]`
ParseResult parseWindow(OpAsmParser &parser, ArrayAttr &arrayAxes, ArrayAttr &tileAxes,
                        SmallVectorImpl<OpAsmParser::UnresolvedOperand> &offsets);
void printWindow(OpAsmPrinter &printer, Operation *, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                 OperandRange offsets);
/// `-> type`: the result, and the accumulator where there is one
ParseResult parseIntoType(OpAsmParser &parser, const std::optional<OpAsmParser::UnresolvedOperand> &c,
                          Type &cType, Type &resultType);
void printIntoType(OpAsmPrinter &printer, Operation *, Value c, Type cType, Type resultType);
} // namespace mlir::tile
#endif
