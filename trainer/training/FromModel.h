// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run that begins with another model's weights (model.from), such as a Llama that gets another attention.
#ifndef TAYLOR_TRAINER_TRAINING_FROMMODEL_H
#define TAYLOR_TRAINER_TRAINING_FROMMODEL_H
#include "trainer/config/Config.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include <string>
#include <vector>

namespace taylor::trainer {

/// Takes sizes and tokenizer of the folder model.from into the configuration, if there is one. Throws Error
/// where it has none, or is no Llama.
void takeSizesAndTokenizer(Config &config);

/// Gives the model the weights of the folder, which the first process reads. Returns lines for the user: how
/// many were taken, which tensors of the model are new, which of the folder were left out.
std::vector<std::string> startFromModel(const std::string &folder, const Model &model, const Group &group);

} // namespace taylor::trainer
#endif
