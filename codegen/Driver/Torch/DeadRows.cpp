// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Torch/DeadRows.h"

using namespace mlir;
using namespace taylor;

void KeySums::add(const KeySums &other) {
  for (const std::string &mask : other.masks)
    if (!llvm::is_contained(masks, mask))
      masks.push_back(mask);
  everywhere |= other.everywhere;
}

bool KeySums::operator==(const KeySums &other) const {
  return everywhere == other.everywhere && masks.size() == other.masks.size() &&
         llvm::all_of(masks, [&](const std::string &mask) { return llvm::is_contained(other.masks, mask); });
}

KeySums DeadRows::sumsOf(ValueRange arrays) const {
  KeySums sums;
  for (Value array : arrays)
    sums.add(sumsOfValues.lookup(array));
  return sums;
}

void DeadRows::setMixed(Value value, ValueRange arrays) {
  KeySums sums;
  sums.everywhere = !sumsOf(arrays).isNone();
  setSums(value, sums);
}

std::string DeadRows::nameMask(const TorchText &mask) {
  std::string &name = nameOfMask[mask.text];
  if (name.empty()) {
    name = scope.assign("dead", mask).text;
    masks[name] = mask;
    masks[name].text = name;
    masks[name].strength = Strength::Primary;
  }
  return name;
}

std::string DeadRows::maskOf(const KeySums &sums) {
  if (sums.masks.size() == 1)
    return sums.masks.front();
  // In the order of all axes, of which a mask may lack some.
  SmallVector<AxisRef> axes;
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query})
    if (llvm::any_of(sums.masks,
                     [&](const std::string &mask) { return llvm::is_contained(masks[mask].axes, axis); }))
      axes.push_back(axis);
  TorchText joint;
  for (const std::string &mask : sums.masks) {
    TorchText one = scope.align(masks[mask], axes);
    joint = joint.text.empty()
                ? one
                : TorchText{joint.text + " & " + one.at(Strength::Power), Strength::And, axes, false, false};
  }
  return nameMask(joint);
}

TorchText DeadRows::fill(TorchText text, const KeySums &sums, ArrayRef<AxisRef> axes, StringRef number) {
  // The row is gone where t is: a reduction over heads of rows that all see nothing was 0 already.
  if (!sums.mayBeDead() || !llvm::is_contained(axes, AxisRole::Query))
    return text;
  TorchText mask = scope.align(masks[maskOf(sums)], axes);
  text.text = text.at(Strength::Power) + ".masked_fill(" + mask.text + ", " + number.str() + ")";
  text.strength = Strength::Primary;
  return text;
}

TorchText DeadRows::choose(TorchText text, const KeySums &sums, ArrayRef<AxisRef> axes, StringRef number) {
  if (text.isNumber || !sums.mayBeDead())
    return text;
  TorchText mask = scope.align(masks[maskOf(sums)], axes);
  text.text = "torch.where(" + mask.text + ", " + number.str() + ", " + text.text + ")";
  text.strength = Strength::Primary;
  return text;
}

KeySums DeadRows::leaveOut(ReduceOp op, TorchText &terms, ArrayRef<AxisRef> axes, double none) {
  auto reduced = op.getAxes().getAsValueRange<StringAttr>();
  KeySums sums = sumsOf(op.getArrays()), result;
  result.everywhere = sums.everywhere;
  bool varies = false;
  for (const std::string &name : sums.masks) {
    TorchText mask = masks[name];
    SmallVector<StringRef> along =
        llvm::filter_to_vector(reduced, [&](StringRef axis) { return llvm::is_contained(mask.axes, axis); });
    for (StringRef axis : along) {
      mask.text = mask.at(Strength::Power) + ".all(" + std::to_string(dimension(mask.axes, axis)) + ")";
      mask.axes = withoutAxis(mask.axes, axis);
      mask.strength = Strength::Primary;
    }
    varies |= !along.empty();
    result.add({{along.empty() ? name : nameMask(mask)}, false});
  }
  if (varies)
    terms = fill(terms, sums, axes, printNumber(none));
  return result;
}
