// A kernel that loops over keys also stores what one over the same tokens would have computed for it.
// RUN: taylor-opt %s --taylor-join-rows | FileCheck %s

!q = !taylor.array<[b, h, t, d = 16], f32>
!k = !taylor.array<[b, g, u, d = 16], f32>
!v = !taylor.array<[b, g, u, e = 16], f32>
!o = !taylor.array<[b, h, t, e = 16], f32>
!row = !taylor.array<[b, h, t], f32>

// The kernel of keys, which reads the queries too, comes after it.
// CHECK-LABEL: taylor.function @joined
// CHECK:         %[[Q:.*]] = taylor.map
// CHECK-NEXT:    %[[DQ:.*]] = taylor.pairwise
// CHECK:         fusion.kernel pairs stage 1 grid(b, g) {
// CHECK:         fusion.kernel local stage 1 grid(b, h, t) {
// CHECK-NEXT:      fusion.store %[[Q]] in workspace
// CHECK-NEXT:      fusion.store %[[DQ]] as ["gradient:q"]
// CHECK-NEXT:    }
// CHECK-NEXT:    taylor.yield
taylor.function @joined of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) plan #tile.plan<kernels = joined> {
  %qr = taylor.map %q * 2.0 : !q
  %dq = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> rows(p * exp(s), %k) : !q, !k, !o, !v -> !q
  %dk = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p * exp(s), %qr) : !q, !k, !o, !v -> !k
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 1 grid(b, h, t) {
    fusion.store %dq as ["gradient:q"] : !q
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// Without kernels=joined nothing moves, and with operands of two numbers neither.
// CHECK-LABEL: taylor.function @not_asked
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
taylor.function @not_asked of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) {
  %qr = taylor.map %q * 2.0 : !q
  %dq = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> rows(p * exp(s), %k) : !q, !k, !o, !v -> !q
  %dk = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p * exp(s), %qr) : !q, !k, !o, !v -> !k
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 1 grid(b, h, t) {
    fusion.store %dq as ["gradient:q"] : !q
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// CHECK-LABEL: taylor.function @split_operands
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
taylor.function @split_operands of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) plan #tile.plan<kernels = joined, operands = split> {
  %qr = taylor.map %q * 2.0 : !q
  %dq = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> rows(p * exp(s), %k) : !q, !k, !o, !v -> !q
  %dk = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p * exp(s), %qr) : !q, !k, !o, !v -> !k
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 1 grid(b, h, t) {
    fusion.store %dq as ["gradient:q"] : !q
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// A kernel before it reads the queries.
// CHECK-LABEL: taylor.function @read_before
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
taylor.function @read_before of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) plan #tile.plan<kernels = joined> {
  %qr = taylor.map %q * 2.0 : !q
  %dq = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> rows(p * exp(s), %k) : !q, !k, !o, !v -> !q
  %dk = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p * exp(s), %qr) : !q, !k, !o, !v -> !k
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 2 grid(b, h, t) {
    fusion.store %dq as ["gradient:q"] : !q
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}

// A block has no room for the queries: 64 of them have 16 numbers of 4 bytes.
// CHECK-LABEL: taylor.function @crowded
// CHECK:         fusion.kernel local stage 0 grid(b, h, t) {
taylor.function @crowded of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o, "saved:z" %z: !row) plan #tile.plan<kernels = joined, block_bytes = 4095> {
  %qr = taylor.map %q * 2.0 : !q
  %dq = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> rows(p * exp(s), %k) : !q, !k, !o, !v -> !q
  %dk = taylor.pairwise { s = dot(%qr, %k), p = dot(%do, %v) } visible(u <= t) -> columns(p * exp(s), %qr) : !q, !k, !o, !v -> !k
  fusion.keep %qr because "every block of keys reads it" : !q
  fusion.kernel pairs stage 1 grid(b, g) {
    fusion.sum %dk : !k
    fusion.store %dk as ["gradient:k"] : !k
  }
  fusion.kernel local stage 1 grid(b, h, t) {
    fusion.store %dq as ["gradient:q"] : !q
  }
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %qr in workspace : !q
  }
  taylor.yield "gradient:q" %dq, "gradient:k" %dk : !q, !k
}
