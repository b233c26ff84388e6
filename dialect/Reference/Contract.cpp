// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/Contract.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace taylor::reference;

Real taylor::reference::distance(llvm::ArrayRef<Real> a, llvm::ArrayRef<Real> b) {
  assert(a.size() == b.size());
  Real square = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    // Equal infinities, or a NaN on both sides, are no difference.
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
      continue;
    Real difference = a[i] - b[i];
    if (!std::isfinite(difference))
      return std::numeric_limits<Real>::infinity();
    square += difference * difference;
  }
  return std::sqrt(square);
}

/// In the 2-norm, of the elements that are finite.
static Real normOf(llvm::ArrayRef<Real> x) {
  Real square = 0;
  for (Real element : x)
    if (std::isfinite(element))
      square += element * element;
  return std::sqrt(square);
}

/// How many times the mean square of the other draws' errors that of a draw is which has jumped. One of eight
/// draws of eight independent numbers is so in 1 case of 100; of one number in 2 of 3, where the error that
/// is allowed rises by at most 1.35.
static constexpr int kJump = 4;

Real taylor::reference::likelyError(llvm::ArrayRef<Real> draws) {
  Real mean = 0, variance = 0, largest = 0;
  for (Real error : draws) {
    mean += error * error / draws.size();
    largest = std::max(largest, error * error);
  }
  for (Real error : draws)
    variance += (error * error - mean) * (error * error - mean) / (draws.size() - 1);
  Real likely = (mean + 3 * std::sqrt(variance)) / kSquareOfDraw;
  // A jump: rounding to the nearest makes it less often than a draw does, but no smaller.
  Real others = (mean * draws.size() - largest) / (draws.size() - 1);
  if (largest > kJump * others)
    likely = std::max(likely, largest);
  return std::isfinite(likely) ? std::sqrt(likely) : 0;
}

Real Contract::getFloor(Real reference, Real eager) const {
  Real terms = getTermEpsilon();
  Real kept = isStrict ? 0 : floorPerElement * terms, cancelled = cancelledPerElement * terms;
  bool isKnown = std::isfinite(eager);
  // No digit of it is right, and none of what is as small: the terms are larger than 1.
  if (isKnown && reference < terms && eager > 16 * std::max(reference, terms / 64))
    return std::max(reference < terms / 64 ? cancelled : kept, 8 * eager);
  if (reference < terms / 64)
    return cancelled;
  bool isLost = isKnown && isNoise(reference, eager) && eager > reference / 64;
  return reference < terms && isLost ? std::clamp(16 * eager, kept, cancelled) : kept;
}

Comparison taylor::reference::compare(llvm::ArrayRef<Real> x, llvm::ArrayRef<Real> reference,
                                      llvm::ArrayRef<Real> eager, const Contract &contract) {
  Real factor = isNarrow(contract.dtype) ? Real(1.1) : 2;
  Comparison result;
  result.error = distance(x, reference);
  Real first = distance(eager, reference);
  result.eager = std::max(first, contract.eagerOverDraws);
  result.norm = normOf(reference);
  result.notFinite = llvm::count_if(reference, [](Real element) { return !std::isfinite(element); });
  for (auto [element, known] : llvm::zip_equal(x, reference))
    result.lost += std::isfinite(known) && !std::isfinite(element);
  Real elements = std::sqrt(static_cast<Real>(reference.size()));
  Real floor =
      elements > 0 ? contract.getFloor(result.norm / elements, result.eager / elements) * elements : 0;
  // A result of which eager code itself gets no digit right is the rounding of what cancels, once this way
  // and once that: two draws of the same noise differ by more than a factor of 2.
  Real ofFirst = std::isfinite(first) && contract.isNoise(result.norm, first) ? 2 * factor : factor;
  // An eager evaluation that overflows where the reference does not allows nothing.
  Real ofEager = std::isfinite(first) ? std::max(ofFirst * first, factor * contract.eagerOverDraws) : 0;
  if (reference.size() < contract.fewElements && std::isfinite(first))
    ofEager = std::max(ofEager, ofFirst * contract.peers * result.norm);
  if (!contract.takesEager())
    ofEager = 0;
  result.allowed = std::max({ofEager, contract.getRelative() * result.norm, floor});
  result.passes = result.error <= result.allowed;
  return result;
}
