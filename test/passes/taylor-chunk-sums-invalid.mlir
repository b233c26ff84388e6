// What has no chunked form says so where it stands.
// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s --split-input-file --verify-diagnostics
// RUN: not taylor-opt --taylor-chunk-sums="chunk=-1" %S/taylor-chunk-sums.mlir 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: expected a positive unit, balance, far-balance and feature-block, and no negative chunk and near-bytes

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @clamp.forward of @clamp("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: 'min' of a pair is no finite sum of powers of one inner product; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k), w = min(s, 5.0) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @exponential.forward of @exponential("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: 'exp' of a pair is no finite sum of powers of one inner product; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @window.forward of @window("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: a condition on what a query sees beside u <= t and one document; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t, t < u + 9.0) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @divided.forward of @divided("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: a weight is divided by what depends on a pair; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(1.0 / s, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @maximum.forward of @maximum("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: its weights are exponentials, of scores or decays, which a running maximum shifts; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k), m = maximum(s) } visible(u <= t) -> rows(s - m, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @mixed.forward of @mixed("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "input:c" %c: !column) sources [projection, projection, projection, input, input] {
  // expected-error @below {{unsupported chunked form: its terms do not all decay alike; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%a - %c) + s, %v) : !q, !k, !row, !column, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
taylor.function @lags.forward of @lags("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %gain = taylor.map 1.0 + lag -> !taylor.array<[lag]>
  // expected-error @below {{unsupported chunked form: a weight reads an array with lag; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * %gain, %v) : !q, !k, !taylor.array<[lag]>, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

// A window of softmax beside a recurrence over all keys: the recurrence has states, and the window stays.
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
taylor.function @mixture.forward of @mixture("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-warning @below {{this sum stays over pairs: a condition on what a query sees beside u <= t and one document; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t, t < u + 8.0) -> rows(exp(s), %v) : !q, !k, !v -> !o
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o, "output:n" %n : !o, !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @decay_of_all.forward of @decay_of_all("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:a" %a: !row, "input:c" %c: !column) sources [projection, projection, projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: a decay between all queries and keys; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s * exp(%a - %c), %v) : !q, !k, !row, !column, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!column = !taylor.array<[b, g, u]>
!rows = !taylor.array<[b, g, t]>
taylor.function @documents_of_heads.forward of @documents_of_heads("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:n" %n: !column) sources [projection, projection, projection, projection] {
  %number = taylor.scan max over(u) %n : !column
  %of = taylor.align %number to t : !column
  // expected-error @below {{unsupported chunked form: documents of each head; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(and(u <= t, %of == %number)) -> rows(s, %v) : !q, !k, !rows, !column, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @second.forward of @second("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:p" %p: !q) sources [projection, projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: a weight has a power of a second inner product; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k), r = dot(%p, %k) } visible(u <= t) -> rows(s * s * r * r) : !q, !k, !q -> !row
  taylor.yield "output:o" %o : !row
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @orders.forward of @orders("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: its series has orders above 64; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(pow(s, 65.0), %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @decays.forward of @decays("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:f" %f: !row, "input:g" %g: !column) sources [projection, projection, projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: its terms do not all decay alike; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%f - %g) + exp(%f - 2.0 * %g), %v) : !q, !k, !row, !column, !v -> !o
  taylor.yield "output:o" %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
taylor.function @exponent.forward of @exponent("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:f" %f: !row, "input:g" %g: !column) sources [projection, projection, projection, projection, projection] {
  // expected-error @below {{unsupported chunked form: an exponent is no sum of what the query and what the key know alone; it needs sums of finitely many powers of one inner product, with factors of the query and of the key, over all keys, those of the query's document or those with u <= t; use the parallel form}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s * exp(%f * %g), %v) : !q, !k, !row, !column, !v -> !o
  taylor.yield "output:o" %o : !o
}
