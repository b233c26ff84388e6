// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Options.h"
#include "dialect/Taylor/NearestName.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <functional>

using namespace llvm;
using namespace taylor;
using namespace taylor::run;

static Error error(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

static constexpr StringRef kDtypes[] = {"f32", "bf16", "f16", "f64", "i32"}; // in the order of Dtype

StringRef taylor::run::nameOf(Dtype dtype) { return kDtypes[static_cast<int>(dtype)]; }

std::optional<Dtype> taylor::run::dtypeNamed(StringRef name) {
  const StringRef *found = llvm::find(kDtypes, name);
  return found == std::end(kDtypes) ? std::nullopt : std::optional(Dtype(found - kDtypes));
}

namespace {

/// One option: `--name=VALUE`, or a flag where `value` is empty.
struct OptionRow {
  StringRef name, value, help;
  std::function<Error(Options &, StringRef)> set;
};

Error setShape(Options &options, StringRef text) {
  auto bad = [&] {
    return error("expected --shape=B,H,T,D or --shape=b=1,h=8,g=2,t=64,u=96,d=64,e=32 with sizes from 0 on, "
                 "but got '" +
                 text + "'");
  };
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  bool named = text.contains('=');
  if (!named && parts.size() != 4)
    return bad();
  const char *order[] = {"b", "h", "t", "d"};
  for (auto [i, part] : enumerate(parts)) {
    auto [axis, size] =
        named ? part.trim().split('=') : std::pair<StringRef, StringRef>(order[i], part.trim());
    int64_t number;
    if (axis.empty() || size.getAsInteger(10, number) || number < 0)
      return bad();
    if (!StringRef("bhgtude").contains(axis) || axis.size() != 1)
      return error("expected an axis b, h, g, t, u, d or e in --shape, but got '" + axis + "'");
    if (!options.shape.insert({axis.str(), number}).second)
      return error("expected each axis once in --shape, but got '" + axis + "' twice");
    if (number > (int64_t(1) << 32))
      return error("unsupported size " + size + " of axis '" + axis + "'");
  }
  return Error::success();
}

template <typename Map> Error setNamed(Map &map, StringRef option, StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return error("expected --" + option + "=NAME=VALUE, but got '" + text + "'");
  if (!map.insert({name.str(), value.str()}).second)
    return error("expected '" + name + "' once in --" + option + ", but got it twice");
  return Error::success();
}

Error setDevice(Options &options, StringRef text) {
  if (text == "reference")
    options.device = Device::Reference;
  else if (text == "eager")
    options.device = Device::Eager;
  else if (text == "tile")
    options.device = Device::Tile;
  else if (text == "cpu")
    options.device = Device::CPU;
  else if (text == "ptx")
    options.device = Device::Ptx;
  else if (text == "cuda")
    options.device = Device::Cuda;
  else
    return error("expected --device=reference, eager, tile, cpu, ptx or cuda, but got '" + text + "'");
  return Error::success();
}

Error setTiles(Options &options, StringRef text) {
  options.tilesGiven = true;
  return options.tiles.parse(text);
}

Error setDtype(Options &options, StringRef text) {
  std::optional<Dtype> dtype = dtypeNamed(text);
  if (!dtype || *dtype == Dtype::I32)
    return error("expected --dtype=f32, bf16, f16 or f64, but got '" + text + "'");
  options.dtype = *dtype;
  return Error::success();
}

Error setChoice(std::string &field, StringRef option, ArrayRef<StringRef> choices, StringRef text) {
  if (!llvm::is_contained(choices, text))
    return error("expected --" + option + "=" + llvm::join(choices.drop_back(), ", ") + " or " +
                 choices.back() + ", but got '" + text + "'");
  field = text.str();
  return Error::success();
}

template <typename T> Error setInteger(T &field, StringRef option, StringRef text) {
  int64_t number;
  if (text.getAsInteger(10, number))
    return error("expected an integer in --" + option + ", but got '" + text + "'");
  field = number;
  return Error::success();
}

template <typename T> Error setNumber(T &field, StringRef option, StringRef text) {
  double number;
  if (text.getAsDouble(number) || !std::isfinite(number) || number < 0)
    return error("expected a number from 0 on in --" + option + ", but got '" + text + "'");
  field = number;
  return Error::success();
}

Error setOutput(Options &options, StringRef text) {
  // A lone file name is the specification's only output.
  if (!text.contains('='))
    return setNamed(options.outputs, "output", ("=" + text).str().insert(0, "*"));
  return setNamed(options.outputs, "output", text);
}

Error setAbsentGradient(Options &options, StringRef text) {
  return options.absentGradients.insert(text.str()).second
             ? Error::success()
             : error("expected '" + text + "' once in --absent-grad, but got it twice");
}

Error setPieces(Options &options, StringRef text) {
  for (StringRef part : llvm::split(text, ',')) {
    int64_t token;
    if (part.trim().getAsInteger(10, token))
      return error("expected --states=TOKEN,.., at which pieces begin, but got '" + text + "'");
    options.pieces.push_back(token);
  }
  // The first piece begins at 0, said or not.
  if (options.pieces.size() > 1 && options.pieces.front() == 0)
    options.pieces.erase(options.pieces.begin());
  return Error::success();
}

/// `3,60-62`
Error setTokens(std::set<int64_t> &tokens, StringRef option, StringRef text) {
  for (StringRef part : llvm::split(text, ',')) {
    auto [first, last] = part.split('-');
    int64_t from, to;
    constexpr int64_t kMost = 1 << 20;
    if (first.getAsInteger(10, from) || (last.empty() ? part : last).getAsInteger(10, to) || from < 0 ||
        to < from || to >= kMost)
      return error("expected --" + option + "=FIRST-LAST,.. with tokens below 2^20, but got '" + text + "'");
    for (int64_t token = from; token <= to; ++token)
      tokens.insert(token);
  }
  return Error::success();
}

Error setThreads(Options &options, StringRef text) {
  if (Error failed = setInteger(options.threads, "threads", text))
    return failed;
  return options.threads < 0 ? error("expected --threads of 0 or more, but got '" + text + "'")
                             : Error::success();
}

const std::vector<OptionRow> &optionRows() {
  using O = Options;
  using S = StringRef;
  auto flag = [](bool O::*field) {
    return [field](O &options, S) { return options.*field = true, Error::success(); };
  };
  static const std::vector<OptionRow> rows = {
      {"device", "reference|eager|tile|cpu|ptx|cuda",
       "who evaluates (default: reference).\n"
       "reference: the evaluator that defines the meaning, in extended precision;\n"
       "eager: the same with every result rounded to --dtype;\n"
       "tile: the tile programs that targets compile, element by element;\n"
       "cpu: kernels compiled by taylorc;\n"
       "ptx: the same for a GPU, in the interpreter: every access is checked, no GPU is needed;\n"
       "cuda: on the first GPU",
       setDevice},
      {"shape", "B,H,T,D",
       "sizes: batch, query heads, tokens, channels; or by axis:\n"
       "b=1,h=8,g=2,t=64,u=96,d=64,e=32 (g key/value heads, u keys, e value channels).\n"
       "What is not given: b = 1, h = 1, g = h, u = t, e = d",
       setShape},
      {"input", "NAME=FILE",
       "an argument from a .npy file (f32, f64 or i32; axes as in the specification); others are random",
       [](O &o, S t) { return setNamed(o.inputs, "input", t); }},
      {"cotangent", "NAME=FILE", "the cotangent of an output, from a .npy file; others are random",
       [](O &o, S t) { return setNamed(o.cotangents, "cotangent", t); }},
      {"output", "[NAME=]FILE",
       "writes an output as .npy; the name may be left out where there is one output", setOutput},
      {"output-grad", "NAME=FILE", "writes the gradient of an argument as .npy",
       [](O &o, S t) {
         o.gradient = true;
         return setNamed(o.gradients, "output-grad", t);
       }},
      {"absent-grad", "NAME",
       "with kernels (cpu, ptx, cuda): the gradient of an argument is not asked for, as by a caller that\n"
       "does not need it, and not compared",
       setAbsentGradient},
      {"print", "", "prints every element of what comes out", flag(&O::print)},
      {"print-form", "", "with compiled kernels: prints in which form each function ran",
       flag(&O::printForm)},
      {"grad", "", "evaluates gradients too", flag(&O::gradient)},
      {"check", "",
       "with kernels (cpu, ptx, cuda, tile): compares every output and gradient with the reference;\n"
       "exit status 1 if an error is past what the contract allows:\n"
       "|x - ref| <= max(c |eager - ref|, 4 eps |ref|, floor), where eager rounds each result to --dtype;\n"
       "c = 1.1 in bf16 and f16, 2 in f32 and f64, and twice that where eager itself is off by 1/16 of "
       "|ref|\n"
       "(bf16), 1/64 (f16), 1/500 (f32); eps is that of --dtype, and 4096 times that of f64; chunked and\n"
       "recurrent forms may be off by 1e-5 |ref| (f32) and 3e-3 |ref| (bf16, f16) too; the floor, 1/16 eps\n"
       "per element, is for what cancels to nearly 0",
       flag(&O::check)},
      {"references", "FOLDER",
       "writes what a kernel in --dtype is checked by, without one: arguments, cotangents, and the "
       "reference's\n"
       "outputs and gradients as .npy, and contract.json with the error that each may have",
       [](O &o, S t) { return o.references = t.str(), Error::success(); }},
      {"forward-only", "", "no gradients in --check, --references and --functions", flag(&O::forwardOnly)},
      {"functions", "FILE",
       "compares @NAME.forward and @NAME.backward of a file, as taylor-opt writes them, with the\n"
       "specification's own outputs and gradients; the specification may stand in the same file",
       [](O &o, S t) { return o.functions = t.str(), Error::success(); }},
      {"tolerance", "X", "relative error that --functions allows (default: 1e-12, 1e-5 for functions in f32)",
       [](O &o, S t) { return setNumber(o.tolerance, "tolerance", t); }},
      {"spec", "NAME", "which specification of a file with several",
       [](O &o, S t) { return o.specName = t.str(), Error::success(); }},
      {"set", "NAME=VALUE", "a parameter of the specification, such as order=10",
       [](O &o, S t) { return setNamed(o.parameters, "set", t); }},
      {"mask", "causal|bidirectional", "overrides the mask written in the specification",
       [](O &o, S t) { return setChoice(o.mask, "mask", {"causal", "bidirectional"}, t); }},
      {"documents", "",
       "sequences of several documents, as in taylorc: their numbers are the input 'documents', three "
       "documents\n"
       "where no file gives it",
       flag(&O::documents)},
      {"offset", "N", "position of query 0 (default: u - t)",
       [](O &o, S t) { return setInteger(o.offset, "offset", t); }},
      {"dtype", "f32|bf16|f16|f64",
       "storage type: inputs are rounded to it (default: f32; none with --device=reference)", setDtype},
      {"f32-products", "fma|tf32",
       "how GPUs, or eager code, multiply in f32 (default: fma); tf32: operands rounded to 11 bits",
       [](O &o, S t) { return setChoice(o.f32Products, "f32-products", {"fma", "tf32"}, t); }},
      {"bf16-products", "auto|rounded|split",
       "how matrix units multiply what is computed in f32 where storage is bf16 (default: auto), as in "
       "taylorc",
       [](O &o, S t) { return setChoice(o.bf16Products, "bf16-products", {"auto", "rounded", "split"}, t); }},
      {"form", "auto|parallel|chunked|recurrent",
       "form of compiled kernels, as in taylorc (default: auto), or of those that --references are for;\n"
       "recurrent with --forward-only",
       [](O &o, S t) { return setChoice(o.form, "form", {"auto", "parallel", "chunked", "recurrent"}, t); }},
      {"decode", "state|cache",
       "with --forward-only: runs the function 'step' that taylorc --decode adds; state takes t = u tokens "
       "one "
       "after the other, cache takes any queries over all keys",
       [](O &o, S t) { return setChoice(o.decode, "decode", {"state", "cache"}, t); }},
      {"states", "TOKEN,..",
       "the sequence (t = u) in pieces that begin at these tokens, each from the states that the one before\n"
       "left, and gradients back through them, by kernels of taylorc --states; checked as the whole is",
       setPieces},
      {"chunk", "N", "with --form=chunked: queries of a chunk, a multiple of 64",
       [](O &o, S t) { return setInteger(o.chunk, "chunk", t); }},
      {"seed", "N", "of random inputs (default: 0)", [](O &o, S t) { return setInteger(o.seed, "seed", t); }},
      {"scale", "X", "factor of random arrays over queries and score channels, and so of logits (default: 1)",
       [](O &o, S t) { return setNumber(o.scale, "scale", t); }},
      {"threads", "N", "threads (default: one per processor)", setThreads},
      {"layout", "bhtc|bthc", "order in memory of tensors given to kernels (default: bhtc)",
       [](O &o, S t) { return setChoice(o.layout, "layout", {"bhtc", "bthc"}, t); }},
      {"poison", "", "surrounds the tensors given to kernels by NaN, and checks that it stays",
       flag(&O::poison)},
      {"spoil-keys", "TOKEN,..",
       "with --check: runs the kernels once more, with NaN in all that these keys (3,60-62) have; what that\n"
       "leaves as it was in the reference must have the same bits, and what is NaN there must be",
       [](O &o, S t) { return setTokens(o.spoiledKeys, "spoil-keys", t); }},
      {"spoil-queries", "TOKEN,..", "the same for queries, and for cotangents of their rows",
       [](O &o, S t) { return setTokens(o.spoiledQueries, "spoil-queries", t); }},
      {"spoil-with", "nan|inf", "what the tokens of --spoil-keys and --spoil-queries hold (default: nan)",
       [](O &o, S t) { return setChoice(o.spoiledWith, "spoil-with", {"nan", "inf"}, t); }},
      {"spoil-tile", "N",
       "NaN may spread within tiles of N tokens that the mask cuts, as on GPUs (default: 1, it may not)",
       [](O &o, S t) {
         if (Error failed = setInteger(o.spoiledTile, "spoil-tile", t))
           return failed;
         return o.spoiledTile < 1 ? error("expected --spoil-tile of 1 or more, but got '" + t + "'")
                                  : Error::success();
       }},
      {"ptx-seed", "N", "with --device=ptx: seed of the order in which warps run (default: 0)",
       [](O &o, S t) {
         o.ptxSeedGiven = true;
         return setInteger(o.ptxSeed, "ptx-seed", t);
       }},
      {"ptx-profile", "", "with --device=ptx: prints what each kernel executed", flag(&O::ptxProfile)},
      {"target", "NAME", "machine to compile for, as in taylorc (default: native; sm_80; the GPU there is)",
       [](O &o, S t) { return o.target = t.str(), Error::success(); }},
      {"tiles", "NAME=N,..",
       "with --device=tile: sizes of tiles in tokens, and the form of grids and loops, as in "
       "taylor-lower-to-tile=tiles=..",
       setTiles},
      {"kernel", "FILE.so", "runs this artifact and does not compile",
       [](O &o, S t) { return o.kernel = t.str(), Error::success(); }},
      {"help", "", "this text", flag(&O::help)},
      {"version", "", "the version", flag(&O::version)},
  };
  return rows;
}

Error validate(const Options &options) {
  if (options.help || options.version)
    return Error::success();
  if (options.spec.empty() && options.functions.empty())
    return error("expected a specification, but got none; try taylor-run examples/specs/softmax.mlir "
                 "--shape=1,2,16,8");
  bool onKernels = runsKernels(options.device), onTiles = options.device == Device::Tile;
  if (options.check && !onKernels && !onTiles)
    return error(
        "requires --device=cpu, ptx, cuda or tile for --check: it compares kernels with the reference");
  if (!options.references.empty() && (options.device != Device::Reference || !options.dtype))
    return error("requires --dtype, and no other --device than reference, for --references");
  if (!options.references.empty() &&
      (!options.functions.empty() || !options.outputs.empty() || options.gradient || options.print))
    return error(
        "unsupported --functions, --output, --output-grad, --grad and --print with --references, which "
        "writes files only");
  if (options.spoils() && !options.check)
    return error("requires --check for --spoil-keys and --spoil-queries");
  if (!options.kernel.empty() && !onKernels)
    return error("requires --device=cpu, ptx or cuda for --kernel");
  if (!options.absentGradients.empty() && !onKernels)
    return error("requires --device=cpu, ptx or cuda for --absent-grad");
  for (auto &[name, file] : options.gradients)
    if (options.absentGradients.contains(name))
      return error("expected '" + name + "' in --output-grad or in --absent-grad, but got it in both");
  if (!options.target.empty() && !onKernels)
    return error("requires --device=cpu, ptx or cuda for --target");
  if ((options.ptxProfile || options.ptxSeedGiven) && options.device != Device::Ptx)
    return error("requires --device=ptx for --ptx-profile and --ptx-seed");
  bool onCpu = options.device == Device::CPU && options.bf16Products == "rounded";
  bool multiplies = onCpu || options.device == Device::Ptx || options.device == Device::Cuda;
  if (options.bf16Products != "auto" && (!multiplies || options.dtype.value_or(Dtype::F32) != Dtype::BF16))
    return error(std::string("requires --device=") + (options.bf16Products == "rounded" ? "cpu, " : "") +
                 "ptx or cuda and --dtype=bf16 for --bf16-products=" + options.bf16Products);
  if (options.f32Products == "tf32") {
    if (options.dtype.value_or(Dtype::F32) != Dtype::F32)
      return error("requires --dtype=f32 for --f32-products=tf32, but got " + nameOf(*options.dtype));
    bool isEager = options.device == Device::Eager || !options.references.empty();
    if (options.device != Device::Ptx && options.device != Device::Cuda && !isEager)
      return error(
          "requires --device=ptx, cuda or eager, or --references, for --f32-products=tf32: elsewhere "
          "operands are not rounded");
  }
  bool formsReferences = !options.references.empty(); // by the form's contract
  if (((options.form != "auto" && !formsReferences) || options.chunk || options.printForm ||
       !options.decode.empty()) &&
      !onKernels)
    return error("requires --device=cpu, ptx or cuda for --form (or --references), --chunk, --decode and "
                 "--print-form; --tiles=chunk=N is for tiles");
  if ((options.form == "recurrent" || !options.decode.empty()) && !options.forwardOnly)
    return error("requires --forward-only for --form=recurrent and --decode: they have no derivative");
  if (options.forwardOnly &&
      (options.gradient || !options.gradients.empty() || !options.absentGradients.empty()))
    return error("unsupported --grad, --output-grad and --absent-grad with --forward-only, which has no "
                 "gradients");
  if (!options.pieces.empty() && !onKernels)
    return error(
        "requires --device=cpu, ptx or cuda for --states: the reference takes the sequence as a whole");
  if (!options.pieces.empty() && options.decode == "cache")
    return error("expected --states or --decode=cache, which has no states of keys, but got both");
  if (options.tilesGiven && !onTiles)
    return error("requires --device=tile for --tiles; compiled kernels choose by the target");
  if ((options.poison || options.layout != "bhtc") && !onKernels && !onTiles)
    return error("requires --device=cpu, ptx, cuda or tile for --poison and --layout: they are about tensors "
                 "in memory");
  if (!options.functions.empty() && (onKernels || onTiles || options.device == Device::Eager))
    return error("expected --functions without --device: the reference evaluates them");
  if (!options.functions.empty() && (!options.outputs.empty() || !options.gradients.empty()))
    return error("unsupported --output and --output-grad with --functions, which writes a comparison only");
  return Error::success();
}

} // namespace

Expected<Options> taylor::run::parseOptions(ArrayRef<const char *> arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.consume_front("--")) {
      if (argument.starts_with("-") && argument != "-")
        return error("expected options that start with '--', but got '" + argument + "'; see --help");
      if (!options.spec.empty())
        return error("expected one specification, but got '" + options.spec + "' and '" + argument + "'");
      options.spec = argument.str();
      continue;
    }
    bool joined = argument.contains('=');
    auto [name, value] = argument.split('=');
    const OptionRow *found = nullptr;
    NearestName nearest(name, /*limit=*/4);
    for (const OptionRow &row : optionRows()) {
      if (row.name == name)
        found = &row;
      nearest.consider(row.name);
    }
    if (!found)
      return error("unsupported option '--" + name + "'; " +
                   (nearest.get().empty() ? "see --help" : "did you mean '--" + nearest.get().str() + "'?"));
    if (found->value.empty() && joined)
      return error("expected --" + name + " without a value, but got '" + value + "'");
    if (!found->value.empty() && !joined) {
      if (i + 1 == arguments.size())
        return error("expected --" + name + "=" + found->value + ", but got no value");
      value = arguments[++i];
    }
    if (Error failed = found->set(options, value))
      return failed;
  }
  if (Error failed = validate(options))
    return failed;
  return options;
}

