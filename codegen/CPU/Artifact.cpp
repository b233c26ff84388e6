// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Artifact.h"
#include "codegen/CPU/Passes.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime/artifact.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::tile;

void cpu::registerCPUBackend(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, TileDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult cpu::lowerToVector(ModuleOp module, const Target &target) {
  PassManager pm(module.getContext());
  buildVectorPipeline(pm, target.name);
  return pm.run(module);
}

LogicalResult cpu::lowerToLLVMDialect(ModuleOp module) {
  PassManager pm(module.getContext());
  buildLLVMPipeline(pm);
  return pm.run(module);
}

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

namespace {
/// A constant pointer to the text, with a zero byte after it where asked for.
llvm::Constant *makeText(llvm::Module &module, StringRef text, bool terminated) {
  llvm::Constant *data = llvm::ConstantDataArray::getString(module.getContext(), text, terminated);
  auto *global =
      new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  return global;
}

/// TaylorArtifact and its TaylorFunctions, field by field as in runtime/artifact.h.
void addArtifactTable(llvm::Module &module, ArrayAttr functions, StringRef manifest) {
  llvm::LLVMContext &context = module.getContext();
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto number = [&](int64_t value) -> llvm::Constant * { return llvm::ConstantInt::getSigned(i64, value); };
  SmallVector<llvm::Constant *> rows;
  for (auto entry : functions.getAsRange<DictionaryAttr>()) {
    StringRef name = entry.getAs<StringAttr>("name");
    auto symbol = [&](const char *suffix) -> llvm::Constant * {
      return module.getFunction(("taylor_" + name + suffix).str());
    };
    rows.push_back(llvm::ConstantStruct::getAnon({makeText(module, name, true),
                                                  number(entry.getAs<IntegerAttr>("kernels").getInt()),
                                                  number(entry.getAs<IntegerAttr>("scratch").getInt()),
                                                  symbol("_workspace"), symbol("_blocks"), symbol("_run")}));
  }
  llvm::Constant *table = llvm::Constant::getNullValue(llvm::PointerType::get(context, 0));
  if (!rows.empty()) {
    auto *type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
    table = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                     llvm::ConstantArray::get(type, rows));
  }
  llvm::Constant *artifact = llvm::ConstantStruct::getAnon(
      {number(int64_t(TAYLOR_ARTIFACT_MAGIC)), number(TAYLOR_ARTIFACT_ABI), makeText(module, manifest, false),
       number(int64_t(manifest.size())), table, number(int64_t(rows.size()))});
  new llvm::GlobalVariable(module, artifact->getType(), true, llvm::GlobalValue::ExternalLinkage, artifact,
                           TAYLOR_ARTIFACT_SYMBOL);
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const cpu::Target &target, std::string &error) {
  static bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)once;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  std::string features;
  if (target.native)
    for (auto &[feature, enabled] : llvm::sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") + std::string(enabled ? "+" : "-") + feature.str();
  // Whole registers: without it 512-bit vectors are split on some CPUs.
  if (target.vectorBytes == 64)
    features += (features.empty() ? "" : ",") + std::string("-prefer-256-bit");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // a * b + c in one rounding
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, target.cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                   llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "LLVM has no code generator for " + target.cpu;
  return machine;
}
} // namespace

std::unique_ptr<llvm::Module> cpu::translateToLLVM(ModuleOp module, const Target &target, StringRef manifest,
                                                   llvm::LLVMContext &context) {
  auto functions = module->getAttrOfType<ArrayAttr>("taylor.functions");
  if (!functions) {
    module.emitError("requires the attribute taylor.functions, which taylor-lower-tile-to-vector sets");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "taylor");
  if (!result)
    return nullptr;
  addArtifactTable(*result, functions, manifest);
  for (llvm::Function &function : *result)
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      if (target.vectorBytes == 64)
        function.addFnAttr("prefer-vector-width", "512");
    }
  return result;
}

LogicalResult cpu::emitMachineCode(llvm::Module &module, const Target &target, bool assembly,
                                   SmallVectorImpl<char> &out, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  if (!machine)
    return failure();
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  auto type = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    error = "LLVM cannot emit this file type for " + target.cpu;
    return failure();
  }
  passes.run(module);
  return success();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// FNV-1a over little-endian 64-bit words, the last one padded with 0 (runtime/artifact.h).
static uint64_t checksum(StringRef bytes) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0x100000001b3ULL;
  }
  return hash;
}

static std::string findLinker() {
  const StringRef packaged = "/usr/lib/llvm-22/bin";
  for (const char *name : {"ld.lld-22", "ld.lld"}) {
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name, packaged))
      return *path;
  }
  return "";
}

