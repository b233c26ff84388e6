// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments against the manifest: every rule of TaylorTensor (taylor.h) is enforced here, for every caller.
// What torch's side judges before it can bind a call: torch/Required.h.
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/Overlap.h"
#include <algorithm>

namespace taylor::runtime {
namespace {

constexpr int kSizeDims = 5; // b, h, g, t, u; the offset is no size

std::string axesText(const TensorInfo &info) {
  std::vector<std::string> names;
  for (const TensorAxis &axis : info.axes)
    names.push_back(axis.name);
  return "[" + join(names, ", ") + "]";
}

const char *deviceName(int device) {
  return device == TAYLOR_CPU ? "cpu" : device == TAYLOR_CUDA ? "cuda" : "an unknown device";
}

/// Collects run-time sizes, or compares tensors with sizes that are known, and remembers which argument had
/// each first.
class DimsBuilder {
public:
  explicit DimsBuilder(Dims &dims) : dims(dims) { dims.fill(-1); }
  DimsBuilder(Dims &dims, const Dims &known) : dims(dims) { dims = known; }

  /// Checks rank and sizes of one tensor. `label` names it in messages.
  void add(const TensorInfo &info, const std::string &label, const TaylorTensor &tensor) {
    int64_t rank = int64_t(info.axes.size());
    if (tensor.rank != rank)
      fail("expected rank ", rank, " ", axesText(info), " of '", label, "', but got rank ", tensor.rank);
    if (rank > 0 && (!tensor.sizes || !tensor.strides))
      fail("requires sizes and strides of '", label, "', but got a null pointer");
    for (int64_t i = 0; i < rank; ++i) {
      const TensorAxis &axis = info.axes[i];
      int64_t size = tensor.sizes[i];
      if (size < 0)
        fail("expected a size of at least 0 of axis ", axis.name, " of '", label, "', but got ", size);
      if (axis.isChannel()) {
        if (size != axis.size)
          fail("expected size ", axis.size, " of axis ", axis.name, " of '", label, "', but got ", size);
      } else {
        const std::string *&owner = owners[axis.dim];
        if (dims[axis.dim] < 0)
          dims[axis.dim] = size;
        if (dims[axis.dim] != size)
          fail("expected size ", dims[axis.dim], " of axis ", axis.name, " of '", label, "' as of ",
               owner == &none ? "the inputs" : "'" + *owner + "'", ", but got ", size);
        if (owner == &none)
          owner = &label;
      }
    }
  }

  /// Fills in what no tensor names, and checks what concerns several sizes.
  void finish(const int64_t *offset, bool aligned, bool hasDocuments) {
    fallback(TAYLOR_DIM_B, 1);
    fallback(TAYLOR_DIM_H, dims[TAYLOR_DIM_G] < 0 ? 1 : dims[TAYLOR_DIM_G]);
    fallback(TAYLOR_DIM_G, dims[TAYLOR_DIM_H]);
    fallback(TAYLOR_DIM_T, dims[TAYLOR_DIM_U] < 0 ? 1 : dims[TAYLOR_DIM_U]);
    fallback(TAYLOR_DIM_U, dims[TAYLOR_DIM_T]);
    int64_t heads = dims[TAYLOR_DIM_H], groups = dims[TAYLOR_DIM_G];
    if (groups == 0 ? heads != 0 : heads % groups != 0)
      fail("expected a number of key/value heads that divides ", heads, ", the size of axis h of '",
           *owners[TAYLOR_DIM_H], "', but got ", groups, " in axis g of '", *owners[TAYLOR_DIM_G], "'");
    int64_t queries = dims[TAYLOR_DIM_T], keys = dims[TAYLOR_DIM_U];
    int64_t first = offset ? *offset : keys - queries;
    dims[TAYLOR_DIM_OFFSET] = first;
    checkCounts();
    if (aligned && (first < 0 || first + queries > keys))
      fail("requires 0 <= offset and offset + T <= U, as ",
           hasDocuments ? "every query stands at a key of its document"
                        : "this specification reads key arrays at query positions",
           ", but got offset ", first, ", T = ", queries, ", U = ", keys, "; give a key for every query");
    for (int i = TAYLOR_DIM_OFFSET + 1; i < TAYLOR_DIM_COUNT; ++i)
      dims[i] = 0;
  }

private:
  /// Kernels of all targets count elements and positions in 32 bits, up to a tile past the last one;
  /// addresses have 64.
  void checkCounts() {
    constexpr int64_t limit = 2147483647 - 1023;
    static const char *const names[] = {"b", "h", "g", "T", "U", "offset"};
    auto check = [&](const char *name, int64_t count) {
      if (count > limit || count < -limit)
        fail("unsupported sizes: kernels count to ", limit, ", but got ", name, " = ", count,
             "; use shorter pieces");
    };
    for (int dim = 0; dim <= TAYLOR_DIM_OFFSET; ++dim)
      check(names[dim], dims[dim]);
    check("offset + T", dims[TAYLOR_DIM_OFFSET] + dims[TAYLOR_DIM_T]);
  }

