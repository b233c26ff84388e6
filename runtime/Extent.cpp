// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Extent.h"
#include "dialect/AxisRole.h"
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include <algorithm>
#include <charconv>
#include <string_view>

namespace taylor::runtime {
namespace {

/// Reads tokens of an extent from the front of a text, past blanks.
class ExtentReader {
public:
  explicit ExtentReader(std::string_view text) : rest(text) { skip(); }

  bool take(std::string_view token) {
    if (!rest.starts_with(token))
      return false;
    rest.remove_prefix(token.size());
    skip();
    return true;
  }
  bool takeNumber(int64_t &number) {
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 1)
      return false;
    rest.remove_prefix(size_t(end - rest.data()));
    skip();
    return true;
  }
  /// The run-time size's place in TaylorDim, or -1.
  int takeDim() {
    int dim = rest.empty() ? -1 : axisDim(rest.substr(0, 1));
    if (dim >= 0)
      take(rest.substr(0, 1));
    return dim;
  }
  bool atEnd() const { return rest.empty(); }

private:
  void skip() {
    while (rest.starts_with(' '))
      rest.remove_prefix(1);
  }
  std::string_view rest;
};

} // namespace

Extent Extent::parse(const std::string &text, const std::string &where) {
  ExtentReader reader(text);
  auto readProduct = [&](Product &product) {
    do {
      int64_t number = 1;
      if (reader.takeNumber(number)) {
        if (__builtin_mul_overflow(product.factor, number, &product.factor))
          return false;
      } else if (reader.take(nameOf(AxisRole::Lag))) {
        ++product.lags;
      } else if (int dim = reader.takeDim(); dim >= 0) {
        ++product.powers[dim];
      } else {
        return false;
      }
    } while (reader.take("*"));
    return true;
  };
  Extent extent;
  extent.text = text;
  bool quotient = reader.take("ceildiv(");
  bool good = readProduct(extent.numerator);
  if (quotient)
    good = good && reader.take(",") && readProduct(extent.divisor) && reader.take(")");
  if (!good || !reader.atEnd())
    fail("expected a size such as 64, t, b * g or ceildiv(t, 64) in ", where, " of the manifest, but got '",
         text, "'");
  return extent;
}

int64_t Extent::Product::evaluate(const int64_t *dims) const {
  int64_t value = factor;
  bool over = false;
  for (int dim = 0; dim < TAYLOR_DIM_OFFSET; ++dim)
    for (int i = 0; i < powers[dim]; ++i)
      over |= __builtin_mul_overflow(value, dims[dim], &value);
  for (int i = 0; i < lags; ++i) {
    int64_t sum = 0;
    over |= __builtin_add_overflow(dims[TAYLOR_DIM_T], dims[TAYLOR_DIM_U], &sum);
    over |= __builtin_add_overflow(sum, int64_t(2 * TAYLOR_LAG_MARGIN), &sum);
    over |= __builtin_mul_overflow(value, sum, &value);
  }
  return over ? -1 : value;
}

int64_t Extent::evaluate(const int64_t *dims) const {
  int64_t above = numerator.evaluate(dims), below = divisor.evaluate(dims);
  if (above < 0 || below < 0)
    return -1;
  below = std::max<int64_t>(below, 1);
  return above / below + (above % below != 0);
}

} // namespace taylor::runtime