namespace {
/// Files beside the result, so that the last step is a rename within one folder. What was not renamed is
/// removed.
class TemporaryFiles {
public:
  explicit TemporaryFiles(StringRef result) : result(result) {}
  ~TemporaryFiles() {
    for (const std::string &name : names)
      llvm::sys::fs::remove(name);
  }

  /// Makes a file of these bytes.
  llvm::Expected<std::string> make(const char *suffix, ArrayRef<char> bytes = {}) {
    int file = -1;
    SmallString<128> name;
    if (std::error_code code = llvm::sys::fs::createUniqueFile(result + "-%%%%%%" + suffix, file, name))
      return llvm::createStringError("cannot write beside '" + result + "': " + code.message());
    names.push_back(std::string(name));
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    if (llvm::Error error = writeAll(stream, names.back(), bytes))
      return error;
    return names.back();
  }

  static llvm::Error append(const std::string &name, ArrayRef<char> bytes) {
    std::error_code code;
    llvm::raw_fd_ostream stream(name, code, llvm::sys::fs::OF_Append);
    if (code)
      return llvm::createStringError("cannot write '" + name + "': " + code.message());
    return writeAll(stream, name, bytes);
  }

private:
  static llvm::Error writeAll(llvm::raw_fd_ostream &stream, const std::string &name, ArrayRef<char> bytes) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    std::error_code code = stream.error();
    stream.clear_error();
    if (code)
      return llvm::createStringError("cannot write '" + name + "': " + code.message());
    return llvm::Error::success();
  }

  StringRef result;
  std::vector<std::string> names;
};

llvm::Error runLinker(StringRef object, StringRef linked, StringRef messages) {
  std::string linker = findLinker();
  if (linker.empty())
    return llvm::createStringError("requires the linker ld.lld, but found none in PATH or "
                                   "/usr/lib/llvm-22/bin; install the package lld-22");
  SmallVector<StringRef> arguments = {linker, "-shared",     "--no-undefined-version",
                                      "-z",   "noexecstack", "--build-id=none",
                                      "-o",   linked,        object};
  std::optional<StringRef> redirects[] = {StringRef(""), messages, messages};
  std::string reason;
  int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt, redirects, 0, 0, &reason);
  if (!status)
    return llvm::Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(messages))
    reason += (*text)->getBuffer().str();
  return llvm::createStringError("the linker " + linker + " failed (" + Twine(status) + "): " + reason);
}

/// Appends the trailer: length and checksum of all before it.
llvm::Error appendTrailer(const std::string &linked) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> bytes = llvm::MemoryBuffer::getFile(linked);
  if (!bytes)
    return llvm::createStringError("cannot read '" + linked + "': " + bytes.getError().message());
  TaylorTrailer trailer = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, (*bytes)->getBufferSize(),
                           checksum((*bytes)->getBuffer())};
  return TemporaryFiles::append(linked, {reinterpret_cast<const char *>(&trailer), sizeof(trailer)});
}

llvm::Error linkArtifact(ArrayRef<char> object, StringRef path) {
  TemporaryFiles files(path);
  llvm::Expected<std::string> objectFile = files.make(".o", object);
  if (!objectFile)
    return objectFile.takeError();
  llvm::Expected<std::string> linked = files.make(".so");
  if (!linked)
    return linked.takeError();
  llvm::Expected<std::string> messages = files.make(".txt");
  if (!messages)
    return messages.takeError();
  if (llvm::Error error = runLinker(*objectFile, *linked, *messages))
    return error;
  if (llvm::Error error = appendTrailer(*linked))
    return error;
  if (std::error_code code = llvm::sys::fs::rename(*linked, path))
    return llvm::createStringError("cannot write '" + path + "': " + code.message());
  return llvm::Error::success();
}
} // namespace

LogicalResult cpu::writeArtifact(ArrayRef<char> object, StringRef path, std::string &error) {
  llvm::Error failed = linkArtifact(object, path);
  if (!failed)
    return success();
  error = llvm::toString(std::move(failed));
  return failure();
}

LogicalResult cpu::compileTileModule(ModuleOp module, StringRef manifest, const Target &target,
                                     StringRef path) {
  if (failed(lowerToVector(module, target)) || failed(lowerToLLVMDialect(module)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateToLLVM(module, target, manifest, context);
  if (!code)
    return failure();
  SmallVector<char, 0> object;
  std::string error;
  if (failed(emitMachineCode(*code, target, false, object, error)) ||
      failed(writeArtifact(object, path, error)))
    return module.emitError(error);
  return success();
}
