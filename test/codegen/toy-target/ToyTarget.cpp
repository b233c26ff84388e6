// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A third target, whole, in at most 300 lines of code, comments and empty lines aside: plain C with a loop
// nest for each operation on tiles, which `cc` compiles. codegen/Targets/TARGET.md goes through this file.
#include "codegen/Artifact/ExternalTool.h"
#include "codegen/Targets/Target.h"
#include "dialect/Tile/Extents.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/AxisDim.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tile;
using llvm::formatv;
using std::string;

namespace {

//===----------------------------------------------------------------------===//
// Words of C
//===----------------------------------------------------------------------===//

/// C expressions as numbers: dialect/Tile/Extents.h makes sizes, grids and strides of them.
struct CNumbers {
  using Number = string;
  string constant(int64_t value) const { return std::to_string(value); }
  string add(string a, string b) const { return "(" + a + " + " + b + ")"; }
  string mul(string a, string b) const { return a + " * " + b; }
  string divide(string a, string b) const { return "(" + a + ") / (" + b + ")"; }
  string rest(string a, string b) const { return "(" + a + ") % (" + b + ")"; }
  string ceilDivide(string a, string b) const { return "ceildiv(" + a + ", " + b + ")"; }
  string atLeastOne(string a) const { return "max(" + a + ", 1)"; }
  string size(AxisRef role) const {
    string number = std::to_string(taylor::dimOf(role).value_or(TAYLOR_DIM_OFFSET));
    return role == AxisRole::Lag ? lagSize(*this) : "dims[" + number + "]";
  }
};

/// What the text uses, with types and infinity as MLIR and printf write them.
constexpr StringLiteral kPrelude = R"(
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>
typedef bool i1; typedef int32_t i32; typedef int64_t index; typedef float f32; typedef double f64;
typedef struct { const index *dims; void *const *data; const index *strides; char *workspace; } TaylorCall;
#define inf INFINITY
#define sum(a, b) ((a) + (b))
#define max(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define min(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define ceildiv(a, b) ((a) > 0 ? ((a) + (b) - 1) / (b) : (a) / (b))
#define select(a, b, c) ((a) ? (b) : (c))
#define loop(i, first, past, step) for (index i = first; i < past; i += step)
#define read(to, from) __typeof__(to) next_##to; memcpy(&next_##to, &from, sizeof to);
#define take(to) memcpy(&to, &next_##to, sizeof to);
)";

/// Scalar operations, each before its operator or function of C. What a cast does is done by the assignment
/// of its result.
constexpr StringLiteral kScalarOps = R"(
 arith.addf + arith.subf - arith.mulf * arith.divf / arith.negf - arith.maximumf max arith.minimumf min
 arith.addi + arith.subi - arith.muli * arith.divsi / arith.remsi % arith.ceildivsi ceildiv arith.maxsi max
 arith.minsi min arith.andi & arith.ori | arith.xori ^ arith.select select arith.index_cast + arith.extf +
 arith.truncf + arith.sitofp + arith.fptosi + arith.cmpi.eq == arith.cmpi.ne != arith.cmpi.slt <
 arith.cmpi.sle <= arith.cmpi.sgt > arith.cmpi.sge >= arith.cmpf.oeq == arith.cmpf.une != arith.cmpf.ogt >
 arith.cmpf.oge >= arith.cmpf.olt < arith.cmpf.ole <= math.absf fabs math.cos cos math.exp exp math.exp2 exp2
 math.expm1 expm1 math.fma fma math.log log math.powf pow math.sin sin math.sqrt sqrt math.tanh tanh
)";

string extentOf(ExtentAttr extent) { return evaluateExtent(extent, CNumbers()); }

/// The variable that counts along an axis.
string along(StringRef axis) { return ("at_" + axis).str(); }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Writes C. A scalar is a variable, a tile a local array; an array of the program is a pointer `v` with its
/// sizes `v_n` and strides `v_s`.
struct Writer {
  llvm::raw_ostream &out;
  LogicalResult status = success();
  DenseMap<Value, unsigned> names{};

