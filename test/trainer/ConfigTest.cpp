// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/config/Config.h"
#include "Failure.h"
#include "trainer/model/Gpus.h"
#include "trainer/optimization/Schedule.h"

using namespace taylor::trainer;

namespace {

TEST(Gpus, AreFoundByTheDriversNamesAndByPartsOfTheirOwn) {
  auto found = [](const char *name) {
    const Gpu *gpu = findGpu(name);
    return gpu ? gpu->name : "none";
  };
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(found("NVIDIA GH200 480GB"), "GH200");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100");
  for (const char *name : {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB", "a100-40gb"})
    EXPECT_EQ(found(name), "A100 40GB");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(found("4090"), "RTX 4090");
  EXPECT_EQ(found("NVIDIA A40"), "A40");
  for (const char *name : {"NVIDIA RTX A4000", "NVIDIA A10G", "NVIDIA RTX 4000", "", "-"})
    EXPECT_EQ(found(name), "none") << name;
}

TEST(Config, FileThenOverridesOverDefaults) {
  TemporaryFolder folder;
  std::string file =
      folder.write("a.toml", "[train]\nsteps = 1_000\nbatch = 3\n[optimizer]\nlearning_rate = 1\n"
                             "[attention.parameters]\norder = 4\n[log]\ntensorboard = false\n");
  Config config = readConfig({file}, {"train.steps=7", "attention.parameters.order=10",
                                      "attention.parameters.c=0.5", "run.folder=1e4", "optimizer.clip=0"});
  EXPECT_EQ(config.train.steps, 7);
  EXPECT_EQ(config.train.batch, 3);
  EXPECT_EQ(config.train.context, TrainConfig().context);
  EXPECT_EQ(config.optimizer.learningRate, 1.0);
  EXPECT_EQ(config.optimizer.clip, 0.0);
  EXPECT_EQ(config.attention.parameters, (Parameters{{"order", 10.0}, {"c", 0.5}}));
  EXPECT_EQ(config.run.folder, "1e4");
  EXPECT_FALSE(config.log.tensorboard);
}

TEST(Config, BasePresetAndOwnSettingsInThatOrder) {
  TemporaryFolder folder;
  folder.write("base.toml",
               "preset = \"paper\"\n[train]\nbatch = 5\n[model]\nlayers = 3\n[data]\npath = \"a.txt\"\n");
  std::filesystem::create_directory(folder.path / "deeper");
  std::string file = folder.write("deeper/a.toml", "base = \"../base.toml\"\n[model]\nlayers = 4\n");
  Config config = readConfig({file}, {"optimizer.clip=1"});
  EXPECT_EQ(config.model.layers, 4);
  EXPECT_EQ(config.train.batch, 5);
  EXPECT_EQ(config.data.path, folder.path / "a.txt");
  EXPECT_EQ(config.optimizer.clip, 1.0);
  // The paper's code: the first updates' rates are 0, 0, 1e-8, 2e-8; at the end it is 0.909 of the peak.
  EXPECT_EQ(config.optimizer.epsilon, 1e-7);
  EXPECT_EQ(config.data.validationFraction, 0.001);
  EXPECT_EQ(config.optimizer.decay, "all");
  EXPECT_EQ(config.schedule.horizon, 1000000);
  auto rate = [&](int64_t update) {
    return config.optimizer.learningRate * learningRateFactor(config.schedule, config.train.steps, update);
  };
  EXPECT_EQ(rate(0), 0);
  EXPECT_EQ(rate(1), 0);
  EXPECT_NEAR(rate(2), 1e-8, 1e-20);
  EXPECT_NEAR(rate(3), 2e-8, 1e-20);
  EXPECT_NEAR(rate(10000), 0.9999e-4, 1e-18);
  EXPECT_NEAR(rate(10001), 1e-4, 1e-18);
  EXPECT_NEAR(rate(10002), 1e-4 * (1000000 - 10001) / 990000, 1e-18);
  EXPECT_NEAR(rate(100000), 0.909e-4, 1e-7);
  // A preset in a file says more than its base.
  config = readConfig({folder.write("b.toml", "base = \"base.toml\"\npreset = \"paper\"\n")}, {});
  EXPECT_EQ(config.train.batch, 36);
  EXPECT_EQ(config.model.layers, 20);
  // What a run saves has neither, and gives the same.
  std::string written = writeConfig(config);
  EXPECT_EQ(written.find("preset"), std::string::npos);
  EXPECT_EQ(writeConfig(readConfig({folder.write("c.toml", written)}, {})), written);
}

// What the paper's code trains with, written down once more from its description: what the preset sets, and
// what its runs may not inherit from a default that changes.
TEST(Config, ThePaperPresetValueByValue) {
  TemporaryFolder folder;
  Config config = readConfig({folder.write("a.toml", "preset = \"paper\"\n")}, {});
  EXPECT_EQ(config.model.hidden, 1024);
  EXPECT_EQ(config.model.intermediate, 2048);
  EXPECT_EQ(config.model.layers, 20);
  EXPECT_EQ(config.model.heads, 16);
  EXPECT_EQ(config.model.keyValueHeads(), 16);
  EXPECT_EQ(config.model.headWidth(), 64);
  EXPECT_EQ(config.model.valueWidth(), 64);
  EXPECT_EQ(config.model.normEpsilon, 1e-5);
  EXPECT_EQ(config.model.initialization, "uniform");
  EXPECT_EQ(config.model.initialDeviation, 0.02);
  EXPECT_EQ(config.train.steps, 100001);
  EXPECT_EQ(config.train.batch, 36);
  EXPECT_EQ(config.train.context, 1024);
  EXPECT_EQ(config.train.precision, "bf16");
  EXPECT_TRUE(config.train.activationCheckpointing);
  EXPECT_EQ(config.train.onNonFinite, "skip");
  EXPECT_EQ(config.train.skipAbove, 0);
  EXPECT_EQ(config.data.sampler, "documents");
  EXPECT_EQ(config.data.groups, 2);
  EXPECT_EQ(config.data.validationFraction, 0.001);
  EXPECT_EQ(config.optimizer.learningRate, 1e-4);
  EXPECT_EQ(config.optimizer.beta1, 0.9);
  EXPECT_EQ(config.optimizer.beta2, 0.999);
  EXPECT_EQ(config.optimizer.epsilon, 1e-7);
  EXPECT_EQ(config.optimizer.weightDecay, 0.01);
  EXPECT_EQ(config.optimizer.decay, "all");
  EXPECT_EQ(config.optimizer.clip, 0);
  EXPECT_FALSE(config.optimizer.shard);
  EXPECT_EQ(config.schedule.kind, "linear");
  EXPECT_EQ(config.schedule.warmup, 10000);
  EXPECT_EQ(config.schedule.horizon, 1000000);
  EXPECT_EQ(config.schedule.final, 0);
  EXPECT_EQ(config.schedule.lag, 2);
  EXPECT_EQ(config.evaluation.every, 10001);
  EXPECT_EQ(config.evaluation.sequences, 0);
  EXPECT_EQ(config.evaluation.patience, 0);
}

TEST(Config, BasesAndPresetsThatAreNone) {
  TemporaryFolder folder;
  auto message = [&](const std::string &contents) {
    std::string file = folder.write("a.toml", contents), text = failure([&] { readConfig({file}, {}); });
    return text.starts_with(file) ? text.substr(file.size()) : text;
  };
  EXPECT_EQ(message("\npreset = \"papre\"\n"), ":2:10: unsupported preset 'papre'; expected 'paper'");
  EXPECT_EQ(message("preset = 3\n"), ":1:10: expected a string for preset, but got 3");
  std::string none = folder.path / "none.toml";
  EXPECT_EQ(message("base = \"none.toml\"\n"),
            ":1:8: expected base to name a configuration file, but '" + none + "' does not exist");
  std::string own = folder.path / "a.toml";
  std::string other = folder.write("b.toml", "base = \"a.toml\"\n");
  EXPECT_EQ(failure([&] { readConfig({folder.write("a.toml", "base = \"b.toml\"\n")}, {}); }),
            other + ":1:8: expected base to name another file, but '" + own + "' leads back to this one");
}

TEST(Config, PathsInAFileAreMeantFromItsFolder) {
  TemporaryFolder folder;
  std::string file = folder.write("a.toml", "[data]\npath = \"text/a.txt\"\n[run]\nfolder = \"/absolute\"\n");
  Config config = readConfig({file}, {"attention.specification=here.mlir"});
  EXPECT_EQ(config.data.path, folder.path / "text/a.txt");
  EXPECT_EQ(config.run.folder, "/absolute");
  EXPECT_EQ(config.attention.specification, "here.mlir");
}

TEST(Config, WrittenFileReadsBackAsItself) {
  Config config =
      readConfig({}, {"train.steps=12", "optimizer.learning_rate=0.1", "attention.parameters.order=3",
                      "run.folder=/tmp/\"quoted\" folder", "data.validation_fraction=0.30000000000000004"});
  TemporaryFolder folder;
  std::string text = writeConfig(config);
  Config again = readConfig({folder.write("a.toml", text)}, {});
  EXPECT_EQ(writeConfig(again), text);
  EXPECT_EQ(again.data.validationFraction, 0.30000000000000004);
  EXPECT_EQ(again.run.folder, "/tmp/\"quoted\" folder");
  EXPECT_EQ(again.attention.parameters.at("order"), 3);
}

TEST(Config, EverySettingIsDescribedAndWritten) {
  Config config;
  Settings settings = config.settings();
  EXPECT_GT(settings.entries.size(), 30u);
  std::string text = writeConfig(config), described = describeSettings();
  for (const Setting &setting : settings.entries) {
    EXPECT_NE(described.find("  " + setting.key + " = "), std::string::npos) << setting.key;
    EXPECT_NE(text.find("\n" + setting.key.substr(setting.key.find('.') + 1) + " = "), std::string::npos);
    EXPECT_GT(setting.help.size(), 8u) << setting.key;
  }
}

// Each check names the field and the value. One row: an override and the message.
TEST(Config, ChecksNameTheField) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"run.folder=", "expected run.folder to be a folder, but got ''"},
      {"run.seed=-1", "expected run.seed to be at least 0, but got -1"},
      {"run.threads=-1", "expected run.threads to be between 0 and 1024, but got -1"},
      {"attention.specification=",
       "requires attention.specification: pass --attention SPEC.mlir (examples/specs has some)"},
      {"attention.mask=triangle", "expected attention.mask to be '' or 'causal', but got 'triangle'"},
      {"model.hidden=0", "expected model.hidden to be at least 1, but got 0"},
      {"model.intermediate=0", "expected model.intermediate to be at least 1, but got 0"},
      {"model.layers=0", "expected model.layers to be at least 1, but got 0"},
      {"model.heads=0", "expected model.heads to be at least 1, but got 0"},
      {"model.heads=3",
       "expected model.heads to be a divisor of model.hidden = 256 (or model.head_dim to be set), but got 3"},
      {"model.kv_heads=3", "expected model.kv_heads to be a divisor of model.heads = 4, but got 3"},
      {"model.kv_heads=-1", "expected model.kv_heads to be at least 0, but got -1"},
      {"model.head_dim=-1", "expected model.head_dim to be at least 0, but got -1"},
      {"model.value_dim=-1", "expected model.value_dim to be at least 0, but got -1"},
      {"model.norm_epsilon=0", "expected model.norm_epsilon to be positive and at most 1, but got 0"},
      {"model.initialization=x", "expected model.initialization to be 'normal' or 'uniform', but got 'x'"},
      {"model.initial_deviation=0",
       "expected model.initial_deviation to be positive and at most 100, but got 0"},
      {"data.vocabulary=10", "expected data.vocabulary to be at least 300, but got 10"},
      {"data.vocabulary=70000", "expected data.vocabulary to be at most 65536, but got 70000"},
      {"data.validation_fraction=1", "expected data.validation_fraction to be between 0 and 1, but got 1"},
      {"train.steps=0", "expected train.steps to be at least 1, but got 0"},
      {"train.batch=0", "expected train.batch to be at least 1, but got 0"},
      {"train.context=0", "expected train.context to be at least 1, but got 0"},
      {"train.precision=tf32", "expected train.precision to be 'fp32' or 'bf16', but got 'tf32'"},
      {"train.precision=fp16", "unsupported train.precision 'fp16': gradients below 6e-8 are 0 in it, so its "
                               "loss would have to be scaled, "
                               "which taylor-train does not do; bf16 is as fast and has the range of fp32 "
                               "(--set train.precision=bf16)"},
      {"train.precision=f16", "unsupported train.precision 'f16': gradients below 6e-8 are 0 in it, so its "
                              "loss would have to be scaled, "
                              "which taylor-train does not do; bf16 is as fast and has the range of fp32 "
                              "(--set train.precision=bf16)"},
      {"optimizer.learning_rate=0", "expected optimizer.learning_rate to be positive and finite, but got 0"},
      {"optimizer.learning_rate=inf",
       "expected optimizer.learning_rate to be positive and finite, but got inf"},
      {"optimizer.beta1=1", "expected optimizer.beta1 to be in [0, 1), but got 1"},
      {"optimizer.beta2=-1", "expected optimizer.beta2 to be in [0, 1), but got -1"},
      {"optimizer.epsilon=0", "expected optimizer.epsilon to be positive and at most 1, but got 0"},
      {"optimizer.weight_decay=-1",
       "expected optimizer.weight_decay to be at least 0 and finite, but got -1"},
      {"optimizer.decay=none", "expected optimizer.decay to be 'matrices' or 'all', but got 'none'"},
      {"optimizer.clip=-1", "expected optimizer.clip to be at least 0 and finite, but got -1"},
      {"schedule.kind=step",
       "expected schedule.kind to be 'linear' or 'cosine' or 'constant', but got 'step'"},
      {"schedule.warmup=-1", "expected schedule.warmup to be at least 0, but got -1"},
      {"schedule.horizon=-1", "expected schedule.horizon to be at least 0, but got -1"},
      {"schedule.final=2", "expected schedule.final to be in [0, 1], but got 2"},
      {"evaluation.every=-1", "expected evaluation.every to be at least 0, but got -1"},
      {"evaluation.sequences=-1", "expected evaluation.sequences to be at least 0, but got -1"},
      {"checkpoint.every=-1", "expected checkpoint.every to be at least 0, but got -1"},
      {"checkpoint.keep=-1", "expected checkpoint.keep to be at least 0, but got -1"},
      {"log.every=0", "expected log.every to be at least 1, but got 0"}};
  readConfig({}, {"attention.specification=a.mlir"}).check();
  for (const auto &[assignment, message] : rows)
    EXPECT_EQ(failure([&] { readConfig({}, {"attention.specification=a.mlir", assignment}).check(); }),
              message);
}

