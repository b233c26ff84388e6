// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation does one after the other, in words that people see while they wait.
#ifndef TAYLOR_CODEGEN_DRIVER_PHASES_H
#define TAYLOR_CODEGEN_DRIVER_PHASES_H

#include "codegen/Targets/Target.h"
#include <functional>

namespace taylor {

/// The phases of one compilation: one for each stage, and one for each step without a stage.
class Phases {
public:
  /// What is planned for so many targets, up to what `emission` asks for.
  void plan(Emission emission, bool hasBackward, llvm::ArrayRef<std::unique_ptr<Target>> targets);
  /// The next one begins; nothing where all have.
  void begin();

  /// Called with "phase 4 of 7, sm_80: PTX" before each; may be empty.
  std::function<void(std::string phase)> onPhase;

private:
  std::vector<std::string> names;
  size_t begun = 0;
};

} // namespace taylor

#endif
