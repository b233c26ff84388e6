// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-tile-check PROGRAM.mlir --shape=b=1,h=2,g=1,t=65,u=70,offset=5 [--target=native] [--workers=3]
// [--time] [--omit=NAME]
//                   [--tolerance=2e-6] [--scale=1]
// Compiles the module's tile programs, runs them one after the other on random inputs and compares what they
// wrote with the evaluator, in relative 2-norms. Tensors of one name are one memory across programs: what
// forward saves, backward reads. Every row is padded with NaN and ends at a page that must not be touched.
#include "codegen/Targets/CPU/CPUPipeline.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/Evaluator.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Cpu.h"
#include "runtime/artifact.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <cmath>
#include <dlfcn.h>
#include <map>
#include <random>
#include <sys/mman.h>
#include <thread>

using namespace mlir;
using namespace mlir::tile;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options of taylor-tile-check");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("PROGRAM.mlir"), cl::cat(category));
static cl::opt<std::string> shape("shape", cl::desc("run-time sizes (default: b=1,h=1,g=1,t=64,u=64)"),
                                  cl::init("b=1,h=1,g=1,t=64,u=64"), cl::cat(category));
static cl::opt<std::string> targetName("target", cl::desc("processor to compile for (default: native)"),
                                       cl::init("native"), cl::cat(category));
static cl::list<std::string> omit("omit", cl::desc("optional tensor to leave null (repeatable)"),
                                  cl::cat(category));
static cl::opt<int> threads("workers", cl::desc("threads (default: 2)"), cl::init(2), cl::cat(category));
static cl::opt<double> tolerance("tolerance",
                                 cl::desc("largest relative error, in the 2-norm (default: 2e-6)"),
                                 cl::init(2e-6), cl::cat(category));
static cl::opt<double> inputScale("scale", cl::desc("factor of random inputs (default: 1)"), cl::init(1),
                                  cl::cat(category));
static cl::opt<bool> timeIt("time", cl::desc("time the programs, and skip the evaluator"), cl::cat(category));
static cl::opt<std::string> keep("keep", cl::desc("file to keep the shared object in"), cl::cat(category));
static cl::opt<int> repeat("repeat", cl::desc("runs of which --time takes the best (default: 5)"),
                           cl::init(5), cl::cat(category));

namespace {

/// One tensor in memory: rows of the last axis are padded, and the last row ends at an inaccessible page.
struct Tensor {
  mlir::tile::ArrayType type;
  SmallVector<int64_t> extents, strides;
  char *data = nullptr;
  int64_t bytes = 0, elementBytes = 4;

