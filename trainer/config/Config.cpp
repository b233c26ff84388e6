// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/config/Config.h"
#include "trainer/support/Error.h"
#include <cmath>

namespace taylor::trainer {

namespace {

/// A setting out of its range. `Config::check` knows where it was set.
struct SettingError : Error {
  SettingError(std::string key, const std::string &message) : Error(message), key(std::move(key)) {}
  std::string key;
};

void require(bool holds, const char *key, const char *expected, const std::string &got) {
  if (!holds)
    throw SettingError(key, text("expected ", key, " to be ", expected, ", but got ", got));
}

void requireWithin(int64_t least, int64_t most, const char *key, int64_t value) {
  require(value >= least, key, text("at least ", least).c_str(), text(value));
  require(value <= most, key, text("at most ", most).c_str(), text(value));
}

/// Not for numbers that mean nothing where they are huge, or not finite: an epsilon that all else disappears
/// in.
void requirePositive(double most, const char *key, double value) {
  require(value > 0 && value <= most, key, text("positive and at most ", most).c_str(), formatExactly(value));
}

void requireNotNegative(const char *key, double value) {
  require(value >= 0 && std::isfinite(value), key, "at least 0 and finite", formatExactly(value));
}

} // namespace

void requireOneOf(const std::vector<std::string> &choices, const char *key, const std::string &value) {
  std::string list;
  for (const std::string &choice : choices) {
    if (choice == value)
      return;
    list += (list.empty() ? "'" : " or '") + choice + "'";
  }
  throw SettingError(key, text("expected ", key, " to be ", list, ", but got '", value, "'"));
}

std::vector<std::string> devices() { return {"cpu", "cuda", "ptx"}; }

void Settings::section(std::string name, std::string help) {
  current = name;
  sections.push_back({std::move(name), std::move(help)});
}

//===-- run
//---------------------------------------------------------------------------------------------------===//

void RunConfig::list(Settings &s) {
  s.section("run", "folder, seed, threads and device");
  s.addPath("folder", folder, "folder for logs, checkpoints, summary.json and the resolved config.toml");
  s.add("seed", seed, "seed of the initial weights and of the order of the data");
  s.add("threads", threads, "threads to compute with; 0: OMP_NUM_THREADS, or one per core");
  s.add("device", device,
        "'cpu'; 'cuda': the first GPU; 'ptx': the processor, with the attention's GPU code in an interpreter "
        "that checks every access (slow, needs no GPU)");
  s.add("join_timeout", joinTimeout, "seconds that several processes wait for each other at the start");
}

void RunConfig::check() const {
  require(!folder.empty(), "run.folder", "a folder", "''");
  require(seed >= 0, "run.seed", "at least 0", text(seed));
  require(threads >= 0 && threads <= kMostThreads, "run.threads",
          text("between 0 and ", kMostThreads).c_str(), text(threads));
  requireOneOf(devices(), "run.device", device);
  requireWithin(1, 604800, "run.join_timeout", joinTimeout); // a week
}

//===-- attention
//---------------------------------------------------------------------------------------------===//

void AttentionConfig::list(Settings &s) {
  s.section("attention", "the specification to train with");
  s.addPath("specification", specification, "file of the taylor dialect, as in examples/specs");
  s.add("mask", mask, "'causal', or '': the mask of the specification");
  s.add("parameters", parameters,
        "free parameters of the specification, as in attention.parameters.order = 10");
}

void AttentionConfig::check() const {
  if (specification.empty())
    fail("requires attention.specification: pass --attention SPEC.mlir (examples/specs has some)");
  requireOneOf({"", "causal"}, "attention.mask", mask);
}

//===-- model
//-------------------------------------------------------------------------------------------------===//

void ModelConfig::list(Settings &s) {
  s.section("model", "a Llama: RMSNorm, attention, RMSNorm, SwiGLU per layer; embeddings are not tied");
  s.add("hidden", hidden, "width of the residual stream");
  s.add("intermediate", intermediate, "width inside the SwiGLU");
  s.add("layers", layers, "number of layers");
  s.add("heads", heads, "query heads");
  s.add("kv_heads", kvHeads, "key/value heads, a divisor of heads; 0: as many as heads");
  s.add("head_dim", headDim, "channels of a query or key; 0: hidden / heads");
  s.add("value_dim", valueDim, "channels of a value; 0: head_dim");
  s.add("norm_epsilon", normEpsilon, "epsilon of RMSNorm");
  s.addPath(
      "from", from,
      "folder of a Llama-like model in Hugging Face's format (config.json, model.safetensors) to begin from: "
      "its weights where names fit, its sizes and its tokenizer");
  s.add("initialization", initialization,
        "'normal': matrices from N(0, initial_deviation), biases 0; "
        "'uniform': matrices and biases of the layers from U(+-1/sqrt(inputs)), embeddings as in 'normal'");
  s.add("initial_deviation", initialDeviation, "standard deviation of 'normal' and of the embeddings");
}

void ModelConfig::check() const {
  requireWithin(1, kWidestHidden, "model.hidden", hidden);
  requireWithin(1, kWidestInner, "model.intermediate", intermediate);
  requireWithin(1, kMostLayers, "model.layers", layers);
  requireWithin(1, kMostHeads, "model.heads", heads);
  requireWithin(0, kMostHeads, "model.kv_heads", kvHeads);
  requireWithin(0, kWidestHead, "model.head_dim", headDim);
  requireWithin(0, kWidestHead, "model.value_dim", valueDim);
  require(heads % keyValueHeads() == 0, "model.kv_heads", text("a divisor of model.heads = ", heads).c_str(),
          text(kvHeads));
  if (headDim == 0)
    require(hidden % heads == 0, "model.heads",
            text("a divisor of model.hidden = ", hidden, " (or model.head_dim to be set)").c_str(),
            text(heads));
  for (auto [key, channels] : {std::pair{"model.head_dim", headWidth()}, {"model.value_dim", valueWidth()}})
    require(heads * channels <= kWidestInner, key,
            text("at most ", kWidestInner, " / model.heads = ", kWidestInner / heads).c_str(),
            text(channels));
  requirePositive(1, "model.norm_epsilon", normEpsilon);
  requireOneOf({"normal", "uniform"}, "model.initialization", initialization);
  requirePositive(100, "model.initial_deviation", initialDeviation);
}

//===-- data
//--------------------------------------------------------------------------------------------------===//

void DataConfig::list(Settings &s) {
  s.section("data", "the text");
  s.addPath(
      "path", path,
      "text file, folder of text files, or folder that taylor-train prepare made, with its own tokenizer "
      "and split; '': the LLVM and MLIR headers of this machine");
  s.addPath("tokenizer", tokenizer,
            "SentencePiece model, such as Llama's; '': one that is trained on the text, once");
  s.add("vocabulary", vocabulary, "pieces of the tokenizer that is trained");
  s.add("validation_fraction", validationFraction, "share of the documents that is kept for validation");
  s.add(
      "sampler", sampler,
      "'packed': sequences cut from the stream of all documents; 'documents': a document at random for each "
      "sequence, cut or padded to the context, with its last token as a target only; 'recall': a task "
      "instead of text, associative recall of the tokenizer's pieces");
  s.add("symbols", symbols, "tokens of the task 'recall', half of them keys, half values");
  s.add("pairs", pairs, "pairs of key and value in a sequence of the task 'recall', each asked for once");
  s.add("document_mask", documentMask,
        "let a token of packed sequences see its own document only, where positions and states begin anew");
  s.add("groups", groups,
        "equal parts of a batch of documents; each is padded to its longest document and averaged alone, as "
        "on GPUs that do not count each other's tokens");
  s.add("verify", verify, "check prepared text against its checksums before training");
}

void DataConfig::check() const {
  requireWithin(300, 65536, "data.vocabulary", vocabulary); // leastPieces
  requireOneOf({"packed", "documents", "recall"}, "data.sampler", sampler);
  requireWithin(1, kLargestBatch, "data.groups", groups);
  require(validationFraction > 0 && validationFraction < 1, "data.validation_fraction", "between 0 and 1",
          formatExactly(validationFraction));
}

//===-- train
//-------------------------------------------------------------------------------------------------===//

void TrainConfig::list(Settings &s) {
  s.section("train", "the loop");
  s.add("steps", steps, "step to stop after; the schedule's horizon may lie beyond it");
  s.add("batch", batch, "sequences per step, of all processes together");
  s.add("context", context, "tokens per sequence");
  s.add("micro_batch", microBatch,
        "sequences that a process computes at once; a step sums their gradients; 0: all of the process's "
        "share of the batch");
  s.add("precision", precision, "'fp32', or 'bf16': fp32 weights, products and attention in bf16");
  s.add("activation_checkpointing", activationCheckpointing,
        "keep one activation per layer and compute the others again in the backward: less memory, a third "
        "more work");
  s.add("on_nonfinite", onNonFinite,
        "action at a loss or gradient that is not finite: 'stop', or 'skip': leave the update out and go on");
  s.add(
      "skip_above", skipAbove,
      "leave out updates whose loss or gradient norm is this many standard deviations above the mean of the "
      "last 128; 0: none");
}

void TrainConfig::check() const {
  requireWithin(1, kMostSteps, "train.steps", steps);
  requireWithin(1, kLargestBatch, "train.batch", batch);
  requireWithin(1, kLongestContext, "train.context", context);
  requireWithin(0, kLargestBatch, "train.micro_batch", microBatch);
  requireOneOf({"stop", "skip"}, "train.on_nonfinite", onNonFinite);
  requireNotNegative("train.skip_above", skipAbove);
  for (const char *half : {"fp16", "f16", "float16", "half"})
    if (precision == half)
      throw SettingError(
          "train.precision",
          text("unsupported train.precision '", half,
               "': gradients below 6e-8 are 0 in it, so its loss would have to be scaled, which taylor-train "
               "does not do; bf16 is as fast and has the range of fp32 (--set train.precision=bf16)"));
  requireOneOf({"fp32", "bf16"}, "train.precision", precision);
}

//===-- optimizer
//---------------------------------------------------------------------------------------------===//

void OptimizerConfig::list(Settings &s) {
  s.section("optimizer", "AdamW");
  s.add("learning_rate", learningRate, "peak of the schedule");
  s.add("beta1", beta1, "decay of the mean gradient");
  s.add("beta2", beta2, "decay of the mean squared gradient");
  s.add("epsilon", epsilon, "added to the root of the mean squared gradient");
  s.add("weight_decay", weightDecay, "decoupled weight decay");
  s.add("decay", decay, "parameters that decay: 'matrices' (not norms, biases and other vectors) or 'all'");
  s.add("clip", clip, "largest norm of the whole gradient; 0: not clipped");
  s.add("shard", shard,
        "let each of several processes keep the moments of a share of the parameters and update that share "
        "(ZeRO stage 1): less memory, the same numbers");
}

void OptimizerConfig::check() const {
  require(learningRate > 0 && std::isfinite(learningRate), "optimizer.learning_rate", "positive and finite",
          formatExactly(learningRate));
  require(beta1 >= 0 && beta1 < 1, "optimizer.beta1", "in [0, 1)", formatExactly(beta1));
  require(beta2 >= 0 && beta2 < 1, "optimizer.beta2", "in [0, 1)", formatExactly(beta2));
  requirePositive(1, "optimizer.epsilon", epsilon);
  requireNotNegative("optimizer.weight_decay", weightDecay);
  requireOneOf({"matrices", "all"}, "optimizer.decay", decay);
  requireNotNegative("optimizer.clip", clip);
}

//===-- schedule
//----------------------------------------------------------------------------------------------===//

void ScheduleConfig::list(Settings &s) {
  s.section("schedule", "the learning rate over the steps");
  s.add("kind", kind, "rate after the warm-up: 'linear' or 'cosine' decay, or 'constant'");
  s.add("warmup", warmup, "steps of linear rise to the peak");
  s.add("horizon", horizon, "step at which the decay would end; 0: train.steps");
  s.add("final", final, "share of the peak that the decay ends at");
  s.add("lag", lag,
        "first updates with rate 0; 1: the warm-up begins at 0; each further one delays all rates by an "
        "update");
}

void ScheduleConfig::check() const {
  requireOneOf({"linear", "cosine", "constant"}, "schedule.kind", kind);
  requireWithin(0, kMostSteps, "schedule.warmup", warmup);
  requireWithin(0, kMostSteps, "schedule.horizon", horizon);
  require(final >= 0 && final <= 1, "schedule.final", "in [0, 1]", formatExactly(final));
  requireWithin(0, kMostSteps, "schedule.lag", lag);
}

//===-- evaluation, checkpoint, log
//---------------------------------------------------------------------------===//

void EvaluationConfig::list(Settings &s) {
  s.section("evaluation", "the loss on the validation documents");
  s.add("every", every, "steps between two evaluations; 0: only after the last step");
  s.add("sequences", sequences,
        "sequences of train.context tokens, spread over the validation text; 0: all of it");
  s.add("patience", patience, "evaluations in a row without a lower loss after which to stop; 0: never");
}

void EvaluationConfig::check() const {
  requireWithin(0, kMostSteps, "evaluation.every", every);
  requireWithin(0, kMostSteps, "evaluation.sequences", sequences);
  requireWithin(0, kMostSteps, "evaluation.patience", patience);
}

void CheckpointConfig::list(Settings &s) {
  s.section("checkpoint", "saved models that a run continues from and taylor-generate samples from");
  s.add("every", every, "steps between two checkpoints; 0: only after the last step");
  s.add("keep", keep, "newest checkpoints to keep; 0: all");
}

void CheckpointConfig::check() const {
  requireWithin(0, kMostSteps, "checkpoint.every", every);
  requireWithin(0, kMostSteps, "checkpoint.keep", keep);
}

void LogConfig::list(Settings &s) {
  s.section("log", "metrics.jsonl, metrics.csv, events for TensorBoard, a profile");
  s.add("every", every, "steps between two lines");
  s.add("tensorboard", tensorboard, "write events for TensorBoard");
  s.add("csv", csv, "write metrics.csv");
  s.add(
      "peak", peak,
      "peak of a device in floating-point operations per second, for the model's share of it (mfu); 0: from "
      "a table of GPUs, or measured on a processor");
  s.add("state", state,
        "measure at the end how many bytes decoding keeps of a sequence of train.context tokens (state_bytes "
        "in summary.json); compiles the step of decoding");
  s.add("profile_from", profileFrom, "first step of a profile, from 1; the profile is a Chrome trace");
  s.add("profile_steps", profileSteps, "steps of the profile; 0: no profile");
}

void LogConfig::check() const {
  requireWithin(1, kMostSteps, "log.every", every);
  requireNotNegative("log.peak", peak);
  requireWithin(1, kMostSteps, "log.profile_from", profileFrom);
  requireWithin(0, kMostSteps, "log.profile_steps", profileSteps);
}

//===-- all of them
//-------------------------------------------------------------------------------------------===//

Settings Config::settings() {
  Settings s;
  run.list(s);
  attention.list(s);
  model.list(s);
  data.list(s);
  train.list(s);
  optimizer.list(s);
  schedule.list(s);
  evaluation.list(s);
  checkpoint.list(s);
  log.list(s);
  return s;
}

/// Whose tokens can be counted, also where all evaluations are counted in.
static void requireCountable(const TrainConfig &train, const EvaluationConfig &evaluation) {
  int64_t tokens = train.batch * train.context; // at most 2^51
  if (tokens > kMostTokens / train.steps)
    fail("unsupported sizes: train.steps * train.batch * train.context = ", train.steps, " * ", train.batch,
         " * ", train.context, " tokens are more than 2^62; lower one of them");
  if (evaluation.sequences > kMostTokens / train.context)
    fail("unsupported sizes: evaluation.sequences * train.context = ", evaluation.sequences, " * ",
         train.context,
         " tokens are more than 2^62; lower one of them, or set evaluation.sequences=0 for all of the text");
}

void requireRoomForPairs(int64_t pairs, int64_t symbols, int64_t context) {
  if (pairs < 1 || pairs > symbols / 2)
    fail("expected data.pairs from 1 to ", symbols / 2, ", half of data.symbols, but got ", pairs);
  if (pairs > context / 3)
    fail("requires train.context of at least 3 data.pairs = ", 3 * pairs,
         " tokens, keys with values and each key once more, but got ", context);
}

/// What a sampler would refuse, later: once the text is there, and in a queue after the runs before it.
static void checkSampler(const DataConfig &data, const TrainConfig &train) {
  if (data.sampler == "documents") {
    if (train.batch % data.groups != 0)
      fail("requires groups of equal size, but train.batch = ", train.batch,
           " cannot be cut into data.groups = ", data.groups,
           "; set one of the two, data.groups=1 for no groups");
    if (train.context < 2)
      fail("requires train.context of at least 2 with data.sampler = 'documents', an input and a target, but "
           "got ",
           train.context);
  }
  if (data.sampler == "recall")
    requireRoomForPairs(data.pairs, data.symbols, train.context);
}

void Config::check() const {
  try {
    run.check();
    attention.check();
    model.check();
    data.check();
    train.check();
    optimizer.check();
    schedule.check();
    evaluation.check();
    checkpoint.check();
    log.check();
  } catch (const SettingError &error) {
    auto place = places.find(error.key);
    if (place == places.end())
      throw;
    fail(place->second, error.what());
  }
  requireCountable(train, evaluation);
  checkSampler(data, train);
  if (log.profileSteps > 0 && log.profileFrom > train.steps)
    fail("requires log.profile_from within the run's steps, 1 to train.steps = ", train.steps, ", but got ",
         log.profileFrom, "; log.profile_steps=0 for no profile");
  if (data.sampler == "recall" && evaluation.sequences == 0)
    fail("requires evaluation.sequences of at least 1 with data.sampler = 'recall', but got 0: the task has "
         "no "
         "text of which to take all; 64 is the default");
}

} // namespace taylor::trainer
