// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/RandomArray.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace taylor;
using namespace taylor::run;
using namespace taylor::reference;

/// SplitMix64 (Steele, Lea and Flood, 2014): a good hash of a counter.
static uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

static double uniform(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

static uint64_t keyOf(llvm::StringRef name, uint64_t seed) {
  uint64_t key = mix(seed);
  for (char c : name)
    key = mix(key ^ static_cast<unsigned char>(c));
  return key;
}

void taylor::run::fillUnreal(Array &array, llvm::StringRef name, uint64_t seed, int64_t count) {
  constexpr Real kUnreal[] = {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                              -std::numeric_limits<Real>::infinity()};
  uint64_t key = mix(keyOf(name, seed)); // other places than the numbers'
  for (int64_t i = 0; i < count && !array.values.empty(); ++i)
    array.values[mix(key + i) % array.values.size()] = kUnreal[i % 3];
}

void taylor::run::fillNormal(Array &array, llvm::StringRef name, uint64_t seed, double mean,
                             double deviation) {
  uint64_t key = keyOf(name, seed);
  for (size_t i = 0; i < array.values.size(); ++i) {
    // Box and Muller.
    double u = uniform(mix(key + 2 * i)), v = uniform(mix(key + 2 * i + 1));
    array.values[i] = mean + deviation * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
}

/// Mean of an initial distribution.
static double initialMean(SourceAttr source) {
  double first = source.getFirst().getValueAsDouble(), second = source.getSecond().getValueAsDouble();
  switch (source.getInitial()) {
  case Initial::Zeros:
    return 0;
  case Initial::Ones:
    return 1;
  case Initial::Constant:
  case Initial::Normal:
    return first;
  case Initial::Uniform:
    return (first + second) / 2;
  }
  return 0;
}

static void fillDocuments(Array &array, const Environment &environment) {
  constexpr int64_t kDocuments = 3;
  Walk walk(array.shape, array.shape);
  int64_t t = array.shape.find(AxisRole::Query), u = array.shape.find(AxisRole::Key),
          keys = std::max<int64_t>(environment.sizeOf(AxisRole::Key), 1);
  forEachPoint(array.shape, [&](llvm::ArrayRef<int64_t> point) {
    int64_t position = t >= 0 ? environment.position(AxisRole::Query, point[t]) : u >= 0 ? point[u] : 0;
    array.values[walk(point)] = std::clamp<int64_t>(position * kDocuments / keys, 0, kDocuments - 1);
  });
}

void taylor::run::fillRandom(Array &array, llvm::StringRef name, SourceAttr source, bool isInteger,
                             uint64_t seed, double scale, const Environment &environment) {
  if (isInteger)
    return fillDocuments(array, environment);
  if (source.getKind() == SourceKind::Parameter)
    return fillNormal(array, name, seed, initialMean(source), 0.25);
  fillNormal(array, name, seed, 0,
             array.shape.has(AxisRole::Query) && array.shape.has(AxisRole::Channel) ? scale : 1);
}
