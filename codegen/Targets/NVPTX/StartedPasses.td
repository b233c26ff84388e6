// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes for kernels whose products run beside their threads (sm_90a), in the order they run.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_STARTEDPASSES_TD
#define TAYLOR_CODEGEN_TARGETS_NVPTX_STARTEDPASSES_TD

include "mlir/Pass/PassBase.td"

def AssignRoles : Pass<"taylor-simt-assign-roles", "::mlir::ModuleOp"> {
  let summary = "warps that copy for others: a producer, and members that share what it copies";
  let description = [{
    Input: as of `taylor-simt-schedule-copies`. A kernel gets `simt.roles` where started products
    read what loops copy, or multiply features that are computed of it (`simt.expand`):

    1. Each copy of a loop becomes a ring of `slots` slots. The producer is what is left of the
       kernel if only these copies and the loops, branches and numbers around them stay. A member is
       the rest: it waits for a use of a ring before the first op that reads it, and releases it
       after the last one; what it reads into registers, after the last op that reads those, so that
       the reading may be as late.
    2. Members are neighbours along the kernel's last extent, which from then on counts gangs of
       them: tiles of tokens, or panels of features. The copies' windows must not depend on that
       extent. Where bounds of the loop do, the
       producer's loop runs over the ranges of all members, and a member waits for and releases what
       only others read, too. Such a loop must begin at a multiple of its step
       (`query-begins=aligned` of the plan, for queries that pass by keys): the iterations of one
       member are then among those of all. A copy ends `until` the last end of all members, and with
       the array. Where a gang has more members than there are tiles, the last tile is computed
       twice.
    3. A copy is `bulk` if all its readers are started products and a tensor map describes it.
    4. The most members of which the tiles of a loop fit the registers, and all buffers the `shared`
       bytes: 3, with up to 128 registers of tiles in each thread that are carried or multiplied,
       and up to 160 of all that are alive together; or 2, with up to 224. No more than there are
       panels.

    All other kernels stay as they are: without such a loop, with numbers around it that only
    threads know (read from tiles, or carried), with an array that is both read and written, and
    where nothing fits.

    ```mlir
    tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
      %k = simt.alloc "k" : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
      scf.for %j = %c0 to %n step %c64 iter_args(..) {
        simt.copy %keys[b = %b, g = %h, u = %j], %k : ..
        %s = simt.dot wgmma %q, %k over(d) : ..
    // becomes
    tile.kernel @attend grid(%b in b, %h in h, %gang in ceildiv(t, 192)) {
      %k = simt.ring "k" : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
      simt.roles members 3 registers 32, 160 producer {
        scf.for %j = %c0 to %n step %c64 iter_args(%use = %c0) {
          %slot = simt.acquire %k[%use] : ..
          simt.copy %keys[b = %b, g = %h, u = %j], %slot signals %k[%use] bulk : ..
          %next = arith.addi %use, %c1 : index
          scf.yield %next : index
        }
      } consumer (%member) {
        scf.for %j = %c0 to %n step %c64 iter_args(.., %use = %c0) {
          %slot = simt.wait_full %k[%use] : ..
          %s = simt.dot wgmma %q, %slot over(d) : ..
          simt.release %k[%use] : ..
    ```
  }];
  let options = [
    Option<"slots", "slots", "int64_t", /*default=*/"2", "slots of a ring; at least 1">,
    Option<"shared", "shared", "int64_t", /*default=*/"232448", "bytes of shared memory that a block may use">
  ];
  let statistics = [Statistic<"numKernels", "kernels", "kernels with roles">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::simt::SimtDialect"];
}

def OverlapIterations : Pass<"taylor-simt-overlap-iterations", "::mlir::ModuleOp"> {
  let summary = "the last products of an iteration run beside the first ones of the next";
  let description = [{
    Rule: let a loop carry a sum and end by adding products to it, whose left operands it computes
    from other products and whose right operands nothing else reads. Such *late* products are
    started in the next iteration, next to its first ones: the loop carries their left operands. The
    first iteration stands before the loop, without late products; those of the last iteration stand
    after it. Each has buffers of its own. Where there is no iteration, selects give what the loop
    began with, and zeros to multiply. So right operands must be copied `until` the loop's end:
    zeros then too, since 0 times NaN is NaN.

    This is done where a block is alone on its multiprocessor: where `alone` bytes of shared memory
    are needed or more. Other blocks keep matrix units busy at least as well (HOPPER.md, "Tiles").
    It is not done where the loop would need more than `registers` registers, or the kernel more
    than `shared` bytes.

    Why: within an iteration, matrix units wait for the exponentials and threads for the scores.
    With the products of two iterations under way, both work at the same time.

    ```mlir
    scf.for %j = %c0 to %n step %c64 iter_args(%o = %zero) {
      simt.copy %keys[u = %j], %k : ..
      %s = simt.dot wgmma %q, %k over(d) : ..
      %w = tile.map (%x = %s) : .. { .. }
      simt.copy %values[u = %j] until(u = %n), %v : ..
      %o1 = simt.dot wgmma %w, %v over(u) into %o : ..
    }
    // becomes
    %s0 = simt.dot wgmma %q, %k.first over(d) : ..
    %w0 = tile.map (%x = %s0) : .. { .. }
    %r:2 = scf.for %j = %c64 to %n step %c64 iter_args(%o = %zero, %w = %w0) {
      %i = arith.subi %j, %c64 : index
      simt.copy %values[u = %i] until(u = %n), %v : ..
      simt.copy %keys[u = %j], %k : ..
      %s = simt.dot wgmma %q, %k over(d) : ..
      %o1 = simt.dot wgmma %w, %v over(u) into %o : ..
      %w1 = tile.map (%x = %s) : .. { .. }
      scf.yield %o1, %w1 : ..
    }
    %o2 = simt.dot wgmma %r#1, %v.last over(u) into %r#0 : ..
    ```
  }];
  let options = [
    Option<"registers", "registers", "int64_t", /*default=*/"210",
           "32-bit registers per thread that the loop may need for what it carries and multiplies">,
    Option<"alone", "alone", "int64_t", /*default=*/"0",
           "bytes of shared memory that a kernel must need, with two slots for what loops copy, to be alone on its multiprocessor">,
    Option<"shared", "shared", "int64_t", /*default=*/"232448", "bytes of shared memory that a block may use">
  ];
  let statistics = [Statistic<"numLoops", "loops", "loops whose iterations overlap">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::simt::SimtDialect"];
}

def OverlapUses : Pass<"taylor-simt-overlap-uses", "::mlir::ModuleOp"> {
  let summary = "the last products of a member's iteration run beside the first ones of the next";
  let description = [{
    `taylor-simt-overlap-iterations` for members of `simt.roles`. Late products read a use of a ring
    that nothing else reads. They wait for it one iteration later, and release it then. The first
    iteration stands before the loop, without late products; those of the last iteration stand
    after it. All three stand in a branch that is taken if there is an iteration, so that no use is
    waited for that does not come. The producer stays as it is: both roles count each use once.

    It is not done where uses are not counted one by one by the loop's iterations, and where the
    loop would need more registers than a member has, less `scalars` and `places`: for what it
    carries, for products from zero, for the largest tile that threads read, for one of a function
    in many steps (tanh, logarithms), and for the left operands that wait.

    ```mlir
    %r:2 = scf.for %j = %c0 to %end step %c64 iter_args(%o = %zero, %n = %c0) {
      %k = simt.wait_full %keys[%n] : ..
      %s = simt.dot wgmma %q, %k over(d) : ..
      simt.release %keys[%n] : ..
      %w = tile.map (%x = %s) : .. { .. }
      %v = simt.wait_full %values[%n] : ..
      %o1 = simt.dot wgmma %w, %v over(u) into %o : ..
      simt.release %values[%n] : ..
      %n1 = arith.addi %n, %c1 : index
      scf.yield %o1, %n1 : ..
    }
    // becomes
    %r:2 = scf.if %any {
      %k0 = simt.wait_full %keys[%c0] : ..
      %s0 = simt.dot wgmma %q, %k0 over(d) : ..
      simt.release %keys[%c0] : ..
      %w0 = tile.map (%x = %s0) : .. { .. }
      %l:3 = scf.for %j = %c64 to %end step %c64 iter_args(%o = %zero, %n = %c1, %w = %w0) {
        %before = arith.subi %n, %c1 : index
        %k = simt.wait_full %keys[%n] : ..
        %s = simt.dot wgmma %q, %k over(d) : ..
        simt.release %keys[%n] : ..
        %w1 = tile.map (%x = %s) : .. { .. }
        %n1 = arith.addi %n, %c1 : index
        %v = simt.wait_full %values[%before] : ..
        %o1 = simt.dot wgmma %w, %v over(u) into %o : ..
        simt.release %values[%before] : ..
        scf.yield %o1, %n1, %w1 : ..
      }
      .. the products of %l#2 and the use %l#1 - 1 of the values ..
    } else {
      scf.yield %zero, %c0 : ..
    }
    ```
  }];
  let options = [
    Option<"scalars", "scalars", "int64_t", /*default=*/"16",
           "32-bit registers of a member's thread for what is no tile: addresses, bounds, counts">,
    Option<"places", "places", "int64_t", /*default=*/"10",
           "registers more where a block goes from place to place">
  ];
  let statistics = [Statistic<"numLoops", "loops", "loops of members whose iterations overlap">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::simt::SimtDialect"];
}

def StartProducts : Pass<"taylor-simt-start-products", "::mlir::ModuleOp"> {
  let summary = "products that matrix units compute beside the threads: starts, and waits before the first reader";
  let description = [{
    Every `simt.dot wgmma` becomes a `simt.start`, and its result a `simt.await`:

    1. The wait stands before the first op that reads the result. It also stands before a barrier,
       before an op that computes what the loop carries in place of an operand, and at the end of
       the block, whichever comes first: after a barrier the operands' buffers may be written again,
       and no product in flight leaves its block.
    2. Before a wait, later products of the block are started whose operands are there already, so
       that matrix units have work while the threads compute. Then comes what the threads can
       compute without the result, except tiles of 16 bits: these take registers of operands in
       flight.
    3. A product that adds to one in flight, which nothing else reads, takes it without a wait.
    4. One wait takes all results that are complete then. It names, with `after`, the small tiles
       that were computed from products awaited since the last start: they have to be there before
       it. What is read of a ring just before the first reader of a result is read after the wait:
       sums in flight leave few registers.

    ```mlir
    %s = simt.dot wgmma %q, %k over(d) : ..
    %w = tile.map (%x = %s) : .. { .. }
    %dp = simt.dot wgmma %do, %v over(e) : ..
    // becomes
    %0 = simt.start wgmma %q, %k over(d) : ..
    %1 = simt.start wgmma %do, %v over(e) : ..
    %s = simt.await 1 %0 : ..
    %w = tile.map (%x = %s) : .. { .. }
    %dp = simt.await 0 %1 : ..
    ```
  }];
  let statistics = [
    Statistic<"numStarted", "started", "products that matrix units compute beside the threads">,
    Statistic<"numWaits", "waits", "waits for products">
  ];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

def FenceProxies : Pass<"taylor-simt-fence-proxies", "::mlir::ModuleOp"> {
  let summary = "fences between what threads write to shared memory and the products that read it";
  let description = [{
    Started products read buffers by the asynchronous proxy, while threads write and copy by the
    generic one (PTX ISA, "Proxies"). A barrier gets a `simt.proxy_fence` before it if the thread
    may have written such a buffer since its last fence. A copy counts from the wait on that may
    complete it. A fence goes again if a later one, before another barrier on the way to the first
    product, does for both.

    ```mlir
    simt.wait 0
    simt.barrier
    %s = simt.start wgmma %q, %k over(d) : ..
    // becomes
    simt.wait 0
    simt.proxy_fence
    simt.barrier
    %s = simt.start wgmma %q, %k over(d) : ..
    ```
  }];
  let statistics = [Statistic<"numFences", "fences", "fences">];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

def PersistBlocks : Pass<"taylor-simt-persist-blocks", "::mlir::ModuleOp"> {
  let summary = "blocks with roles that take one place of the grid after the other";
  let description = [{
    Of kernels with `simt.roles`. Both roles run a loop over the places of their block; the producer
    fetches what the next place reads while members finish this one. Numbers of a ring's uses go on
    from place to place: to those of one place a count of all before is added, which each role
    carries. Kernels whose counts do not follow from their loops stay as they are.

    ```mlir
    simt.roles .. producer {
      %n = scf.for %j = %c0 to %end step %c128 iter_args(%k = %c0) {
        %slot = simt.acquire %ring[%k] : ..
    // becomes
    simt.roles .. producer {
      %from, %to, %step = simt.own_tiles
      scf.for %tile = %from to %to step %step iter_args(%before = %c0) {
        %b, %h, %i = simt.place %tile : index, index, index
        %n = scf.for %j = %c0 to %end step %c128 iter_args(%k = %c0) {
          %use = arith.addi %before, %k : index
          %slot = simt.acquire %ring[%use] : ..
        ..
        %after = arith.addi %before, %n : index
        scf.yield %after : index
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "kernels whose blocks go from place to place">];
  let dependentDialects = ["::mlir::simt::SimtDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def StartEarly : Pass<"taylor-simt-start-early", "::mlir::ModuleOp"> {
  let summary = "kernels that begin before the one before them has ended";
  let description = [{
    For programs of several kernels on GPUs with dependent launches. Every kernel but the last
    begins with `simt.start_next`, which lets blocks of the next one in as soon as all of its own
    have begun. Every kernel but the first waits, with `simt.await_previous`, before it touches an
    array that a kernel of the program writes. Before that it computes places, and reads arrays that
    only callers write. The wait is for all earlier kernels: each of them has waited for those
    before it.

    ```mlir
    tile.kernel @attend grid(..) {
      %q = tile.load %queries[..] : ..
      simt.copy %rotated_keys[..], %slot : ..
    // becomes, after a kernel that writes %rotated_keys,
    tile.kernel @attend grid(..) {
      %q = tile.load %queries[..] : ..
      simt.await_previous
      simt.copy %rotated_keys[..], %slot : ..
    ```
  }];
  let statistics = [Statistic<"numEarly", "early", "kernels that begin before the one before them has ended">];
  let dependentDialects = ["::mlir::simt::SimtDialect"];
}

#endif