  /// The three entry points of a program, as TaylorFunction has them (runtime/artifact.h).
  LogicalResult emitProgram(ProgramOp program, StringRef symbol) {
    out << formatv("void {0}_run(const TaylorCall *call, index kernel, index begin, index end, ", symbol)
        << "void *scratch) {\nconst index *dims = call->dims;\n";
    string bytes = openArrays(*program.getBlock()), blocks;
    for (auto [i, kernel] : llvm::enumerate(program.getBlock()->getOps<KernelOp>())) {
      out << formatv("if (kernel == {0}) loop(block, begin, end, 1) {{\n", i);
      auto grid = llvm::map_to_vector(kernel.getGrid().getAsRange<ExtentAttr>(), extentOf);
      auto setPlace = [&](unsigned i, string place) { define(kernel.getBlock()->getArgument(i), place); };
      forPlacesInGrid(
          string("block"), grid.size(), [&](unsigned i) { return grid[i]; }, setPlace, CNumbers());
      emitBlock(*kernel.getBlock());
      out << "}\n";
      blocks += formatv("kernel == {0} ? {1} : ", i, countOf(grid, CNumbers()));
    }
    out << "}\n"
        << formatv("index {0}_blocks(const index *dims, index kernel) {{ return {1}0; }\n", symbol, blocks)
        << formatv("index {0}_workspace(const index *dims) {{ return {1}; }\n", symbol, bytes);
    return status;
  }

  /// Returns the bytes of the workspace, whose layout is ours to choose.
  string openArrays(Block &program) {
    string bytes = "0";
    int64_t tensors = 0;
    for (Operation &op : program) {
      if (isa<KernelOp>(op))
        break;
      auto type = cast<ArrayType>(op.getResult(0).getType());
      auto sizes = llvm::map_to_vector(type.getAxes(), [](Axis axis) { return extentOf(axis.extent); });
      string strides = "(index[]){" + llvm::join(rowMajorStrides(ArrayRef(sizes), CNumbers()), ", ") + "}";
      string address = "(void *)(call->workspace + " + bytes + ")";
      if (isa<TensorOp>(op)) {
        address = formatv("call->data[{0}]", tensors);
        strides = formatv("call->strides + {0}", TAYLOR_MAX_RANK * tensors++);
      } else {
        bytes += " + 8 * " + countOf(sizes, CNumbers()); // elements have at most 8
      }
      out << formatv("{0} *{1} = {2};\n", type.getElementType(), name(op.getResult(0)), address)
          << formatv("const index *{0}_n = (index[]){{{1}}, *{0}_s = {2};\n", name(op.getResult(0)),
                     llvm::join(sizes, ", "), strides);
    }
    return bytes;
  }

  string name(Value v) { return "v" + std::to_string(names.try_emplace(v, names.size()).first->second); }

  /// None of a scalar.
  ArrayRef<Axis> axesOf(Value value) {
    auto tile = dyn_cast<TileType>(value.getType());
    return tile ? tile.getAxes() : ArrayRef<Axis>();
  }

  /// The element where the variables of all axes are, or along one axis at `place`.
  string at(Value value, StringRef moved = "", string place = "") {
    string text = name(value);
    for (const Axis &axis : axesOf(value))
      text += "[" + (axis.getName() == moved ? place : along(axis.getName())) + "]";
    return text;
  }

  void declare(ValueRange values) {
    for (Value value : values) {
      auto tile = dyn_cast<TileType>(value.getType());
      out << (tile ? tile.getElementType() : value.getType()) << " " << name(value);
      for (const Axis &axis : axesOf(value))
        out << "[" << axis.getSize() << "]";
      out << ";\n";
    }
  }

  /// Loops over all places of the axes, around the next statement.
  llvm::raw_ostream &forEach(ArrayRef<Axis> axes) {
    for (const Axis &axis : axes)
      out << formatv("loop({0}, 0, {1}, 1) ", along(axis.getName()), axis.getSize());
    return out;
  }

  /// A new variable, and what each element of it is.
  void define(Value value, const Twine &text) {
    declare(value);
    forEach(axesOf(value)) << at(value) << " = " << text << ";\n";
  }

  /// Each is read before any is written.
  void assign(ValueRange to, ValueRange from) {
    for (auto [target, value] : llvm::zip_equal(to, from))
      out << formatv("read({0}, {1})\n", name(target), name(value));
    for (Value target : to)
      out << formatv("take({0})\n", name(target));
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  void emitBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      llvm::TypeSwitch<Operation *>(&op)
          .Case<scf::ForOp, scf::IfOp, SizeOp, RequestedOp, LoadOp, StoreOp, AccumulateOp, SplatOp,
                PositionOp, MapOp, DotOp, ReduceOp, SliceOp, ConcatOp, arith::ConstantOp>(
              [&](auto op) { emit(op); })
          .Default([&](Operation *op) { emitScalar(op); });
  }

