// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Decoder.h"
#include "runtime/Call.h"
#include "runtime/torch/Aten.h"
#include "runtime/torch/Call.h"
#include "runtime/torch/Required.h"
#include "runtime/torch/Results.h"
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <c10/core/GradMode.h>

namespace taylor {
namespace {

/// Place of an input's token axis, or -1.
int64_t tokenAxis(const TensorInfo &info) {
  for (size_t i = 0; i < info.axes.size(); ++i)
    if (info.axes[i].dim == TAYLOR_DIM_T || info.axes[i].dim == TAYLOR_DIM_U)
      return int64_t(i);
  return -1;
}

/// Place of the batch's axis, or -1.
int64_t batchAxis(const TensorInfo &info) {
  for (size_t i = 0; i < info.axes.size(); ++i)
    if (info.axes[i].dim == TAYLOR_DIM_B)
      return int64_t(i);
  return -1;
}

/// Room in a cache for so many tokens: it is seldom copied, and its rows begin where vectors may.
int64_t roomFor(int64_t tokens) { return std::max<int64_t>(2 * tokens + 15, 64) / 16 * 16; }

/// A tensor with room for as many tokens as `shape` says along `axis`, and the first `tokens` of `cache`.
at::Tensor enlarge(const at::Tensor &cache, std::vector<int64_t> shape, const at::TensorOptions &options,
                   int64_t axis, int64_t tokens) {
  at::Tensor larger = at::empty(shape, options);
  if (tokens > 0)
    larger.narrow(axis, 0, tokens).copy_(cache.narrow(axis, 0, tokens));
  return larger;
}

/// The attention with a function `step` of the kind that the compiler chooses; over all keys where it cannot
/// compile that; or without where it has none.
Attention compileSteps(AttentionOptions options) {
  options.forwardOnly = !options.spec.ends_with(".so"); // which is compiled already
  for (const char *kind : {"auto", "cache"}) {
    options.decode = kind;
    try {
      return Attention(options);
    } catch (const c10::Error &) {
      // What is wrong with the specification itself is said again below.
    }
  }
  options.decode.clear();
  return Attention(options);
}

} // namespace

Decoder::Decoder(AttentionOptions options) : attention(compileSteps(std::move(options))), how(Kind::Whole) {
  const Manifest &manifest = attention.manifest();
  for (const TensorInfo &info : manifest.inputs)
    (info.isState() ? states : given).push_back(info);
  for (const TensorInfo &info : manifest.outputs)
    if (!info.isState())
      made.push_back(info);
  int step = manifest.function("step");
  if (step < 0)
    return;
  const runtime::FunctionInfo &info = manifest.functions[size_t(step)];
  // Who reads no key does not know how many there are (`size(u)`).
  bool readsKeys = std::any_of(info.slots.begin(), info.slots.end(), [&](const runtime::Slot &slot) {
    const std::vector<TensorAxis> &axes = manifest.tensor(slot).axes;
    return std::any_of(axes.begin(), axes.end(),
                       [](const TensorAxis &axis) { return axis.dim == TAYLOR_DIM_U; });
  });
  if (info.isRecurrent)
    how = Kind::State;
  else if (readsKeys)
    how = Kind::Cache;
}

template <typename Visit>
void Decoder::forEachLastingAxis(const std::vector<at::Tensor> &inputs, Visit visit) const {
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t j = 0; j < given[i].axes.size(); ++j)
      if (const TensorAxis &axis = given[i].axes[j]; !axis.isChannel() && axis.dim <= TAYLOR_DIM_G)
        visit(given[i], axis, inputs[i].size(int64_t(j)));
}

