// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// config.json, read back. It may have been written by another program, or by hand: what it says of the
// computation is what this model does, or it is refused.
#include "trainer/checkpoint/HuggingFace.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include <cmath>
#include <set>

namespace fs = std::filesystem;
using nlohmann::json;

namespace taylor::trainer {

namespace {

constexpr int64_t kMostPieces = 65536; // of a tokenizer (text/Tokenizer.h)

std::string shown(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// What a field of Llama's configuration may say, since the model here can do nothing else; it may also be
/// null or missing.
struct OnlyValue {
  const char *name;
  json value;
  const char *reason;
};

const std::vector<OnlyValue> &onlyValues() {
  static const std::vector<OnlyValue> values = {
      {"tie_word_embeddings", false, "embeddings and lm_head are two tensors here"},
      {"attention_bias", false, "the specification says which projections have a bias"},
      {"mlp_bias", false, "the linear maps of the MLP have none"},
      {"hidden_act", "silu", "the MLP is SwiGLU"},
      {"rope_theta", kRopeTheta, "the specification has its rotary positions itself"},
      {"rope_scaling", nullptr, "the specification has its rotary positions itself"},
      {"pretraining_tp", 1, "products are not cut in slices"},
      {"sliding_window", nullptr, "the specification says what a token sees"},
      {"quantization_config", nullptr, "weights are F32, BF16 or F16"},
      {"is_decoder", true, "a token sees earlier ones alone"},
      {"add_cross_attention", false, "there is no encoder"},
      {"is_encoder_decoder", false, "there is no encoder"}};
  return values;
}

/// Those that concern what is around the attention.
const std::set<std::string> kOfWeights = {
    "mlp_bias",          "hidden_act", "pretraining_tp", "quantization_config", "add_cross_attention",
    "is_encoder_decoder"};

/// Said of a model and no matter to what it computes.
const std::set<std::string> kPassedOver = {"architectures",
                                           "model_type",
                                           "auto_map",
                                           "vocab_size",
                                           "hidden_size",
                                           "intermediate_size",
                                           "num_hidden_layers",
                                           "num_attention_heads",
                                           "num_key_value_heads",
                                           "head_dim",
                                           "max_position_embeddings",
                                           "rms_norm_eps",
                                           "taylor",
                                           "rope_parameters",
                                           "attention_dropout",
                                           "initializer_range",
                                           "torch_dtype",
                                           "dtype",
                                           "use_cache",
                                           "transformers_version",
                                           "_name_or_path",
                                           "_attn_implementation_autoset",
                                           "bos_token_id",
                                           "eos_token_id",
                                           "pad_token_id",
                                           "return_dict",
                                           "output_hidden_states",
                                           "output_attentions",
                                           "id2label",
                                           "label2id",
                                           "problem_type",
                                           "chunk_size_feed_forward",
                                           "gradient_checkpointing"};

class ConfigReader {
public:
  explicit ConfigReader(const fs::path &path) : origin(path.string()), config(parseJson(readFile(path))) {
    if (!config.is_object())
      fail("expected JSON in '", origin, "', but it does not parse");
  }

  int64_t whole(const char *name, int64_t least, int64_t most) {
    return whole(config, "", name, least, most);
  }
  int64_t whole(const json &object, const std::string &prefix, const char *name, int64_t least,
                int64_t most) {
    const json &value = member(object, prefix, name);
    if (!value.is_number_integer() || value < least || value > most)
      fail("expected a whole number from ", least, " to ", most, " as '", prefix, name, "' in '", origin,
           "', but got ", shown(value));
    return value;
  }
  double number(const char *name) {
    const json &value = member(config, "", name);
    if (!value.is_number())
      fail("expected a number as '", name, "' in '", origin, "', but got ", shown(value));
    return value;
  }
  std::string word(const json &object, const std::string &prefix, const char *name) {
    const json &value = member(object, prefix, name);
    if (!value.is_string())
      fail("expected a string as '", prefix, name, "' in '", origin, "', but got ", shown(value));
    return value;
  }
  Parameters parameters(const json &object, const std::string &prefix, const char *name) {
    const json &table = member(object, prefix, name);
    Parameters parameters;
    bool sound = table.is_object();
    for (auto entry = table.begin(); sound && entry != table.end(); ++entry) {
      sound = entry->is_number();
      if (sound)
        parameters[entry.key()] = entry->get<double>();
    }
    if (!sound)
      fail("expected a table of numbers as '", prefix, name, "' in '", origin, "', but got ", shown(table));
    return parameters;
  }
  const json &taylor() {
    if (!config.contains("taylor") || !config["taylor"].is_object())
      fail("requires the object 'taylor' in '", origin, "': it says which attention the model has");
    return config["taylor"];
  }

  void checkKind() {
    if (config.contains("model_type") && config["model_type"] != "llama" && config["model_type"] != "taylor")
      fail("unsupported model_type ", shown(config["model_type"]), " in '", origin,
           "'; expected \"llama\" or ", "\"taylor\", as taylor-train writes it");
    for (const json &name : config.value("architectures", json::array()))
      if (name != "LlamaForCausalLM" && name != "TaylorForCausalLM")
        fail("unsupported architecture ", shown(name), " in '", origin,
             "'; expected \"LlamaForCausalLM\" or ", "\"TaylorForCausalLM\", as taylor-train writes it");
  }
  /// The same of another model's folder whose weights alone are taken: its attention does not matter.
  void checkOnlyValuesOfWeights() {
    for (const auto &[name, value, reason] : onlyValues())
      if (kOfWeights.contains(name) && config.contains(name) && !config[name].is_null() &&
          config[name] != value)
        refuse(name, config[name], value, reason);
  }
  bool has(const char *name) const { return config.contains(name) && !config[name].is_null(); }
  void checkOnlyValues() {
    for (const auto &[name, value, reason] : onlyValues())
      if (config.contains(name) && !config[name].is_null() && config[name] != value && !isDefaultRope(name))
        refuse(name, config[name], value, reason);
    // As transformers 5 writes rope_theta.
    if (const json rope = config.value("rope_parameters", json()); rope.is_object()) {
      for (const auto &[key, value] : rope.items()) {
        json only = key == "rope_theta"              ? json(kRopeTheta)
                    : key == "partial_rotary_factor" ? json(1)
                                                     : json("default");
        bool known =
            key == "rope_theta" || key == "partial_rotary_factor" || key == "rope_type" || key == "type";
        if (!known || value != only)
          refuse("rope_parameters." + key, value, known ? only : json(),
                 "the specification has its rotary positions itself");
      }
    } else if (!rope.is_null()) {
      refuse("rope_parameters", rope, json(), "the specification has its rotary positions itself");
    }
    for (const json &type : config.value("layer_types", json::array()))
      if (type != "full_attention")
        refuse("layer_types", type, "full_attention", "all layers have the same attention");
  }
  /// Names that neither this reader nor Llama's configuration knows.
  std::vector<std::string> unknown() {
    std::vector<std::string> names;
    for (const auto &[name, value] : config.items()) {
      bool known = kPassedOver.contains(name) || name == "layer_types" || value.is_null();
      for (const OnlyValue &only : onlyValues())
        known |= name == only.name;
      if (!known)
        names.push_back(name);
    }
    return names;
  }

  const std::string origin;

private:
  const json &member(const json &object, const std::string &prefix, const char *name) {
    if (!object.contains(name))
      fail("requires '", prefix, name, "' in '", origin,
           "'; pass the folder of a checkpoint that taylor-train saved");
    return object[name];
  }
  /// {"rope_type": "default"} scales nothing.
  bool isDefaultRope(const std::string &name) {
    if (name != "rope_scaling" || !config[name].is_object())
      return false;
    for (const auto &[key, value] : config[name].items())
      if ((key != "rope_type" && key != "type") || value != "default")
        return false;
    return true;
  }
  [[noreturn]] void refuse(const std::string &name, const json &value, const json &only, const char *reason) {
    fail("unsupported ", name, " = ", shown(value), " in '", origin, "'; expected ",
         only.is_null() ? std::string("none") : shown(only), ": ", reason);
  }

  json config;
};

} // namespace

ModelConfig readSizes(const fs::path &folder, const ModelConfig &settings) {
  if (!fs::exists(folder / "config.json"))
    fail("expected the folder of a model in model.from, but '", folder.string(), "' has no config.json");
  ConfigReader config(folder / "config.json");
  config.checkKind();
  config.checkOnlyValuesOfWeights();
  ModelConfig model = settings;
  model.hidden = config.whole("hidden_size", 1, kWidestHidden);
  model.intermediate = config.whole("intermediate_size", 1, kWidestInner);
  model.layers = config.whole("num_hidden_layers", 1, kMostLayers);
  model.heads = config.whole("num_attention_heads", 1, kMostHeads);
  model.kvHeads = config.has("num_key_value_heads") ? config.whole("num_key_value_heads", 1, kMostHeads) : 0;
  model.headDim = config.has("head_dim") ? config.whole("head_dim", 1, kWidestHead) : 0;
  model.normEpsilon = config.number("rms_norm_eps");
  try {
    model.check();
  } catch (const Error &error) {
    fail("in '", config.origin, "': ", error.what());
  }
  return model;
}

ModelDescription readHuggingFace(const fs::path &folder) {
  if (!fs::exists(folder / "config.json"))
    fail("expected a checkpoint, but '", folder.string(), "' has no config.json");
  ConfigReader config(folder / "config.json");
  config.checkKind();
  ModelDescription description;
  ModelConfig &model = description.model;
  description.vocabulary = config.whole("vocab_size", 1, kMostPieces);
  model.hidden = config.whole("hidden_size", 1, kWidestHidden);
  model.intermediate = config.whole("intermediate_size", 1, kWidestInner);
  model.layers = config.whole("num_hidden_layers", 1, kMostLayers);
  model.heads = config.whole("num_attention_heads", 1, kMostHeads);
  model.kvHeads = config.whole("num_key_value_heads", 1, kMostHeads);
  model.headDim = config.whole("head_dim", 1, kWidestHead);
  description.context = config.whole("max_position_embeddings", 1, kLongestContext);
  model.normEpsilon = config.number("rms_norm_eps");
  config.checkOnlyValues();
  description.passedOver = config.unknown();

  const json &taylor = config.taylor();
  description.attention = config.word(taylor, "taylor.", "specification");
  description.attentionParameters = config.parameters(taylor, "taylor.", "parameters");
  description.attentionMask = config.word(taylor, "taylor.", "mask");
  model.valueDim = config.whole(taylor, "taylor.", "value_dim", 1, kWidestHead);
  std::string precision = config.word(taylor, "taylor.", "precision");
  description.bf16 = precision == "bf16";
  if (taylor.contains("text") && !taylor["text"].is_null())
    description.text = config.word(taylor, "taylor.", "text");
  if (fs::path(description.attention).filename() != description.attention)
    fail("expected a file in the checkpoint as 'specification' in '", config.origin, "', but got '",
         description.attention, "'");
  try {
    requireOneOf({"fp32", "bf16"}, "taylor.precision", precision);
    requireOneOf({"", "causal"}, "taylor.mask", description.attentionMask);
    model.check();
  } catch (const Error &error) {
    fail("in '", config.origin, "': ", error.what());
  }
  return description;
}

} // namespace taylor::trainer