// What no run could use is refused before memory is taken for it, or it overflows.
TEST(Config, ChecksBounds) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"run.threads=1025", "expected run.threads to be between 0 and 1024, but got 1025"},
      {"run.join_timeout=9300000000", "expected run.join_timeout to be at most 604800, but got 9300000000"},
      {"model.hidden=1048577", "expected model.hidden to be at most 1048576, but got 1048577"},
      {"model.intermediate=4194305", "expected model.intermediate to be at most 4194304, but got 4194305"},
      {"model.layers=1000000000", "expected model.layers to be at most 10000, but got 1000000000"},
      {"model.heads=65537", "expected model.heads to be at most 65536, but got 65537"},
      {"model.kv_heads=65537", "expected model.kv_heads to be at most 65536, but got 65537"},
      {"model.head_dim=65537", "expected model.head_dim to be at most 65536, but got 65537"},
      {"model.value_dim=65537", "expected model.value_dim to be at most 65536, but got 65537"},
      {"model.norm_epsilon=inf", "expected model.norm_epsilon to be positive and at most 1, but got inf"},
      {"model.norm_epsilon=1e308",
       "expected model.norm_epsilon to be positive and at most 1, but got 1e+308"},
      {"model.norm_epsilon=nan", "expected model.norm_epsilon to be positive and at most 1, but got nan"},
      {"model.norm_epsilon=1.0000001",
       "expected model.norm_epsilon to be positive and at most 1, but got 1.0000001"},
      {"model.initial_deviation=9e18",
       "expected model.initial_deviation to be positive and at most 100, but got 9e+18"},
      {"data.groups=16777217", "expected data.groups to be at most 16777216, but got 16777217"},
      {"train.steps=1000000000001",
       "expected train.steps to be at most 1000000000000, but got 1000000000001"},
      {"train.batch=1000000000000000000",
       "expected train.batch to be at most 16777216, but got 1000000000000000000"},
      {"train.context=134217729", "expected train.context to be at most 134217728, but got 134217729"},
      {"train.micro_batch=16777217", "expected train.micro_batch to be at most 16777216, but got 16777217"},
      {"train.skip_above=inf", "expected train.skip_above to be at least 0 and finite, but got inf"},
      {"optimizer.epsilon=inf", "expected optimizer.epsilon to be positive and at most 1, but got inf"},
      {"optimizer.weight_decay=inf",
       "expected optimizer.weight_decay to be at least 0 and finite, but got inf"},
      {"optimizer.clip=nan", "expected optimizer.clip to be at least 0 and finite, but got nan"},
      {"schedule.lag=1000000000001",
       "expected schedule.lag to be at most 1000000000000, but got 1000000000001"},
      {"log.profile_from=1000000000001",
       "expected log.profile_from to be at most 1000000000000, but got 1000000000001"},
      {"log.peak=inf", "expected log.peak to be at least 0 and finite, but got inf"},
      {"data.vocabulary=99999999999999999999",
       "--set: expected an integer for data.vocabulary, but got '99999999999999999999'"},
      {"evaluation.sequences=1000000000000", "(no error)"}};
  auto message = [](std::vector<std::string> overrides) {
    overrides.push_back("attention.specification=a.mlir");
    return failure([&] { readConfig({}, overrides).check(); });
  };
  for (const auto &[assignment, expected] : rows)
    EXPECT_EQ(message({assignment}), expected);
  EXPECT_EQ(message({"model.heads=1024", "model.head_dim=8192"}),
            "expected model.head_dim to be at most 4194304 / model.heads = 4096, but got 8192");
  EXPECT_EQ(
      message({"train.steps=1000000000000", "train.batch=16384", "train.context=1024"}),
      "unsupported sizes: train.steps * train.batch * train.context = 1000000000000 * 16384 * 1024 tokens "
      "are more than 2^62; lower one of them");
  EXPECT_EQ(
      message({"train.context=134217728", "evaluation.sequences=1000000000000"}),
      "unsupported sizes: evaluation.sequences * train.context = 1000000000000 * 134217728 tokens are more "
      "than 2^62; lower one of them, or set evaluation.sequences=0 for all of the text");
}

