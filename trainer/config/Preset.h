// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings that belong together, by name: what a file asks for with `preset = "NAME"`.
#ifndef TAYLOR_TRAINER_CONFIG_PRESET_H
#define TAYLOR_TRAINER_CONFIG_PRESET_H
#include "trainer/config/Config.h"

namespace taylor::trainer {

std::vector<std::string> presets();

/// Sets what the preset has an opinion on, and leaves everything else. `name` is one of presets().
void applyPreset(const std::string &name, Config &config);

} // namespace taylor::trainer
#endif
