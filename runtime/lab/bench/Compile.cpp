// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/Process.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Folder.h"
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace taylor::bench {

nlohmann::json benchCompile(const Request &request) {
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  std::string kernel = folder.path / "kernel.so";
  std::vector<std::string> arguments = compilerCommand(request);
  arguments.insert(arguments.end(), {"-o", kernel, "--dtype=" + request.dtype});

  std::vector<double> seconds;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(request.seconds);
  while (seconds.size() < 3 || std::chrono::steady_clock::now() < end) {
    auto begin = std::chrono::steady_clock::now();
    runtime::ProcessResult result = runtime::runProcess(arguments, 60, [] {});
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    checkInterrupts();
    if (result.exitCode != 0)
      runtime::fail("taylorc could not compile '", request.spec, "'\n", result.errors);
  }
  nlohmann::json row = {{"command", "compile"},           {"spec", request.spec},
                        {"dtype", request.dtype},         {"seconds", median(seconds)},
                        {"bytes", fs::file_size(kernel)}, {"cpu", runtime::cpuName()}};
  printf("%-28s d=%-4ld %-5s taylorc %.2f s, %ld bytes\n", request.spec.c_str(), long(request.shape.d),
         request.dtype.c_str(), median(seconds), long(row["bytes"].get<int64_t>()));
  fflush(stdout);
  return nlohmann::json::array({row});
}

} // namespace taylor::bench
