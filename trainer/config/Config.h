// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that can be set about a run. Each component has a struct; a field is declared with its default,
// listed once in list() (which is what TOML files, --set, --help-settings and the saved config.toml go by)
// and checked in check(), which names the field.
#ifndef TAYLOR_TRAINER_CONFIG_CONFIG_H
#define TAYLOR_TRAINER_CONFIG_CONFIG_H
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace taylor::trainer {

/// Values of a specification's free parameters by name; which names there are is the specification's
/// business.
using Parameters = std::map<std::string, double>;

/// One field: where it lives, under which key, what it means.
struct Setting {
  std::string key; // "train.steps"
  std::variant<int64_t *, double *, bool *, std::string *, Parameters *> value;
  std::string help;
  bool path = false; // a relative path in a file is meant from that file's folder
};

class Settings {
public:
  void section(std::string name, std::string help);
  template <typename T> void add(const char *key, T &value, const char *help) {
    entries.push_back({current + "." + key, &value, help, false});
  }
  void addPath(const char *key, std::string &value, const char *help) {
    entries.push_back({current + "." + key, &value, help, true});
  }
  std::vector<Setting> entries;
  std::vector<std::pair<std::string, std::string>> sections; // name, help

private:
  std::string current;
};

/// Throws Error that names `key` unless `value` is one of the choices.
void requireOneOf(const std::vector<std::string> &choices, const char *key, const std::string &value);
/// Throws Error where recall's pairs have too few symbols for their keys or too small a context.
void requireRoomForPairs(int64_t pairs, int64_t symbols, int64_t context);

/// What is larger is a slip, and would end in memory that cannot be had, or in sums beyond 2^63: more threads
/// than any machine has cores, and more steps than any run makes. Sizes of a model are such that its
/// parameters can be counted, and its tensors addressed.
inline constexpr int64_t kMostThreads = 1024, kMostSteps = 1'000'000'000'000, kMostTokens = int64_t(1) << 62;
inline constexpr int64_t kMostLayers = 10'000, kWidestHidden = 1 << 20, kWidestInner = 1 << 22,
                         kMostHeads = 1 << 16, kWidestHead = 1 << 16;
inline constexpr int64_t kLargestBatch = 1 << 24, kLongestContext = 1 << 27;

/// Names of what computes: "cpu"; "cuda", the first GPU; "ptx", the processor, with the attention's GPU code
/// in the interpreter.
std::vector<std::string> devices();

struct RunConfig {
  std::string folder = "runs/default";
  int64_t seed = 1;
  int64_t threads = 0;
  std::string device = "cpu"; // one of devices()
  int64_t joinTimeout = 300;  // seconds
  void list(Settings &);
  void check() const;
};

struct AttentionConfig {
  std::string specification;
  std::string text; // of the specification, where there is no such file; no setting
  std::string mask;
  Parameters parameters;
  void list(Settings &);
  void check() const;
};

/// The shape of the Llama. `vocabulary` is not here: the tokenizer has it.
struct ModelConfig {
  int64_t hidden = 256;
  int64_t intermediate = 704;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t kvHeads = 0;  // 0: as many as heads
  int64_t headDim = 0;  // 0: hidden / heads
  int64_t valueDim = 0; // 0: headDim
  double normEpsilon = 1e-5;
  std::string from; // folder of the model whose weights are the first ones; empty: none
  std::string initialization = "normal";
  double initialDeviation = 0.02;

  int64_t keyValueHeads() const { return kvHeads ? kvHeads : heads; }
  int64_t headWidth() const { return headDim ? headDim : hidden / heads; }
  int64_t valueWidth() const { return valueDim ? valueDim : headWidth(); }
  void list(Settings &);
  void check() const;
};

struct DataConfig {
  std::string path;
  std::string tokenizer;
  int64_t vocabulary = 4096;
  double validationFraction = 0.02;
  std::string sampler = "packed";  // or "documents", or "recall"
  int64_t symbols = 64, pairs = 8; // of "recall"
  bool documentMask = true;        // of packed sequences
  int64_t groups = 1;              // of a batch of documents
  bool usesDocuments() const { return sampler == "packed" && documentMask; }
  bool verify = false;
  void list(Settings &);
  void check() const;
};

struct TrainConfig {
  int64_t steps = 1000;
  int64_t batch = 8;
  int64_t context = 256;
  int64_t microBatch = 0; // sequences computed at once; 0: all of a process's share of the batch
  std::string precision = "fp32";
  bool activationCheckpointing = false;
  std::string onNonFinite = "stop"; // or "skip"
  double skipAbove = 0;             // standard deviations; 0: nothing is skipped
  void list(Settings &);
  void check() const;
};

struct OptimizerConfig {
  double learningRate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weightDecay = 0.1;
  std::string decay = "matrices";
  double clip = 1.0;
  bool shard = false;
  void list(Settings &);
  void check() const;
};

struct ScheduleConfig {
  std::string kind = "linear";
  int64_t warmup = 100;
  int64_t horizon = 0; // 0: train.steps
  double final = 0.0;
  int64_t lag = 0;
  void list(Settings &);
  void check() const;
};

struct EvaluationConfig {
  int64_t every = 200;
  int64_t sequences = 64;
  int64_t patience = 0; // 0: no early stop
  void list(Settings &);
  void check() const;
};

struct CheckpointConfig {
  int64_t every = 500;
  int64_t keep = 2;
  void list(Settings &);
  void check() const;
};

struct LogConfig {
  int64_t every = 1;
  bool tensorboard = true;
  bool csv = true;
  double peak =
      0; // operations per second of a device, for the share of it that is used; 0: known or measured
  bool state = false;
  int64_t profileFrom = 1;
  int64_t profileSteps = 0; // 0: no profile
  void list(Settings &);
  void check() const;
};

struct Config {
  RunConfig run;
  AttentionConfig attention;
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;
  LogConfig log;
  /// By key, "FILE:LINE:COLUMN: " of the value that a file gave, where no override took its place.
  std::map<std::string, std::string> places;

  Settings settings();
  /// Throws Error for what no run could do, at the value's place in its file.
  void check() const;
};

/// Reads TOML files over the defaults, one over the other, then the overrides ("key=value", in order).
/// Before its sections a file may say `base = "FILE.toml"`, another file that is read first, and `preset =
/// "NAME"` (Preset.h), which comes after the base and before the file's own settings. Throws Error, with
/// file, line and column where there is one; unknown keys are refused with the nearest known one. Does not
/// call check().
Config readConfig(const std::vector<std::string> &files, const std::vector<std::string> &overrides);

/// The text of a TOML file that gives exactly this configuration, with each field's help as a comment.
std::string writeConfig(Config config);

/// A field's key and its value as writeConfig() has it, in the same order.
struct WrittenSetting {
  std::string key, value;
  bool isPath;
};
std::vector<WrittenSetting> writtenSettings(Config config);

/// One line per field: key, default, meaning.
std::string describeSettings();

/// Keys whose last part is the option's name, or begins with it: "--layers" is model.layers, "--documents" is
/// data.document_mask. It helps a user who writes a setting as an option.
std::vector<std::string> settingsLike(const std::string &option);

/// The shortest text that reads back as exactly this number: "0.1", "10".
std::string formatExactly(double value);

/// The candidate with the smallest edit distance to the name.
std::string nearestName(const std::string &name, const std::vector<std::string> &candidates);

} // namespace taylor::trainer
#endif
