// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver knows of a target: a folder next to this file implements it, and `makeTarget` finds it by
// name.
#ifndef TAYLOR_CODEGEN_TARGETS_TARGET_H
#define TAYLOR_CODEGEN_TARGETS_TARGET_H

#include "codegen/Artifact/Artifact.h"
#include "codegen/Targets/Choices.h"
#include "codegen/Targets/CostModel.h"
#include "codegen/Targets/KernelNeeds.h"
#include "dialect/Refusal.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ExtensibleRTTI.h"
#include <memory>
#include <optional>

namespace taylor {

/// Where a compilation stops, and what it gives there.
enum class Emission {
  Torch,
  Series,
  Pairwise,
  Tile,
  Vector,
  LLVM,
  Assembly,
  PTX, ///< assembly, of GPUs only
  Report,
  ReportJSON,
  Manifest,
  Explanation,
  Artifact
};

/// What the choice of tiles depends on besides the target.
struct TargetProblem {
  /// Channels of keys (d) and of values (e).
  int64_t headDim = 64, valueDim = 64;
  /// The most channels that a score and a value have, of learned features too; 0: as above.
  int64_t widestKey = 0, widestValue = 0;
  StorageType dtype = StorageType::F32;
  F32Products f32Products = F32Products::FMA;
  BF16Products bf16Products = BF16Products::Auto;
  RowSumsChoice rowSums = RowSumsChoice::Separate;
  /// Queries of a chunk, or 0, and whether there are states before and after a call: as in CompileOptions.
  int64_t chunk = 0;
  bool states = false;
  /// Factors of costs that were measured on this machine.
  std::vector<CostSample> formCosts;
};

/// Where a module says what it is compiled for, while forms and tiles are chosen: the fields of a
/// TargetProblem, as `{head_dim = 64, dtype = "bf16", ..}`. What is not there is as in a new
/// one.
inline constexpr llvm::StringLiteral kProblem = "taylor.problem";
mlir::DictionaryAttr describeProblem(const TargetProblem &problem, mlir::MLIRContext *context);
/// Fails, with an error of the module, where it says something else there.
mlir::FailureOr<TargetProblem> readProblem(mlir::ModuleOp module);

/// The channels of the widest keys and values that a module's sums have; 0: it has none.
std::pair<int64_t, int64_t> findWidest(mlir::ModuleOp module);

/// Whether calls of a module's functions hand on states of sums over keys (`carries`).
bool carriesStates(mlir::ModuleOp module);

/// What tiles are for.
enum class TileUse {
  Parallel,
  /// All pairs too, of functions that have tiles by length (`Target::getLongForm`).
  Short,
  Long,
  Chunked,
  /// One new token or a few: sums over keys are recurrences.
  Steps,
  /// The same over all keys.
  FewQueries
};

/// What the form for long sequences costs, measured by the parallel form, which then is for short ones.
struct LongForm {
  /// The time of a pair, over that of the parallel form.
  double pair = 1;
  /// What a query costs more, in pairs of the parallel form: tiles that the mask cuts are larger.
  double pairsOfQuery = 0;
};

/// Runs a pipeline on the module and shows the result to who watches the stages.
using StageRunner = llvm::function_ref<mlir::LogicalResult(
    llvm::StringRef stage, llvm::function_ref<void(mlir::OpPassManager &)> build)>;

/// What is known of kernels without running them, of targets of one kind. Each kind derives a class of its
/// own with llvm::RTTIExtends.
class KernelReports : public llvm::RTTIExtends<KernelReports, llvm::RTTIRoot> {
public:
  inline static char ID = 0;
  /// A table for people, or JSON.
  virtual std::string print(bool json) const = 0;
};

/// One machine that code is made for. Objects are cheap and know nothing of a compilation.
class Target {
public:
  virtual ~Target() = default;