int64_t Decoder::check(const std::vector<at::Tensor> &inputs, const Memory &memory) const {
  using runtime::fail;
  if (inputs.size() != given.size())
    failCount(given, given.size(), inputs.size());
  std::vector<TaylorTensor> views;
  std::optional<size_t> first; // of the inputs with tokens
  int64_t added = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorInfo &info = given[i];
    Required<Aten>::given(inputs[i], info.name);
    if (info.source.kind != Source::Kind::Parameter)
      Required<Aten>::dtype(inputs[i], info.name, scalarType(info.dtype), ", for which the decoder was made");
    views.push_back(describe(inputs[i]));
    int64_t axis = tokenAxis(info);
    if (axis < 0 || inputs[i].dim() != int64_t(info.axes.size()))
      continue; // its rank is refused below
    if (!first) {
      first = i;
      added = inputs[i].size(axis);
    } else if (inputs[i].size(axis) != added) {
      fail("expected ", added, " new tokens of '", info.name, "', as of '", given[*first].name, "', but got ",
           inputs[i].size(axis));
    }
  }
  if (preparesKeys() && memory.tokens > 0)
    for (size_t i = 0; i < keptInfos().size(); ++i)
      if (memory.cache.size() != keptInfos().size() || !memory.cache[i].defined() ||
          memory.cache[i].dim() != int64_t(keptInfos()[i].axes.size()))
        fail("expected a memory with prepared keys ('", keptInfos()[i].name,
             "'), but got one of another decoder or version; begin the sequence anew");
  runtime::inferDims(given, views.data(), int64_t(views.size()), /*offset=*/nullptr, /*aligned=*/false);
  forEachLastingAxis(inputs, [&](const TensorInfo &info, const TensorAxis &axis, int64_t size) {
    if (int64_t before = memory.sizes[size_t(axis.dim)]; before >= 0 && size != before)
      fail("expected size ", before, " of axis ", axis.name, " of '", info.name,
           "', as of the tokens so far, but got ", size);
  });
  return added;
}

at::Tensor Decoder::extend(const std::vector<at::Tensor> &inputs, Memory &memory) const {
  c10::NoGradGuard noGrad;
  int64_t added = checked([&] { return check(inputs, memory); });
  if (memory.states.empty()) {
    std::vector<at::Tensor> begun = inputs;
    appendAbsent(attention.manifest(), begun);
    memory.states.assign(begun.begin() + long(given.size()), begun.end());
  }
  std::vector<at::Tensor> all = how == Kind::State || preparesKeys() ? inputs : keep(inputs, added, memory);
  at::Tensor output;
  if (preparesKeys()) {
    makeRoom(inputs, added, memory);
    output = attention.decode(inputs, memory.cache, memory.states, memory.tokens).front();
  } else if (how != Kind::Whole && added <= runtime::kMostSteps) {
    output = attention.step(all, memory.states).front();
  } else {
    all.insert(all.end(), memory.states.begin(), memory.states.end());
    std::vector<at::Tensor> results = attention.callAll(all);
    std::copy(results.begin() + long(made.size()), results.end(), memory.states.begin());
    output = results.front();
    if (int64_t axis = tokenAxis(made.front()); how == Kind::Whole && axis >= 0)
      output = output.narrow(axis, memory.tokens, added);
  }
  memory.tokens += added;
  forEachLastingAxis(inputs, [&](const TensorInfo &, const TensorAxis &axis, int64_t size) {
    memory.sizes[size_t(axis.dim)] = size;
  });
  return output;
}

int64_t Decoder::bytes(const Memory &memory) const {
  int64_t total = 0;
  for (const at::Tensor &state : memory.states)
    total += int64_t(state.nbytes());
  for (size_t i = 0; i < memory.cache.size(); ++i)
    if (at::Tensor cache = memory.cache[i]; cache.defined()) {
      if (int64_t axis = tokenAxis(keptInfos()[i]); axis >= 0)
        cache = cache.narrow(axis, 0, memory.tokens);
      total += int64_t(cache.numel() * cache.element_size());
    }
  return total;
}

bool Decoder::joinsAnyLength() const {
  return how == Kind::State && std::all_of(states.begin(), states.end(),
                                           [](const TensorInfo &info) { return batchAxis(info) >= 0; });
}

