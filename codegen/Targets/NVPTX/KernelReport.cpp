// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/KernelReport.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <cctype>

using namespace mlir;
using namespace mlir::simt;

//===----------------------------------------------------------------------===//
// Instructions in the text
//===----------------------------------------------------------------------===//

/// Class of an instruction by its mnemonic.
static StringRef classOf(StringRef mnemonic) {
  SmallVector<StringRef> words;
  mnemonic.split(words, '.');
  StringRef op = words.front();
  auto has = [&](StringRef word) { return llvm::is_contained(words, word); };
  bool isFloat = has("f32") || has("f64") || has("f16") || has("bf16") || has("f16x2") || has("bf16x2");
  if (op == "mma" || mnemonic.starts_with("wgmma.mma_async"))
    return "matrix";
  if (op == "ldmatrix" || op == "stmatrix")
    return "matrix load";
  if (op == "cp")
    return "copy";
  if (op == "ld" || op == "st" || op == "red" || op == "atom")
    return has("shared") ? "shared memory" : has("global") ? "global memory" : "other memory";
  if (op == "bar" || op == "barrier" || op == "membar" || op == "fence" || op == "wgmma")
    return "barrier";
  if (op == "shfl" || op == "vote")
    return "shuffle";
  if (op == "bra" || op == "ret" || op == "exit")
    return "control";
  if (op == "mov")
    return "move";
  if (op == "cvt")
    return "convert";
  if (op == "ex2" || op == "lg2" || op == "rcp" || op == "rsqrt" || op == "sqrt" || op == "sin" ||
      op == "cos" || op == "tanh" || (op == "div" && isFloat))
    return "special";
  return isFloat ? "float" : "integer";
}

/// The mnemonic that a line of PTX holds, without its guard; empty for labels, declarations and comments.
static StringRef mnemonicOf(StringRef line) {
  line = line.trim();
  if (line.consume_front("@"))
    line = line.drop_until([](char c) { return c == ' '; }).ltrim();
  if (line.empty() || !islower(line.front()))
    return "";
  StringRef name = line.take_until([](char c) { return c == ' ' || c == '\t' || c == ';'; });
  // Operands of long instructions (mma) stand on lines of their own.
  return line.contains(';') || name.contains('.') ? name : "";
}

