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
  std::function<Error(RunOptions &, StringRef)> set;
};

Error setShape(RunOptions &options, StringRef text) {
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
  const AxisRole order[] = {AxisRole::Batch, AxisRole::Head, AxisRole::Query, AxisRole::Channel};
  for (auto [i, part] : enumerate(parts)) {
    auto [axis, size] =
        named ? part.trim().split('=') : std::pair<StringRef, StringRef>(nameOf(order[i]), part.trim());
    int64_t number;
    if (axis.empty() || size.getAsInteger(10, number) || number < 0)
      return bad();
    std::optional<AxisRole> role = axisRoleOf(axis);
    if (!role || role == AxisRole::Lag || role == AxisRole::Feature)
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

Error setDevice(RunOptions &options, StringRef text) {
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

Error setTiles(RunOptions &options, StringRef text) {
  options.tilesGiven = true;
  return options.tiles.parse(text);
}

Error setDtype(RunOptions &options, StringRef text) {
  std::optional<Dtype> dtype = dtypeNamed(text);
  if (!dtype || *dtype == Dtype::I32)
    return error("expected --dtype=f32, bf16, f16 or f64, but got '" + text + "'");
  options.dtype = *dtype;
  options.compile.dtype = *symbolizeStorageType(nameOf(*dtype));
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

Error setOutput(RunOptions &options, StringRef text) {
  // A lone file name is the specification's only output.
  if (!text.contains('='))
    return setNamed(options.outputs, "output", ("*=" + text).str());
  return setNamed(options.outputs, "output", text);
}

Error setAbsentGradient(RunOptions &options, StringRef text) {
  return options.absentGradients.insert(text.str()).second
             ? Error::success()
             : error("expected '" + text + "' once in --absent-grad, but got it twice");
}

Error setPieces(RunOptions &options, StringRef text) {
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

Error setThreads(RunOptions &options, StringRef text) {
  if (Error failed = setInteger(options.threads, "threads", text))
    return failed;
  return options.threads < 0 ? error("expected --threads of 0 or more, but got '" + text + "'")
                             : Error::success();
}

/// An option that is as in taylorc; `help` says what a run does with it, where that is more.
OptionRow fromTable(StringRef name, StringRef help = "") {
  const CompileOption &option =
      *llvm::find_if(compileOptionTable(), [&](const CompileOption &option) { return option.name == name; });
  return {option.name, option.value, help.empty() ? option.help : help,
          [&option](RunOptions &options, StringRef text) {
            std::string message = option.read(options.compile, text);
            return message.empty() ? Error::success() : error(message);
          }};
}

using O = RunOptions;
using S = StringRef;

std::function<Error(O &, S)> flag(bool O::*field) {
  return [field](O &options, S) { return options.*field = true, Error::success(); };
}

/// Who evaluates, and the arrays that it reads and writes.
std::vector<OptionRow> evaluationRows() {
  return {
      {"device", "reference|eager|tile|cpu|ptx|cuda",
       "who evaluates (default: reference).\n"
       "reference: the evaluator that defines the meaning, in extended precision;\n"
       "eager: the same with every result rounded to --dtype;\n"
       "tile: the tile programs that targets compile, element by element;\n"
       "cpu: kernels compiled by taylorc;\n"
       "ptx: kernels of GPUs, in an interpreter that checks every access and needs no GPU;\n"
       "cuda: kernels on the first GPU",
       setDevice},
      {"shape", "B,H,T,D",
       "sizes: batch, query heads, tokens, channels; or by axis:\n"
       "b=1,h=8,g=2,t=64,u=96,d=64,e=32 (g key/value heads, u keys, e value channels).\n"
       "Defaults: b = 1, h = 1, g = h, u = t, e = d",
       setShape},
      {"input", "NAME=FILE",
       "reads an argument from a .npy file (f32, f64 or i32; axes as in the specification; default: random)",
       [](O &o, S t) { return setNamed(o.inputs, "input", t); }},
      {"cotangent", "NAME=FILE", "reads the cotangent of an output from a .npy file (default: random)",
       [](O &o, S t) { return setNamed(o.cotangents, "cotangent", t); }},
      {"output", "[NAME=]FILE", "writes an output as .npy; a single output needs no name", setOutput},
      {"output-grad", "NAME=FILE", "writes the gradient of an argument as .npy",
       [](O &o, S t) {
         o.gradient = true;
         return setNamed(o.gradients, "output-grad", t);
       }},
      {"absent-grad", "NAME",
       "leaves the gradient of an argument out of calls (cpu, ptx, cuda) and of the comparison, as a caller\n"
       "that does not need it",
       setAbsentGradient},
  };
}

/// What is printed, computed and compared.
std::vector<OptionRow> checkRows() {
  return {
      {"print", "", "prints every element of the results", flag(&O::print)},
      {"print-form", "", "prints the form in which each function ran (compiled kernels)",
       flag(&O::printForm)},
      {"grad", "", "evaluates gradients too", flag(&O::gradient)},
      {"check", "",
       "compares every output and gradient of kernels (cpu, ptx, cuda, tile) with the reference;\n"
       "exit status 1 if an error exceeds the contract:\n"
       "  |x - ref| <= max(c |eager - ref|, 4 eps |ref|, floor)\n"
       "eager: the same with every result rounded to --dtype; in chunked and recurrent forms with states in\n"
       "f32, of which what is read is rounded (bf16, f16);\n"
       "c: 1.1 in bf16 and f16, 2 in f32 and f64; twice that where eager is off by 1/16 of |ref| (bf16),\n"
       "1/64 (f16) or 1/500 (f32);\n"
       "eps: that of --dtype, in f64 4096 times that;\n"
       "floor: 1/16 eps per element, for results that cancel to nearly 0.\n"
       "Chunked and recurrent forms in f32 may also be off by 1e-5 |ref|",
       flag(&O::check)},
      {"strict", "",
       "holds --check to what kernels of every form keep: 1.1 |eager - ref| (bf16, f16), 3e-3 |ref|\n"
       "(--bf16-products=split, tf32) or 1e-5 |ref| (f32), and the floor where all of a result cancels",
       flag(&O::strict)},
      {"references", "FOLDER",
       "writes the data by which a kernel in --dtype is checked: arguments, cotangents, and the reference's\n"
       "outputs and gradients as .npy, and contract.json with the error that each may have.\n"
       "Runs no kernel, except with --check",
       [](O &o, S t) { return o.references = t.str(), Error::success(); }},
      {"cases", "FILE",
       "runs each line of a file ('-': the standard input) as the arguments of one run, after the arguments\n"
       "next to --cases, and goes on after a failure. Cases that are compiled alike share kernels, also if\n"
       "only one has --decode; cases of one problem, one after the other, share the reference",
       [](O &o, S t) { return o.cases = t.str(), Error::success(); }},
      {"forward-only", "", "leaves gradients out of --check, --references and --functions",
       flag(&O::forwardOnly)},
      {"functions", "FILE",
       "compares @NAME.forward and @NAME.backward of a file, as taylor-opt writes them, with the\n"
       "specification's own outputs and gradients; the specification may stand in the same file",
       [](O &o, S t) { return o.functions = t.str(), Error::success(); }},
      {"tolerance", "X", "relative error that --functions allows (default: 1e-12; in f32 1e-5)",
       [](O &o, S t) { return setNumber(o.tolerance, "tolerance", t); }},
  };
}

/// The specification, what becomes of it, and the numbers that it is given.
std::vector<OptionRow> problemRows() {
  return {
      fromTable("spec"),
      fromTable("set"),
      fromTable("mask"),
      fromTable("documents",
                "runs sequences of several documents, as in taylorc; the input 'documents' numbers them\n"
                "(default: three documents)"),
      {"offset", "N", "position of query 0 (default: u - t)",
       [](O &o, S t) { return setInteger(o.offset, "offset", t); }},
      {"dtype", "f32|bf16|f16|f64",
       "storage type: inputs are rounded to it (default: f32; none with --device=reference)", setDtype},
      fromTable("f32-products",
                "how GPUs and eager code multiply f32: fma (default), or tf32: operands rounded to 11 bits"),
      fromTable("bf16-products"),
      fromTable("form",
                "form of compiled kernels, as in taylorc, or of the kernels that --references are for\n"
                "(default: auto); recurrent requires --forward-only"),
      {"decode", "state|cache",
       "runs the function 'step' that taylorc --decode adds; requires --forward-only.\n"
       "state: t = u tokens, one after the other; cache: any queries over all keys, which the function\n"
       "'append' prepares first, if there is one",
       [](O &o, S t) {
         std::string word;
         Error error = setChoice(word, "decode", {"state", "cache"}, t);
         o.decode = symbolizeDecode(word);
         return error;
       }},
      {"states", "TOKEN,..",
       "runs the sequence (t = u) in pieces that begin at these tokens, by kernels of taylorc --states.\n"
       "Each piece begins from the states of the piece before, and gradients go back through them;\n"
       "--check compares the whole sequence",
       setPieces},
      fromTable("chunk",
                "queries of a chunk, a multiple of 64, with --form=chunked (default: the target's choice)"),
      {"seed", "N", "seed of random inputs (default: 0)",
       [](O &o, S t) { return setInteger(o.seed, "seed", t); }},
      {"scale", "X", "factor of random arrays over queries and score channels, and so of logits (default: 1)",
       [](O &o, S t) { return setNumber(o.scale, "scale", t); }},
      {"unreal", "N",
       "numbers of each random array over queries that are NaN or infinite (default: 0); where the\n"
       "reference is not finite, a result must not be. An infinity times what the kernels' type rounds to\n"
       "0 may be either",
       [](O &o, S t) { return setInteger(o.unreal, "unreal", t); }},
  };
}

/// How kernels are made and called, and what they must withstand.
std::vector<OptionRow> kernelRows() {
  return {
      {"threads", "N", "threads (default: one per processor)", setThreads},
      {"layout", "bhtc|bthc", "order in memory of tensors given to kernels (default: bhtc)",
       [](O &o, S t) { return setChoice(o.layout, "layout", {"bhtc", "bthc"}, t); }},
      {"poison", "", "surrounds the tensors given to kernels with NaN, and checks that it stays",
       flag(&O::poison)},
      {"spoil-keys", "TOKEN,..",
       "runs the kernels once more, with NaN in all numbers of these keys (3,60-62); requires --check.\n"
       "Results that this leaves unchanged in the reference must have the same bits, and results that are\n"
       "NaN there must be NaN",
       [](O &o, S t) { return setTokens(o.spoiledKeys, "spoil-keys", t); }},
      {"spoil-queries", "TOKEN,..", "the same for queries and the cotangents of their rows",
       [](O &o, S t) { return setTokens(o.spoiledQueries, "spoil-queries", t); }},
      {"spoil-with", "nan|inf", "value in the tokens of --spoil-keys and --spoil-queries (default: nan)",
       [](O &o, S t) { return setChoice(o.spoiledWith, "spoil-with", {"nan", "inf"}, t); }},
      {"spoil-tile", "N",
       "tokens of a tile, within which NaN may spread, as on GPUs; tiles begin with each piece (default: 1,\n"
       "it may not)",
       [](O &o, S t) {
         if (Error failed = setInteger(o.spoiledTile, "spoil-tile", t))
           return failed;
         return o.spoiledTile < 1 ? error("expected --spoil-tile of 1 or more, but got '" + t + "'")
                                  : Error::success();
       }},
      {"ptx-seed", "N", "seed of the order in which warps run, with --device=ptx (default: 0)",
       [](O &o, S t) {
         o.ptxSeedGiven = true;
         return setInteger(o.ptxSeed, "ptx-seed", t);
       }},
      {"ptx-profile", "", "prints what each kernel executed, with --device=ptx", flag(&O::ptxProfile)},
      {"target", "NAME",
       "machine to compile for, as in taylorc (default: native for cpu, sm_80 for ptx, the GPU for cuda)",
       [](O &o, S t) { return o.target = t.str(), Error::success(); }},
      {"tiles", "NAME=N,..",
       "sizes of tiles in tokens, and the form of grids and loops, with --device=tile, as in\n"
       "taylor-plan-tiles=tiles=..",
       setTiles},
      {"kernel", "FILE.so", "artifact to run instead of compiling",
       [](O &o, S t) { return o.kernel = t.str(), Error::success(); }},
  };
}

/// All options, in the order of --help.
const std::vector<OptionRow> &optionRows() {
  static const std::vector<OptionRow> rows = [] {
    std::vector<OptionRow> all;
    for (auto part : {evaluationRows, checkRows, problemRows, kernelRows})
      llvm::append_range(all, part());
    all.push_back({"help", "", "prints this text", flag(&O::help)});
    all.push_back({"version", "", "prints the version", flag(&O::version)});
    return all;
  }();
  return rows;
}

Error validate(const RunOptions &options) {
  if (options.help || options.version || !options.cases.empty())
    return Error::success();
  if (options.spec.empty() && options.functions.empty())
    return error("expected a specification, but got none; try taylor-run examples/specs/softmax.mlir "
                 "--shape=1,2,16,8");
  bool onKernels = runsKernels(options.device), onTiles = options.device == Device::Tile;
  if (options.check && !onKernels && !onTiles)
    return error(
        "requires --device=cpu, ptx, cuda or tile for --check: it compares kernels with the reference");
  if (!options.references.empty() &&
      !(options.dtype && (options.device == Device::Reference || (options.check && onKernels))))
    return error("requires --dtype, and no other --device than reference without --check, for --references");
  if (!options.references.empty() &&
      (!options.functions.empty() || !options.outputs.empty() || options.gradient || options.print))
    return error(
        "unsupported --functions, --output, --output-grad, --grad and --print with --references, which "
        "writes files only");
  if (options.spoils() && !options.check)
    return error("requires --check for --spoil-keys and --spoil-queries");
  if (options.strict && !options.check)
    return error("requires --check for --strict");
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
  const CompileOptions &compile = options.compile;
  if (std::string message = compile.checkProducts(); !message.empty())
    return error(message);
  bool isRounded = compile.bf16Products == BF16Products::Rounded;
  bool onCpu = options.device == Device::CPU && isRounded;
  bool multiplies = onCpu || options.device == Device::Ptx || options.device == Device::Cuda;
  if (compile.bf16Products != BF16Products::Auto && !multiplies)
    return error(std::string("requires --device=") + (isRounded ? "cpu, " : "") +
                 "ptx or cuda for --bf16-products=" + stringifyBF16Products(compile.bf16Products));
  bool isEager = options.device == Device::Eager || !options.references.empty();
  if (compile.f32Products == F32Products::TF32 && options.device != Device::Ptx &&
      options.device != Device::Cuda && !isEager)
    return error("requires --device=ptx, cuda or eager, or --references, for --f32-products=tf32: elsewhere "
                 "operands are not rounded");
  bool formsReferences = !options.references.empty(); // by the form's contract
  if (((compile.form != FormChoice::Auto && !formsReferences) || compile.chunk || options.printForm ||
       options.decode) &&
      !onKernels)
    return error("requires --device=cpu, ptx or cuda for --form (or --references), --chunk, --decode and "
                 "--print-form; --tiles=chunk=N is for tiles");
  if ((compile.form == FormChoice::Recurrent || options.decode) && !options.forwardOnly)
    return error("requires --forward-only for --form=recurrent and --decode: they have no derivative");
  if (options.forwardOnly &&
      (options.gradient || !options.gradients.empty() || !options.absentGradients.empty()))
    return error("unsupported --grad, --output-grad and --absent-grad with --forward-only, which has no "
                 "gradients");
  if (!options.pieces.empty() && !onKernels)
    return error(
        "requires --device=cpu, ptx or cuda for --states: the reference takes the sequence as a whole");
  if (!options.pieces.empty() && options.decode == Decode::Cache)
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

Expected<RunOptions> taylor::run::parseOptions(ArrayRef<const char *> arguments) {
  RunOptions options;
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
    NearestName nearest(name, /*limit=*/3);
    for (const OptionRow &row : optionRows()) {
      if (row.name == name)
        found = &row;
      nearest.consider(row.name);
    }
    if (!found && (name == "head-dim" || name == "value-dim"))
      return error("unsupported option '--" + name + "'; --shape says it, as in --shape=b=2,h=4,t=100,d=64");
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
  if (!options.cases.empty())
    for (size_t i = 0; i < arguments.size(); ++i) {
      StringRef argument = arguments[i];
      if (argument == "--cases")
        ++i;
      else if (!argument.starts_with("--cases="))
        options.casesArguments.push_back(argument.str());
    }
  if (Error failed = validate(options))
    return failed;
  return options;
}

std::string taylor::run::helpText() {
  std::string text = R"(taylor-run: evaluates an attention written in the taylor dialect

usage: taylor-run SPEC.mlir --shape=B,H,T,D [options]

  taylor-run softmax.mlir --shape=1,2,16,8                         the reference on random inputs: norms of the results
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