  void allocate(mlir::tile::ArrayType arrayType, const Sizes &sizes) {
    type = arrayType;
    elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    for (const Axis &axis : type.getAxes())
      extents.push_back(axis.extent.evaluate([&](StringRef role) { return sizes.of(role); }));
    strides.resize(extents.size());
    int64_t stride = 1;
    for (size_t i = extents.size(); i-- > 0;) {
      strides[i] = stride;
      // Rows of channels are padded; an axis of tokens is left dense half of the time.
      stride *= extents[i] + (i + 1 == extents.size() && type.getAxes()[i].extent.isStatic() ? 8 : 0);
    }
    int64_t last = 1;
    for (auto [extent, step] : llvm::zip(extents, strides))
      last += (extent - 1) * step;
    bytes = last * elementBytes;
    int64_t pages = (bytes + 4095) / 4096 * 4096;
    char *base = static_cast<char *>(
        mmap(nullptr, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + pages, 4096, PROT_NONE);
    data = base + pages - bytes;
    memset(base, 0xff, pages); // NaN in every float type
  }
  template <typename F> void forEach(F visit) const {
    SmallVector<int64_t> index(extents.size(), 0);
    for (;;) {
      int64_t offset = 0;
      for (size_t i = 0; i < index.size(); ++i)
        offset += index[i] * strides[i];
      visit(offset);
      size_t i = index.size();
      for (; i-- > 0;) {
        if (++index[i] < extents[i])
          break;
        index[i] = 0;
      }
      if (i == size_t(-1))
        return;
    }
  }
  double get(int64_t offset) const {
    const char *at = data + offset * elementBytes;
    if (type.getElementType().isF64())
      return *reinterpret_cast<const double *>(at);
    if (type.getElementType().isF32())
      return *reinterpret_cast<const float *>(at);
    if (type.getElementType().isInteger(32))
      return *reinterpret_cast<const int32_t *>(at);
    uint32_t bits = uint32_t(*reinterpret_cast<const uint16_t *>(at)) << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
  void set(int64_t offset, double value) {
    char *at = data + offset * elementBytes;
    float single = float(value);
    if (type.getElementType().isF64())
      memcpy(at, &value, 8);
    else if (type.getElementType().isF32())
      memcpy(at, &single, 4);
    else if (int32_t whole = int32_t(std::lround(value)); type.getElementType().isInteger(32))
      memcpy(at, &whole, 4);
    else
      memcpy(at, reinterpret_cast<char *>(&single) + 2, 2);
  }
};

using Tensors = std::map<std::string, Tensor>;

struct Checker {
  Sizes sizes;
  int64_t dims[TAYLOR_DIM_COUNT] = {};

  bool isOmitted(TensorOp op) const { return llvm::is_contained(omit, op.getName()); }

  /// Random inputs, the same in both sets of tensors.
  void prepare(ProgramOp program, Tensors &a, Tensors &b) {
    for (TensorOp op : program.getBlock()->getOps<TensorOp>()) {
      std::string name = op.getName().str();
      if (a.count(name))
        continue;
      a[name].allocate(op.getType(), sizes);
      b[name].allocate(op.getType(), sizes);
      if (!op.getName().starts_with("input:") && !op.getName().starts_with("cotangent:"))
        continue;
      std::mt19937 random(unsigned(std::hash<std::string>()(name)));
      std::normal_distribution<double> normal(0,
                                              op.getName().starts_with("input:") ? double(inputScale) : 1.0);
      a[name].forEach([&](int64_t offset) {
        a[name].set(offset, normal(random));
        memcpy(b[name].data + offset * b[name].elementBytes, a[name].data + offset * a[name].elementBytes,
               a[name].elementBytes);
      });
    }
  }

  double run(const TaylorFunction &function, ProgramOp program, Tensors &tensors) {
    std::vector<void *> data;
    std::vector<int64_t> strides;
    for (TensorOp op : program.getBlock()->getOps<TensorOp>()) {
      Tensor &tensor = tensors[op.getName().str()];
      data.push_back(isOmitted(op) ? nullptr : tensor.data);
      for (int i = 0; i < TAYLOR_MAX_RANK; ++i)
        strides.push_back(i < int(tensor.strides.size()) ? tensor.strides[i] : 0);
    }
    std::vector<char> workspace(function.workspace(dims) + 64, char(0xff));
    TaylorCall call = {dims, data.data(), strides.data(),
                       reinterpret_cast<void *>((uintptr_t(workspace.data()) + 63) / 64 * 64)};
    std::vector<std::vector<char>> scratch(threads, std::vector<char>(function.scratch + 64, char(0xff)));
    auto start = std::chrono::steady_clock::now();
    for (int64_t kernel = 0; kernel < function.kernels; ++kernel) {
      int64_t blocks = function.blocks(dims, kernel);
      auto work = [&](int thread) {
        auto *own = reinterpret_cast<void *>((uintptr_t(scratch[thread].data()) + 63) / 64 * 64);
        for (int64_t block = thread; block < blocks; block += threads)
          function.run(&call, kernel, block, block + 1, own);
      };
      std::vector<std::thread> pool;
      for (int thread = 1; thread < threads; ++thread)
        pool.emplace_back(work, thread);
      work(0);
      for (std::thread &thread : pool)
        thread.join();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  bool compare(StringRef name, const Tensor &actual, const Tensor &expected) {
    double error = 0, norm = 0;
    bool finite = true;
    actual.forEach([&](int64_t offset) {
      double x = actual.get(offset), y = expected.get(offset);
      finite &= std::isfinite(x) && std::isfinite(y);
      error += (x - y) * (x - y);
      norm += y * y;
    });
    double relative = std::sqrt(error) / (norm > 0 ? std::sqrt(norm) : 1);
    // Relative to fp64: a 16-bit result is rounded once, to half a unit of its last place.
    double allowed = std::max<double>(tolerance, actual.elementBytes == 2 ? 3e-3 : 0);
    bool good = finite && relative <= allowed;
    llvm::outs() << (good ? "ok   " : "FAIL ") << name << " " << llvm::format("%.3g", relative)
                 << (finite ? "" : " (not finite)") << "\n";
    return good;
  }
};

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "runs the tile programs of a processor, and compares with their evaluator\n");
  std::string error;
  std::optional<cpu::Processor> target = cpu::findTarget(targetName, error);
  if (!target) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (std::string feature = taylor::runtime::missingFeature(target->features); !feature.empty()) {
    llvm::errs() << "--target=" << targetName << ": requires a processor with " << feature
                 << " to run its code, but " << taylor::runtime::cpuName() << " has none\n";
    return 1;
  }
  if (std::string reason = taylor::runtime::deniedFeature(target->features); !reason.empty()) {
    llvm::errs() << "--target=" << targetName << ": " << reason << "\n";
    return 1;
  }
  DialectRegistry registry;
  cpu::registerCPUBackend(registry);
  registry.insert<taylor::TaylorDialect>(); // of what the manifest tells
  MLIRContext context(registry);
  context.disableMultithreading();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  Checker checker;
  SmallVector<StringRef> parts;
  StringRef(shape).split(parts, ',');
  bool hasOffset = false;
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    int64_t number = 0;
    value.getAsInteger(10, number);
    hasOffset |= name == "offset";
    Sizes &s = checker.sizes;
    (name == "b"   ? s.b
     : name == "h" ? s.h
     : name == "g" ? s.g
     : name == "t" ? s.t
     : name == "u" ? s.u
                   : s.offset) = number;
  }
  if (!hasOffset)
    checker.sizes.offset = checker.sizes.u - checker.sizes.t;
  const Sizes &s = checker.sizes;
  int64_t dims[] = {s.b, s.h, s.g, s.t, s.u, s.offset};
  std::copy(std::begin(dims), std::end(dims), checker.dims);

  OwningOpRef<ModuleOp> compiled = module->clone();
  SmallString<128> temporary;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("tile-check", "so", temporary)) {
    llvm::errs() << "requires a folder for temporary files (TMPDIR): " << code.message() << "\n";
    return 1;
  }
  llvm::FileRemover remover(temporary);
  std::string path = keep.empty() ? temporary.str().str() : keep.getValue();
  auto start = std::chrono::steady_clock::now();
  if (failed(cpu::compileTileModule(*compiled, "{}", *target, path)))
    return 1;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    llvm::errs() << dlerror() << "\n";
    return 1;
  }
  auto *artifact = static_cast<const TaylorArtifact *>(dlsym(library, TAYLOR_ARTIFACT_SYMBOL));
  bool good = artifact && artifact->magic == TAYLOR_ARTIFACT_MAGIC && artifact->abi == TAYLOR_ARTIFACT_ABI;
  Tensors actual, expected;
  int64_t number = 0;
  if (timeIt)
    llvm::outs() << "compile " << llvm::format("%.3f", seconds) << " s\n";
  for (ProgramOp program : module->getOps<ProgramOp>()) {
    const TaylorFunction &function = artifact->functions[number++];
    checker.prepare(program, actual, expected);
    double best = checker.run(function, program, actual);
    if (timeIt) {
      for (int i = 1; i < repeat; ++i)
        best = std::min(best, checker.run(function, program, actual));
      llvm::outs() << program.getSymName() << " " << llvm::format("%.3f", best * 1e3) << " ms, scratch "
                   << function.scratch << "\n";
      continue;
    }
    std::vector<HostArray> arrays;
    for (TensorOp op : program.getBlock()->getOps<TensorOp>()) {
      Tensor &tensor = expected[op.getName().str()];
      arrays.push_back({checker.isOmitted(op) ? nullptr : tensor.data, tensor.strides});
    }
    if (failed(evaluateProgram(program, checker.sizes, arrays)))
      return 1;
    for (TensorOp op : program.getBlock()->getOps<TensorOp>())
      if (!op.getName().starts_with("input:") && !op.getName().starts_with("cotangent:") &&
          !checker.isOmitted(op))
        good &= checker.compare(op.getName(), actual[op.getName().str()], expected[op.getName().str()]);
  }
  return good ? 0 : 1;
}
