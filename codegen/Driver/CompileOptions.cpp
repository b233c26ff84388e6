// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CompileOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace taylor;

std::string CompileOptions::getKey() const {
  std::vector<ParameterSetting> sorted = parameters;
  llvm::sort(sorted, [](const auto &left, const auto &right) { return left.name < right.name; });
  std::string key = llvm::formatv("target={0} dtype={1} d={2} e={3} mask={4} spec={5}",
                                  llvm::join(targets, ","), stringifyStorageType(dtype), headDim,
                                  getValueDim(), mask ? stringifyMask(*mask) : "as written", spec);
  if (f32Products != F32Products::FMA)
    key += (" f32-products=" + stringifyF32Products(f32Products)).str();
  if (bf16Products != BF16Products::Auto)
    key += (" bf16-products=" + stringifyBF16Products(bf16Products)).str();
  if (documents)
    key += " documents";
  if (rowSums != RowSumsChoice::Separate)
    key += (" row-sums=" + stringifyRowSumsChoice(rowSums)).str();
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
  // Refused rather than without effect: who asks for it expects other numbers, or another speed.
  if (f32Products == F32Products::TF32 && dtype != StorageType::F32)
    return ("requires --dtype=f32 for --f32-products=tf32, but got " + stringifyStorageType(dtype) +
            ", whose products have no operands of f32")
        .str();
  if (bf16Products != BF16Products::Auto && dtype != StorageType::BF16)
    return ("requires --dtype=bf16 for --bf16-products=" + stringifyBF16Products(bf16Products) +
            ", but got " + stringifyStorageType(dtype))
        .str();
  if (!llvm::is_contained({"auto", "parallel", "long", "chunked", "recurrent"}, form))
    return "expected --form=auto, parallel, long, chunked or recurrent, but got '" + form + "'";
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
