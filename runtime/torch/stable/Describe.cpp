// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/stable/Describe.h"
#include "runtime/torch/ProblemOf.h"
#include "runtime/torch/stable/Lines.h"
#include "runtime/torch/stable/Names.h"
#include <charconv>
#include <nlohmann/json.hpp>

namespace taylor {
namespace {

thread_local std::string answer, message;

template <typename Body> const char *answered(Body body) {
  try {
    answer = body();
    return answer.c_str();
  } catch (const std::exception &error) {
    message = error.what();
    return nullptr;
  }
}

/// A torch of descriptions alone, for the rules that say which kernel serves a call.
struct Described {
  using Tensor = TaylorDescribedInput;
  using Device = std::string_view;
  using ScalarType = torch::headeronly::ScalarType;

  static bool defined(const Tensor &) { return true; }
  static ScalarType dtype(const Tensor &tensor) { return static_cast<ScalarType>(tensor.dtype); }
  static Device device(const Tensor &tensor) { return tensor.device; }
  static int64_t rank(const Tensor &tensor) { return tensor.rank; }
  static int64_t size(const Tensor &tensor, int64_t axis) { return tensor.sizes[axis]; }
  static std::string name(ScalarType dtype) { return pythonName(dtype); }
  static std::string conversion(const std::string &name, ScalarType dtype) {
    return pythonConversion(name, dtype);
  }
  static bool isCuda(Device device) { return device.starts_with("cuda"); }
  static bool isMeta(Device device) { return device == "meta"; }
  static int index(Device device) {
    int index = 0;
    size_t colon = device.find(':');
    if (colon != Device::npos)
      std::from_chars(device.data() + colon + 1, device.data() + device.size(), index);
    return index;
  }
  static Device name(Device device) { return device; }
};

} // namespace
} // namespace taylor

using namespace taylor;

const char *taylor_describe_program(const char *spec, const char *options) {
  return answered([&] {
    auto program = Program::find(linesOf(spec), options);
    nlohmann::json description = {{"identity", program->identity()}, {"telling", program->dtypeInput}};
    return "{\"manifest\": " + program->signature().text + ", " + description.dump().substr(1);
  });
}

const char *taylor_describe_call(const char *spec, const char *options, const TaylorDescribedInput *inputs,
                                 int64_t count) {
  return answered([&] {
    auto program = Program::find(linesOf(spec), options);
    return ProblemOf<Described>::manifestFor(*program, {inputs, size_t(count)}).text;
  });
}

const char *taylor_describe_kernel(const char *spec, const char *options, const char *dtype, int64_t d,
                                   int64_t e) {
  return answered([&] {
    auto program = Program::find(linesOf(spec), options);
    for (TaylorDtype type : {TAYLOR_F32, TAYLOR_BF16, TAYLOR_F16, TAYLOR_F64})
      if (std::string_view(runtime::dtypeName(type)) == dtype) {
        KernelPlace place{program->interpreted ? TAYLOR_PTX : TAYLOR_CPU, nullptr};
        return program->kernel(type, program->dInput < 0 ? 0 : d, program->eInput < 0 ? 0 : e, place)
            .manifest()
            .text;
      }
    runtime::fail("expected dtype f32, bf16, f16 or f64, but got ", dtype);
  });
}

const char *taylor_describe_error(void) { return message.c_str(); }
