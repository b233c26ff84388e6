// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/TensorBuffer.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace taylor;
using namespace taylor::run;
using namespace taylor::reference;

static bool isHeadAxis(AxisRef axis) { return axis == AxisRole::Head || axis == AxisRole::KeyHead; }
static bool isChannelAxis(AxisRef axis) {
  return axis != AxisRole::Batch && !isHeadAxis(axis) && !isTokenAxis(axis);
}

static int64_t widthOf(Dtype dtype) { return dtype == Dtype::F64 ? 8 : isNarrow(dtype) ? 2 : 4; }

TensorBuffer::TensorBuffer(Shape tensorShape, Dtype dtype, const Layout &layout)
    : shape(std::move(tensorShape)), dtype(dtype), width(widthOf(dtype)), strides(shape.rank(), 1) {
  std::vector<int64_t> order;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    order.push_back(axis);
  if (layout.tokensFirst) {
    auto token = llvm::find_if(order, [&](int64_t axis) { return isTokenAxis(shape.axes[axis]); });
    auto head = llvm::find_if(order, [&](int64_t axis) { return isHeadAxis(shape.axes[axis]); });
    if (token != order.end() && head != order.end() && head < token)
      std::rotate(head, token, token + 1);
  }
  int64_t elements = 1;
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = elements;
    int64_t size = std::max<int64_t>(shape.sizes[axis], 1);
    // Longer than any tile, and so that no row but the first starts at a multiple of a vector.
    if (layout.poison)
      size += isTokenAxis(shape.axes[axis]) ? 131 : isChannelAxis(shape.axes[axis]) && elements == 1 ? 3 : 0;
    if (layout.poison && layout.aligned && isChannelAxis(shape.axes[axis]) && elements == 1)
      size = llvm::alignTo(size, 16 / width);
    elements *= size;
  }
  constexpr int64_t kAfter = 300;
  const int64_t kBefore = layout.aligned ? 16 : 5;
  begin = layout.poison ? kBefore * width : 0;
  memory.assign(begin + (elements + (layout.poison ? kAfter : 0)) * width, 0xFF);
}

void TensorBuffer::forEachElement(llvm::function_ref<void(int64_t)> visit) const {
  forEachPoint(shape, [&](llvm::ArrayRef<int64_t> point) {
    int64_t element = 0;
    for (size_t axis = 0; axis < point.size(); ++axis)
      element += point[axis] * strides[axis];
    visit(begin + element * width);
  });
}

/// To nearest, ties to even, of a number that is a float already.
static uint16_t toBf16(float x) {
  uint32_t bits = llvm::bit_cast<uint32_t>(x);
  if (std::isnan(x))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static uint16_t toF16(float x) {
  llvm::APFloat number(x);
  bool isInexact;
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

static float fromF16(uint16_t bits) {
  return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits)).convertToFloat();
}

void TensorBuffer::write(llvm::ArrayRef<Real> values) {
  const Real *value = values.data();
  forEachElement([&](int64_t byte) {
    unsigned char *to = memory.data() + byte;
    auto put = [&](auto x) { std::memcpy(to, &x, sizeof(x)); };
    switch (dtype) {
    case Dtype::F32:
      put(static_cast<float>(*value));
      break;
    case Dtype::F64:
      put(static_cast<double>(*value));
      break;
    case Dtype::BF16:
      put(toBf16(static_cast<float>(*value)));
      break;
    case Dtype::F16:
      put(toF16(static_cast<float>(*value)));
      break;
    case Dtype::I32:
      put(static_cast<int32_t>(*value));
      break;
    }
    ++value;
  });
}

Array TensorBuffer::read() const {
  Array array(shape);
  Real *value = array.values.data();
  forEachElement([&](int64_t byte) {
    const unsigned char *from = memory.data() + byte;
    auto get = [&]<typename T>(T x) {
      std::memcpy(&x, from, sizeof(x));
      return x;
    };
    switch (dtype) {
    case Dtype::F32:
      *value++ = get(float());
      break;
    case Dtype::F64:
      *value++ = get(double());
      break;
    case Dtype::BF16:
      *value++ = llvm::bit_cast<float>(static_cast<uint32_t>(get(uint16_t())) << 16);
      break;
    case Dtype::F16:
      *value++ = fromF16(get(uint16_t()));
      break;
    case Dtype::I32:
      *value++ = get(int32_t());
      break;
    }
  });
  return array;
}

bool TensorBuffer::isSurroundingIntact() const {
  std::vector<bool> owned(memory.size(), false);
  forEachElement([&](int64_t byte) { std::fill_n(owned.begin() + byte, width, true); });
  for (size_t i = 0; i < memory.size(); ++i)
    if (!owned[i] && memory[i] != 0xFF)
      return false;
  return true;
}

TaylorTensor TensorBuffer::describe() {
  static constexpr int32_t kDtypes[] = {TAYLOR_F32, TAYLOR_BF16, TAYLOR_F16, TAYLOR_F64, TAYLOR_I32};
  return {
      memory.data() + begin, kDtypes[static_cast<int>(dtype)], TAYLOR_CPU, shape.rank(), shape.sizes.data(),
      strides.data()};
}

mlir::LogicalResult taylor::run::writeArguments(
    const Problem &problem, bool withGradients,
    llvm::function_ref<mlir::LogicalResult(const std::string &role, const Array &array)> write) {
  for (const NamedArray &input : problem.inputs)
    if (failed(write("input:" + input.name, input.array)))
      return mlir::failure();
  if (withGradients)
    for (const NamedArray &cotangent : problem.cotangents)
      if (failed(write("cotangent:" + cotangent.name, cotangent.array)))
        return mlir::failure();
  return mlir::success();
}

TensorBuffers::TensorBuffers(const RunOptions &options) {
  layout.tokensFirst = options.layout == "bthc";
  layout.poison = options.poison;
  layout.aligned = options.device == Device::Ptx || options.device == Device::Cuda;
}

TensorBuffer &TensorBuffers::add(const std::string &role, const Shape &shape, Dtype dtype) {
  return *(buffers[role] = std::make_unique<TensorBuffer>(shape, dtype, layout));
}

TensorBuffer *TensorBuffers::find(const std::string &role) const {
  auto it = buffers.find(role);
  return it == buffers.end() ? nullptr : it->second.get();
}

mlir::LogicalResult TensorBuffers::checkSurroundings(llvm::StringRef who) const {
  for (auto &[role, buffer] : buffers)
    if (!buffer->isSurroundingIntact())
      return fail("expected " + who + " to write inside their tensors, but got '" + role +
                  "' written outside");
  return mlir::success();
}

mlir::FailureOr<taylor::run::Outcome> TensorBuffers::readResults(const Problem &problem, llvm::StringRef of,
                                                                 bool withGradients) const {
  taylor::run::Outcome result;
  for (const NamedArray &cotangent : problem.cotangents) {
    TensorBuffer *output = find("output:" + cotangent.name);
    if (!output)
      return fail("expected an output '" + cotangent.name + "' of the " + of + ", but got none");
    result.outputs.push_back(output->read());
  }
  if (withGradients)
    for (const NamedArray &input : problem.inputs) {
      TensorBuffer *gradient = find("gradient:" + input.name);
      result.gradients.push_back(gradient ? gradient->read() : Array());
    }
  return result;
}