  /// Results are the variables that go from one iteration to the next.
  void emit(scf::ForOp op) {
    declare(op.getResults());
    for (auto [argument, result] : llvm::zip_equal(op.getRegionIterArgs(), op.getResults()))
      names[argument] = names[result];
    assign(op.getResults(), op.getInitArgs());
    string first = name(op.getLowerBound()), past = name(op.getUpperBound()), step = name(op.getStep());
    out << formatv("loop({0}, {1}, {2}, {3}) {{\n", name(op.getInductionVar()), first, past, step);
    emitBlock(*op.getBody());
    assign(op.getResults(), op.getBody()->getTerminator()->getOperands());
    out << "}\n";
  }

  void emit(scf::IfOp op) {
    declare(op.getResults());
    out << "if (" << name(op.getCondition()) << ") {\n";
    for (Region *region : op.getRegions())
      for (Block &block : *region) {
        out << (region == &op.getElseRegion() ? "} else {\n" : "");
        emitBlock(block);
        assign(op.getResults(), block.getTerminator()->getOperands());
      }
    out << "}\n";
  }

  /// The element of an array where the variables of a tile's axes are, and whether there is one.
  template <typename Op> std::pair<string, string> window(Op op, TileType tile) {
    ArrayType type = op.getArray().getType();
    string array = name(op.getArray()), element = array + "[0", isInside = "1";
    auto window = getWindow(type, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
    for (auto [i, axis] : llvm::enumerate(window)) {
      string place = axis.offset ? name(axis.offset) : "0";
      place += axis.tileAxis.empty() ? "" : " + " + along(axis.tileAxis);
      place += axis.minusAxis.empty() ? "" : " - " + along(axis.minusAxis);
      element += formatv(" + ({0}) * {1}_s[{2}]", place, array, i);
      isInside += formatv(" && {0} >= 0 && {0} < {1}_n[{2}]", place, array, i);
      if (auto load = dyn_cast<LoadOp>(*op); load && load.getEndAxis() == type.getAxes()[i].getName())
        isInside += " && " + place + " < " + name(load.getEnd());
    }
    return {element + "]", isInside};
  }

  void emit(LoadOp op) {
    auto [from, isInside] = window(op, op.getType());
    define(op, isInside + " ? " + from + " : 0");
  }

  /// A tile.store or tile.accumulate.
  template <typename Write> void emit(Write op) {
    auto [to, isInside] = window(op, op.getTile().getType());
    string write = to + (isa<StoreOp>(*op) ? " = " : " += ") + at(op.getTile());
    forEach(axesOf(op.getTile())) << "if (" << isInside << ") " << write << ";\n";
  }

  void emit(SizeOp op) { define(op, CNumbers().size(op.getRole())); }
  void emit(RequestedOp op) { define(op, name(op.getArray()) + " != 0"); }
  void emit(SplatOp op) { define(op, name(op.getValue())); }
  void emit(PositionOp op) { define(op, name(op.getStart()) + " + " + along(axesOf(op).front().getName())); }

  void emit(MapOp op) {
    declare(op.getResults());
    forEach(axesOf(op.getResult(0))) << "{\n";
    for (auto [argument, input] : llvm::zip_equal(op.getBlock()->getArguments(), op.getInputs()))
      define(argument, at(input));
    emitBlock(*op.getBlock());
    for (auto [i, value] : llvm::enumerate(op.getBlock()->getTerminator()->getOperands()))
      out << at(op.getResult(i)) << " = " << name(value) << ";\n";
    out << "}\n";
  }

  void emit(DotOp op) {
    define(op, op.getC() ? at(op.getC()) : "0");
    string isVisible = op.getWhere() ? at(op.getWhere()) : "1", a = at(op.getA()), b = at(op.getB());
    forEach(unionAxes({op.getA().getType(), op.getB().getType()})) << formatv(
        "if ({0}) {1} += ({2}){3} * {4};\n", isVisible, at(op), op.getType().getElementType(), a, b);
  }

  void emit(ReduceOp op) {
    define(op, formatv("{0}", llvm::format("%a", identityOf(op.getKind()))).str());
    string kind = stringifyReductionKind(op.getKind()).str(), x = at(op.getInput());
    forEach(axesOf(op.getInput())) << formatv("{0} = {1}({0}, {2});\n", at(op), kind, x);
  }

  void emit(SliceOp op) {
    string place = formatv("{0} + {1} * {2}", op.getOffset(), op.getStride(), along(op.getAxis()));
    define(op, at(op.getInput(), op.getAxis(), place));
  }

  void emit(ConcatOp op) {
    string i = along(op.getAxis()), size = std::to_string(op.getA().getType().getSize(op.getAxis()));
    bool isMixed = op.getInterleaved();
    string a = at(op.getA(), op.getAxis(), isMixed ? i + " / 2" : i);
    string b = at(op.getB(), op.getAxis(), isMixed ? i + " / 2" : i + " - " + size);
    define(op, i + (isMixed ? " % 2 == 0" : " < " + size) + " ? " + a + " : " + b);
  }

  void emit(arith::ConstantOp op) {
    auto real = dyn_cast<FloatAttr>(op.getValue());
    define(op, real ? formatv("{0}", llvm::format("%a", real.getValueAsDouble())).str()
                    : std::to_string(cast<IntegerAttr>(op.getValue()).getValue().getSExtValue()));
  }

  void emitScalar(Operation *op) {
    string key = op->getName().getStringRef().str();
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      key += "." + stringifyCmpIPredicate(compare.getPredicate()).str();
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      key += "." + stringifyCmpFPredicate(compare.getPredicate()).str();
    StringRef form = kScalarOps.split(" " + key + " ").second.split(' ').first.rtrim();
    if (form.empty())
      return (void)(status = taylor::refuse(op->emitError("unsupported on the target toy: '")) << key << "'");
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return name(value); });
    bool isInfix = operands.size() == 2 && !llvm::isAlpha(form[0]);
    string call = form.str() + "(" + llvm::join(operands, ", ") + ")";
    define(op->getResult(0), isInfix ? llvm::join(operands, form) : call);
  }
};

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

