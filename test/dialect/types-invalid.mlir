// Messages of array types and sources.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected distinct axes, but got 'b' twice}}
!x = !taylor.array<[b, h, b]>

// -----

// expected-error @below {{expected a positive size of axis 'd', but got 0}}
!x = !taylor.array<[d = 0]>

// -----

// expected-error @below {{unsupported size of axis 't': the sizes of b, h, g, t, u and lag are known at run time only}}
!x = !taylor.array<[t = 4, d]>

// -----

// expected-error @below {{requires a size of the free axis 'j' (write 'j = 4'); axes without one are b, h, g, t, u, lag, d, e and f}}
!x = !taylor.array<[b, j]>

// -----

// expected-error @below {{unsupported array with both t and u: no T x U buffer is ever materialised; use taylor.align to move between key and query tokens}}
!x = !taylor.array<[b, t, u]>

// -----

// expected-error @below {{unsupported array with lag and t: no T x U buffer is ever materialised; a lag belongs to a query and a key}}
!x = !taylor.array<[h, t, lag]>

// -----

// expected-error @below {{unsupported array with lag and u: no T x U buffer is ever materialised; a lag belongs to a query and a key}}
!x = !taylor.array<[h, u, lag]>

// -----

// expected-error @below {{unsupported array with both h and g: a key/value head is read at h floordiv (H/G)}}
!x = !taylor.array<[h, g]>

// -----

// expected-error @below {{expected element type f64, f32, bf16, f16 or i32, but got 'i64'}}
!x = !taylor.array<[b, t], i64>

// -----

// expected-error @below {{expected the name of an axis}}
!x = !taylor.array<[3, t]>

// -----

// expected-error @below {{expected projection, parameter(..) or input, but got 'nothing'}}
#x = #taylor.source<nothing>

// -----

// expected-error @below {{expected projection or projection(bias), but got 'projection(weight)'}}
#x = #taylor.source<projection(weight)>

// -----

// expected-error @below {{expected '('}}
#x = #taylor.source<parameter>

// -----

// expected-error @below {{expected zeros, ones, constant(c), uniform(low, high) or normal(mean, deviation), but got 'random'}}
#x = #taylor.source<parameter(random)>

// -----

// expected-error @below {{expected uniform(low, high) with low <= high, but got 1.0 and -1.0}}
#x = #taylor.source<parameter(uniform(1.0, -1.0))>

// -----

// expected-error @below {{expected normal(mean, deviation) with deviation >= 0, but got -1.0}}
#x = #taylor.source<parameter(normal(0.0, -1.0))>

// -----

// expected-error @below {{expected '('}}
#x = #taylor.source<parameter(constant)>

// -----

// expected-error @below {{expected a size of axis 'j' of at most 2147483647, but got 2147483648}}
taylor.spec @endless_axis(%q: !taylor.array<[b, h, t, j = 2147483648]>) {
  taylor.yield %q : !taylor.array<[b, h, t, d]>
}
