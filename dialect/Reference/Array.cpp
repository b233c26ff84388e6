// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/Array.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace taylor::reference;

int64_t Shape::find(AxisRef axis) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axis == axes[i])
      return static_cast<int64_t>(i);
  return -1;
}

int64_t Shape::sizeOf(AxisRef axis) const {
  int64_t i = find(axis);
  return i < 0 ? 1 : sizes[i];
}

int64_t Shape::count() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

void Shape::append(AxisRef axis, int64_t size) {
  axes.push_back(axis.str());
  sizes.push_back(size);
}

Shape Shape::without(llvm::ArrayRef<AxisRef> gone) const {
  Shape rest;
  for (size_t i = 0; i < axes.size(); ++i)
    if (!llvm::is_contained(gone, llvm::StringRef(axes[i])))
      rest.append(axes[i], sizes[i]);
  return rest;
}

std::string Shape::str() const {
  std::string text = "[";
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i ? ", " : "") + axes[i] + " = " + std::to_string(sizes[i]);
  return text + "]";
}

Walk::Walk(const Shape &array, const Shape &loop) {
  std::vector<int64_t> strides(array.axes.size(), 1);
  for (int64_t i = array.rank() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * array.sizes[i + 1];
  for (int64_t axis = 0; axis < loop.rank(); ++axis) {
    std::vector<int64_t> &table = steps.emplace_back(loop.sizes[axis], 0);
    int64_t own = array.find(loop.axes[axis]);
    int64_t perStep = 1;
    if (own < 0 && loop.axes[axis] == AxisRole::Head && array.has(AxisRole::KeyHead) &&
        !loop.has(AxisRole::KeyHead)) {
      own = array.find(AxisRole::KeyHead);
      perStep = array.sizes[own] ? loop.sizes[axis] / array.sizes[own] : 1;
    }
    if (own < 0)
      continue;
    for (int64_t i = 0; i < loop.sizes[axis]; ++i)
      table[i] = strides[own] * (i / perStep);
  }
}

void taylor::reference::forEachPoint(const Shape &loop,
                                     llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  if (loop.count() == 0)
    return;
  std::vector<int64_t> point(loop.axes.size(), 0);
  while (true) {
    visit(point);
    int64_t axis = loop.rank() - 1;
    while (axis >= 0 && ++point[axis] == loop.sizes[axis])
      point[axis--] = 0;
    if (axis < 0)
      return;
  }
}

void taylor::reference::roundAll(Array &array, const Rounding &rounding) {
  if (rounding.isExact())
    return;
  for (Real &value : array.values)
    value = rounding(value);
}

void taylor::reference::addTo(Array &sum, Array term, const Rounding &rounding) {
  if (sum.values.empty()) {
    sum = std::move(term);
    return;
  }
  assert(sum.values.size() == term.values.size());
  for (size_t i = 0; i < sum.values.size(); ++i)
    accumulate(sum.values[i], term.values[i], rounding);
}

bool StatesForm::isPair(int64_t t, int64_t key) const {
  if (chunk == 1 || key < 0)
    return false;
  auto callOf = [&](int64_t token) { return llvm::upper_bound(calls, token) - calls.begin(); };
  int64_t call = callOf(t), first = call ? calls[call - 1] : 0;
  return callOf(key) == call && (!chunk || (t - first) / chunk == (key - first) / chunk);
}

int64_t Environment::position(AxisRef axis, int64_t index) const {
  return axis == AxisRole::Query ? offset + index
         : axis == AxisRole::Lag ? offset + index - sizeOf(AxisRole::Key)
                                 : index;
}

int64_t Environment::sizeOf(AxisRef axis) const {
  if (axis == AxisRole::Lag)
    return sizeOf(AxisRole::Query) + sizeOf(AxisRole::Key);
  auto it = sizes.find(axis);
  return it == sizes.end() ? 1 : it->second;
}
