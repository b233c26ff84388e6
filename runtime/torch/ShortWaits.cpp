// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of programs that bring their own libtorch (taylor-train, taylor-generate, taylor-bench); not of the
// operator library, since how long a process's threads wait is not a library's to say.
//
// A thread of libgomp that waits spins for 3 to 15 ms before it sleeps. On a core that another program wants
// it spends its share so, and comes late to the next parallel region: with one of two cores busy a step took
// 10 to 20 times as long. Here it spins for a moment, which bridges what lies between two regions of short
// calls, and then sleeps (runtime/lab/bench/README.md has the times of other choices).
#include <alloca.h>
#include <cstring>
#include <unistd.h>

/// 20 to 50 us, by the processor's PAUSE.
static constexpr char kSpinCount[] = "GOMP_SPINCOUNT=1000";

static bool sets(const char *variable, const char *name) {
  size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/// libgomp reads its variables while it is loaded, before main() and before any initializer of ours. So the
/// program starts again with the variable set, before libraries are initialized: that costs the 30 ms in
/// which they are mapped. Who sets either variable has the say.
static void startAgain(int, char **arguments, char **variables) {
  size_t count = 0;
  for (; variables[count]; ++count)
    if (sets(variables[count], "GOMP_SPINCOUNT") || sets(variables[count], "OMP_WAIT_POLICY"))
      return;
  char path[4096]; // by its own name, which tools show
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0)
    return;
  path[length] = '\0';
  auto **changed = static_cast<char **>(alloca((count + 2) * sizeof(char *)));
  memcpy(changed, variables, count * sizeof(char *));
  changed[count] = const_cast<char *>(kSpinCount);
  changed[count + 1] = nullptr;
  execve(path, arguments, changed); // where that fails, waits are long
}

__attribute__((section(".preinit_array"), used)) static void (*const start)(int, char **,
                                                                            char **) = startAgain;
