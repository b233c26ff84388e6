// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/Nccl.h"
#include "trainer/support/Error.h"
#include <dlfcn.h>
#include <filesystem>

namespace taylor::trainer {

c10::intrusive_ptr<c10d::Backend> makeNccl(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                           std::chrono::milliseconds timeout) {
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  std::filesystem::path path = program.parent_path().parent_path() / "lib" / "libtaylor_nccl.so";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void *function = library ? ::dlsym(library, "taylorMakeNccl") : nullptr;
  if (!function) {
    const char *why = ::dlerror();
    fail("requires NCCL to train on several GPUs, but '", path.string(), "' could not be loaded (",
         why ? why : "it lacks a function", "); it is built where the torch wheel has NCCL's headers");
  }
  auto make = reinterpret_cast<decltype(&taylorMakeNccl)>(function);
  return c10::intrusive_ptr<c10d::Backend>::reclaim(make(store.release(), rank, size, timeout.count()));
}

} // namespace taylor::trainer
