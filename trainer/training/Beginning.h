// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run begins with: another model's weights, its own newest checkpoint, the speed of its device.
#ifndef TAYLOR_TRAINER_TRAINING_BEGINNING_H
#define TAYLOR_TRAINER_TRAINING_BEGINNING_H
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/config/Config.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include "trainer/text/Data.h"
#include <c10/core/Device.h>
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::trainer {

//===----------------------------------------------------------------------===//
// A run that begins with another model's weights (model.from), such as a Llama that gets another attention.
//===----------------------------------------------------------------------===//

/// Takes sizes and tokenizer of the folder model.from into the configuration, if there is one. Throws Error
/// where it has none, or is no Llama.
void takeSizesAndTokenizer(Config &config);

/// Gives the model the weights of the folder, which the first process reads. Returns lines for the user: how
/// many were taken, which tensors of the model are new, which of the folder were left out.
std::vector<std::string> startFromModel(const std::string &folder, const Model &model, const Group &group);

//===----------------------------------------------------------------------===//
// What a run that goes on takes from its newest checkpoint.
//===----------------------------------------------------------------------===//

/// What it must have in common with what it began as, and which other settings it tells where they have
/// changed. (Sizes of tensors are compared where these are read.)
TrainingState commonState(const Config &config, const std::string &specification, const Data &data);

/// The content of state.json. Throws Error with a way out, as loadTensors() does.
std::string readState(const std::filesystem::path &checkpoint);

void loadTensors(const std::filesystem::path &checkpoint, const Model &model,
                 const Optimizer::State &moments);

/// Floating-point operations per second that the device could do: log.peak where it is set; of a GPU, by its
/// data sheet (Gpus.h); of a processor, measured with torch's threads in some milliseconds. 0 for a GPU that
/// is not in the table.
double peakOf(const Config &config, c10::Device device);

/// The most bytes that this process has had at once: of a GPU's memory, or resident.
int64_t peakMemory(c10::Device device);

/// Seconds since this process was started, to a hundredth.
double processSeconds();

} // namespace taylor::trainer
#endif
