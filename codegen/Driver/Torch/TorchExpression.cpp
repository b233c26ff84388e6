// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Torch/TorchExpression.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

std::string TorchText::at(Strength around) const { return strength > around ? text : "(" + text + ")"; }

int64_t TorchText::find(AxisRef axis) const {
  for (auto [index, name] : llvm::enumerate(axes))
    if (name == axis)
      return index;
  return -1;
}

SmallVector<AxisRef> taylor::axesOf(ArrayType array) {
  SmallVector<AxisRef> axes;
  for (StringAttr axis : array.getAxes())
    axes.push_back(axis.getValue());
  return axes;
}

SmallVector<AxisRef> taylor::withoutAxis(ArrayRef<AxisRef> axes, AxisRef gone) {
  SmallVector<AxisRef> kept;
  llvm::copy_if(axes, std::back_inserter(kept), [&](StringRef axis) { return axis != gone; });
  return kept;
}

int64_t taylor::dimension(ArrayRef<AxisRef> axes, AxisRef axis) {
  return llvm::find(axes, axis) - axes.begin();
}

std::string taylor::printNumber(double value) {
  if (std::isinf(value))
    return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  char buffer[40];
  if (value == std::floor(value) && std::abs(value) < 1e7) {
    snprintf(buffer, sizeof(buffer), "%.1f", value);
    return buffer;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    if (strtod(buffer, nullptr) == value)
      break;
  }
  std::string text = buffer;
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string TorchScope::makeName(StringRef hint) {
  std::string name = hint.str();
  for (unsigned number = 2; !names.insert(name).second; ++number)
    name = hint.str() + std::to_string(number);
  return name;
}

bool TorchScope::isName(const TorchText &text) {
  return llvm::all_of(text.text, [](char c) { return isalnum(c) || c == '_'; });
}

TorchText TorchScope::assign(StringRef hint, const TorchText &expression) {
  TorchText result = expression;
  result.text = makeName(hint);
  result.strength = Strength::Primary;
  addLine(result.text + " = " + expression.text);
  return result;
}

std::string TorchScope::getSize(AxisRef axis) {
  if (auto it = sizes.find(axis); it != sizes.end())
    return it->second;
  auto source = sizeSources.find(axis);
  if (source == sizeSources.end())
    return "";
  std::string name = makeName(axis.upper());
  addLine(name + " = " + source->second);
  return sizes[axis] = name;
}

TorchText TorchScope::getIndex(AxisRef axis) {
  if (auto it = indices.find(axis); it != indices.end())
    return it->second;
  useHelper("positions");
  std::string size = getSize(axis);
  std::string start = "0";
  // Query 0 stands at U - T; without keys there is nothing to be behind.
  if (axis == AxisRole::Query && sizeSources.contains(AxisRole::Key))
    start = getSize(AxisRole::Key) + " - " + size;
  else if (axis == AxisRole::Lag)
    start = "-" + getSize(AxisRole::Query);
  TorchText index{
      "positions(" + size + ", " + start + ", " + like + ")", Strength::Primary, {axis}, false, true};
  index = assign(axis, index);
  indices[axis] = index;
  return index;
}

TorchText TorchScope::align(TorchText tensor, ArrayRef<AxisRef> axes) {
  if (tensor.isNumber)
    return tensor;
  if (int64_t group = tensor.find(AxisRole::KeyHead);
      group >= 0 && llvm::is_contained(axes, AxisRole::Head)) {
    tensor.text = tensor.at(Strength::Power) + ".repeat_interleave(" + getSize(AxisRole::Head) + " // " +
                  getSize(AxisRole::KeyHead) + ", " + std::to_string(group) + ")";
    tensor.strength = Strength::Primary;
    tensor.axes[group] = AxisRole::Head;
  }

  SmallVector<AxisRef> wanted;
  for (StringRef axis : axes)
    if (tensor.find(axis) >= 0)
      wanted.push_back(axis);
  assert(wanted.size() == tensor.axes.size() && "a tensor is aligned to axes that include its own");
  if (wanted != tensor.axes) {
    std::string order;
    for (StringRef axis : wanted)
      order += (order.empty() ? "" : ", ") + std::to_string(tensor.find(axis));
    tensor.text = tensor.at(Strength::Power) + ".permute(" + order + ")";
    tensor.strength = Strength::Primary;
    tensor.axes = wanted;
  }

  // Dimensions in front come by broadcasting; others are put where they lack, from the back.
  size_t present = tensor.axes.size();
  SmallVector<AxisRef> full;
  for (StringRef axis : axes) {
    if (present == tensor.axes.size() && full.empty() && tensor.find(axis) < 0)
      continue;
    full.push_back(axis);
  }
  if (tensor.axes.empty())
    return tensor;
  for (auto [index, axis] : llvm::enumerate(full))
    if (tensor.find(axis) < 0) {
      bool isTail =
          llvm::all_of(ArrayRef(full).drop_front(index), [&](StringRef a) { return tensor.find(a) < 0; });
      tensor.text =
          tensor.at(Strength::Power) + ".unsqueeze(" + (isTail ? "-1" : std::to_string(index)) + ")";
      tensor.strength = Strength::Primary;
    }
  tensor.axes = full;
  return tensor;
}

TorchText TorchScope::expand(TorchText tensor, ArrayRef<AxisRef> axes) {
  SmallVector<AxisRef> before(tensor.axes);
  bool hasAll = !tensor.isNumber && llvm::all_of(axes, [&](StringRef axis) {
    return llvm::is_contained(before, axis) ||
           (axis == AxisRole::Head && llvm::is_contained(before, AxisRole::KeyHead));
  });
  if (tensor.isNumber) {
    tensor.text = like + ".new_full([1], " + tensor.text + ")";
    tensor.strength = Strength::Primary;
    tensor.isNumber = false;
  } else {
    tensor = align(tensor, axes);
  }
  if (!hasAll) {
    std::string sizes;
    for (StringRef axis : axes)
      sizes += (sizes.empty() ? "" : ", ") + getSize(axis);
    tensor.text = tensor.at(Strength::Power) + ".expand(" + sizes + ")";
    tensor.strength = Strength::Primary;
  }
  tensor.axes.assign(axes.begin(), axes.end());
  return tensor;
}
