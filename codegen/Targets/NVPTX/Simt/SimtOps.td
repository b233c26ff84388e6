// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTOPS_TD
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTOPS_TD
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "codegen/Targets/NVPTX/Simt/SimtDialect.td"
include "codegen/Targets/NVPTX/Simt/SimtEnums.td"
include "dialect/Tile/TileTypes.td"

class Simt_Op<string mnemonic, list<Trait> traits = []> : Op<Simt_Dialect, mnemonic, traits>;

def Simt_SharedMemory : Resource<"::mlir::simt::SharedMemory">;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def Simt_AllocOp : Simt_Op<"alloc", [MemoryEffects<[MemAlloc<Simt_SharedMemory>]>]> {
  let summary = "a buffer of the block's shared memory";
  let description = [{
    Stands at the top of a kernel. `at` is its place in bytes, given by
    `taylor-simt-allocate-shared`; buffers that are not needed at the same time may share bytes.
    `$name` is for readers. `ahead`, given by `taylor-simt-schedule-copies`, says that copies to the
    buffer run ahead of one loop, and that only this loop reads it: where it ends, no copy is under
    way.

    ```mlir
    %k = simt.alloc "k" ahead at 16384 : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$ahead, OptionalAttr<I64Attr>:$offset);
  let results = (outs Simt_BufferType:$result);
  let assemblyFormat = "$name (`ahead` $ahead^)? (`at` $offset^)? attr-dict `:` qualified(type($result))";
}

def Simt_SlotOp : Simt_Op<"slot", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "one slot of a buffer";
  let description = [{
    `$index` counts from 0 and is below the buffer's number of slots.

    ```mlir
    %k1 = simt.slot %k[%i] : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Simt_BufferType:$buffer, Index:$index);
  let results = (outs Simt_BufferType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` qualified(type($buffer))";
}

def Simt_PartOp : Simt_Op<"part", [Pure]> {
  let summary = "part of one slot of a buffer along its first axis";
  let description = [{
    The buffer has one or two axes. `from` is a multiple of 8, so that a part is swizzled as the
    whole is.

    ```mlir
    %k1 = simt.part %k from 32 : !simt.buffer<1 x [u = 64, d = 128], bf16, swizzle = 128> -> !simt.buffer<1 x [u = 16, d = 128], bf16, swizzle = 128, panel = 64>
    ```
  }];
  let arguments = (ins Simt_BufferType:$buffer, I64Attr:$from);
  let results = (outs Simt_BufferType:$result);
  let assemblyFormat = "$buffer `from` $from attr-dict `:` qualified(type($buffer)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Simt_CopyOp : Simt_Op<"copy", [MemoryEffects<[MemRead, MemWrite<Simt_SharedMemory>]>, AttrSizedOperandSegments]> {
  let summary = "window of an array into one slot of a buffer, by all threads; 0 beyond the array's bounds";
  let description = [{
    The window and `until` are those of `tile.load`; elements keep their type. After scheduling, the
    copy is asynchronous: it is complete when a `simt.wait` for its group and a barrier have passed.
    With `if` it happens only where the condition holds; otherwise the buffer keeps its elements.

    With `signals`, a producer (`simt.roles`) fills a slot that it has acquired, and the use of the
    ring is full when the copy is complete. `bulk`: one thread starts it as whole boxes (`getBox`).
    Where `until` cuts it within the array, zeros take the place of what they have brought.

    ```mlir
    simt.copy %array[b = %b, g = %g, u = %j], %k if %more : !tile.array<[b, g, u, d = 64], bf16>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_ArrayType:$array, StrArrayAttr:$arrayAxes, StrArrayAttr:$tileAxes, Variadic<Index>:$offsets,
                       Simt_BufferType:$buffer, Optional<I1>:$condition, Optional<Index>:$end, OptionalAttr<StrAttr>:$endAxis,
                       Optional<Simt_RingType>:$ring, Optional<Index>:$number, UnitAttr:$bulk);
  let assemblyFormat = [{
    $array custom<Window>($arrayAxes, $tileAxes, $offsets) (`until` `(` custom<Name>($endAxis) `=` $end^ `)`)? `,` $buffer (`if` $condition^)?
    (`signals` $ring^ `[` $number `]`)? (`bulk` $bulk^)? attr-dict
    `:` qualified(type($array)) `,` qualified(type($buffer)) (`,` qualified(type($ring))^)?
  }];
  let hasVerifier = 1;
}

def Simt_CommitOp : Simt_Op<"commit", [MemoryEffects<[MemWrite<Simt_SharedMemory>]>]> {
  let summary = "the thread's copies since the last commit are one group (PTX ISA, cp.async.commit_group)";
  let description = [{
    Waits count groups. A group may be empty.

    ```mlir
    simt.commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_WaitOp : Simt_Op<"wait", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "waits until at most the thread's latest `groups` groups are incomplete (PTX ISA, cp.async.wait_group)";
  let description = [{
    Copies of other threads are complete after a barrier that follows their waits.

    ```mlir
    simt.wait 1
    ```
  }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
}

def Simt_BarrierOp : Simt_Op<"barrier", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "all threads of the block arrive before any goes on (PTX ISA, bar.sync)";
  let description = [{
    Not under a condition that threads of a block see differently. `member`: of those threads that
    run one member of `simt.roles`; all barriers of a consumer are such.

    ```mlir
    simt.barrier
    ```
  }];
  let arguments = (ins UnitAttr:$member);
  let assemblyFormat = "(`member` $member^)? attr-dict";
  let hasVerifier = 1;
}

def Simt_FenceOp : Simt_Op<"fence", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "the compiler neither moves nor merges reads of shared memory across it";
  let description = [{
    No instruction: elements that are read before and after it are read twice, instead of being held
    in registers.

    ```mlir
    simt.fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_ReadOp : Simt_Op<"read", [MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "one slot of a buffer as a tile of the given layout";
  let description = [{
    The tile's axes are the buffer's; elements keep their type.

    ```mlir
    %x = simt.read %k : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !tile.tile<[d = 64, u = 64], bf16, #layout>
    ```
  }];
  let arguments = (ins Simt_BufferType:$buffer);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$buffer attr-dict `:` qualified(type($buffer)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Simt_WriteOp : Simt_Op<"write", [MemoryEffects<[MemWrite<Simt_SharedMemory>]>]> {
  let summary = "a tile into one slot of a buffer";
  let description = [{
    ```mlir
    simt.write %p, %buffer : !tile.tile<[t = 64, u = 64], bf16, #layout>, !simt.buffer<1 x [t = 64, u = 64], bf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile, Simt_BufferType:$buffer);
  let assemblyFormat = "$tile `,` $buffer attr-dict `:` qualified(type($tile)) `,` qualified(type($buffer))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def Simt_RelayoutOp : Simt_Op<"relayout", [Pure]> {
  let summary = "the same tile in another layout, each thread having what it needs already";
  let description = [{
    A renumbering of registers: no thread needs an element that it does not hold. Other changes of
    layout pass through a buffer.

    ```mlir
    %y = simt.relayout %x : !tile.tile<[t = 64], f32, #rows> -> !tile.tile<[t = 64], f32, #some>
    ```
  }];
  let arguments = (ins Tile_TileType:$input);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Simt_ReduceWarpOp : Simt_Op<"reduce_warp", [Pure]> {
  let summary = "sum, max or min over the named axes of what each warp holds";
  let description = [{
    As `tile.reduce`, but warps keep their own results along a new axis `warp`, one element for each
    warp that holds other elements. A reduction over an axis that several warps share is this, a
    buffer, and a `tile.reduce` over(warp).

    ```mlir
    %p = simt.reduce_warp sum %x over(t) : !tile.tile<[e = 64, t = 64], f32, #layout> -> !tile.tile<[e = 64, warp = 4], f32, #layout1>
    ```
  }];
  let arguments = (ins Tile_ReductionKind:$kind, Tile_TileType:$input, StrArrayAttr:$over);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$kind $input `over` `` custom<Names>($over) attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let builders = [
    // The result's type follows from the input's.
    OpBuilder<(ins "::mlir::tile::ReductionKind":$kind, "::mlir::Value":$input, "::llvm::ArrayRef<::taylor::AxisRef>":$over)>
  ];
}

def Simt_DotOp : Simt_Op<"dot", [MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "c + sum over the named axis of a * b, by all warps";
  let description = [{
    a has the result's rows, b its columns (`LayoutAttr`: the axes of lanes 2 to 4 and of lanes 0
    and 1 of an accumulator). Each is a tile in the registers of the threads that multiply it, or
    one slot of a buffer. A register operand a has the layout of an accumulator whose columns are
    the summed axis: a converted accumulator of an earlier product *is* one (PTX ISA, "Matrix
    Fragments for mma.m16n8k16").

    ```mlir
    %s = simt.dot mma16 %q, %k over(d) : !tile.tile<[d = 64, t = 128], bf16, #a>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
         -> !tile.tile<[t = 128, u = 64], f32, #accumulator>
    ```
  }];
  let arguments = (ins Simt_ProductKind:$kind, AnyTypeOf<[Tile_TileType, Simt_BufferType]>:$a,
                       AnyTypeOf<[Tile_TileType, Simt_BufferType]>:$b, Optional<Tile_TileType>:$c, StrArrayAttr:$over);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $kind $a `,` $b `over` `` custom<Names>($over) (`into` $c^)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) custom<IntoType>(ref($c), type($c), type($result))
  }];
  let hasVerifier = 1;
}

def Simt_StartOp : Simt_Op<"start", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "starts a product, which matrix units compute while the threads go on";
  let description = [{
    `simt.dot` without its wait. Buffers are read, and registers of the operands taken, at any time
    until a `simt.await` of the result. Each start is one group of its threads; groups end in the
    order in which they were started. `into` takes a tile, or what an earlier start gives.

    ```mlir
    %p = simt.start wgmma %q, %k over(d) : !tile.tile<[d = 64, t = 64], bf16, #a>, !simt.buffer<1 x [u = 128, d = 64], bf16, swizzle = 128>
         -> !simt.pending<!tile.tile<[t = 64, u = 128], f32, #accumulator>>
    ```
  }];
  let arguments = (ins Simt_ProductKind:$kind, AnyTypeOf<[Tile_TileType, Simt_BufferType]>:$a,
                       AnyTypeOf<[Tile_TileType, Simt_BufferType]>:$b, Optional<AnyTypeOf<[Tile_TileType, Simt_PendingType]>>:$c,
                       StrArrayAttr:$over);
  let results = (outs Simt_PendingType:$result);
  let assemblyFormat = [{
    $kind $a `,` $b `over` `` custom<Names>($over) (`into` $c^ `:` qualified(type($c)))? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::tile::TileType getTile() { return getType().getTile(); }

  private:
    ::mlir::LogicalResult verifyUse();
  }];
}

def Simt_AwaitOp : Simt_Op<"await", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>,
                                     AttrSizedOperandSegments, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "waits for started products: tiles of what was pending";
  let description = [{
    At most the `groups` products that were started last may be incomplete afterwards (PTX ISA,
    wgmma.wait_group); those whose results are taken must not be among them. Tiles that follow
    `after` are computed before the wait: without them an assembler, which sees that nothing else
    depends on the order, waits first.

    ```mlir
    %o, %x = simt.await 1 %0, %1 after %l : !simt.pending<!tile.tile<[e = 64, t = 64], f32, #accumulator>>, !simt.pending<..>
         : !tile.tile<[t = 64], f32, #rows>
    ```
  }];
  let arguments = (ins I64Attr:$groups, Variadic<Simt_PendingType>:$pending, Variadic<Tile_TileType>:$before);
  let results = (outs Variadic<Tile_TileType>:$tiles);
  let assemblyFormat = "$groups $pending (`after` $before^)? attr-dict `:` qualified(type($pending)) (`:` qualified(type($before))^)?";
  let hasVerifier = 1;
}

def Simt_ProxyFenceOp : Simt_Op<"proxy_fence", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "what the thread wrote to shared memory is there for matrix units too (PTX ISA, fence.proxy.async)";
  let description = [{
    Started products read shared memory by another path than threads do. What a thread wrote or
    copied, and waited for, is on both paths after this fence; a barrier then orders it before the
    products of other threads.

    ```mlir
    simt.proxy_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Blocks that go from place to place
//===----------------------------------------------------------------------===//

def Simt_OwnTilesOp : Simt_Op<"own_tiles", [Pure]> {
  let summary = "the numbers of the places that a block takes: from, to, step";
  let description = [{
    A kernel with it is launched with at most as many blocks as run at a time, and each takes
    several of the places of the kernel's grid, one after the other. Without it a block takes one,
    which the arguments of the kernel's region are.

    ```mlir
    %from, %to, %step = simt.own_tiles
    scf.for %tile = %from to %to step %step {
      %b, %h, %i = simt.place %tile : index, index, index
    ```
  }];
  let results = (outs Index:$from, Index:$to, Index:$step);
  let assemblyFormat = "attr-dict";
}

def Simt_PlaceOp : Simt_Op<"place", [Pure]> {
  let summary = "the place of a number in the kernel's grid, in the order of the grid";
  let description = [{
    One result for each extent of the kernel's grid, not negative and below it. Number k is the
    place that block k would have: the last extent fastest, or in the order that `longest` says.

    ```mlir
    %b, %h, %i = simt.place %tile : index, index, index
    ```
  }];
  let arguments = (ins Index:$number);
  let results = (outs Variadic<Index>:$places);
  let assemblyFormat = "$number attr-dict `:` type($places)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dependent launches
//===----------------------------------------------------------------------===//

def Simt_StartNextOp : Simt_Op<"start_next", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "lets the next kernel of the call begin (PTX ISA, griddepcontrol.launch_dependents)";
  let description = [{
    Blocks of the next kernel may begin once every block of this one has come here or ended, and
    where there is room for them. What this kernel writes is there for them after their
    `simt.await_previous`.

    ```mlir
    simt.start_next
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_AwaitPreviousOp : Simt_Op<"await_previous", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "waits for the kernels before this one in the call (PTX ISA, griddepcontrol.wait)";
  let description = [{
    A kernel that began early has not to touch before it what a kernel of the call writes. Where
    nothing began early it does nothing.

    ```mlir
    simt.await_previous
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Simt_RolesOp : Simt_Op<"roles", [RecursiveMemoryEffects, NoTerminator, SingleBlock,
                                     ParentOneOf<["::mlir::tile::KernelOp"]>]> {
  let summary = "warps that copy for others, and the others";
  let description = [{
    The last op of a kernel. Four warps are the producer, of which one runs the first region; four
    more for each member run the second one, with the member's number. Members are neighbours along
    the kernel's last extent: they share what the producer copies, and nothing else. Each has its
    own barriers, and its own buffers, `apart` bytes from one member to the next
    (`taylor-simt-allocate-shared`).

    Both regions count the uses of each ring (`!simt.ring`) alike, whatever branches they take: the
    producer fills each once, and each member waits for it and releases it once. So no role waits
    for a use that does not come. A wait for a use is the only way to its slot, and what it gives
    may be read until its release.

    `registers`: of a thread of the producer, and of the members.

    ```mlir
    %k = simt.ring "k" : !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    simt.roles members 2 registers 40, 232 producer {
      scf.for %j = .. iter_args(%n = %c0) {
        %s = simt.acquire %k[%n] : ..
        simt.copy %keys[u = %j], %s signals %k[%n] bulk : ..
    } consumer (%member) {
      scf.for %j = .. iter_args(%n = %c0) {
        %s = simt.wait_full %k[%n] : ..
        %x = simt.dot wgmma %q, %s over(d) : ..
        simt.release %k[%n] : ..
    }
    ```
  }];
  let arguments = (ins I64Attr:$members, OptionalAttr<I64Attr>:$apart, I64Attr:$producerRegisters, I64Attr:$consumerRegisters);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getProducerBlock() { return getProducer().front(); }
    ::mlir::Block &getConsumerBlock() { return getConsumer().front(); }
    ::mlir::BlockArgument getMember() { return getConsumer().getArgument(0); }
  }];
}

def Simt_RingOp : Simt_Op<"ring", [MemoryEffects<[MemAlloc<Simt_SharedMemory>]>]> {
  let summary = "slots of shared memory that `simt.roles` pass from the producer to its members";
  let description = [{
    Stands at the top of a kernel, before its roles. `at` is the place of its slots in bytes,
    `signals` that of its signals, 16 bytes for each slot.

    ```mlir
    %k = simt.ring "k" at 32768 signals 98304 : !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$signals);
  let results = (outs Simt_RingType:$result);
  let assemblyFormat = "$name (`at` $offset^)? (`signals` $signals^)? attr-dict `:` qualified(type($result))";
}

class Simt_UseOp<string mnemonic> : Simt_Op<mnemonic, [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>,
                                                       DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins Simt_RingType:$ring, Index:$number);
  let results = (outs Simt_BufferType:$result);
  let assemblyFormat = "$ring `[` $number `]` attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

def Simt_AcquireOp : Simt_UseOp<"acquire"> {
  let summary = "the producer waits until a use of a ring may be filled: its slot";
  let description = [{
    All members have released the use that many earlier as the ring has slots. The slot is written
    by the one `simt.copy .. signals` of this use.

    ```mlir
    %s = simt.acquire %k[%n] : !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    ```
  }];
}

def Simt_WaitFullOp : Simt_UseOp<"wait_full"> {
  let summary = "a member waits until a use of a ring is full: its slot";
  let description = [{
    The slot may be read until the `simt.release` of the same use, which stands in the same block.

    ```mlir
    %s = simt.wait_full %k[%n] : !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    ```
  }];
}

def Simt_ReleaseOp : Simt_Op<"release", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "a member has read a use of a ring";
  let description = [{
    Products that read its slot have been awaited.

    ```mlir
    simt.release %k[%n] : !simt.ring<!simt.buffer<2 x [u = 128, d = 64], bf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins Simt_RingType:$ring, Index:$number);
  let assemblyFormat = "$ring `[` $number `]` attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Features: products of a vector's components
//===----------------------------------------------------------------------===//

def Simt_ExpandOp : Simt_Op<"expand", [MemoryEffects<[MemRead<Simt_SharedMemory>]>]> {
  let summary = "a panel of monomials of the vectors in a buffer";
  let description = [{
    `tile.expand` of the vectors in one slot of a buffer. The program knows only when it runs which
    components a feature multiplies, so any thread may need any of them. Each thread computes the
    elements of its registers.

    ```mlir
    %P = simt.expand %x over(d) #pairs from %f0 to(f) weights [1.0, 0.125]
         : !simt.buffer<1 x [t = 64, d = 64], f32, swizzle = 128> -> !tile.tile<[f = 32, t = 64], f32, #layout>
    ```
  }];
  let arguments = (ins Simt_BufferType:$input, StrAttr:$axis, Tile_FeaturesAttr:$features, Index:$start, StrAttr:$to,
                       OptionalAttr<F64ArrayAttr>:$weights);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input `over` `(` custom<Name>($axis) `)` $features `from` $start `to` `(` custom<Name>($to) `)` (`weights` $weights^)?
    attr-dict `:` qualified(type($input)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Simt_ContractOp : Simt_Op<"contract", [MemoryEffects<[MemRead<Simt_SharedMemory>, MemWrite<Simt_SharedMemory>]>]> {
  let summary = "adds the adjoint of `simt.expand` to the sums in a buffer";
  let description = [{
    `tile.contract` of a product in registers, with vectors and sums in one slot of a buffer each:
    `sums[i, t] += sum over the panel's f of dP[f, t] * d/dx[i, t] of P[f, t]`. Features are the
    columns of a fragment, so the four lanes of a row have all features of a token. Lane c / 2 mod 4
    sums component c, and no thread reads a sum that another writes.

    ```mlir
    simt.contract %dP over(f) #pairs from %f0 at %x over(d) weights [0.0, 0.125] into %dx
      : !tile.tile<[f = 32, t = 64], f32, #fragment_t_f>, !td, !td         // !td = !simt.buffer<1 x [t = 64, d = 64], f32, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_TileType:$cotangent, StrAttr:$from, Tile_FeaturesAttr:$features, Index:$start, Simt_BufferType:$input,
                       StrAttr:$axis, OptionalAttr<F64ArrayAttr>:$weights, Simt_BufferType:$sums);
  let assemblyFormat = [{
    $cotangent `over` `(` custom<Name>($from) `)` $features `from` $start `at` $input `over` `(` custom<Name>($axis) `)`
    (`weights` $weights^)? `into` $sums attr-dict
    `:` qualified(type($cotangent)) `,` qualified(type($input)) `,` qualified(type($sums))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What comes out
//===----------------------------------------------------------------------===//

def Simt_PTXOp : Simt_Op<"ptx"> {
  let summary = "kernels as PTX text for one target";
  let description = [{
    One string per line of the text. Each entry says how its kernel is launched.

    ```mlir
    simt.ptx "sm_80" entries [#simt.entry<"forward_attend", threads = 128, shared = 49152, ..>] {
      ".version 8.0"
      ".target sm_80"
    }
    ```
  }];
  let arguments = (ins StrAttr:$target, TypedArrayAttrBase<Simt_EntryAttr, "entries">:$entries, StrAttr:$text);
  let assemblyFormat = "$target `entries` $entries custom<Lines>($text) attr-dict";
}
#endif
