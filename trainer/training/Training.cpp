// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Training.h"
#include "runtime/Memory.h"
#include "runtime/torch/Parallel.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/model/Cost.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
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
#include "trainer/training/BatchLoader.h"
#include "trainer/training/FromModel.h"
#include "trainer/training/Profile.h"
#include "trainer/training/RunFolder.h"
#include "trainer/training/RunLog.h"
#include "trainer/training/RunState.h"
#include "trainer/training/Speed.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <cmath>
#include <functional>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

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

/// Machines may differ in where files are, which are compared by content, and in how many cores they have.
Group::Things settingsToShare(const Config &config) {
  Group::Things shared;
  for (const WrittenSetting &setting : writtenSettings(config))
    if (!setting.isPath && setting.key != "run.threads")
      shared.push_back({setting.key, setting.value});
  return shared;
}

/// Of the processes of one machine the first compiles and fills the cache of kernels, where the others find
/// it.
template <typename Make> auto firstOnMachine(const Group &group, int64_t local, Make make) {
  if (local > 0)
    group.barrier();
  auto made = make();
  if (local == 0)
    group.barrier();
  return made;
}

/// Where memory is short, that is what for.
void nowTraining(const std::string &what) {
  nowDoing(what, "a smaller train.micro_batch, train.batch, train.context or model needs less");
}

/// Throws Error where some are no pieces of the tokenizer.
void checkTokens(const Data &data) {
  Elapsed elapsed("checking the tokens before the run in the folder is removed");
  data.training.checkAll();
  data.validation.checkAll();
}

/// The model's settings, where the processor's memory has room for it.
const ModelConfig &roomFor(const Config &config, const Data &data, const AttentionFunction &attention) {
  if (attention.device.is_cpu())
    requireMemory(config, data.tokenizer->vocabulary(), attention);
  nowTraining(text("building the model of '", config.run.folder, "'"));
  return config.model;
}

/// One run from its configuration: builds everything in its constructor, so that whatever is wrong is said at
/// once. Of several processes the first alone writes, to files and to the terminal.
class Run {
public:
  Run(const Config &config, Existing existing, const Group &group, const World &world,
      const Lockstep *lockstep);
  int loop();

private:
  void begin(int64_t first);
  void warnOfSchedule();
  /// One step, from 1: batch and update.
  StepReport advance(int64_t step);
  /// Whether to stop.
  bool evaluateAndLog(int64_t step);
  void save(int64_t step);
  void finish(int64_t step);
  /// The file that StepProfile::end() has written, if it has.
  void sayProfile(const fs::path &trace) {
    if (!trace.empty())
      log.say("profile    " + trace.string());
  }

  Config config;
  const Group &group;
  const Lockstep *lockstep;         // null: steps follow each other
  int64_t share;                    // sequences of a batch that this process has
  std::unique_ptr<RunFolder> place; // null in all processes but the first
  fs::path folder;
  AttentionKernel attention;
  Data data;
  Model model;
  Optimizer optimizer;
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<ValidationSequences> validationSequences;
  Updates updates;
  Evaluation evaluation;
  RunState state;
  Pace pace;
  RunLog log;
  StepProfile profile;
  std::unique_ptr<BatchLoader> batches;
  int signal = 0; // that ends the run
};

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
      model(roomFor(config, data, attention.function), data.tokenizer->vocabulary(), attention.function,
            config.train.precision == "bf16", config.run.seed),
      optimizer(config.optimizer, model.parameters(), group), sampler(makeSampler(config, data)),
      validationSequences(makeValidation(config, data)), updates(config, model, optimizer, group),
      evaluation(config, model, *validationSequences, group),
      state(config, attention, data, model, optimizer, updates, evaluation, group),
      log(config, attention, data, model, updates, state, pace, group),
      profile(config.log, folder, model.device()) {
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
  if (existing == Existing::Resume)
    for (const std::string &line : state.resume())
      log.say(line);
  if (!state.saved() && !config.model.from.empty())
    for (const std::string &line : startFromModel(config.model.from, model, group))
      log.say(line);
  log.open(); // no earlier: an error above leaves an old run's files as they were
}

StepReport Run::advance(int64_t step) {
  if (lockstep)
    lockstep->wait();
  nowTraining(text("making step ", step, " of '", config.run.folder, "', ", share, " sequences of ",
                   config.train.context, " tokens"));
  state.beginStep();
  Clock::time_point start = Clock::now();
  double waited = 0;
  Batch batch = batches->next(waited);
  if (group.isFirst())
    profile.begin(step);
  UpdateResult result = updates.update(batch, step - 1);
  if (!result.why.empty())
    log.say(text("left out   the update of step ", step, ": ", result.why, "; others are counted"));
  signal = result.signal;
  double seconds = secondsSince(start);
  if (group.isFirst())
    sayProfile(profile.end(step, signal != 0));
  pace.add(seconds, waited, batch.counted);
  if (lockstep)
    lockstep->done(seconds, result.loss, peakMemory(model.device()));
  state.addStep(result.loss, batch.counted);
  return {result.loss, result.learningRate,       result.gradientNorm, batch.counted / seconds,
          waited,      peakMemory(model.device())};
}

