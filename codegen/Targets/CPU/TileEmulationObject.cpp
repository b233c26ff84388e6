// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TileEmulation.c as compiled code in this program, for artifacts that emulate the matrix unit.
#include "codegen/Targets/CPU/Processors.h"
#include "llvm/ADT/ArrayRef.h"

asm(".section .rodata.taylor_tile_emulation, \"a\", @progbits\n"
    ".hidden taylor_tile_emulation_begin, taylor_tile_emulation_end\n"
    ".globl taylor_tile_emulation_begin, taylor_tile_emulation_end\n"
    "taylor_tile_emulation_begin: .incbin \"" TAYLOR_TILE_EMULATION_OBJECT "\"\n"
    "taylor_tile_emulation_end:\n"
    ".previous\n");
extern "C" const char taylor_tile_emulation_begin[], taylor_tile_emulation_end[];

llvm::ArrayRef<char> mlir::tile::cpu::tileEmulationObject() {
  return {taylor_tile_emulation_begin, taylor_tile_emulation_end};
}
