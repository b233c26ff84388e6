// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTDIALECT_TD
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTDIALECT_TD
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Simt_Dialect : Dialect {
  let name = "simt";
  let cppNamespace = "::mlir::simt";
  let summary = "tiles spread over the threads of a block, and the block's shared memory";
  let description = [{
    Tile programs on a machine whose blocks are warps of 32 lanes: an attribute says which thread
    holds which elements of a tile, and ops name what passes through shared memory. The dialect
    knows tiles and loops, not what they compute.

    Until `taylor-simt-schedule-copies` has run, ops take effect in the order of the text, copies
    included, as if one thread ran them; that pass makes copies asynchronous and puts the waits and
    barriers in.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect"];
  let extraClassDeclaration = "void registerAttributes();";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Simt_ArgumentAttr : AttrDef<Simt_Dialect, "Argument"> {
  let mnemonic = "argument";
  let summary = "an array that a kernel reads or writes: `#simt.argument<\"input:q\", aligned16 = unit>`";
  let description = [{
    `aligned16`: the address, and every stride but those of axes of size 1 and of a contiguous last
    axis, must be multiples of 16 bytes (README.md, "The contract").
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"::mlir::UnitAttr">:$workspace,
                        OptionalParameter<"::mlir::UnitAttr">:$aligned16);
  let assemblyFormat = "`<` $name (`,` struct($workspace, $aligned16)^)? `>`";
}

def Simt_TensorMapAttr : AttrDef<Simt_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a tensor map that a kernel takes: `#simt.tensor_map<argument = 1, swizzle = 128, box = 1, 1, 128, 64>`";
  let description = [{
    Of the kernel's argument of that number: elements of a box along each of the array's axes, and
    bytes of a line of shared memory (CUDA Driver API, "Tensor Map Object Management").
  }];
  let parameters = (ins "int64_t":$argument, "int64_t":$swizzle, ArrayRefParameter<"int64_t">:$box);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Simt_LaunchAttr : AttrDef<Simt_Dialect, "Launch"> {
  let mnemonic = "launch";
  let summary = "what a block of a kernel is on a GPU, the property `launch` of its `tile.kernel`";
  let description = [{
    `warps` of 32 threads, to which the layouts of the kernel's tiles belong
    (taylor-simt-assign-layouts), and the bytes of shared memory that its buffers take
    (taylor-simt-allocate-shared), 0 where it is not said. A kernel without has one warp.

    ```mlir
    tile.kernel @attend grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4, shared = 16384> { .. }
    ```
  }];
  let parameters = (ins "int64_t":$warps, DefaultValuedParameter<"int64_t", "0">:$shared);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Simt_EntryAttr : AttrDef<Simt_Dialect, "Entry"> {
  let mnemonic = "entry";
  let summary = "how a kernel is launched";
  let description = [{
    Threads of a block, bytes of dynamic shared memory, extents of the grid, arguments after the
    sizes, tensor maps after these. Of a `persistent` kernel no more blocks are launched than run at
    a time, since a block takes one place of the grid after the other. An `early` one waits for the
    kernels before it, and so may begin while they run.

    ```mlir
    #simt.entry<"forward_attend", threads = 128, shared = 49152,
        grid = [#tile.extent<b>, #tile.extent<h>, #tile.extent<ceildiv(t, 64)>],
        arguments = [#simt.argument<"input:q", aligned16 = unit>]>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$threads, "int64_t":$shared,
                        OptionalParameter<"::mlir::ArrayAttr">:$grid, OptionalParameter<"::mlir::ArrayAttr">:$arguments,
                        OptionalParameter<"::mlir::ArrayAttr">:$maps, OptionalParameter<"::mlir::UnitAttr">:$persistent,
                        OptionalParameter<"::mlir::UnitAttr">:$early);
  let assemblyFormat = "`<` $name `,` struct($threads, $shared, $grid, $arguments, $maps, $persistent, $early) `>`";
}

def Simt_LayoutAttr : AttrDef<Simt_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which thread holds which elements of a tile, in which of its registers";
  let description = [{
    An element's place along each axis is a sum of digits. Five bits of the lane number, the bits of
    the warp number and the digits of the register number each add `stride` times their value to one
    axis; a bit without an axis (`_`) means that both threads hold the same elements. Registers are
    numbered with the first digit fastest. Digits of one axis cover it exactly: sorted by stride,
    each stride is the product of the counts before.

    The accumulator of `mma.m16n8`, 32 rows t per warp, 64 columns u (PTX ISA, "Matrix Fragments for
    mma.m16n8k16"):

    ```mlir
    #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:32, t:64], register = [u:1*2, t:8*2, u:8*8, t:16*2]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::simt::Digit">:$lanes, ArrayRefParameter<"::mlir::simt::Digit">:$warps,
                        ArrayRefParameter<"::mlir::simt::Digit">:$registers);
  let extraClassDeclaration = [{
    int64_t getNumThreads() const { return int64_t(32) << getWarps().size(); }
    int64_t getNumRegisters() const;
    /// Elements that register `index` adds to the thread's place along `axis`.
    int64_t getOffset(int64_t index, ::llvm::StringRef axis) const;
    /// The register whose offsets are those of `index` in `from` along all axes except `moved`: there `offset`. -1 if none.
    int64_t findRegister(LayoutAttr from, int64_t index, ::llvm::StringRef moved = "", int64_t offset = 0) const;
    /// The register with these offsets. -1 if none.
    int64_t findRegister(::llvm::function_ref<int64_t(::llvm::StringRef axis)> offsetOf) const;
    /// Whether a warp bit, or a lane bit, steps along the axis.
    bool isAcrossWarps(::llvm::StringRef axis) const;
    bool isAcrossLanes(::llvm::StringRef axis) const;
    /// The layout of a tile with these axes only, each thread holding what it needs next to a tile of this layout.
    LayoutAttr project(::llvm::ArrayRef<::mlir::tile::Axis> axes) const;
    /// Empty, or why the digits do not cover the axes of `tile` exactly.
    std::string check(::mlir::tile::TileType tile) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Simt_BufferType : TypeDef<Simt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "tiles in shared memory, the last axis contiguous";
  let description = [{
    `!simt.buffer<2 x [u = 64, d = 128], bf16, swizzle = 128>`: two slots of 64 rows. A swizzled
    buffer is cut along its last axis into panels of `swizzle` bytes (128, 64 or 32), one after the
    other, each with its rows at that distance. A panel consists of lines of 128 bytes, which are
    all banks once, or 8 chunks of 16 bytes. Row r is in line r * swizzle / 128; its chunk c stands
    there at c xor start(r), where start(r) is the place of its chunk 0:

    ```
    r mod 8              0 1 2 3 4 5 6 7
    elements of 16 bits  0 1 2 3 4 5 6 7   swizzle = 128; 0 4 1 5 2 6 3 7   swizzle = 64; 0 2 4 6 1 3 5 7   swizzle = 32
    wider ones           0 4 2 6 5 1 7 3
    ```

    The first line has the swizzle modes of the tensor memory accelerator (PTX ISA, "Swizzling
    Modes"): eight rows at one chunk, as ldmatrix reads them, have different places. Fragments of
    wider elements are read in other ways, all of which touch each bank once: 32 bytes of rows 4 k
    to 4 k + 3 and of rows 0, 2, 4, 6 or 1, 3, 5, 7 (f32: pairs along rows, columns one by one), 64
    bytes of rows 2 k and 2 k + 1 (f64), and one chunk of eight rows.

    Without `swizzle` the elements lie in row-major order. Buffers of one axis have one row. With
    `panel = 64` the buffer is some rows of a swizzled one that has 64, and its panels are as far
    apart as there.
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"::mlir::tile::Axis">:$axes, "::mlir::Type":$elementType, "int64_t":$swizzle,
                        "int64_t":$panel);
  let builders = [TypeBuilder<(ins "int64_t":$slots, "::llvm::ArrayRef<::mlir::tile::Axis>":$axes, "::mlir::Type":$elementType, "int64_t":$swizzle),
                              [{ return $_get($_ctxt, slots, axes, elementType, swizzle, /*panel=*/0); }]>];
  let extraClassDeclaration = [{
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    int64_t getSize(::llvm::StringRef axis) const;
    /// Name and size of the contiguous axis, and the number of rows: the product of the others.
    ::mlir::tile::Axis getRow() const { return getAxes().back(); }
    int64_t getNumRows() const;
    /// Rows from one panel to the next.
    int64_t getPanelRows() const { return getPanel() ? getPanel() : getNumRows(); }
    /// Bytes of one slot.
    int64_t getSlotBytes() const;
    /// What `swizzle` adds to the chunk's number in its line, by xor: of each of the bits 0 to 2 of the row's number.
    ::std::array<int64_t, 3> getRowFlips() const;
    /// The same of a row.
    int64_t getRowFlip(int64_t row) const;
    /// Byte offset of an element within its slot.
    int64_t getByteOffset(int64_t row, int64_t column) const;
    /// That many neighbours along the first axis.
    BufferType getPart(int64_t rows) const;
    /// One slot of it.
    BufferType getSlot() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Simt_PendingType : TypeDef<Simt_Dialect, "Pending"> {
  let mnemonic = "pending";
  let summary = "a tile that matrix units are still computing";
  let description = [{
    What `simt.start` gives. `simt.await` makes a tile of it; another `simt.start` may add to it.
    Nothing else takes it, so that no program can read a product before its wait. It lives in the
    block that started it: loops and branches neither carry nor yield it.

    ```mlir
    !simt.pending<!tile.tile<[t = 64, u = 128], f32, #fragment_t_u>>
    ```
  }];
  let parameters = (ins "::mlir::tile::TileType":$tile);
  let assemblyFormat = "`<` qualified($tile) `>`";
}

def Simt_RingType : TypeDef<Simt_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "slots that one role of a block fills and another one reads, in turn";
  let description = [{
    Each slot has two signals: *full*, which waits for what is copied into it, and *empty*, which
    waits for all readers. A number counts the uses of a ring from 0: use n is of slot n mod slots,
    and may be filled when use n - slots has been released.

    ```mlir
    !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    ```
  }];
  let parameters = (ins "::mlir::simt::BufferType":$buffer);
  let assemblyFormat = "`<` qualified($buffer) `>`";
  let extraClassDeclaration = [{
    /// Bytes of the two signals of a slot.
    static constexpr int64_t kSignalBytes = 16;
    int64_t getBytes() const { return getBuffer().getSlots() * getBuffer().getSlotBytes(); }
  }];
}
#endif
