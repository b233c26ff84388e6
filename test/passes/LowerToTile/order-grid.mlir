// Which blocks take longest, from the bounds of loops.
// RUN: taylor-opt %s --taylor-order-grid | FileCheck %s

!k = !tile.array<[b, h, u, d = 64], bf16>
!s = !tile.array<[u], f32>
!ud = !tile.tile<[u = 64, d = 64], bf16>

tile.program @forward {
  %k = tile.tensor "input:k" : !k
  %s = tile.tensor "input:s" : !s
  %o = tile.tensor "output:o" optional : !s

  // Causal: up to the block's last query. Each key is 128 bytes, read twice, and 4 of its own number.
  // CHECK: tile.kernel @rising grid(%{{.*}} in b, %{{.*}} in h, %{{.*}} in ceildiv(t, 64)) longest(last, u * 132) {
  tile.kernel @rising grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %t1 = arith.addi %t0, %c64 : index
    %U = tile.size "u"
    %end = arith.minsi %t1, %U : index
    scf.for %u0 = %c0 to %end step %c64 {
      %x = tile.load %k[b = %b, h = %h, u = %u0] : !k -> !ud
      %y = tile.load %k[b = %b, h = %h, u = %u0, d = %c32] : !k -> !ud
      %z = tile.load %s[u = %u0] : !s -> !tile.tile<[u = 64], f32>
      // Of the block alone.
      %w = tile.load %s[u = %t0] : !s -> !tile.tile<[u = 64], f32>
    }
  }

  // Queries after the block's keys; where there are none, the loop is empty. Nothing is read over tokens.
  // CHECK: tile.kernel @falling grid({{.*}}) longest(first) {
  tile.kernel @falling grid(%b in b, %i in ceildiv(u, 64)) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %u0 = arith.muli %i, %c64 : index
    %T = tile.size "t"
    %heads = tile.size "h"
    %end = arith.maxsi %T, %u0 : index
    scf.for %h = %c0 to %heads step %c1 {
      scf.for %t0 = %u0 to %end step %c64 {
      }
    }
  }

  // A choice that is the same for all blocks: none of the keys where a result is not asked for.
  // CHECK: tile.kernel @asked grid({{.*}}) longest(last) {
  tile.kernel @asked grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %asked = tile.requested %o : !s
    %end = arith.select %asked, %t0, %c0 : index
    scf.for %u0 = %c0 to %end step %c64 {
    }
  }

  // A choice by block: it may be either.
  // CHECK: tile.kernel @either grid({{.*}}ceildiv(t, 64)) {
  tile.kernel @either grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %is = arith.cmpi slt, %i, %c3 : index
    %end = arith.select %is, %t0, %c0 : index
    scf.for %u0 = %c0 to %end step %c64 {
    }
  }

  // -(-end) too, and two loops of which one begins where the other one ends.
  // CHECK: tile.kernel @split grid({{.*}}) longest(last) {
  tile.kernel @split grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %m64 = arith.constant -64 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %m64 : index
    %end = arith.subi %c64, %t0 : index
    %half = arith.divsi %end, %c2 : index
    scf.for %j = %c0 to %half step %c64 {
    }
    scf.for %j = %half to %end step %c64 {
    }
  }

  // A window moves at both ends.
  // CHECK: tile.kernel @window grid(%{{.*}} in ceildiv(t, 64)) {
  tile.kernel @window grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %t0 = arith.muli %i, %c64 : index
    %t1 = arith.addi %t0, %c64 : index
    %before = arith.subi %t0, %c128 : index
    %begin = arith.maxsi %before, %c0 : index
    scf.for %j = %begin to %t1 step %c64 {
    }
  }

  // All keys for all queries.
  // CHECK: tile.kernel @fixed grid(%{{.*}} in ceildiv(t, 64)) {
  tile.kernel @fixed grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %U = tile.size "u"
    scf.for %j = %c0 to %U step %c64 {
    }
  }

  // Each block's share of the tokens, by the number of blocks.
  // CHECK: tile.kernel @shares grid(%{{.*}} in ceildiv(512, b)) {
  tile.kernel @shares grid(%p in ceildiv(512, b)) {
    %B = tile.size "b"
    %c8 = arith.constant 8 : index
    %c512 = arith.constant 512 : index
    %parts = arith.ceildivsi %c512, %B : index
    %begin = arith.muli %p, %c8 : index
    %step = arith.muli %parts, %c8 : index
    scf.for %j = %begin to %c512 step %step {
    }
  }

  // Longer steps: fewer of them.
  // CHECK: tile.kernel @strides grid(%{{.*}} in ceildiv(t, 64)) longest(first) {
  tile.kernel @strides grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %U = tile.size "u"
    %step = arith.addi %i, %c64 : index
    scf.for %j = %c0 to %U step %step {
    }
  }

  // A product of two numbers may rise or fall.
  // CHECK: tile.kernel @unknown grid(%{{.*}} in ceildiv(t, 64)) {
  tile.kernel @unknown grid(%i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %offset = tile.size "offset"
    %end = arith.muli %i, %offset : index
    scf.for %j = %c0 to %end step %c64 {
    }
  }

  // What was said before no longer holds.
  // CHECK: tile.kernel @stale grid(%{{.*}} in ceildiv(t, 64)) {
  tile.kernel @stale grid(%i in ceildiv(t, 64)) longest(last, u * 4) {
  }
}
