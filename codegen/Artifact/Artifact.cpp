// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Artifact/Artifact.h"

#include "codegen/Artifact/HostMachine.h"
#include "codegen/Artifact/Linker.h"
#include "runtime/artifact.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// TaylorArtifact and the tables it points to, field by field as in runtime/artifact.h.
class TableBuilder {
public:
  explicit TableBuilder(llvm::Module &module)
      : module(module), i64(llvm::Type::getInt64Ty(module.getContext())),
        pointer(llvm::PointerType::get(module.getContext(), 0)) {}

  void build(const ArtifactCode &code, StringRef manifest) {
    SmallVector<llvm::Constant *> functions, images;
    for (const HostCode &host : code.hosts)
      for (const HostFunction &function : host.functions) {
        auto entry = [&](const char *suffix) {
          auto *symbol =
              new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), false,
                                       llvm::GlobalValue::ExternalLinkage, nullptr, function.symbol + suffix);
          return symbol;
        };
        functions.push_back(llvm::ConstantStruct::getAnon(
            {text(host.target), text(function.name), number(function.kernels), number(function.scratch),
             entry("_workspace"), entry("_blocks"), entry("_run")}));
      }
    for (const DeviceImage &image : code.images)
      images.push_back(llvm::ConstantStruct::getAnon(
          {text(image.target), number(image.isPtx ? TAYLOR_IMAGE_PTX : TAYLOR_IMAGE_CUBIN), text(image.bytes),
           number(int64_t(image.bytes.size()))}));
    llvm::Constant *artifact = llvm::ConstantStruct::getAnon(
        {number(int64_t(TAYLOR_ARTIFACT_MAGIC)), number(TAYLOR_ARTIFACT_ABI), text(manifest),
         number(int64_t(manifest.size())), table(functions), number(int64_t(functions.size())), table(images),
         number(int64_t(images.size()))});
    new llvm::GlobalVariable(module, artifact->getType(), true, llvm::GlobalValue::ExternalLinkage, artifact,
                             TAYLOR_ARTIFACT_SYMBOL);
  }

private:
  llvm::Constant *number(int64_t value) { return llvm::ConstantInt::getSigned(i64, value); }

  llvm::GlobalVariable *constant(llvm::Constant *value) {
    return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
  }

  /// A pointer to the bytes, with a zero byte after them.
  llvm::Constant *text(StringRef bytes) {
    llvm::GlobalVariable *data = constant(llvm::ConstantDataArray::getString(module.getContext(), bytes));
    data->setAlignment(llvm::Align(16));
    return data;
  }

  llvm::Constant *table(ArrayRef<llvm::Constant *> rows) {
    if (rows.empty())
      return llvm::Constant::getNullValue(pointer);
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows));
  }

  llvm::Module &module;
  llvm::Type *i64, *pointer;
};

LogicalResult emitTable(const ArtifactCode &code, StringRef manifest, SmallVectorImpl<char> &object,
                        std::string &error) {
  llvm::LLVMContext context;
  llvm::Module module("taylor", context);
  TableBuilder(module).build(code, manifest);
  std::unique_ptr<llvm::TargetMachine> machine = makeHostMachine("x86-64", "", error);
  return success(machine && succeeded(emitHostCode(module, *machine, /*assembly=*/false, object, error)));
}
} // namespace

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

namespace {
/// Files next to the result, so that the last step is a rename within one folder. What was not renamed is
/// removed.
class TemporaryFiles {
public:
  explicit TemporaryFiles(StringRef result) : result(result) {}
  ~TemporaryFiles() {
    for (const std::string &name : names) {
      llvm::sys::fs::remove(name);
      llvm::sys::DontRemoveFileOnSignal(name);
    }
  }

  /// Makes a file of these bytes.
  llvm::Expected<std::string> make(const char *suffix, ArrayRef<char> bytes = {}) {
    int file = -1;
    SmallString<128> name;
    if (std::error_code code = llvm::sys::fs::createUniqueFile(result + "-%%%%%%" + suffix, file, name))
      return llvm::createStringError("cannot write beside '" + result + "': " + code.message());
    names.push_back(std::string(name));
    llvm::sys::RemoveFileOnSignal(name);
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

/// Appends the trailer: length and checksum of all before it.
llvm::Error appendTrailer(const std::string &linked) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> bytes = llvm::MemoryBuffer::getFile(linked);
  if (!bytes)
    return llvm::createStringError("cannot read '" + linked + "': " + bytes.getError().message());
  TaylorTrailer trailer = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, (*bytes)->getBufferSize(),
                           checksum((*bytes)->getBuffer())};
  return TemporaryFiles::append(linked, {reinterpret_cast<const char *>(&trailer), sizeof(trailer)});
}

llvm::Error linkArtifact(ArrayRef<ArrayRef<char>> objects, StringRef path) {
  TemporaryFiles files(path);
  std::vector<std::string> names;
  for (ArrayRef<char> object : objects) {
    llvm::Expected<std::string> name = files.make(".o", object);
    if (!name)
      return name.takeError();
    names.push_back(*name);
  }
  llvm::Expected<std::string> linked = files.make(".so");
  if (!linked)
    return linked.takeError();
  llvm::Expected<std::string> messages = files.make(".txt");
  if (!messages)
    return messages.takeError();
  if (llvm::Error error = linkSharedObject(names, *linked, *messages))
    return error;
  if (llvm::Error error = appendTrailer(*linked))
    return error;
  if (std::error_code code = llvm::sys::fs::rename(*linked, path))
    return llvm::createStringError("cannot write '" + path + "': " + code.message());
  return llvm::Error::success();
}
} // namespace

LogicalResult taylor::writeArtifact(const ArtifactCode &code, StringRef manifest, StringRef path,
                                    std::string &error) {
  SmallVector<char, 0> table;
  if (failed(emitTable(code, manifest, table, error)))
    return failure();
  SmallVector<ArrayRef<char>> objects = {table};
  for (const HostCode &host : code.hosts)
    objects.append(host.objects.begin(), host.objects.end());
  if (!code.support.empty())
    objects.push_back(code.support);
  llvm::Error failed = linkArtifact(objects, path);
  if (!failed)
    return success();
  error = llvm::toString(std::move(failed));
  return failure();
}

FailureOr<std::string> taylor::makeArtifact(const ArtifactCode &code, StringRef manifest,
                                            std::string &error) {
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("taylorc", "so", path)) {
    error = "requires a folder for temporary files (TMPDIR): " + code.message();
    return failure();
  }
  llvm::FileRemover remover(path);
  if (failed(writeArtifact(code, manifest, path, error)))
    return failure();
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    error = ("requires the linked file '" + path + "': " + file.getError().message()).str();
    return failure();
  }
  return (*file)->getBuffer().str();
}
