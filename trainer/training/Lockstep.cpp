// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Lockstep.h"
#include "trainer/support/Error.h"
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

namespace taylor::trainer {

static void say(const nlohmann::json &message) {
  std::printf("%s\n", message.dump().c_str());
  std::fflush(stdout);
}

void Lockstep::begin(const Config &config, int64_t vocabulary, int64_t parameters,
                     double startSeconds) const {
  const ModelConfig &m = config.model;
  const OptimizerConfig &o = config.optimizer;
  say({{"start_seconds", startSeconds},
       {"parameters", parameters},
       {"vocabulary", vocabulary},
       {"hidden", m.hidden},
       {"intermediate", m.intermediate},
       {"layers", m.layers},
       {"heads", m.heads},
       {"key_value_heads", m.keyValueHeads()},
       {"head_dim", m.headWidth()},
       {"value_dim", m.valueWidth()},
       {"norm_epsilon", m.normEpsilon},
       {"context", config.train.context},
       {"batch", config.train.batch},
       {"learning_rate", o.learningRate},
       {"beta1", o.beta1},
       {"beta2", o.beta2},
       {"epsilon", o.epsilon},
       {"weight_decay", o.weightDecay},
       {"clip", o.clip}});
}

void Lockstep::wait() const {
  std::string line;
  if (!std::getline(std::cin, line))
    fail("expected a line 'step' on standard input for each step, but it has ended");
  if (line != "step")
    fail("expected 'step' on standard input, but got '", line, "'");
}

void Lockstep::done(double seconds, double loss, int64_t memory) const {
  say({{"seconds", seconds}, {"loss", loss}, {"memory", memory}});
}

} // namespace taylor::trainer