  void fallback(int dim, int64_t size) {
    if (dims[dim] < 0)
      dims[dim] = size;
  }
  Dims &dims;
  const std::string none = "no tensor";
  const std::string *owners[kSizeDims] = {&none, &none, &none, &none, &none};
};

/// The numbers of documents are the one input that ascends.
bool hasDocuments(const std::vector<TensorInfo> &infos) {
  return std::ranges::any_of(infos, &TensorInfo::ascending);
}

bool isEmpty(const TaylorTensor &tensor) {
  return std::find(tensor.sizes, tensor.sizes + tensor.rank, 0) != tensor.sizes + tensor.rank;
}

/// Whether it is the last axis, and a channel: its elements are neighbours.
bool isLastChannel(const TensorInfo &info, int64_t axis) {
  return axis + 1 == int64_t(info.axes.size()) && info.axes[size_t(axis)].isChannel();
}

/// Whether the bytes between neighbours are what code for GPUs wants that copies 16 bytes at a time.
bool isAligned16(const TensorInfo &info, int64_t axis, int64_t stride) {
  return isLastChannel(info, axis) || stride * dtypeSize(info.dtype) % 16 == 0;
}
bool isAligned16(const void *data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

/// Strides as kernels take them, unchecked: those of one element, and of a tensor without any, say nothing.
void takeStrides(const TensorInfo &info, const TaylorTensor &tensor, int64_t *strides) {
  bool empty = isEmpty(tensor);
  for (int64_t i = 0; i < tensor.rank; ++i) {
    strides[i] = tensor.sizes[i] > 1 && !empty ? tensor.strides[i] : isLastChannel(info, i);
  }
}

/// Strides and data of one present tensor; its view for the overlap check, of rank -1 where it has no
/// elements: then its strides say nothing, and may be any.
View checkMemory(const TensorInfo &info, const Slot &slot, const TaylorTensor &tensor, int64_t *strides) {
  const std::string &label = slot.label;
  int64_t element = dtypeSize(info.dtype), extent = element;
  bool empty = isEmpty(tensor);
  takeStrides(info, tensor, strides);
  for (int64_t i = 0; i < tensor.rank; ++i) {
    int64_t size = tensor.sizes[i], stride = strides[i], span;
    if (size <= 1 || empty)
      continue;
    if (stride < 0)
      fail("expected a stride of at least 0 of axis ", info.axes[i].name, " of '", label, "', but got ",
           stride);
    if (isLastChannel(info, i) && stride != 1)
      fail("expected stride 1 of the last axis ", info.axes[i].name, " of '", label, "', but got ", stride);
    if (__builtin_mul_overflow(stride, (size - 1) * element, &span) ||
        __builtin_add_overflow(extent, span, &extent))
      fail("unsupported stride ", stride, " of axis ", info.axes[i].name, " (size ", size, ") of '", label,
           "': its memory would pass 2^63 bytes");
  }
  if (empty)
    return {0, element, -1, nullptr, nullptr, 0};
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (!tensor.data)
    fail("requires data of '", label, "', but got a null pointer");
  if (address % element != 0)
    fail("expected data of '", label, "' aligned to ", element, " bytes, but got address ", tensor.data);
  View view{address, element, tensor.rank, tensor.sizes, strides, extent};
  if (slot.written && overlapsItself(view)) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < tensor.rank; ++i)
      texts.push_back(std::to_string(tensor.strides[i]));
    fail("expected strides of '", label, "' that give each element its own memory, but got [",
         join(texts, ", "), "]");
  }
  return view;
}

/// What code for GPUs asks of an array that it copies 16 bytes at a time (Slot::aligned16).
void checkAlignment(const TensorInfo &info, const std::string &label, const TaylorTensor &tensor,
                    const int64_t *strides) {
  if (!isAligned16(tensor.data))
    fail("expected data of '", label, "' aligned to 16 bytes, as the GPU's kernels read it, but got address ",
         tensor.data, "; copy it to such an address");
  int64_t multiple = 16 / dtypeSize(info.dtype);
  for (int64_t i = 0; i < tensor.rank; ++i)
    if (!isAligned16(info, i, strides[i]))
      fail("expected a stride of axis ", info.axes[size_t(i)].name, " of '", label,
           "' that is a multiple of ", multiple,
           " elements (16 bytes), as the GPU's kernels read it, but got ", strides[i],
           "; copy it to a contiguous tensor");
}

/// TensorInfo::ascending, of data on the host. Kernels compare the numbers as f32.
void checkAscending(const TensorInfo &info, const std::string &label, const TaylorTensor &tensor,
                    const int64_t *strides) {
  constexpr int32_t limit = 1 << 24;
  const auto *data = static_cast<const int32_t *>(tensor.data);
  int64_t last = tensor.rank - 1, lines = 1;
  for (int64_t i = 0; i < last; ++i)
    lines *= tensor.sizes[i];
  for (int64_t line = 0; line < lines; ++line) {
    int64_t rest = line, begin = 0;
    for (int64_t i = last - 1; i >= 0; --i) {
      begin += rest % tensor.sizes[i] * strides[i];
      rest /= tensor.sizes[i];
    }
    for (int64_t j = 0; j < tensor.sizes[last]; ++j) {
      int32_t number = data[begin + j * strides[last]];
      if (number < -limit || number > limit)
        fail("expected numbers from ", -limit, " to ", limit, " in '", label, "', but got ", number,
             " at place ", j, " of axis ", info.axes[size_t(last)].name);
      if (j > 0 && number < data[begin + (j - 1) * strides[last]])
        fail("expected ascending numbers in '", label, "', but got ", number, " after ",
             data[begin + (j - 1) * strides[last]], " at place ", j, " of axis ",
             info.axes[size_t(last)].name, "; number them in the order in which they stand");
    }
  }
}

void checkKind(const TensorInfo &info, const std::string &label, const TaylorTensor &tensor,
               TaylorDevice device) {
  if (tensor.dtype != info.dtype)
    fail("expected dtype ", dtypeName(info.dtype), " of '", label, "', but got ", dtypeName(tensor.dtype));
  // The interpreter works on the host's memory.
  TaylorDevice memory = device == TAYLOR_CUDA ? TAYLOR_CUDA : TAYLOR_CPU;
  if (tensor.device != memory)
    fail("expected device ", deviceName(memory), " of '", label, "', but got ", deviceName(tensor.device));
}

/// Whether two slots of a call may be the same memory: states that are carried in place, element by element.
bool sharesMemory(const FunctionInfo &info, int64_t written, int64_t other, const View &a, const View &b) {
  for (auto [before, behind] : info.carried)
    if (behind == written && before == other)
      return a.data == b.data && std::equal(a.strides, a.strides + a.rank, b.strides);
  return false;
}

using Views = std::array<View, kMaxTensors>;

/// Checks each tensor by itself and its sizes by `dims`, and fills `call` but for its sizes. The view of one
/// that is not there has rank -1.
Views bindTensors(const Manifest &manifest, const FunctionInfo &info, const TaylorTensor *tensors,
                  int64_t count, TaylorDevice device, bool shapesOnly, DimsBuilder &dims, BoundCall &call) {
  int64_t expected = int64_t(info.slots.size());
  if (count != expected) {
    std::vector<std::string> labels;
    for (const Slot &slot : info.slots)
      labels.push_back(slot.label);
    fail("expected ", expected, " tensors of '", info.name, "' (", join(labels, ", "), "), but got ", count);
  }
  if (count > 0 && !tensors)
    fail("requires tensors of '", info.name, "', but got a null pointer");

  Views views;
  for (int64_t i = 0; i < count; ++i) {
    const Slot &slot = info.slots[i];
    int64_t *strides = &call.strides[size_t(i) * TAYLOR_MAX_RANK];
    std::fill_n(strides, TAYLOR_MAX_RANK, 0);
    call.data[i] = nullptr;
    views[i].rank = -1;
    if (slot.optional && !tensors[i].data)
      continue;
    const TensorInfo &tensor = manifest.tensor(slot);
    checkKind(tensor, slot.label, tensors[i], device);
    dims.add(tensor, slot.label, tensors[i]);
    if (shapesOnly) {
      if (tensors[i].strides) // which only the choice of code reads
        takeStrides(tensor, tensors[i], strides);
      continue;
    }
    views[i] = checkMemory(tensor, slot, tensors[i], strides);
    if (tensor.ascending && device != TAYLOR_CUDA && views[i].rank >= 0)
      checkAscending(tensor, slot.label, tensors[i], strides);
    if (device != TAYLOR_CPU && slot.aligned16 && views[i].rank >= 0)
      checkAlignment(tensor, slot.label, tensors[i], strides);
    call.data[i] = tensors[i].data;
  }
  return views;
}

void checkRecurrent(const FunctionInfo &info, const Dims &dims) {
  int64_t queries = dims[TAYLOR_DIM_T], keys = dims[TAYLOR_DIM_U], first = dims[TAYLOR_DIM_OFFSET];
  if (info.isRecurrent && (queries != keys || first != 0))
    fail("requires queries and keys of the same tokens (T = U, offset 0) of '", info.name,
         "', as it adds them to its states one after the other, but got T = ", queries, ", U = ", keys,
         ", offset ", first);
}

void checkOverlaps(const FunctionInfo &info, const Views &views, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!info.slots[i].written || views[i].rank < 0)
      continue;
    for (int64_t j = 0; j < count; ++j)
      if (j != i && views[j].rank >= 0 && !sharesMemory(info, i, j, views[i], views[j]) &&
          !sharesMemory(info, j, i, views[j], views[i]) && overlap(views[i], views[j]))
        fail("requires memory of '", info.slots[i].label, "' that no other tensor uses, but it overlaps '",
             info.slots[j].label, "'");
  }
}

} // namespace