struct ToyTarget : taylor::Target {
  string getName() const override { return "toy"; }
  string nameAssembly() const override { return "C"; }
  std::vector<string> getPhases() const override { return {"C"}; }
  string check(const taylor::TargetProblem &problem) const override {
    return isNarrow(problem.dtype) ? "unsupported for toy: --dtype=bf16 and f16; expected f32 or f64"
                                   : Target::check(problem);
  }
  taylor::TileSizes planTiles(const taylor::TargetProblem &, taylor::TileUse use) const override {
    taylor::TileSizes sizes;
    sizes.exactMasks = use == taylor::TileUse::Parallel;
    return sizes;
  }
  /// States, which need operations that are missing here, are never cheaper.
  taylor::CostRates getRates(const taylor::TargetProblem &) const override { return {.feature = 1e12}; }
  TargetAttr describe(MLIRContext *context) const override {
    auto text = [&](StringRef word) { return StringAttr::get(context, word); };
    return TargetAttr::get(context, text("toy"), taylor::TargetKind::Cpu, text("x86-64"), {});
  }

  FailureOr<string> print(ModuleOp module, const taylor::TargetProblem &, taylor::Emission level,
                          taylor::StageRunner) const override {
    if (level != taylor::Emission::Assembly)
      return taylor::refuse(module.emitError("unsupported for toy: --emit=vector and llvm; use --emit=asm"));
    return printC(module, "taylor_");
  }

  LogicalResult emit(ModuleOp module, const taylor::TargetProblem &, taylor::StageRunner,
                     taylor::ArtifactCode &code) const override {
    // Callers without the runtime find the first target's functions by plain names.
    string prefix = code.hosts.empty() ? "taylor_" : "taylor_toy_", error;
    FailureOr<string> text = printC(module, prefix);
    if (failed(text))
      return failure();
    auto run = taylor::runTool("cc", {"-std=c11", "-O1", "-fPIC", "-c"}, *text, "c", error);
    if (!run || !run->failure.empty())
      return module.emitError(run ? "expected C that cc takes, but got: " + run->failure : error);
    taylor::HostCode host{"toy", {}, {SmallVector<char, 0>(run->output.begin(), run->output.end())}};
    for (auto program : module.getOps<ProgramOp>()) {
      string name = program.getSymName().str();
      auto kernels = program.getBlock()->getOps<KernelOp>();
      host.functions.push_back({name, prefix + name, std::distance(kernels.begin(), kernels.end()), 64});
    }
    code.hosts.push_back(std::move(host));
    return success();
  }

  static FailureOr<string> printC(ModuleOp module, const string &prefix) {
    string text = kPrelude.str();
    llvm::raw_string_ostream out(text);
    for (auto program : module.getOps<ProgramOp>())
      if (failed(Writer{out}.emitProgram(program, prefix + program.getSymName().str())))
        return failure();
    return text;
  }
};

/// A target that ships has a row in codegen/Targets/TargetTable.cpp.
[[maybe_unused]] const bool isAdded =
    taylor::addTarget([]() -> std::unique_ptr<taylor::Target> { return std::make_unique<ToyTarget>(); });

} // namespace
