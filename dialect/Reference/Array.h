// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays with named axes, and walks over several of them at once, broadcast by name.
#ifndef TAYLOR_DIALECT_REFERENCE_ARRAY_H
#define TAYLOR_DIALECT_REFERENCE_ARRAY_H

#include "dialect/AxisRef.h"
#include "dialect/Reference/Precision.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace taylor::reference {

/// Axes by name, each with its size: the shape of an array, or the points of a loop. Row major.
struct Shape {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;

  /// Place of an axis, or -1.
  int64_t find(AxisRef axis) const;
  bool has(AxisRef axis) const { return find(axis) >= 0; }
  /// Size of an axis; 1 where there is none.
  int64_t sizeOf(AxisRef axis) const;
  int64_t count() const;
  int64_t rank() const { return static_cast<int64_t>(axes.size()); }
  void append(AxisRef axis, int64_t size);
  /// The shape without some axes.
  Shape without(llvm::ArrayRef<AxisRef> gone) const;
  bool operator==(const Shape &other) const { return axes == other.axes && sizes == other.sizes; }
  /// "[b = 1, t = 64]"
  std::string str() const;
};

/// Values in row-major order. Integers are stored as reals: exactly.
struct Array {
  Shape shape;
  std::vector<Real> values;

  Array() = default;
  explicit Array(Shape shape, Real fill = 0) : shape(std::move(shape)), values(this->shape.count(), fill) {}
};

/// Where an array is read at the points of a loop. An axis that the array lacks does not move it; a `g` array
/// in a loop over `h` is read at h floordiv (H/G).
class Walk {
public:
  Walk(const Shape &array, const Shape &loop);
  /// Element of the array at a point of the loop.
  int64_t operator()(llvm::ArrayRef<int64_t> point) const {
    int64_t offset = 0;
    for (size_t axis = 0; axis < point.size(); ++axis)
      offset += steps[axis][point[axis]];
    return offset;
  }

private:
  /// steps[axis][index]: what an index along an axis of the loop adds.
  std::vector<std::vector<int64_t>> steps;
};

/// Calls `visit` at every point of a loop, the last axis fastest.
void forEachPoint(const Shape &loop, llvm::function_ref<void(llvm::ArrayRef<int64_t> point)> visit);

/// sum += x, rounded.
inline void accumulate(Real &sum, Real x, const Rounding &rounding) { sum = rounding(sum + x); }
/// Every element rounded.
void roundAll(Array &array, const Rounding &rounding);
/// sum += term elementwise, rounded; an empty sum becomes the term.
void addTo(Array &sum, Array term, const Rounding &rounding);

/// Which keys reach a query through a state, in eager code of the chunked and the recurrent form.
struct StatesForm {
  /// Tokens of a chunk; 0: states lie between calls alone. 1: the recurrent form, in which a token is part of
  /// the state that its own query reads.
  int64_t chunk = 0;
  /// The tokens where the calls after the first begin (t = u).
  std::vector<int64_t> calls;

  bool hasStates() const { return chunk || !calls.empty(); }
  /// Whether query t meets a key as a pair: keys are counted from the key of query 0.
  bool isPair(int64_t t, int64_t key) const;
  bool operator==(const StatesForm &other) const { return chunk == other.chunk && calls == other.calls; }
};

/// The pairs that a sum is evaluated over: all, or those that a form with states has as pairs, or the others.
enum class PairsPart { All, Pairs, ThroughStates };

/// What the evaluation of one specification depends on, besides its inputs.
struct Environment {
  /// Sizes of all axes in use: b, h, g, t, u, d, e and the others.
  AxisMap<int64_t> sizes;
  /// Position of query 0.
  int64_t offset = 0;
  /// Values of free parameters.
  llvm::StringMap<Real> parameters;
  RoundingRules arithmetic;
  /// Heads evaluated at a time; results do not depend on it.
  int threads = 1;
  /// The forms of sums and of their derivatives (ThroughStates.h); one of them where `part` says so.
  StatesForm forward, backward;
  PairsPart part = PairsPart::All;
  /// Whether a pair belongs to `part`.
  bool visits(int64_t t, int64_t u) const {
    return part == PairsPart::All || forward.isPair(t, u - offset) == (part == PairsPart::Pairs);
  }

  /// The size of an axis; of lag T + U, of which index 0 belongs to no pair.
  int64_t sizeOf(AxisRef axis) const;
  /// The value of `taylor.index` at index i: a position on t and u, a difference of two on lag.
  int64_t position(AxisRef axis, int64_t index) const;
  /// The index along lag of a pair.
  int64_t lagOf(int64_t t, int64_t u) const { return t - u + sizeOf(AxisRole::Key); }
};

} // namespace taylor::reference

#endif