std::string taylor::run::helpText() {
  std::string text = R"(taylor-run: evaluates an attention written in the taylor dialect

usage: taylor-run SPEC.mlir --shape=B,H,T,D [options]

  taylor-run softmax.mlir --shape=1,2,16,8                         the reference on random inputs: norms of what comes out
  taylor-run softmax.mlir --input q=q.npy --input k=k.npy --input v=v.npy --output o.npy
  taylor-run softmax.mlir --shape=1,2,16,8 --grad --output-grad q=dq.npy
  taylor-run softmax.mlir --shape=1,2,64,64 --device=cpu --check   compiled kernels against the reference
  taylor-opt --taylor-to-pairwise softmax.mlir | taylor-run softmax.mlir --functions=- --shape=1,2,16,64

options (--name=VALUE or --name VALUE):
)";
  for (const OptionRow &row : optionRows()) {
    std::string head = ("  --" + row.name + (row.value.empty() ? "" : "=" + row.value.str())).str();
    SmallVector<StringRef> lines;
    row.help.split(lines, '\n');
    head.append(head.size() < 31 ? 31 - head.size() : 0, ' ');
    bool fits = head.size() == 31;
    text += fits ? head + lines[0].str() + "\n" : head + "\n";
    for (StringRef line : ArrayRef(lines).drop_front(fits ? 1 : 0))
      text += std::string(31, ' ') + line.str() + "\n";
  }
  return text;
}
