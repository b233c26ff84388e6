// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Problem.h"
#include "dialect/AxisRole.h"
#include "runtime/Cache.h"
#include "runtime/Error.h"
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <charconv>
#include <cstring>

namespace taylor::bench {
namespace {

using runtime::fail;

int64_t number(const std::string &text, const std::string &whole) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    fail("expected positive whole numbers in the shape, but got '", text, "' in '", whole, "'");
  return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> pieces;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);)
    pieces.push_back(piece);
  return pieces;
}

at::Tensor initialTensor(const Initial &initial, at::IntArrayRef sizes) {
  switch (initial.kind) {
  case Initial::Kind::Zeros:
    return at::zeros(sizes);
  case Initial::Kind::Ones:
    return at::zeros(sizes).fill_(1);
  case Initial::Kind::Constant:
    return at::zeros(sizes).fill_(initial.value);
  case Initial::Kind::Uniform:
    return at::empty(sizes).uniform_(initial.low, initial.high);
  case Initial::Kind::Normal:
    return at::empty(sizes).normal_(initial.mean, initial.deviation);
  }
  return at::zeros(sizes);
}

} // namespace

Shape Shape::parse(const std::string &text) {
  Shape shape;
  std::vector<std::string> pieces = split(text, ',');
  if (text.find('=') == std::string::npos) {
    if (pieces.size() != 4)
      fail("expected a shape B,H,T,D or b=..,h=..,g=..,t=..,u=..,d=..,e=.., but got '", text, "'");
    shape.b = number(pieces[0], text);
    shape.h = shape.g = number(pieces[1], text);
    shape.t = shape.u = number(pieces[2], text);
    shape.d = shape.e = number(pieces[3], text);
    return shape;
  }
  int64_t g = 0, u = 0, e = 0;
  for (const std::string &piece : pieces) {
    if (piece.size() < 3 || piece[1] != '=' || !std::strchr("bhgtude", piece[0]))
      fail("expected an axis b, h, g, t, u, d or e with its size, but got '", piece, "' in the shape '", text,
           "'");
    int64_t value = number(piece.substr(2), text);
    switch (piece[0]) {
    case 'b':
      shape.b = value;
      break;
    case 'h':
      shape.h = value;
      break;
    case 'g':
      g = value;
      break;
    case 't':
      shape.t = value;
      break;
    case 'u':
      u = value;
      break;
    case 'd':
      shape.d = value;
      break;
    default:
      e = value;
    }
  }
  shape.g = g ? g : shape.h;
  shape.u = u ? u : shape.t;
  shape.e = e ? e : shape.d;
  if (shape.h % shape.g != 0)
    fail("expected g to divide h, but got g = ", shape.g, " and h = ", shape.h, " in the shape '", text, "'");
  return shape;
}

std::string Shape::text() const {
  std::ostringstream text;
  if (g == h && u == t && e == d)
    text << b << ',' << h << ',' << t << ',' << d;
  else
    text << "b=" << b << ",h=" << h << ",g=" << g << ",t=" << t << ",u=" << u << ",d=" << d << ",e=" << e;
  return text.str();
}

AttentionOptions Request::attention() const {
  AttentionOptions options;
  options.spec = spec;
  options.headDim = shape.d;
  options.valueDim = shape.e;
  options.dtype = scalarTypeOf(dtype);
  options.mask = mask;
  options.form = form;
  for (const std::string &setting : settings) {
    size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      fail("expected --set name=value, but got '", setting, "'");
    options.parameters[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return options;
}

std::vector<std::string> compilerCommand(const Request &request) {
  std::vector<std::string> command = {runtime::findCompiler(), request.spec,
                                      "--head-dim=" + std::to_string(request.shape.d),
                                      "--value-dim=" + std::to_string(request.shape.e)};
  for (const std::string &setting : request.settings)
    command.insert(command.end(), {"--set", setting});
  if (!request.form.empty())
    command.push_back("--form=" + request.form);
  if (!request.mask.empty())
    command.push_back("--mask=" + request.mask);
  return command;
}

int64_t visiblePairs(const Shape &shape, const std::string &mask) {
  return int64_t(runtime::visiblePairs(shape.dims(), mask != "bidirectional"));
}

double operations(const Shape &shape, const std::string &mask, bool forward, bool backward) {
  double perPair = (forward ? 2 * shape.d + 2 * shape.e : 0) + (backward ? 6 * shape.d + 4 * shape.e : 0);
  return perPair * double(shape.b * shape.h) * double(visiblePairs(shape, mask));
}

std::vector<at::Tensor> makeInputs(const Manifest &manifest, const Request &request) {
  const Shape &shape = request.shape;
  std::vector<at::Tensor> inputs;
  for (const TensorInfo &info : manifest.inputs) {
    std::vector<int64_t> sizes;
    bool queries = false, tokens = false;
    for (const TensorAxis &axis : info.axes) {
      sizes.push_back(axis.isChannel() ? axis.size : shape.dims()[size_t(axis.dim)]);
      queries |= axis.name == AxisRole::Channel;
      tokens |= axis.dim == TAYLOR_DIM_T;
    }
    at::Tensor input;
    if (info.dtype == TAYLOR_I32)
      input = at::zeros(sizes, at::kInt);
    else if (info.source.kind == Source::Kind::Parameter)
      input = initialTensor(info.source.initial, sizes);
    else if (request.layout == "bthd" && sizes.size() == 4) {
      std::swap(sizes[1], sizes[2]);
      input = at::randn(sizes).transpose(1, 2);
    } else {
      input = at::randn(sizes);
    }
    if (queries && tokens && request.logits != 1)
      input.mul_(request.logits);
    if (info.dtype != TAYLOR_I32)
      input = input.to(scalarType(info.dtype)).detach();
    inputs.push_back(input.requires_grad_(info.gradient));
  }
  return inputs;
}

at::ScalarType scalarTypeOf(const std::string &dtype) {
  if (dtype == "f32")
    return at::kFloat;
  if (dtype == "bf16")
    return at::kBFloat16;
  if (dtype == "f16")
    return at::kHalf;
  if (dtype == "f64")
    return at::kDouble;
  fail("expected dtype f32, bf16, f16 or f64, but got '", dtype, "'");
}

double median(std::vector<double> values) {
  size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + long(middle), values.end());
  double upper = values[middle];
  if (values.size() % 2)
    return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + long(middle))) / 2;
}

} // namespace taylor::bench