Decoder::Memory Decoder::gather(const std::vector<Place> &places) const {
  TORCH_CHECK(!places.empty(), "taylor: expected sequences to gather, but got none");
  Memory result;
  result.sizes = places[0].memory->sizes;
  if (result.sizes[TAYLOR_DIM_B] >= 0)
    result.sizes[TAYLOR_DIM_B] = int64_t(places.size());
  for (const Place &place : places) {
    TORCH_CHECK(joinsAnyLength() || place.memory->tokens == places[0].memory->tokens,
                "taylor: expected sequences of ", places[0].memory->tokens, " tokens, as the first, but got ",
                place.memory->tokens);
    result.tokens = std::max(result.tokens, place.memory->tokens);
  }
  // One tensor of each sequence, along `axis`; what the batch shares is as in the first.
  auto collect = [&](const TensorInfo &info, auto tensorOf) {
    int64_t axis = batchAxis(info);
    if (axis < 0)
      return tensorOf(*places[0].memory);
    std::vector<at::Tensor> rows;
    for (const Place &place : places)
      rows.push_back(tensorOf(*place.memory).narrow(axis, place.row, 1));
    return at::cat(rows, axis);
  };
  for (size_t i = 0; i < places[0].memory->states.size(); ++i)
    result.states.push_back(collect(states[i], [i](const Memory &memory) { return memory.states[i]; }));
  for (size_t i = 0; i < places[0].memory->cache.size(); ++i) {
    at::Tensor first = places[0].memory->cache[i];
    if (!first.defined()) {
      result.cache.emplace_back();
      continue;
    }
    int64_t axis = tokenAxis(keptInfos()[i]), room = axis < 0 ? 0 : first.size(axis);
    for (const Place &place : places)
      room = axis < 0 ? 0 : std::min(room, place.memory->cache[i].size(axis));
    result.cache.push_back(collect(keptInfos()[i], [=](const Memory &memory) {
      return axis < 0 ? memory.cache[i] : memory.cache[i].narrow(axis, 0, room);
    }));
  }
  return result;
}

void Decoder::makeRoom(const std::vector<at::Tensor> &inputs, int64_t added, Memory &memory) const {
  const Manifest &manifest = attention.manifest();
  memory.cache.resize(manifest.cache.size());
  for (size_t i = 0; i < manifest.cache.size(); ++i) {
    const TensorInfo &info = manifest.cache[i];
    at::Tensor &cache = memory.cache[i];
    int64_t axis = info.keyAxis(), size = memory.tokens + added;
    if (cache.defined() && (axis < 0 || cache.size(axis) >= size))
      continue;
    std::vector<int64_t> shape;
    for (const TensorAxis &one : info.axes)
      shape.push_back(one.isChannel() ? one.size : 1);
    for (size_t j = 0; j < given.size(); ++j)
      for (size_t k = 0; k < given[j].axes.size(); ++k)
        for (size_t l = 0; l < info.axes.size(); ++l)
          if (!info.axes[l].isChannel() && info.axes[l].dim == given[j].axes[k].dim)
            shape[l] = inputs[j].size(int64_t(k));
    at::TensorOptions options = inputs[0].options().dtype(scalarType(info.dtype));
    if (axis < 0) {
      cache = at::zeros(shape, options);
      continue;
    }
    shape[size_t(axis)] = roomFor(size);
    cache = enlarge(cache, shape, options, axis, memory.tokens);
  }
}

std::vector<at::Tensor> Decoder::keep(const std::vector<at::Tensor> &inputs, int64_t added,
                                      Memory &memory) const {
  memory.cache.resize(inputs.size());
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < given.size(); ++i) {
    int64_t axis = tokenAxis(given[i]);
    bool kept = axis >= 0 && (how == Kind::Whole || given[i].axes[size_t(axis)].dim == TAYLOR_DIM_U);
    if (!kept) {
      all.push_back(inputs[i]);
      continue;
    }
    at::Tensor &cache = memory.cache[i];
    int64_t size = memory.tokens + added;
    if (!cache.defined() || cache.size(axis) < size) {
      std::vector<int64_t> shape = inputs[i].sizes().vec();
      shape[size_t(axis)] = roomFor(size);
      cache = enlarge(cache, shape, inputs[i].options(), axis, memory.tokens);
    }
    cache.narrow(axis, memory.tokens, added).copy_(inputs[i]);
    all.push_back(cache.narrow(axis, 0, size));
  }
  return all;
}

} // namespace taylor
