// Copies of a loop become a ring that a producer fills and the members of a gang read; and every reason for which a kernel stays as it is.
// RUN: taylor-opt %s --taylor-simt-assign-roles --cse | FileCheck %s
// RUN: taylor-opt %s --taylor-simt-assign-roles="slots=4" | FileCheck %s --check-prefix=SLOTS
// SLOTS: simt.ring "k" : !simt.ring<!simt.buffer<4 x [u = 64, d = 64], bf16, swizzle = 128>>
// Rings of 16 KiB each, 8 KiB for each member, and what alignment takes: room for two members, and for none.
// RUN: taylor-opt %s --taylor-simt-assign-roles="shared=58368" | FileCheck %s --check-prefix=THREE
// RUN: taylor-opt %s --taylor-simt-assign-roles="shared=58367" | FileCheck %s --check-prefix=TWO
// RUN: taylor-opt %s --taylor-simt-assign-roles="shared=50175" | FileCheck %s --check-prefix=NOT
// THREE-LABEL: tile.kernel @attend
// THREE: simt.roles members 3 registers 32, 160 producer
// TWO-LABEL: tile.kernel @attend
// TWO: simt.roles members 2 registers 40, 232 producer
// NOT-LABEL: tile.kernel @attend
// NOT-NOT: simt.roles
// NOT-LABEL: tile.kernel @around
// RUN: taylor-opt %s --taylor-simt-assign-roles --taylor-simt-schedule-copies --taylor-simt-allocate-shared --canonicalize --cse --taylor-simt-start-products --taylor-simt-fence-proxies | FileCheck %s --check-prefix=AFTER
// RUN: not taylor-opt %s --taylor-simt-schedule-copies --taylor-simt-assign-roles 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: expected ops on buffers in the order of the text; taylor-simt-schedule-copies has run already

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#o = #simt.layout<lane = [e:2, e:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [e:1*2, t:8*2, e:8*8]>
!keys = !tile.array<[u, d = 64], bf16>
!values = !tile.array<[u, e = 64], bf16>
!queries = !tile.array<[t, d = 64], bf16>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!v = !simt.buffer<1 x [u = 64, e = 64], bf16, swizzle = 128>
!st = !tile.tile<[t = 64, u = 64], f32, #s>
!pt = !tile.tile<[t = 64, u = 64], bf16, #s>
!ot = !tile.tile<[e = 64, t = 64], f32, #o>
!out = !tile.array<[t, e = 64], f32>
!scores = !tile.array<[t, u], f32>
#t = #simt.layout<lane = [t:2, t:4, u:1, u:2, u:4], warp = [u:16, u:32], register = [t:1*2, u:8*2, t:8*8]>
#r = #simt.layout<lane = [t:2, t:4, _, _, _], warp = [_, _], register = [t:1*2, t:8*8]>
#d = #simt.layout<lane = [d:2, d:4, u:1, u:2, u:4], warp = [u:16, u:32], register = [d:1*2, u:8*2, d:8*8]>
!rows = !tile.array<[t], f32>
!row = !simt.buffer<1 x [t = 64], f32>
!rt = !tile.tile<[t = 64], f32, #r>
!tu = !tile.tile<[t = 64, u = 64], f32, #t>
!wu = !tile.tile<[t = 64, u = 64], bf16, #t>
!du = !tile.tile<[d = 64, u = 64], f32, #d>
!sums = !tile.array<[u, d = 64], f32>
#fu = #simt.layout<lane = [u:2, u:4, f:1, f:2, f:4], warp = [f:16, f:32], register = [u:1*2, f:8*2, u:8*8]>
#fe = #simt.layout<lane = [e:2, e:4, f:1, f:2, f:4], warp = [f:16, f:32], register = [e:1*2, f:8*2, e:8*8]>
!vectors = !tile.array<[u, d = 64], f32>
!states = !tile.array<[f = 320, e = 64], f32>
!xs = !simt.buffer<1 x [u = 64, d = 64], f32, swizzle = 128>
!fu = !tile.tile<[f = 64, u = 64], f32, #fu>
!wf = !tile.tile<[f = 64, u = 64], bf16, #fu>
!fe = !tile.tile<[e = 64, f = 64], f32, #fe>
tile.program @roles {
  %queries = tile.tensor "input:q" : !queries
  %keys = tile.tensor "input:k" : !keys
  %values = tile.tensor "input:v" : !values
  %out = tile.tensor "output:o" : !out
  %scores = tile.tensor "output:s" : !scores
  %rows = tile.tensor "input:r" : !rows
  %biases = tile.tensor "input:biases" : !scores
  %sums = tile.tensor "output:sums" : !sums
  %vectors = tile.tensor "input:x" : !vectors
  %states = tile.tensor "output:states" : !states
  // The example of the description: of the keys and values, not of the queries. The producer's loop ends where the last member's does, and its copies with the array. A member waits before the
  // first reader and releases after the last one, and passes by what only others read.
  // CHECK-LABEL: tile.kernel @attend grid(%{{.*}} in ceildiv(t, 192)) launch #simt.launch<warps = 4> {
  // CHECK-NEXT: %[[K:.*]] = simt.ring "k" : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
  // CHECK-NEXT: %[[V:.*]] = simt.ring "v" : !simt.ring<!simt.buffer<2 x [u = 64, e = 64], bf16, swizzle = 128>>
  // CHECK-NEXT: %[[Q:.*]] = simt.alloc "q"
  // CHECK-NEXT: simt.roles members 3 registers 32, 160 producer {
  // CHECK:      %[[U:.*]] = tile.size "u"
  // CHECK-COUNT-3: arith.minsi
  // CHECK:      %[[PAIR:.*]] = arith.maxsi
  // CHECK:      %[[END:.*]] = arith.maxsi %[[PAIR]], %
  // CHECK-NEXT: scf.for %[[J:.*]] = %c0 to %[[END]] step %c64 iter_args(%[[USE:.*]] = %c0) -> (index) {
  // CHECK-NEXT:   %[[LAST:.*]] = arith.minsi %[[END]], %[[U]] : index
  // CHECK-NEXT:   %[[SLOT:.*]] = simt.acquire %[[K]][%[[USE]]]
  // CHECK-NEXT:   simt.copy %{{.*}} [u = %[[J]]] until(u = %[[LAST]]), %[[SLOT]] signals %[[K]][%[[USE]]] bulk
  // CHECK-NEXT:   %[[SLOT2:.*]] = simt.acquire %[[V]][%[[USE]]]
  // CHECK-NEXT:   simt.copy %{{.*}} [u = %[[J]]] until(u = %[[LAST]]), %[[SLOT2]] signals %[[V]][%[[USE]]] bulk
  // CHECK-NEXT:   %[[NEXT:.*]] = arith.addi %[[USE]], %c1
  // CHECK-NEXT:   scf.yield %[[NEXT]]
  // CHECK-NEXT: }
  // CHECK-NEXT: } consumer (%[[MEMBER:.*]]) {
  // CHECK:      %[[OF:.*]] = arith.addi %{{.*}}, %[[MEMBER]]
  // CHECK-NEXT: %[[I:.*]] = arith.minsi %[[OF]], %
  // CHECK:      %[[FIRST:.*]] = arith.muli %[[I]], %c64
  // CHECK:      %[[OWN:.*]] = arith.minsi
  // CHECK:      simt.copy %{{.*}} [t = %[[FIRST]]], %[[Q]] :
  // CHECK:      %[[ALL:.*]] = arith.addi %c0, %
  // CHECK-NEXT: %[[R:.*]]:2 = scf.for %{{.*}} = %c0 to %[[OWN]] step %c64 iter_args(%{{.*}} = %{{.*}}, %[[N:.*]] = %c0)
  // CHECK-NEXT:   %[[KS:.*]] = simt.wait_full %[[K]][%[[N]]]
  // CHECK-NEXT:   simt.dot wgmma %[[Q]], %[[KS]] over(d)
  // CHECK-NEXT:   simt.release %[[K]][%[[N]]]
  // CHECK:        %[[VS:.*]] = simt.wait_full %[[V]][%[[N]]]
  // CHECK-NEXT:   %[[O:.*]] = simt.dot wgmma %{{.*}}, %[[VS]] over(u)
  // CHECK-NEXT:   simt.release %[[V]][%[[N]]]
  // CHECK-NEXT:   %[[N1:.*]] = arith.addi %[[N]], %c1
  // CHECK-NEXT:   scf.yield %[[O]], %[[N1]]
  // CHECK:      scf.for %[[REST:.*]] = %[[R]]#1 to %[[ALL]] step %c1 {
  // CHECK-NEXT:   simt.wait_full %[[K]][%[[REST]]]
  // CHECK-NEXT:   simt.release %[[K]][%[[REST]]]
  // CHECK-NEXT:   simt.wait_full %[[V]][%[[REST]]]
  // CHECK-NEXT:   simt.release %[[V]][%[[REST]]]
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.store %[[R]]#0, %{{.*}} [t = %[[FIRST]]]

  // After all passes: a member's buffers are 8 KiB from the next one's, its barriers are its own, and a use is released when its product is complete.
  // AFTER:      %[[K:.*]] = simt.ring "k" at 24576 signals 57344
  // AFTER-NEXT: %[[V:.*]] = simt.ring "v" at 40960 signals 57392
  // AFTER-NEXT: %[[Q:.*]] = simt.alloc "q" at 0
  // AFTER-NEXT: simt.roles members 3 apart 8192 registers 32, 160 producer {
  // AFTER-NOT:  simt.barrier
  // AFTER:      consumer
  // AFTER:      simt.wait 0
  // AFTER-NEXT: simt.proxy_fence
  // AFTER-NEXT: simt.barrier member
  // AFTER:      scf.for
  // AFTER:        %[[S:.*]] = simt.start wgmma %[[Q]], %
  // AFTER-NEXT:   simt.await 0 %[[S]]
  // AFTER-NEXT:   simt.release %[[K]][%[[N:[a-z0-9]+]]]
  // AFTER:        %[[P:.*]] = simt.start wgmma
  // AFTER:        simt.await 0 %[[P]]
  // AFTER-NEXT:   simt.release %[[V]][%[[N]]]
  tile.kernel @attend grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %past = arith.addi %first, %c64 : index
    %end = arith.minsi %past, %n : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %v = simt.alloc "v" : !v
    %o0 = tile.splat %zero : f32 -> !ot
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %end step %c64 iter_args(%o = %o0) -> (!ot) {
      simt.copy %keys[u = %j] until(u = %end), %k : !keys, !k
      simt.copy %values[u = %j] until(u = %end), %v : !values, !v
      %s = simt.dot wgmma %q, %k over(d) : !q, !k -> !st
      %p = tile.map (%x = %s) : (!st) -> !pt {
        %y = arith.truncf %x : f32 to bf16
        tile.yield %y : bf16
      }
      %o1 = simt.dot wgmma %p, %v over(u) into %o : !pt, !v -> !ot
      scf.yield %o1 : !ot
    }
    tile.store %r, %out[t = %first] : !ot, !out
  }

  // A loop that begins elsewhere for each member, in a loop and a branch that are the same for all: the uses go on being counted, on both sides.
  // CHECK-LABEL: tile.kernel @around
  // CHECK:      producer {
  // CHECK:      scf.for %{{.*}} iter_args(%[[COUNT:.*]] = %c0) -> (index)
  // CHECK-COUNT-3: %[[LOW:[0-9]+]] = arith.minsi %{{.*}}, %{{.*}} : index
  // CHECK:        %[[INNER:.*]] = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c64 iter_args(%[[USE:.*]] = %[[COUNT]])
  // CHECK-NEXT:     simt.acquire %{{.*}}[%[[USE]]]
  // CHECK:        scf.yield %[[INNER]]
  // CHECK:      consumer
  // CHECK:      scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %c0) ->
  // CHECK:        %[[ALL:.*]] = arith.addi %[[COUNT]], %
  // CHECK:        %[[SKIP:.*]] = arith.minsi %{{.*}}, %[[ALL]]
  // CHECK-NEXT:   scf.for %[[PAST:.*]] = %[[COUNT]] to %[[SKIP]] step %c1 {
  // CHECK-NEXT:     simt.wait_full %{{.*}}[%[[PAST]]]
  // CHECK-NEXT:     simt.release %{{.*}}[%[[PAST]]]
  // CHECK:        %[[R:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[SKIP]])
  // CHECK:        scf.yield %[[R]]#0, %[[ALL]]
  tile.kernel @around grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %h = %c0 to %c64 step %c1 iter_args(%o0 = %s0) -> (!st) {
      %r1 = scf.for %j = %first to %n step %c64 iter_args(%o = %o0) -> (!st) {
        simt.copy %keys[u = %j], %k : !keys, !k
        %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
        scf.yield %s : !st
      }
      scf.yield %r1 : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // Keys of a block, and queries that pass by from a multiple of the step on (passes/LowerToTile, query-begins=aligned). Queries are boxes; their scalars, which
  // threads read, pieces. These are read late, and released when what they are for is computed.
  // CHECK-LABEL: tile.kernel @columns grid(%{{.*}} in g, %{{.*}} in ceildiv(u, 192))
  // CHECK-DAG:  %[[Q:.*]] = simt.ring "q"
  // CHECK-DAG:  %[[R:.*]] = simt.ring "r" : !simt.ring<!simt.buffer<2 x [t = 64], f32>>
  // CHECK:      simt.roles members 3 registers 32, 160 producer {
  // CHECK:      scf.for %{{.*}} iter_args(%[[COUNT:.*]] = %c0) -> (index)
  // CHECK-COUNT-3: arith.floordivsi
  // CHECK:        %[[SIZE:.*]] = tile.size "t"
  // CHECK:        scf.for %[[T:.*]] = %{{.*}} to %[[HIGH:.*]] step %c64 iter_args(%[[USE:.*]] = %[[COUNT]])
  // CHECK-NEXT:     %[[LAST:.*]] = arith.minsi %[[HIGH]], %[[SIZE]] : index
  // CHECK-NEXT:     %[[SLOT:.*]] = simt.acquire %[[Q]][%[[USE]]]
  // CHECK-NEXT:     simt.copy %{{.*}} [t = %[[T]]] until(t = %[[LAST]]), %[[SLOT]] signals %[[Q]][%[[USE]]] bulk
  // CHECK-NEXT:     %[[SLOT:.*]] = simt.acquire %[[R]][%[[USE]]]
  // CHECK-NEXT:     simt.copy %{{.*}} [t = %[[T]]] until(t = %[[LAST]]), %[[SLOT]] signals %[[R]][%[[USE]]] :
  // CHECK:      consumer
  // CHECK:        scf.for %[[PAST:.*]] = %{{.*}} to %{{.*}} step %c1 {
  // CHECK:        scf.for
  // CHECK-NEXT:     %[[QS:.*]] = simt.wait_full %[[Q]][%[[N:.*]]] :
  // CHECK-NEXT:     %[[S:.*]] = simt.dot wgmma %{{.*}}, %[[QS]] over(d)
  // CHECK-NEXT:     %[[RS:.*]] = simt.wait_full %[[R]][%[[N]]] :
  // CHECK-NEXT:     %[[X:.*]] = simt.read %[[RS]]
  // CHECK-NEXT:     %[[W:.*]] = tile.map (%{{.*}} = %[[S]], %{{.*}} = %[[X]])
  // CHECK:          simt.release %[[R]][%[[N]]]
  // CHECK-NEXT:     simt.dot wgmma %[[W]], %[[QS]] over(t) into
  // CHECK-NEXT:     simt.release %[[Q]][%[[N]]]
  tile.kernel @columns grid(%g in g, %i in ceildiv(u, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "t"
    %offset = tile.size "offset"
    %first = arith.muli %i, %c64 : index
    %seen = arith.maxsi %first, %offset : index
    %begin = arith.subi %seen, %offset : index
    %number = arith.floordivsi %begin, %c64 : index
    %low = arith.muli %number, %c64 : index
    %high = arith.maxsi %n, %low : index
    %k = simt.alloc "k" : !k
    %q = simt.alloc "q" : !q
    %r = simt.alloc "r" : !row
    %d0 = tile.splat %zero : f32 -> !du
    simt.copy %keys[u = %first], %k : !keys, !k
    %sum = scf.for %h = %c0 to %c64 step %c1 iter_args(%before = %d0) -> (!du) {
      %ofHead = scf.for %j = %low to %high step %c64 iter_args(%d = %before) -> (!du) {
        simt.copy %queries[t = %j] until(t = %high), %q : !queries, !q
        simt.copy %rows[t = %j] until(t = %high), %r : !rows, !row
        %s = simt.dot wgmma %k, %q over(d) : !k, !q -> !tu
        %x = simt.read %r : !row -> !rt
        %w = tile.map (%a = %s, %b = %x) : (!tu, !rt) -> !wu {
          %c = arith.mulf %a, %b : f32
          %y = arith.truncf %c : f32 to bf16
          tile.yield %y : bf16
        }
        %d1 = simt.dot wgmma %w, %q over(t) into %d : !wu, !q -> !du
        scf.yield %d1 : !du
      }
      scf.yield %ofHead : !du
    }
    tile.store %sum, %sums[u = %first] : !du, !sums
  }

  // A product that threads compute reads the keys, too: they are copied by pieces, so that no fence is needed for what a box wrote.
  // CHECK-LABEL: tile.kernel @by_pieces
  // CHECK:      simt.acquire
  // CHECK-NEXT: simt.copy {{.*}} signals %{{[0-9]+}}[%{{[a-z0-9]+}}] : 
  tile.kernel @by_pieces grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      %x = simt.dot mma16 %q, %k over(d) into %s : !q, !k -> !st
      scf.yield %x : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // What is copied follows from the last extent: members share nothing.
  // CHECK-LABEL: tile.kernel @own_windows
  // CHECK-NOT: simt.roles
  tile.kernel @own_windows grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      %at = arith.addi %j, %first : index
      simt.copy %keys[u = %at], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // Where members begin is no multiple of the step: what one reads is in no tile of the others.
  // CHECK-LABEL: tile.kernel @between_multiples
  // CHECK-NOT: simt.roles
  tile.kernel @between_multiples grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %low = arith.addi %first, %c1 : index
    %r = scf.for %j = %low to %n step %c64 iter_args(%o = %s0) -> (!st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // Products that threads wait for read by themselves; nothing is gained.
  // CHECK-LABEL: tile.kernel @other_products
  // CHECK-NOT: simt.roles
  tile.kernel @other_products grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot mma16 %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // The loop copies in some iterations only.
  // CHECK-LABEL: tile.kernel @in_part
  // CHECK-NOT: simt.roles
  tile.kernel @in_part grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %more = arith.cmpi slt, %c0, %n : index
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      simt.copy %keys[u = %j], %k if %more : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // Panels of features as members: each reads the vectors' ring with its own features. Five panels are two gangs, of which the last computes the last one twice.
  // CHECK-LABEL: tile.kernel @panels
  // CHECK-SAME: grid(%{{.*}} in t, %[[GANG:.*]] in 2) launch #simt.launch<warps = 4> {
  // CHECK: %[[X:.*]] = simt.ring "x" : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], f32, swizzle = 128>>
  // CHECK: simt.roles members 3 registers 32, 160 producer {
  // CHECK: simt.copy {{.*}} signals %[[X]]
  // CHECK-NOT: bulk
  // CHECK: simt.copy {{.*}} bulk
  // CHECK: } consumer (%[[MEMBER:.*]]) {
  // CHECK: %[[FIRST:.*]] = arith.muli %[[GANG]], %c3
  // CHECK: %[[OWN:.*]] = arith.addi %[[FIRST]], %[[MEMBER]]
  // CHECK: %[[PLACE:.*]] = arith.minsi %[[OWN]], %c4
  // CHECK: %[[START:.*]] = arith.muli %[[PLACE]], %c64
  // CHECK: %[[SLOT:.*]] = simt.wait_full %[[X]]
  // CHECK: simt.expand %[[SLOT]] over(d) <64, orders 1 to 2, block 8> from %[[START]]
  // CHECK: simt.release %[[X]]
  tile.kernel @panels grid(%i in t, %p in 5) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %p, %c64 : index
    %x = simt.alloc "x" : !xs
    %v = simt.alloc "v" : !v
    %s0 = tile.splat %zero : f32 -> !fe
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!fe) {
      simt.copy %vectors[u = %j], %x : !vectors, !xs
      %f = simt.expand %x over(d) <64, orders 1 to 2, block 8> from %first to(f) : !xs -> !fu
      %w = tile.map (%a = %f) : (!fu) -> !wf {
        %b = arith.truncf %a : f32 to bf16
        tile.yield %b : bf16
      }
      simt.copy %values[u = %j], %v : !values, !v
      %s = simt.dot wgmma %w, %v over(u) into %o : !wf, !v -> !fe
      scf.yield %s : !fe
    }
    tile.store %r, %states[f = %first] : !fe, !states
  }

  // Features of products that threads wait for.
  // CHECK-LABEL: tile.kernel @other_features
  // CHECK-NOT: simt.roles
  tile.kernel @other_features grid(%i in t, %p in 5) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %p, %c64 : index
    %x = simt.alloc "x" : !xs
    %v = simt.alloc "v" : !v
    %s0 = tile.splat %zero : f32 -> !fe
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!fe) {
      simt.copy %vectors[u = %j], %x : !vectors, !xs
      %f = simt.expand %x over(d) <64, orders 1 to 2, block 8> from %first to(f) : !xs -> !fu
      %w = tile.map (%a = %f) : (!fu) -> !wf {
        %b = arith.truncf %a : f32 to bf16
        tile.yield %b : bf16
      }
      simt.copy %values[u = %j], %v : !values, !v
      %s = simt.dot mma16 %w, %v over(u) into %o : !wf, !v -> !fe
      scf.yield %s : !fe
    }
    tile.store %r, %states[f = %first] : !fe, !states
  }

  // The last extent is one tile.
  // CHECK-LABEL: tile.kernel @one_tile
  // CHECK-NOT: simt.roles
  tile.kernel @one_tile grid(%i in t, %z in 1) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // Two members may be the same tile: neither may read what the other writes.
  // CHECK-LABEL: tile.kernel @read_and_written
  // CHECK-NOT: simt.roles
  tile.kernel @read_and_written grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %old = tile.load %scores[t = %first, u = %c0] : !scores -> !st
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %old) -> (!st) {
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      scf.yield %s : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }

  // What the loop carries and multiplies has room in three members. With four tiles that are added to the scores a thread would hold more than 160 registers.
  // CHECK-LABEL: tile.kernel @alive
  // CHECK: simt.roles members 2 registers 40, 232 producer
  tile.kernel @alive grid(%i in ceildiv(t, 64)) launch #simt.launch<warps = 4> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %n = tile.size "u"
    %first = arith.muli %i, %c64 : index
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %s0 = tile.splat %zero : f32 -> !st
    simt.copy %queries[t = %first], %q : !queries, !q
    %r = scf.for %j = %c0 to %n step %c64 iter_args(%o = %s0) -> (!st) {
      %a = tile.load %biases[t = %first, u = %j] : !scores -> !st
      %b = tile.load %biases[t = %j, u = %first] : !scores -> !st
      %c = tile.load %biases[t = %c0, u = %j] : !scores -> !st
      %d = tile.load %biases[t = %j, u = %c0] : !scores -> !st
      simt.copy %keys[u = %j], %k : !keys, !k
      %s = simt.dot wgmma %q, %k over(d) into %o : !q, !k -> !st
      %x = tile.map (%sv = %s, %av = %a, %bv = %b, %cv = %c, %dv = %d) : (!st, !st, !st, !st, !st) -> !st {
        %0 = arith.addf %sv, %av : f32
        %1 = arith.addf %0, %bv : f32
        %2 = arith.addf %1, %cv : f32
        %3 = arith.addf %2, %dv : f32
        tile.yield %3 : f32
      }
      scf.yield %x : !st
    }
    tile.store %r, %scores[t = %first, u = %c0] : !st, !scores
  }
}