  /// As given to --target, and in the manifest.
  virtual std::string getName() const = 0;
  /// What of the problem the target cannot do, as a message; empty if nothing. By default the options that
  /// are for GPUs alone.
  virtual std::string check(const TargetProblem &problem) const;
  /// Why it has no report of kernels or no PTX, as a message; empty if it has. Other levels that it does not
  /// have are refused by `print`.
  virtual std::string checkLevel(Emission level) const;
  /// Whether the runtime launches its kernels by what the manifest says of them, which is known when their
  /// code is made; else the code itself counts blocks (TaylorFunction, runtime/artifact.h).
  virtual bool isLaunchedByManifest() const { return false; }
  /// How tile programs are made. The field `chunked` follows from `use`: who calls this sets it.
  virtual TileSizes planTiles(const TargetProblem &problem, TileUse use) const = 0;
  /// Whether a function, the forward or the backward, has tiles of its own for long sequences, and what they
  /// cost next to those for short ones.
  virtual std::optional<LongForm> getLongForm(const TargetProblem &problem, FunctionRole function) const {
    return std::nullopt;
  }
  /// Of a function over all pairs (`Parallel`, `Short`, `Long`): makes tiles smaller that take more than
  /// there is, with what loops of its planned kernels hold at the same time, and says why; empty: they stay
  /// as they are. What lies in memory between kernels and calls does not hang on these tiles.
  virtual std::string fitTiles(llvm::ArrayRef<PairLoopNeeds> loops, const TargetProblem &problem,
                               TileSizes &sizes) const {
    return "";
  }
  /// What operations cost on it.
  virtual CostRates getRates(const TargetProblem &problem) const = 0;
  /// What the manifest says of the machines that run the code.
  virtual mlir::tile::TargetAttr describe(mlir::MLIRContext *context) const = 0;

  /// What `emit` does, in words: one for each `run`, then what is done without. `print` does the first of
  /// them: one for Vector, two for LLVM and three for Assembly, or all if there are fewer.
  virtual std::vector<std::string> getPhases() const = 0;
  /// What a page of all levels calls the text of the last one.
  virtual std::string nameAssembly() const { return "Assembly"; }

  /// The text of a level below tiles (Vector, LLVM, Assembly), from a module of tile programs, which is
  /// consumed. If there is a stage `llvm` on the way to assembly, the module is in the LLVM dialect after it,
  /// and what is there as debug info is in the text. Fails after a diagnostic, also where the target has no
  /// such level.
  virtual mlir::FailureOr<std::string> print(mlir::ModuleOp module, const TargetProblem &problem,
                                             Emission level, StageRunner run) const = 0;
  /// Adds the target's kernels, from a module of tile programs, which is consumed, to `reports`, made by the
  /// first target that has any. Fails after a diagnostic, also where a target of another kind made `reports`.
  virtual mlir::LogicalResult report(mlir::ModuleOp module, const TargetProblem &problem, StageRunner run,
                                     std::unique_ptr<KernelReports> &reports) const {
    return refuse(module.emitError("unsupported for ")) << getName() << ": a report of kernels";
  }
  /// Adds the target's code, from a module of tile programs, which is consumed except for its attributes.
  /// Fails after a diagnostic.
  virtual mlir::LogicalResult emit(mlir::ModuleOp module, const TargetProblem &problem, StageRunner run,
                                   ArtifactCode &code) const = 0;
};

/// Adds a target to those that this program knows, which are taylorc's: for programs of tests, before they
/// make any. Returns true, for a constant outside of functions.
bool addTarget(std::unique_ptr<Target> (*make)());

/// The target of a name. Null, and a message in `error`, where no table has it, or where it is this
/// computer's and no table fits.
std::unique_ptr<Target> makeTarget(llvm::StringRef name, std::string &error);

/// Features of a block of states, of which memory has whole ones: one layout for all of these targets.
int64_t chooseStateBlock(llvm::ArrayRef<std::unique_ptr<Target>> targets, TargetProblem problem);

} // namespace taylor

#endif
