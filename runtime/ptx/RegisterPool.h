// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers of a multiprocessor that a block's warps share by setmaxnreg (PTX ISA, "setmaxnreg").
#ifndef TAYLOR_RUNTIME_PTX_REGISTERPOOL_H
#define TAYLOR_RUNTIME_PTX_REGISTERPOOL_H
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

class Block;

class RegisterPool {
public:
  /// Every thread starts with the most registers that its kernel and block size allow.
  void reset(const Kernel &, unsigned threads, size_t warps);
  /// Gives a warp as many registers as it asks for; false if it has to wait for those that others release.
  bool change(const Warp &, const Instruction &);
  /// Registers of threads that no warp owns.
  unsigned available() const { return free; }

private:
  std::vector<unsigned> owned; ///< by warp, of each thread
  unsigned free = 0;
};

} // namespace taylor::runtime::ptx

#endif