// Tables within tables, of which the library makes as many as a name has parts.
TEST(Config, ChecksHowDeepTablesAre) {
  TemporaryFolder folder;
  auto message = [&](const std::string &contents) {
    std::string file = folder.write("a.toml", contents), text = failure([&] { readConfig({file}, {}); });
    return text.starts_with(file) ? text.substr(file.size()) : text;
  };
  auto parts = [](int count, const char *dot) {
    std::string name = "a";
    for (int i = 1; i < count; ++i)
      name += dot + std::string("a");
    return name;
  };
  std::string deep =
      "expected TOML with names of at most 32 parts, but got one of more; the settings have two or "
      "three, as train.steps";
  EXPECT_EQ(message("[" + parts(100000, ".") + "]\nb = 1\n"), ":1:2: " + deep);
  EXPECT_EQ(message("\n" + parts(33, " . ") + " = 1\n"), ":2:1: " + deep);
  EXPECT_EQ(message("x = {\"" + parts(9, "\".\"") + "\"." + parts(24, ".") + " = 1}\n"), ":1:6: " + deep);
  EXPECT_EQ(message("# " + parts(33, ".") + "\n[run]\nfolder = \"" + parts(33, ".") + "\" # " +
                    parts(33, ".") + "\n[attention]\nspecification = '''\n" + parts(33, ".") + "'''\n"),
            "(no error)");
  EXPECT_NE(message("[" + parts(32, ".") + "]\nb = 1\n").find("unsupported key 'a'"), std::string::npos);
}