void bind(const Manifest &manifest, int function, const TaylorTensor *tensors, int64_t count,
          const int64_t *offset, TaylorDevice device, BoundCall &call, bool shapesOnly) {
  const FunctionInfo &info = manifest.functions[function];
  DimsBuilder dims(call.dims);
  Views views = bindTensors(manifest, info, tensors, count, device, shapesOnly, dims, call);
  dims.finish(offset, manifest.aligned, hasDocuments(manifest.inputs));
  checkRecurrent(info, call.dims);
  checkOverlaps(info, views, count);
}

void bind(const Manifest &manifest, int function, const TaylorTensor *tensors, int64_t count,
          const Dims &inferred, TaylorDevice device, BoundCall &call) {
  const FunctionInfo &info = manifest.functions[function];
  DimsBuilder dims(call.dims, inferred);
  Views views = bindTensors(manifest, info, tensors, count, device, /*shapesOnly=*/false, dims, call);
  checkRecurrent(info, call.dims);
  checkOverlaps(info, views, count);
}

bool isReadable(const TensorInfo &info, const TaylorTensor &tensor, bool aligned16) {
  if (tensor.rank != int64_t(info.axes.size()) || isEmpty(tensor))
    return true;
  if (aligned16 && !isAligned16(tensor.data))
    return false;
  int64_t strides[TAYLOR_MAX_RANK];
  takeStrides(info, tensor, strides);
  for (int64_t i = 0; i < tensor.rank; ++i)
    if (isLastChannel(info, i) ? strides[i] != 1 : aligned16 && !isAligned16(info, i, strides[i]))
      return false;
  return true;
}

Dims inferDims(const std::vector<TensorInfo> &infos, const TaylorTensor *tensors, int64_t count,
               const int64_t *offset, bool aligned) {
  if (count != int64_t(infos.size())) {
    std::vector<std::string> names;
    for (const TensorInfo &info : infos)
      names.push_back(info.name);
    fail("expected ", infos.size(), " tensors (", join(names, ", "), "), but got ", count);
  }
  Dims dims;
  DimsBuilder builder(dims);
  for (int64_t i = 0; i < count; ++i)
    builder.add(infos[i], infos[i].name, tensors[i]);
  builder.finish(offset, aligned, hasDocuments(infos));
  return dims;
}

} // namespace taylor::runtime