bool Run::evaluateAndLog(int64_t step) {
  nowTraining(text("evaluating '", config.run.folder, "' after step ", step));
  EvaluationResult result = evaluation.run();
  state.addEvaluation(step, result);
  if (!std::isfinite(result.loss))
    log.say(text("warning: the validation loss is ", std::isnan(result.loss) ? "nan" : "inf", " after step ",
                 step));
  log.writeEvaluation();
  return evaluation.stopsAt(result.loss);
}

void Run::save(int64_t step) {
  if (place)
    place->requireThere();
  nowTraining(text("saving a checkpoint of '", config.run.folder, "' after step ", step));
  state.save(step, log.warn());
}

void Run::warnOfSchedule() {
  int64_t rises = config.schedule.warmup + config.schedule.lag;
  if (config.schedule.warmup > 0 && rises >= config.train.steps)
    log.say(text("warning: the learning rate rises to the end of the run, since schedule.warmup",
                 config.schedule.lag ? " and schedule.lag" : "", " = ", rises,
                 " is not below train.steps = ", config.train.steps));
}

// What is done once it is known that there are steps to make.
void Run::begin(int64_t first) {
  std::error_code error;
  fs::remove(folder / "summary.json", error); // of an earlier end: the run goes on after it
  if (error)
    fail("cannot remove '", (folder / "summary.json").string(), "': ", error.message());
  if (group.isFirst()) { // no earlier: where nothing is done they stay those of what was
    replaceDurably(folder / "config.toml", state.settings());
    replaceDurably(folder / attention.file, attention.text);
    if (state.saved()) // the newest is whole and read: with fewer to keep there is more room for the next
      state.removeOld(log.warn());
  }
  warnOfSchedule();
  if (std::string warning = warnOfThreads("run.threads", config.run.threads); !warning.empty())
    log.say(warning);
  catchInterrupts();
  batches = std::make_unique<BatchLoader>(*sampler, config.data.usesDocuments(), group.rank() * share, share,
                                          first, config.train.steps);
  log.begin();
  pace.begin();
  if (lockstep)
    lockstep->begin(config, data.tokenizer->vocabulary(), model.parameterCount(), pace.startSeconds());
}

int Run::loop() {
  int64_t steps = config.train.steps, first = state.step(), patience = config.evaluation.patience;
  bool stopped = patience > 0 && evaluation.state().since >= patience;
  std::error_code error;
  if ((first >= steps || stopped) &&
      group.broadcastBytes(fs::exists(folder / "summary.json", error) ? "ended" : "").empty()) {
    finish(first); // which it did not come to before
    return 0;
  }
  if (first >= steps) {
    log.say(text("nothing to do: the run is at step ", first, " of ", steps, "; raise train.steps to go on"));
    return 0;
  }
  if (stopped) {
    log.say(text("nothing to do: the run stopped at step ", first, ", ", evaluation.state().since,
                 " evaluations behind its best; raise evaluation.patience to go on"));
    return 0;
  }
  auto isDue = [](int64_t step, int64_t every) { return every > 0 && step % every == 0; };
  begin(first);
  // A signal ended the run after what was its last step, before the evaluation.
  bool owes = first > 0 && isDue(first, config.evaluation.every) && state.evaluatedStep() != first;
  if (owes && evaluateAndLog(first)) {
    finish(first);
    return 0;
  }
  for (int64_t step = first + 1; step <= steps; ++step) {
    StepReport made = advance(step);
    if (place)
      place->requireThere();
    if (isDue(step, config.log.every) || step == steps)
      log.write(step, made);
    bool stops = isDue(step, config.evaluation.every) && step < steps && evaluateAndLog(step);
    log.show(step, made);
    if (signal) {
      save(step);
      log.say(text("stopped by signal ", signal, " after step ", step, "; saved '", state.saved()->string(),
                   "', and --resume goes on from there"));
      return 128 + signal;
    }
    if (stops) {
      log.say(text("stopped after step ", step, ": ", patience,
                   " evaluations in a row without a lower loss than ",
                   formatNumber("%.4f", evaluation.state().best)));
      finish(step);
      return 0;
    }
    if (isDue(step, config.checkpoint.every) && step < steps)
      save(step);
  }
  log.end();
  finish(steps);
  return 0;
}

void Run::finish(int64_t step) {
  if (group.isFirst())
    sayProfile(profile.end(step, /*last=*/true));
  if (state.evaluatedStep() != step)
    evaluateAndLog(step);
  if (!state.saved())
    save(step);
  else if (group.isFirst()) // a process that was killed after its last checkpoint may have left older ones
    state.removeOld(log.warn());
  log.summarise(step);
}

/// Lets the other processes know how this one ends. The exit status.
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
