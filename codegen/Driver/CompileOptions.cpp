// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CompileOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace taylor;

std::string CompileOptions::getKey() const {
  std::vector<ParameterSetting> sorted = parameters;
  llvm::sort(sorted, [](const auto &left, const auto &right) { return left.name < right.name; });
  std::string key =
      llvm::formatv("target={0} dtype={1} d={2} e={3} mask={4} spec={5}", llvm::join(targets, ","), dtype,
                    headDim, getValueDim(), mask ? stringifyMask(*mask) : "as written", spec);
  if (f32Products != "fma")
    key += " f32-products=" + f32Products;
  if (bf16Products != "auto")
    key += " bf16-products=" + bf16Products;
  if (documents)
    key += " documents";
  if (rowSums != "separate")
    key += " row-sums=" + rowSums;
  if (form != "auto")
    key += " form=" + form;
  for (const CostSample &sample : formCosts)
    key +=
        llvm::formatv(" {0}:{1}x{2}={3}", sample.function, sample.features, sample.channels, sample.factor);
  if (states)
    key += " states";
  if (forwardOnly)
    key += " forward-only";
  if (!decode.empty())
    key += " decode=" + decode;
  if (chunk)
    key += " chunk=" + std::to_string(chunk);
  for (const ParameterSetting &setting : sorted)
    key += " " + setting.name + "=" + setting.value;
  return key;
}

std::string CompileOptions::check() const {
  if (dtype != "f32" && dtype != "bf16" && dtype != "f16" && dtype != "f64")
    return "expected --dtype=f32, bf16, f16 or f64, but got '" + dtype + "'";
  if (f32Products != "fma" && f32Products != "tf32")
    return "expected --f32-products=fma or tf32, but got '" + f32Products + "'";
  // Refused rather than without effect: who asks for it expects other numbers, or another speed.
  if (f32Products == "tf32" && dtype != "f32")
    return "requires --dtype=f32 for --f32-products=tf32, but got " + dtype +
           ", whose products have no operands of f32";
  if (bf16Products != "auto" && bf16Products != "rounded" && bf16Products != "split")
    return "expected --bf16-products=auto, rounded or split, but got '" + bf16Products + "'";
  if (bf16Products != "auto" && dtype != "bf16")
    return "requires --dtype=bf16 for --bf16-products=" + bf16Products + ", but got " + dtype;
  if (rowSums != "separate" && rowSums != "atomic")
    return "expected --row-sums=separate or atomic, but got '" + rowSums + "'";
  if (form != "auto" && form != "parallel" && form != "chunked" && form != "recurrent")
    return "expected --form=auto, parallel, chunked or recurrent, but got '" + form + "'";
  if (!decode.empty() && decode != "auto" && decode != "state" && decode != "cache")
    return "expected --decode=auto, state or cache, but got '" + decode + "'";
  if (!decode.empty() && form == "recurrent")
    return "expected --decode or --form=recurrent, which makes the same of the forward, but got both";
  if (chunk && form != "chunked")
    return "requires --form=chunked for --chunk=" + std::to_string(chunk);
  if (chunk < 0 || chunk % 64 || chunk > 1 << 20)
    return "expected a multiple of 64 up to 1048576 for --chunk, in which tiles of queries lie whole, but "
           "got " +
           std::to_string(chunk);
  auto checkSize = [](llvm::StringRef option, int64_t size) -> std::string {
    // Larger heads would not fit the register and cache model; no published model has them.
    if (size >= 1 && size <= 1024)
      return "";
    return llvm::formatv("expected {0} from 1 to 1024, but got {1}", option, size);
  };
  if (std::string message = checkSize("--head-dim", headDim); !message.empty())
    return message;
  return valueDim ? checkSize("--value-dim", valueDim) : "";
}
