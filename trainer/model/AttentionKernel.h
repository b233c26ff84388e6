// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_MODEL_ATTENTIONKERNEL_H
#define TAYLOR_TRAINER_MODEL_ATTENTIONKERNEL_H
#include "trainer/config/Config.h"
#include "trainer/model/Model.h"

namespace taylor::trainer {

struct AttentionKernel {
  std::string name; // of the specification
  std::string file; // "attention" with the specification's extension: its name in run folders and checkpoints
  std::string text; // of the specification
  AttentionFunction function;
};

/// Whether a specification of this name is a compiled one: a library, which is loaded as it is, so that its
/// maker's code runs.
bool isNativeCode(const std::string &specification);

/// Throws Error where a file of settings, which may have come with a checkpoint, names a compiled
/// specification that the command line does not.
void requireChosenCode(const Config &config);

/// Compiles a specification for a model's head sizes through the runtime's kernel cache, or loads a compiled
/// one (.so). Throws Error if the file is missing or the specification has not one output; the compiler's own
/// errors come as they are.
/// `documents`: the kernel keeps documents apart, and its function takes their numbers.
/// `device` is one of devices(); where there is no such GPU, the runtime's message says what is missing.
AttentionKernel compileAttention(const AttentionConfig &attention, const ModelConfig &model, bool bf16,
                                 const std::string &device = "cpu", bool documents = false);

} // namespace taylor::trainer
#endif