// In a file, at the value; an override of it has no place.
TEST(Config, ChecksNameThePlaceInTheFile) {
  TemporaryFolder folder;
  std::string file = folder.write("a.toml", "[attention]\nspecification = \"a.mlir\"\n[train]\nsteps = 0\n");
  EXPECT_EQ(failure([&] { readConfig({file}, {}).check(); }),
            file + ":4:9: expected train.steps to be at least 1, but got 0");
  EXPECT_EQ(failure([&] { readConfig({file}, {"train.steps=-2"}).check(); }),
            "expected train.steps to be at least 1, but got -2");
  std::string derived =
      folder.write("b.toml", "base = \"a.toml\"\n[train]\nprecision = \"f16\"\nsteps = 1\n");
  EXPECT_TRUE(failure([&] {
                readConfig({derived}, {}).check();
              }).starts_with(derived + ":3:13: unsupported train.precision 'f16'"));
  // A preset's value stands on no line.
  folder.write("c.toml", "[attention]\nspecification = \"a.mlir\"\n[model]\nheads = 8\n");
  std::string preset =
      folder.write("d.toml", "base = \"c.toml\"\npreset = \"paper\"\n[model]\nhidden = 1000\n");
  EXPECT_EQ(failure([&] { readConfig({preset}, {}).check(); }),
            "expected model.heads to be a divisor of model.hidden = 1000 (or model.head_dim to be set), but "
            "got 16");
}

