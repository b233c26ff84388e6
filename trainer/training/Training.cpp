// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Training.h"
#include "runtime/Memory.h"
#include "runtime/torch/Parallel.h"
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/distributed/GradientReducer.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/model/Cost.h"
#include "trainer/optimization/Batches.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
#include "trainer/report/Metrics.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Clock.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Main.h"
#include "trainer/support/Parallel.h"
#include "trainer/text/Corpus.h"
#include "trainer/text/Data.h"
#include "trainer/text/PreparedText.h"
#include "trainer/text/Recall.h"
#include "trainer/text/Sampler.h"
#include "trainer/training/Beginning.h"
#include "trainer/training/Profile.h"
#include "trainer/training/RunFolder.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <cmath>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

constexpr size_t kLossWindow = 20; // steps whose mean is the summary's train_loss and the bar's loss

double mean(const std::deque<double> &values) {
  return values.empty() ? NAN : std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

RecallTask recallTask(const Config &config, const Data &data) {
  return RecallTask(data.tokenizer->vocabulary(), config.data.symbols, config.train.context,
                    config.data.pairs);
}

std::unique_ptr<Sampler> makeSampler(const Config &config, const Data &data) {
  if (config.data.sampler == "recall")
    return std::make_unique<RecallSampler>(recallTask(config, data), config.train.batch, config.run.seed);
  if (config.data.sampler == "documents")
    return std::make_unique<DocumentSampler>(data.training, config.train.context, config.train.batch,
                                             config.data.groups, config.run.seed, data.tokenizer->end());
  return std::make_unique<PackedSampler>(data.training, config.train.context, config.train.batch,
                                         config.run.seed);
}

std::unique_ptr<ValidationSequences> makeValidation(const Config &config, const Data &data) {
  if (config.data.sampler == "recall")
    return std::make_unique<RecallValidation>(recallTask(config, data), config.evaluation.sequences);
  return std::make_unique<ValidationText>(data.validation, config.train.context, config.evaluation.sequences,
                                          config.data.sampler == "documents", data.tokenizer->end(),
                                          data.moreValidation);
}

// Machines may differ in where files are, which are compared by content, and in how many cores they have.
Group::Things settingsToShare(const Config &config) {
  Group::Things shared;
  for (const WrittenSetting &setting : writtenSettings(config))
    if (!setting.isPath && setting.key != "run.threads")
      shared.push_back({setting.key, setting.value});
  return shared;
}

// Of the processes of one machine the first compiles and fills the cache of kernels, where the others find
// it.
template <typename Make> auto firstOnMachine(const Group &group, int64_t local, Make make) {
  if (local > 0)
    group.barrier();
  auto made = make();
  if (local == 0)
    group.barrier();
  return made;
}

// Where memory is short, that is what for.
void nowTraining(const std::string &what) {
  nowDoing(what, "a smaller train.micro_batch, train.batch, train.context or model needs less");
}

// Throws Error where some are no pieces of the tokenizer.
void checkTokens(const Data &data) {
  Elapsed elapsed("checking the tokens before the run in the folder is removed");
  data.training.checkAll();
  data.validation.checkAll();
}

// The model's settings, where the processor's memory has room for it.
const ModelConfig &roomFor(const Config &config, const Data &data, const AttentionFunction &attention) {
  if (attention.device.is_cpu())
    requireMemory(config, data.tokenizer->vocabulary(), attention);
  nowTraining(text("building the model of '", config.run.folder, "'"));
  return config.model;
}

// One run from its configuration: builds everything in its constructor, so that whatever is wrong is said at
// once. Of several processes the first alone writes, to files and to the terminal.
class Run {
public:
  Run(const Config &config, Existing existing, const Group &group, const World &world,
      const Lockstep *lockstep);
  int loop();

private:
  void describe() const;
  void resume();
  void openMetrics();
  void warnOfSchedule();
  // What a step was, and what it took.
  struct Step {
    double loss, learningRate, gradientNorm;
    double speed;   // tokens per second
    double waited;  // seconds, for data
    int64_t memory; // bytes, the most so far
  };
  // One step, from 1: batch and update.
  Step advance(int64_t step);
  // As a line of metrics.
  Measurements measurementsOf(const Step &made) const;
  // Whether to stop.
  bool evaluateAndLog(int64_t step);
  void save(int64_t step);
  void finish(int64_t step);
  std::string note(const Step &made) const;
  // "updates left out: 2" after `separator`; empty if none was.
  std::string leftOut(const char *separator) const;
  // For data, of the time of warm steps; not a number before there are any.
  double waitedShare() const { return trainedTokens ? waitedSeconds / trainedSeconds : NAN; }
  void say(const std::string &line);
  // The file that StepProfile::end() has written, if it has.
  void sayProfile(const fs::path &trace) {
    if (!trace.empty())
      say("profile    " + trace.string());
  }
  std::function<void(const std::string &)> warn() {
    return [this](const std::string &warning) { say(warning); };
  }

  Config config;
  const Group &group;
  const Lockstep *lockstep;         // null: steps follow each other
  int64_t share;                    // sequences of a batch that this process has
  std::unique_ptr<RunFolder> place; // null in all processes but the first
  fs::path folder;
  AttentionKernel attention;
  Data data;
  bool bf16;
  Model model;
  Optimizer optimizer;
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<ValidationSequences> validationSequences;
  Updates updates;
  Evaluation evaluation;
  Checkpoint checkpoint;
  ModelCost cost;
  double peak; // operations per second; 0: unknown
  StepProfile profile;
  std::unique_ptr<Metrics> metrics; // null in all processes but the first
  std::optional<Progress> progress; // so too
  std::unique_ptr<BatchLoader> batches;
  int signal = 0;                // that ends the run
  int64_t evaluatedStep = -1;    // of the last evaluation
  EvaluationResult evaluated;    // by it
  std::optional<fs::path> saved; // the checkpoint that has all of the present state, if there is one
  bool warm = false;             // after this process's first step, which pays for pages and caches
  double startSeconds = NAN;     // from the process's start to its first step
  double firstStepSeconds = NAN;
  double trainedSeconds = 0; // of warm steps
  int64_t trainedTokens = 0;
  double waitedSeconds = 0; // for data, of warm steps
  std::deque<double> losses;
};

// What metrics.csv has, in this order.
const std::vector<std::string> columns = {
    "loss",      "lr",        "grad_norm", "tokens_per_second", "mfu",
    "data_wait", "memory_mb", "skipped",   "validation_loss",   "validation_accuracy"};

// First what takes no time, then the specification and the text: what is most often wrong.
Run::Run(const Config &theConfig, Existing existing, const Group &group, const World &world,
         const Lockstep *lockstep)
    : config(theConfig), group(group), lockstep(lockstep),
      share(world.share(config.train.batch, "train.batch")),
      place(group.isFirst() ? std::make_unique<RunFolder>(config.run.folder, existing) : nullptr),
      folder(config.run.folder),
      attention(firstOnMachine(group, world.local,
                               [&] {
                                 return compileAttention(config.attention, config.model,
                                                         config.train.precision == "bf16", config.run.device,
                                                         config.data.usesDocuments());
                               })),
      data(firstOnMachine(group, world.local,
                          [&] { return prepareData(config.data, at::get_num_threads()); })),
      bf16(config.train.precision == "bf16"),
      model(roomFor(config, data, attention.function), data.tokenizer->vocabulary(), attention.function, bf16,
            config.run.seed),
      optimizer(config.optimizer, model.parameters(), group), sampler(makeSampler(config, data)),
      validationSequences(makeValidation(config, data)), updates(config, model, optimizer, group),
      evaluation(config, model, *validationSequences, group), cost(costOf(model, config.train.context)),
      peak(group.size() * peakOf(config, model.device())), profile(config.log, folder, model.device()) {
  group.requireSame("specification", "give every machine the same file", [&] { return attention.text; });
  group.requireSame("text and tokenizer", "give every machine the same files",
                    [&] { return data.fingerprint(); });
  if (place) {
    if (std::error_code error; existing == Existing::Overwrite && fs::exists(folder / "metrics.jsonl", error))
      checkTokens(data); // which would else be found out when a step reads them, and the old run is gone
    place->claim(world.runId);
  }
  model.setActivationCheckpointing(config.train.activationCheckpointing);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(config.run.seed);
  checkpoint.description = {config.model,
                            data.tokenizer->vocabulary(),
                            config.train.context,
                            attention.file,
                            config.attention.parameters,
                            config.attention.mask,
                            bf16,
                            computesLlamaAttention(attention.function, config.model, bf16),
                            /*text=*/{},
                            /*passedOver=*/{}};
  checkpoint.specification = attention.text;
  checkpoint.settings = writeConfig(config);
  checkpoint.state = commonState(config, attention.text, data);
  if (existing == Existing::Resume)
    resume();
  if (!saved && !config.model.from.empty())
    for (const std::string &line : startFromModel(config.model.from, model, group))
      say(line);
  // No earlier than here: an error above leaves an old run's files as they were.
  if (group.isFirst())
    openMetrics();
}

void Run::openMetrics() {
  metrics = std::make_unique<Metrics>(folder, checkpoint.state.step > 0 ? checkpoint.state.step : -1,
                                      evaluatedStep, config.log.tensorboard,
                                      config.log.csv ? columns : std::vector<std::string>());
  describe();
}

void Run::describe() const {
  const ModelConfig &m = config.model;
  std::fprintf(stderr, "attention  %s (%s)\n", attention.name.c_str(),
               config.attention.specification.c_str());
  std::fprintf(stderr, "model      %s parameters: %lld layers, %lld wide, %lld heads of %lld, %s%s%s\n",
               formatCount(model.parameterCount()).c_str(), (long long)m.layers, (long long)m.hidden,
               (long long)m.heads, (long long)m.headWidth(), config.train.precision.c_str(),
               config.run.device == "cpu" ? "" : " on ",
               config.run.device == "cpu" ? "" : config.run.device.c_str());
  if (config.data.sampler == "recall")
    std::fprintf(stderr, "task       associative recall: %lld pairs of %lld symbols\n",
                 (long long)config.data.pairs, (long long)config.data.symbols);
  else
    std::fprintf(stderr, "text       %s: %s tokens to train on, %s to validate with\n", data.title.c_str(),
                 formatCount(data.training.size()).c_str(), formatCount(data.validation.size()).c_str());
  std::string processes = group.size() > 1 ? text(group.size(), " processes, each ") : std::string();
  std::fprintf(stderr, "run        %s: %lld steps of %lld x %lld tokens, %s%d threads\n", folder.c_str(),
               (long long)config.train.steps, (long long)config.train.batch, (long long)config.train.context,
               processes.c_str(), at::get_num_threads());
}

// The first process reads and tells the others, which may be on machines without the run's folder.
void Run::resume() {
  std::string newest, state;
  Optimizer::State moments;
  if (group.isFirst())
    newest = newestCheckpoint(folder / "checkpoints").value_or(fs::path()).string();
  newest = group.broadcastBytes(newest);
  if (newest.empty())
    return;
  if (group.isFirst()) {
    state = readState(newest);
    readTrainingState(state, newest, checkpoint.state); // before what takes long
    moments = optimizer.room();
    loadTensors(newest, model, moments);
  }
  checkpoint.state = readTrainingState(group.broadcastBytes(state), newest, checkpoint.state);
  broadcastParameters(group, model.parameters());
  optimizer.restore(moments);
  updates.restore(checkpoint.state.updates);
  evaluation.restore(checkpoint.state.evaluations);
  evaluatedStep = checkpoint.state.evaluatedStep;
  evaluated = checkpoint.state.evaluated;
  losses.assign(checkpoint.state.losses.begin(), checkpoint.state.losses.end());
  saved = newest;
  say("resuming   " + newest);
  for (const std::string &change : checkpoint.state.changes)
    say("changed    " + change);
}

void Run::say(const std::string &line) {
  if (!group.isFirst())
    return;
  if (progress)
    progress->message(line);
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

Run::Step Run::advance(int64_t step) {
  if (lockstep)
    lockstep->wait();
  nowTraining(text("making step ", step, " of '", config.run.folder, "', ", share, " sequences of ",
                   config.train.context, " tokens"));
  saved.reset();
  Clock::time_point start = Clock::now();
  double waited = 0;
  Batch batch = batches->next(waited);
  if (group.isFirst())
    profile.begin(step);
  UpdateResult result = updates.update(batch, step - 1);
  if (!result.why.empty())
    say(text("left out   the update of step ", step, ": ", result.why, "; others are counted"));
  signal = result.signal;
  double seconds = secondsSince(start);
  if (group.isFirst())
    sayProfile(profile.end(step, signal != 0));
  if (warm) {
    trainedSeconds += seconds;
    trainedTokens += batch.counted;
    waitedSeconds += waited;
  }
  if (!warm)
    firstStepSeconds = seconds;
  if (lockstep)
    lockstep->done(seconds, result.loss, peakMemory(model.device()));
  warm = true;
  checkpoint.state.learned += batch.counted;
  losses.push_back(result.loss);
  if (losses.size() > kLossWindow)
    losses.pop_front();
  return {result.loss, result.learningRate,       result.gradientNorm, batch.counted / seconds,
          waited,      peakMemory(model.device())};
}

Measurements Run::measurementsOf(const Step &made) const {
  Measurements measurements = {{"loss", made.loss},
                               {"lr", made.learningRate},
                               {"grad_norm", made.gradientNorm},
                               {"tokens_per_second", made.speed}};
  if (peak > 0)
    measurements.push_back({"mfu", made.speed * cost.trainingPerToken() / peak});
  measurements.push_back({"data_wait", made.waited});
  measurements.push_back({"memory_mb", double(made.memory >> 20)});
  if (int64_t skipped = updates.state().skipped)
    measurements.push_back({"skipped", double(skipped)});
  return measurements;
}

bool Run::evaluateAndLog(int64_t step) {
  nowTraining(text("evaluating '", config.run.folder, "' after step ", step));
  evaluated = evaluation.run();
  evaluatedStep = step;
  saved.reset();
  if (!std::isfinite(evaluated.loss))
    say(text("warning: the validation loss is ", std::isnan(evaluated.loss) ? "nan" : "inf", " after step ",
             step));
  if (metrics)
    metrics->write(step, {{"validation_loss", evaluated.loss}, {"validation_accuracy", evaluated.accuracy}});
  return evaluation.stopsAt(evaluated.loss);
}

void Run::save(int64_t step) {
  if (place)
    place->requireThere();
  nowTraining(text("saving a checkpoint of '", config.run.folder, "' after step ", step));
  checkpoint.state.step = step;
  checkpoint.state.losses.assign(losses.begin(), losses.end());
  checkpoint.state.updates = updates.state();
  checkpoint.state.evaluatedStep = evaluatedStep;
  checkpoint.state.evaluated = evaluated;
  checkpoint.state.evaluations = evaluation.state();
  group.requireSame("parameters", "--resume goes on from the last checkpoint, where they were the same",
                    [&] { return model.checksum(); });
  Optimizer::State moments = optimizer.state();
  fs::path checkpoints = folder / "checkpoints";
  if (group.isFirst())
    saveCheckpoint(checkpoints, checkpoint, model, moments, *data.tokenizer, config.checkpoint.keep, warn());
  saved = checkpointOf(checkpoints, step);
}

std::string Run::note(const Step &made) const {
  std::string validation =
      evaluatedStep >= 0 ? "  validation " + formatNumber("%.3f", evaluated.loss) : std::string();
  return "loss " + formatNumber("%.3f", made.loss) + validation + "  " + formatNumber("%.0f", made.speed) +
         " tokens/s" + formatWaiting("  ", waitedShare()) + leftOut("  ");
}

std::string Run::leftOut(const char *separator) const {
  int64_t skipped = updates.state().skipped;
  return skipped ? text(separator, "updates left out: ", skipped) : std::string();
}

void Run::warnOfSchedule() {
  int64_t rises = config.schedule.warmup + config.schedule.lag;
  if (config.schedule.warmup > 0 && rises >= config.train.steps)
    say(text("warning: the learning rate rises to the end of the run, since schedule.warmup",
             config.schedule.lag ? " and schedule.lag" : "", " = ", rises,
             " is not below train.steps = ", config.train.steps));
}

int Run::loop() {
  int64_t steps = config.train.steps, first = checkpoint.state.step, patience = config.evaluation.patience;
  bool stopped = patience > 0 && evaluation.state().since >= patience;
  std::error_code error;
  if ((first >= steps || stopped) &&
      group.broadcastBytes(fs::exists(folder / "summary.json", error) ? "ended" : "").empty()) {
    finish(first); // which it did not come to before
    return 0;
  }
  if (first >= steps) {
    say(text("nothing to do: the run is at step ", first, " of ", steps, "; raise train.steps to go on"));
    return 0;
  }
  if (stopped) {
    say(text("nothing to do: the run stopped at step ", first, ", ", evaluation.state().since,
             " evaluations behind its best; raise evaluation.patience to go on"));
    return 0;
  }
  auto isDue = [](int64_t step, int64_t every) { return every > 0 && step % every == 0; };
  fs::remove(folder / "summary.json", error); // of an earlier end: the run goes on after it
  if (error)
    fail("cannot remove '", (folder / "summary.json").string(), "': ", error.message());
  if (group.isFirst()) { // no earlier: where nothing is done they stay those of what was
    replaceDurably(folder / "config.toml", checkpoint.settings);
    replaceDurably(folder / attention.file, attention.text);
    if (saved) // the newest is whole and read: with fewer to keep there is more room for the next
      removeOldCheckpoints(folder / "checkpoints", config.checkpoint.keep, warn());
  }
  warnOfSchedule();
  if (std::string warning = warnOfThreads("run.threads", config.run.threads); !warning.empty())
    say(warning);
  catchInterrupts();
  batches = std::make_unique<BatchLoader>(*sampler, config.data.usesDocuments(), group.rank() * share, share,
                                          first, steps);
  if (group.isFirst())
    progress.emplace("training", steps, first, /*eager=*/true);
  startSeconds = processSeconds();
  if (lockstep)
    lockstep->begin(config, checkpoint.description.vocabulary, model.parameterCount(), startSeconds);
  // A signal ended the run after what was its last step, before the evaluation.
  bool owes = first > 0 && isDue(first, config.evaluation.every) && evaluatedStep != first;
  if (owes && evaluateAndLog(first)) {
    finish(first);
    return 0;
  }
  for (int64_t step = first + 1; step <= steps; ++step) {
    Step made = advance(step);
    if (place)
      place->requireThere();
    if (metrics && (isDue(step, config.log.every) || step == steps))
      metrics->write(step, measurementsOf(made));
    bool stops = isDue(step, config.evaluation.every) && step < steps && evaluateAndLog(step);
    if (progress)
      progress->update(step, text("step ", step, "/", steps, "  ", note(made)));
    if (signal) {
      save(step);
      say(text("stopped by signal ", signal, " after step ", step, "; saved '", saved->string(),
               "', and --resume goes on from there"));
      return 128 + signal;
    }
    if (stops) {
      say(text("stopped after step ", step, ": ", patience,
               " evaluations in a row without a lower loss than ",
               formatNumber("%.4f", evaluation.state().best)));
      finish(step);
      return 0;
    }
    if (isDue(step, config.checkpoint.every) && step < steps)
      save(step);
  }
  if (progress)
    progress->finish();
  finish(steps);
  return 0;
}

void Run::finish(int64_t step) {
  if (group.isFirst())
    sayProfile(profile.end(step, /*last=*/true));
  if (evaluatedStep != step)
    evaluateAndLog(step);
  if (!saved)
    save(step);
  else if (group.isFirst()) // a process that was killed after its last checkpoint may have left older ones
    removeOldCheckpoints(folder / "checkpoints", config.checkpoint.keep, warn());
  if (!group.isFirst())
    return;
  if (int64_t skipped = updates.state().skipped; 10 * skipped > step)
    say(text(
        "warning: ", skipped, " of ", step,
        " updates were left out: their losses or gradients were not finite, or ",
        "beyond train.skip_above; a lower optimizer.learning_rate or optimizer.clip = 1 may prevent it"));
  double speed = trainedTokens ? trainedTokens / trainedSeconds : NAN;
  double mfu = peak > 0 ? speed * cost.trainingPerToken() / peak : NAN;
  nlohmann::ordered_json summary = {{"spec", attention.name},
                                    {"specification", config.attention.specification},
                                    {"parameters", model.parameterCount()},
                                    {"steps", step},
                                    {"tokens", checkpoint.state.learned},
                                    {"tokens_per_second", speed},
                                    {"mfu", mfu},
                                    {"start_seconds", startSeconds},
                                    {"first_step_seconds", firstStepSeconds},
                                    {"data_wait_share", waitedShare()},
                                    {"skipped_updates", updates.state().skipped},
                                    {"train_loss", mean(losses)},
                                    {"validation_loss", evaluated.loss},
                                    {"validation_accuracy", evaluated.accuracy},
                                    {"peak_memory_mb", peakMemory(model.device()) >> 20},
                                    {"seed", config.run.seed},
                                    {"precision", config.train.precision},
                                    {"device", config.run.device},
                                    {"processes", group.size()},
                                    {"checkpoint", saved->string()}};
  if (!config.attention.parameters.empty())
    summary["attention_parameters"] = config.attention.parameters;
  if (config.log.state)
    summary["state_bytes"] = decodingBytes(model, config.train.context);
  replaceDurably(folder / "summary.json", summary.dump(2) + "\n");
  std::fprintf(stderr, "done       train loss %.4f (mean of %zu steps), validation loss %.4f%s%s%s; %s\n",
               mean(losses), losses.size(), evaluated.loss,
               std::isfinite(speed) ? formatNumber(", %.0f tokens/s", speed).c_str() : "",
               formatWaiting(", ", waitedShare()).c_str(), leftOut(", ").c_str(), saved->c_str());
}

// Lets the other processes know how this one ends. The exit status.
int amongOthers(Group &group, const std::function<int()> &work) {
  std::string reason;
  bool lostConnection = false;
  try {
    int status = work();
    group.leave();
    return status;
  } catch (const c10::DistError &) {
    reason = describeException();
    lostConnection = true;
  } catch (...) {
    reason = describeException();
  }
  group.abandon(reason, lostConnection);
  std::string who = group.isFirst() ? "" : text("process ", group.rank(), " of ", group.size(), ": ");
  std::fprintf(stderr, "error: %s%s\n", who.c_str(), reason.c_str());
  if (group.size() > 1)
    group.end(1);
  return 1;
}

} // namespace

int train(const Config &config, Existing existing, const Lockstep *lockstep) {
  config.check();
  runtime::keepFreedMemory(); // a step allocates what the last one freed
  if (config.run.threads)
    at::set_num_threads(config.run.threads);
  if (!warnOfThreads("run.threads", config.run.threads).empty())
    silenceThreadWarning(); // said with the run
  World world = worldFromEnvironment();
  if (world.isFirst() && world.attempt == 0 && !world.runId.empty())
    forgetClaim(config.run.folder);
  if (world.size > 1 && config.run.device == "cuda")
    chooseGpu(world);
  if (lockstep && world.size > 1)
    fail("unsupported --lockstep with several processes");
  Group group(world, config.run.device, std::chrono::seconds(config.run.joinTimeout));
  nowTraining(text("preparing the text '", config.data.path, "'"));
  return amongOthers(group, [&] {
    group.requireAllSame("start all with the same --config, --set and other flags",
                         [&] { return settingsToShare(config); });
    // Before the specification is compiled, which takes seconds.
    requireCorpus(config.data.path);
    if (!isPreparedText(config.data.path))
      requireOutside(config.data.path, config.run.folder, "--out");
    // torchrun starts the processes again as it did before: none can ask for --resume then.
    bool again = world.attempt > 0 && group.isFirst() && isClaimedBy(config.run.folder, world.runId);
    Existing what = group.broadcastBytes(again ? "again" : "").empty() ? existing : Existing::Resume;
    return Run(config, what, group, world, lockstep).loop();
  });
}

} // namespace taylor::trainer
