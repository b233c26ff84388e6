// RUN: taylor-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected distinct axes, but got 't' twice}}
func.func private @repeated_axis(!tile.tile<[t = 64, t = 64], f32>)

// -----

// expected-error @+1 {{expected a constant size for axis 't' of a tile}}
func.func private @dynamic_tile(!tile.tile<[t], f32>)

// -----

// expected-error @+1 {{axis 'd' requires a size, as in `d = 64`: it is no role}}
func.func private @channel_without_size(!tile.array<[b, d], f32>)

// -----

// expected-error @+1 {{expected one of the roles b, h, g, t, u, lag, but got 'd'}}
func.func private @unknown_role(!tile.array<[b, i = ceildiv(d, 64)], f32>)

// -----

// expected-error @+1 {{expected one of the roles b, h, g, t, u, lag, but got 'd'}}
func.func private @unknown_role_of_parts(!tile.array<[b, p = ceildiv(4, b * d)], f32>)

// -----

// expected-error @+1 {{expected a positive size, but got 0}}
func.func private @empty_axis(!tile.tile<[t = 0], f32>)

// -----

// expected-error @+1 {{expected elements of f32, f64, bf16, f16, i32, i1 or index, but got 'i8'}}
func.func private @tile_of_bytes(!tile.tile<[t = 8], i8>)

// -----

// expected-error @+1 {{expected elements of f32, f64, bf16, f16 or i32, but got 'index'}}
func.func private @array_of_index(!tile.array<[t], index>)

// -----

// expected-error @+1 {{expected a positive number of components, but got 0}}
func.func private @features_of_nothing() attributes { f = #tile.features<0, orders 0 to 2> }

// -----

// expected-error @+1 {{expected orders 0 <= first <= last, but got 3 to 2}}
func.func private @features_backwards() attributes { f = #tile.features<4, orders 3 to 2> }

// -----

// expected-error @+1 {{expected a positive block, but got 0}}
func.func private @features_without_blocks() attributes { f = #tile.features<4, orders 0 to 2, block 0> }

// -----

// expected-error @+1 {{unsupported orders up to 8 of 128 components: they pass order 1000, or 2^31 - 1 monomials; use lower orders}}
func.func private @too_many_features() attributes { f = #tile.features<128, orders 0 to 8> }

// -----

// expected-error @+1 {{expected a size of at most 1099511627776, but got 1099511627777}}
func.func @endless_tile(%x: !tile.tile<[d = 1099511627777], f32>) {
  return
}

// -----

// One component has one monomial of each order, and a billion orders.
// expected-error @+1 {{unsupported orders up to 1000000000 of 1 components: they pass order 1000, or 2^31 - 1 monomials; use lower orders}}
#features = #tile.features<1, orders 0 to 1000000000>