// What takes two settings to be wrong.
TEST(Config, ChecksWhatASamplerWouldRefuse) {
  auto message = [](std::vector<std::string> overrides) {
    overrides.push_back("attention.specification=a.mlir");
    return failure([&] { readConfig({}, overrides).check(); });
  };
  EXPECT_EQ(
      message({"data.sampler=documents", "train.batch=4", "data.groups=6"}),
      "requires groups of equal size, but train.batch = 4 cannot be cut into data.groups = 6; set one of "
      "the two, data.groups=1 for no groups");
  readConfig({}, {"attention.specification=a.mlir", "train.batch=4", "data.groups=6"}).check(); // packed
  EXPECT_EQ(
      message({"data.sampler=documents", "train.context=1"}),
      "requires train.context of at least 2 with data.sampler = 'documents', an input and a target, but "
      "got 1");
  EXPECT_EQ(message({"data.sampler=recall", "data.pairs=33"}),
            "expected data.pairs from 1 to 32, half of data.symbols, but got 33");
  EXPECT_EQ(message({"data.sampler=recall", "data.pairs=10", "train.context=29"}),
            "requires train.context of at least 3 data.pairs = 30 tokens, keys with values and each key once "
            "more, but got 29");
}

TEST(Config, OverridesThatDoNotParse) {
  auto message = [](const std::string &assignment) { return failure([&] { readConfig({}, {assignment}); }); };
  EXPECT_EQ(message("train.steps"), "expected --set key=value, but got 'train.steps'");
  EXPECT_EQ(message("train.steps=many"), "--set: expected an integer for train.steps, but got 'many'");
  EXPECT_EQ(message("train.steps=1.5"), "--set: expected an integer for train.steps, but got '1.5'");
  EXPECT_EQ(message("optimizer.clip=off"), "--set: expected a number for optimizer.clip, but got 'off'");
  EXPECT_EQ(message("log.tensorboard=1"), "--set: expected true or false for log.tensorboard, but got '1'");
  EXPECT_EQ(message("attention.parameters.order=x"),
            "--set: expected a number for attention.parameters.order, but got 'x'");
  EXPECT_EQ(readConfig({}, {"order=3"}).attention.parameters, (Parameters{{"order", 3.0}}));
  EXPECT_EQ(message("order=x"), "--set: expected a number for attention.parameters.order, but got 'x'");
  EXPECT_EQ(message("attention=3"), "--set: unsupported key 'attention'; did you mean 'attention.mask'? "
                                    "taylor-train --help-settings lists all");
  EXPECT_EQ(message("attention.parameters=3"),
            "--set: expected attention.parameters.NAME=NUMBER, but got 'attention.parameters=3'");
  EXPECT_EQ(message("train.step=1"), "--set: unsupported key 'train.step'; did you mean 'train.steps'? "
                                     "taylor-train --help-settings lists all");
}