/// Instructions of each entry of the text.
static std::map<std::string, std::map<std::string, int64_t>> countInstructions(StringRef text) {
  std::map<std::string, std::map<std::string, int64_t>> counts;
  std::map<std::string, int64_t> *current = nullptr;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    auto [before, name] = line.split(".entry ");
    if (!name.empty())
      current = &counts[name.take_until([](char c) { return c == '('; }).trim().str()];
    StringRef mnemonic = mnemonicOf(line);
    if (current && !mnemonic.empty())
      ++(*current)[classOf(mnemonic).str()];
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Tile sizes
//===----------------------------------------------------------------------===//

ScoreTiles mlir::simt::findScoreTiles(ModuleOp module) {
  ScoreTiles tiles;
  module.walk([&](tile::DotOp dot) {
    tile::TileType type = dot.getType();
    if (!type.hasAxis(AxisRole::Query) || !type.hasAxis(AxisRole::Key))
      return;
    tiles[getEntryName(dot->getParentOfType<tile::KernelOp>())] = {type.getSize(AxisRole::Query),
                                                                   type.getSize(AxisRole::Key)};
  });
  return tiles;
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

/// Registers are given to warps in units of 256, shared memory in units of 128 bytes and 1 KiB more per block
/// (CUDA C++ Programming Guide, "Compute Capabilities").
static int64_t blocksPerSM(const simt::Machine &target, const KernelReport &report) {
  if (report.shared > target.sharedPerBlock || report.threads == 0)
    return 0;
  int64_t warps = llvm::divideCeil(report.threads, 32);
  int64_t blocks = std::min(target.blocksPerSM, target.threadsPerSM / (32 * warps));
  int64_t shared = llvm::alignTo(report.shared + 1024, 128);
  blocks = std::min(blocks, target.sharedPerSM / shared);
  if (report.use && report.use->registers)
    blocks = std::min(blocks, target.registersPerSM /
                                  int64_t(warps * llvm::alignTo(uint64_t(report.use->registers) * 32, 256)));
  return blocks;
}

std::optional<CodeReport> mlir::simt::reportKernels(PTXOp code, const ScoreTiles &tiles, StringRef ptxas,
                                                    std::string &error) {
  const simt::Machine *target = findTarget(code.getTarget());
  if (!target) {
    error = describeUnknownTarget(code.getTarget());
    return std::nullopt;
  }
  std::optional<Assembly> assembly;
  if (!ptxas.empty()) {
    assembly = assemble(ptxas, code.getText(), *target, error);
    if (!assembly)
      return std::nullopt;
  }
  auto counts = countInstructions(code.getText());
  CodeReport all;
  for (auto entry : code.getEntries().getAsRange<EntryAttr>()) {
    KernelReport report;
    report.name = entry.getName().str();
    report.target = target->name;
    report.threads = entry.getThreads();
    report.shared = entry.getShared();
    if (auto found = tiles.find(report.name); found != tiles.end())
      std::tie(report.queries, report.keys) = found->second;
    if (assembly)
      for (const KernelUse &use : assembly->kernels)
        if (use.name == report.name)
          report.use = use;
    report.blocksPerSM = blocksPerSM(*target, report);
    report.warpsPerSM = report.blocksPerSM * int64_t(llvm::divideCeil(report.threads, 32));
    report.instructions = counts[report.name];
    all.kernels.push_back(report);
  }
  if (assembly)
    all.warnings = assembly->warnings;
  else
    all.warnings.push_back(
        "ptxas was not found: registers and spilled bytes are unknown, and blocks/SM holds "
        "if registers suffice; put ptxas in PATH, activate a Python environment with "
        "torch or Triton, or set TAYLOR_PTXAS to its path");
  return all;
}

void CodeReport::add(CodeReport other) {
  llvm::append_range(kernels, other.kernels);
  for (const std::string &warning : other.warnings)
    if (!llvm::is_contained(warnings, warning))
      warnings.push_back(warning);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string mlir::simt::printTable(const CodeReport &all) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  size_t width = 6;
  for (const KernelReport &report : all.kernels)
    width = std::max(width, report.name.size());
  stream
      << llvm::left_justify("kernel", width)
      << "  target  t x u    threads  registers  spilled B  shared B  blocks/SM  warps/SM  matrix  special  "
         "float  integer  total\n";
  for (const KernelReport &report : all.kernels) {
    auto count = [&](const char *name) {
      auto found = report.instructions.find(name);
      return found == report.instructions.end() ? int64_t(0) : found->second;
    };
    int64_t total = 0;
    for (auto &[name, number] : report.instructions)
      total += number;
    auto known = [&](int64_t value) { return report.use ? std::to_string(value) : std::string("-"); };
    int64_t registers = report.use ? report.use->registers : 0;
    int64_t spilled = report.use ? report.use->spillStores + report.use->spillLoads : 0;
    std::string tile = report.queries ? std::to_string(report.queries) + "x" + std::to_string(report.keys)
                                      : std::string("-");
    stream << llvm::left_justify(report.name, width) << "  " << llvm::left_justify(report.target, 6) << "  "
           << llvm::left_justify(tile, 7)
           << llvm::format("  %7lld  %9s  %9s  %8lld  %9lld  %8lld  %6lld  %7lld  %5lld  %7lld  %5lld\n",
                           (long long)report.threads, known(registers).c_str(), known(spilled).c_str(),
                           (long long)report.shared, (long long)report.blocksPerSM,
                           (long long)report.warpsPerSM, (long long)count("matrix"),
                           (long long)count("special"), (long long)count("float"),
                           (long long)count("integer"), (long long)total);
  }
  for (const std::string &warning : all.warnings)
    stream << warning << "\n";
  return text;
}

std::string mlir::simt::printJSON(const CodeReport &all) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attributeArray("kernels", [&] {
      for (const KernelReport &report : all.kernels)
        json.object([&] {
          json.attribute("name", report.name);
          json.attribute("target", report.target);
          if (report.queries) {
            json.attribute("queries", report.queries);
            json.attribute("keys", report.keys);
          }
          json.attribute("threads", report.threads);
          json.attribute("shared", report.shared);
          if (report.use) {
            json.attribute("registers", report.use->registers);
            json.attribute("spill_stores", report.use->spillStores);
            json.attribute("spill_loads", report.use->spillLoads);
          }
          json.attribute("blocks_per_sm", report.blocksPerSM);
          json.attribute("warps_per_sm", report.warpsPerSM);
          json.attributeObject("instructions", [&] {
            for (auto &[name, number] : report.instructions)
              json.attribute(name, number);
          });
        });
    });
    json.attributeArray("warnings", [&] {
      for (const std::string &warning : all.warnings)
        json.value(warning);
    });
  });
  return text + "\n";
}