TEST(Config, FilesThatDoNotParse) {
  TemporaryFolder folder;
  auto message = [&](const std::string &contents) {
    std::string file = folder.write("a.toml", contents), text = failure([&] { readConfig({file}, {}); });
    return text.starts_with(file) ? text.substr(file.size()) : text;
  };
  EXPECT_EQ(message("[train]\nsteps = \"many\"\n"),
            ":2:9: expected an integer for train.steps, but got 'many'");
  EXPECT_EQ(message("[train]\nsteps = 1.5\n"), ":2:9: expected an integer for train.steps, but got 1.5");
  EXPECT_EQ(message("[optimizer]\nclip = true\n"),
            ":2:8: expected a number for optimizer.clip, but got true");
  EXPECT_EQ(message("[log]\ntensorboard = 1\n"),
            ":2:15: expected true or false for log.tensorboard, but got 1");
  EXPECT_EQ(message("[data]\npath = [1]\n"), ":2:8: expected a string for data.path, but got [ 1 ]");
  EXPECT_EQ(message("[attention]\nparameters = 3\n"),
            ":2:14: expected a table of numbers for attention.parameters, but got 3");
  EXPECT_EQ(message("[attention]\nparameters = { order = \"a\" }\n"),
            ":2:24: expected a number for attention.parameters.order, but got 'a'");
  EXPECT_EQ(message("train = 3\n"), ":1:9: expected a table [train], but got 3");
  EXPECT_EQ(message("[train]\nstep = 3\n"), ":2:1: unsupported key 'train.step'; did you mean 'train.steps'? "
                                            "taylor-train --help-settings lists all");
  EXPECT_EQ(message("[optimiser]\nclip = 1\n"),
            ":1:2: unsupported key 'optimiser'; did you mean 'optimizer'? "
            "taylor-train --help-settings lists all");
  EXPECT_EQ(message("[train\nsteps = 3\n").substr(0, 40), ":1:7: expected TOML, but got an error: E");
  EXPECT_EQ(failure([] { readConfig({"nowhere.toml"}, {}); }),
            "expected a configuration file, but 'nowhere.toml' does not exist");
}

TEST(Schedule, WarmsUpThenDecaysTowardsTheHorizon) {
  ScheduleConfig config;
  config.warmup = 4;
  config.horizon = 14;
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 0), 0.25);
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 3), 1);
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 4), 1);
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 9), 0.5); // cut off at step 10, not squeezed
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 14), 0);
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 100), 0);
  config.final = 0.2;
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 9), 0.6);
  config.kind = "cosine";
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 9), 0.6);
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 14), 0.2);
  config.kind = "constant";
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 14), 1);
  config.kind = "linear";
  config.horizon = 0; // the last step
  EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, 7), 0.6);
}

// What torch's schedulers give, one and two updates late.
TEST(Schedule, ALagBeginsAtZero) {
  ScheduleConfig config;
  config.warmup = 4;
  config.horizon = 14;
  std::vector<double> usual = {0, 0.25, 0.5, 0.75, 1, 0.9, 0.8};
  for (int64_t lag : {1, 2, 3}) {
    config.lag = lag;
    for (int64_t step = 0; step < lag; ++step)
      EXPECT_EQ(learningRateFactor(config, 10, step), 0);
    for (size_t i = 0; i < usual.size(); ++i)
      EXPECT_DOUBLE_EQ(learningRateFactor(config, 10, lag - 1 + i), usual[i]) << lag << " " << i;
  }
}

} // namespace
