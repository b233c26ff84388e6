// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where tiles live in scratch: places with their live ranges, shared where a sweep may write over what it
// reads.
#include "codegen/Targets/CPU/KernelPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// Gives tiles that a later step reads their places, and places their slots.
class KernelPlan::PlaceAllocator {
public:
  explicit PlaceAllocator(KernelPlan &plan) : plan(plan) {}

  void run() {
    Block &block = *plan.kernel.getBlock();
    int position = 0;
    numberSteps(block, position);
    collectPlaces(block);
    collectUses(block);
    shareInit();
    shareYield();
    shareInPlace(block);
    allocate();
  }

private:
  void numberSteps(Block &block, int &position) {
    for (Step &step : plan.steps[&block]) {
      step.position = position++;
      if (step.kind == Step::Control) {
        for (Region &region : step.op->getRegions())
          for (Block &inner : region)
            numberSteps(inner, position);
        step.end = position++;
        loopRange[step.op] = {step.position, step.end};
      }
    }
  }

  /// A strip's place holds the sums of one strip of a sweep with products of its own.
  void makePlace(Copy copy, int position, bool isStrip = false) {
    if (!plan.places.count(copy))
      plan.places[copy] = newPlace(copy, position, isStrip);
  }

  ScratchPlace newPlace(Copy copy, int position, bool isStrip) {
    auto [value, lane, pairs] = copy;
    auto type = cast<TileType>(value.getType());
    ScratchPlace place;
    for (const Axis &axis : type.getAxes())
      if (axis.name != lane && axis.name != pairs)
        place.order.push_back(axis.name);
    if (pairs)
      place.order.push_back(pairs);
    if (lane)
      place.order.push_back(lane);
    place.element = plan.storedElement(value);
    place.strides.resize(place.order.size());
    int64_t elements = 1;
    for (int64_t i = int64_t(place.order.size()) - 1; i >= 0; --i) {
      place.strides[i] = elements;
      int64_t size = type.getSize(place.order[i]);
      if (isStrip)
        size = std::min(size, place.order[i] == lane ? KernelPlan::kStripLanes : KernelPlan::kStripRows);
      elements *= place.order[i] == lane ? int64_t(llvm::alignTo(size, plan.wholeLanes())) : size;
    }
    if (pairs) // one pair per lane
      place.strides.back() = 2;
    // One vector more: slices read up to a vector past their end.
    place.bytes =
        llvm::alignTo(elements * (place.element.getIntOrFloatBitWidth() / 8) + plan.target.vectorBytes, 64);
    place.slot = plan.slots.size();
    Slot slot;
    slot.bytes = place.bytes;
    slot.begin = slot.end = position;
    slot.members = 1;
    plan.slots.push_back(slot);
    return place;
  }

  /// Whether a value is read from its own place, and not from a copy with pairs alone.
  bool readsOwnPlace(Value value, const Sweep &sweep) const {
    bool isCopied = llvm::any_of(plan.packs, [&](const Copy &copy) {
      const Copy *made = plan.pairStoreOf(value);
      return copy.value == value && !(made && *made == copy);
    });
    return isCopied || llvm::any_of(value.getUsers(), [&](Operation *user) {
             auto dot = dyn_cast<DotOp>(user);
             std::optional<TileProduct> product = dot ? plan.tileProductOf(dot) : std::nullopt;
             if (product && product->b == value && product->a != value)
               return false;
             return bool(product) || plan.sweepOf.lookup(user) != &sweep;
           });
  }

  /// Values that a later step reads get a place; those that live and die inside one sweep do not.
  void collectPlaces(Block &block) {
    for (Step &step : plan.steps[&block]) {
      auto define = [&](Value value) {
        definedAt[value] = step.position;
        makePlace({value, plan.laneOf(value)}, step.position);
      };
      switch (step.kind) {
      case Step::Scalar:
        break;
      case Step::Window:
      case Step::Scan:
      case Step::Concat:
      case Step::Features:
        define(step.op->getResult(0));
        break;
      case Step::Pack:
        makePlace(step.pack, step.position);
        break;
      case Step::SweepStep: {
        SmallVector<Operation *> ops(step.sweep->ops);
        bool isTiled = step.sweep->dot && plan.tileProductOf(step.sweep->dot);
        if (DotOp dot = step.sweep->dot) {
          ops.push_back(dot);
          if (std::optional<TileProduct> product = plan.tileProductOf(dot); product && dot.getWhere())
            plan.cleared[dot] = product->a == dot.getB()
                                    ? newPlace({product->a, product->pairs}, step.position, /*isStrip=*/false)
                                    : newPlace({product->b, product->lane, product->pairs}, step.position,
                                               /*isStrip=*/false);
        }
        for (DotOp dot : step.sweep->products) {
          definedAt[dot] = step.position;
          makePlace({dot, step.sweep->lane}, step.position, /*isStrip=*/true);
        }
        for (Operation *op : ops)
          for (Value result : op->getResults()) {
            definedAt[result] = step.position;
            if (const Copy *pairs = plan.pairStoreOf(result)) {
              makePlace(*pairs, step.position);
              if (readsOwnPlace(result, *step.sweep))
                define(result);
              continue;
            }
            bool leaves =
                isa<ReduceOp>(op) || isTiled || llvm::any_of(result.getUsers(), [&](Operation *user) {
                  bool asOperand = step.sweep->dot && user == step.sweep->dot.getOperation();
                  return asOperand || plan.sweepOf.lookup(user) != step.sweep.get();
                });
            if (leaves)
              define(result);
          }
        break;
      }
      case Step::Control: {
        if (auto loop = dyn_cast<scf::ForOp>(step.op))
          for (Value argument : loop.getRegionIterArgs())
            if (isa<TileType>(argument.getType()))
              define(argument);
        for (Region &region : step.op->getRegions())
          for (Block &inner : region)
            collectPlaces(inner);
        for (Value result : step.op->getResults())
          if (isa<TileType>(result.getType())) {
            makePlace({result, plan.laneOf(result)}, step.position);
            definedAt[result] = step.end;
          }
        break;
      }
      }
    }
  }

  void addUse(Value value, int position, bool elementwise, Operation *user) {
    if (!isa<TileType>(value.getType()))
      return;
    if (plan.isInline(value)) {
      for (Value operand : value.getDefiningOp()->getOperands())
        addUse(operand, position, elementwise && operand.getType() == value.getType(), user);
      // A splat that a product reads from a copy is in memory after all.
      if (llvm::none_of(plan.packs, [&](const Copy &copy) { return copy.value == value; }))
        return;
    }
    // A loop that reads a value from outside keeps it to its end.
    for (Operation *at = user; at->getBlock() != value.getParentBlock(); at = at->getParentOp())
      if (isa<scf::ForOp>(at->getParentOp())) {
        position = std::max(position, loopRange[at->getParentOp()].second);
        elementwise = false;
      }
    uses[value].push_back({position, elementwise});
  }

  void addSweepUse(Value value, const Step &step, Operation *user) {
    auto type = dyn_cast<TileType>(value.getType());
    if (!type || (value.getDefiningOp() && plan.sweepOf.lookup(value.getDefiningOp()) == step.sweep.get() &&
                  !isa<ReduceOp>(value.getDefiningOp()) && !plan.isInline(value)))
      return;
    bool full = type.getAxes().size() == step.sweep->axes.size() &&
                (plan.isInline(value) || plan.laneOf(value) == step.sweep->lane) && !isa<SliceOp>(user);
    addUse(value, step.position, full, user);
  }

  void collectUses(Block &block) {
    for (Step &step : plan.steps[&block]) {
      switch (step.kind) {
      case Step::Scalar:
      case Step::Window:
        break;
      case Step::Pack:
        // The copy is made where the value is defined; its own uses are those of the value.
        uses[step.pack.value].push_back({step.position, false});
        break;
      case Step::Scan:
      case Step::Concat:
        for (Value operand : step.op->getOperands())
          addUse(operand, step.position, false, step.op);
        break;
      case Step::Features: {
        // What a contraction adds to may be its result's place.
        auto contract = dyn_cast<ContractOp>(step.op);
        for (Value operand : step.op->getOperands())
          addUse(operand, step.position, contract && operand == contract.getC(), step.op);
        break;
      }
      case Step::SweepStep:
        for (DotOp dot : step.sweep->products)
          for (Value operand : dot->getOperands())
            addUse(operand, step.position, false, dot);
        if (DotOp dot = step.sweep->dot) {
          addUse(dot.getA(), step.position, false, dot);
          addUse(dot.getB(), step.position, false, dot);
          if (dot.getWhere())
            addUse(dot.getWhere(), step.position, false, dot);
          if (dot.getC())
            addSweepUse(dot.getC(), step, dot);
        }
        for (Operation *op : step.sweep->ops)
          for (Value operand : op->getOperands())
            addSweepUse(operand, step, op);
        break;
      case Step::Control:
        if (auto loop = dyn_cast<scf::ForOp>(step.op))
          for (Value init : loop.getInitArgs())
            addUse(init, step.position, false, step.op);
        for (Region &region : step.op->getRegions())
          for (Block &inner : region) {
            collectUses(inner);
            for (Value value : inner.getTerminator()->getOperands())
              addUse(value, step.end, false, inner.getTerminator());
          }
        break;
      }
    }
  }

  int lastUse(Value value) const {
    int last = -1;
    if (auto it = uses.find(value); it != uses.end())
      for (const Use &use : it->second)
        last = std::max(last, use.position);
    return last;
  }

  /// Puts `from`, which must not share its slot yet, into the slot of `into`.
  bool merge(Copy into, Copy from) {
    auto a = plan.places.find(into), b = plan.places.find(from);
    if (a == plan.places.end() || b == plan.places.end() || a->second.element != b->second.element ||
        a->second.order != b->second.order || a->second.strides != b->second.strides)
      return false;
    if (a->second.slot == b->second.slot)
      return true;
    Slot &target = plan.slots[a->second.slot], &old = plan.slots[b->second.slot];
    if (old.members != 1)
      return false;
    target.begin = std::min(target.begin, old.begin);
    target.end = std::max(target.end, old.end);
    ++target.members;
    old.members = 0;
    b->second.slot = a->second.slot;
    return true;
  }

  /// A loop's argument and result are one place; so is the initial value, if nothing reads it after.
  void shareInit() {
    for (auto &[copy, place] : plan.places)
      plan.slots[place.slot].end = std::max(plan.slots[place.slot].end, lastUse(copy.value));
    plan.kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      auto [begin, end] = loopRange[loop];
      for (auto [argument, result, init] :
           llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs())) {
        if (!isa<TileType>(argument.getType()))
          continue;
        Copy carried{argument, plan.laneOf(argument)};
        Slot &slot = plan.slots[plan.places[carried].slot];
        slot.end = std::max(slot.end, end);
        merge(carried, {result, plan.laneOf(result)});
        bool soleInit = llvm::count(loop.getInitArgs(), init) == 1;
        bool plain = !plan.isInline(init) && !init.getDefiningOp<LoadOp>() &&
                     plan.laneOf(init) == plan.laneOf(argument);
        if (!plain || !soleInit || lastUse(init) != begin)
          continue;
        // The argument's slot is young: only it and the result are in it. It moves into the initial value's.
        auto &from = plan.places[carried];
        auto into = plan.places.find({init, plan.laneOf(init)});
        if (into == plan.places.end() || into->second.order != from.order ||
            into->second.element != from.element)
          continue;
        unsigned old = from.slot;
        Slot &target = plan.slots[into->second.slot];
        target.begin = std::min(target.begin, plan.slots[old].begin);
        target.end = std::max(target.end, plan.slots[old].end);
        target.members += plan.slots[old].members;
        plan.slots[old].members = 0;
        for (auto &[copy, place] : plan.places)
          if (place.slot == old)
            place.slot = into->second.slot;
      }
    });
  }

  /// The value carried to the next iteration is computed in place, if the old one is not read after.
  void shareYield() {
    plan.kernel.walk([&](scf::ForOp loop) {
      for (auto [argument, value] :
           llvm::zip(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands())) {
        if (!isa<TileType>(argument.getType()) || value == argument || plan.isInline(value) ||
            value.getDefiningOp<LoadOp>() || value.getParentBlock() != loop.getBody() ||
            plan.laneOf(value) != plan.laneOf(argument))
          continue;
        int defined = definedAt.lookup(value);
        bool free = llvm::all_of(uses[argument], [&](const Use &use) {
          return use.position < defined || (use.position == defined && use.elementwise);
        });
        if (!free || isReadLater(value, argument) ||
            !merge({argument, plan.laneOf(argument)}, {value, plan.laneOf(value)}))
          continue;
        // Sums that a map rescales for the matrix unit are rescaled in place.
        auto dot = value.getDefiningOp<DotOp>();
        Value start = dot ? dot.getC() : Value();
        if (!start || !plan.tileProductOf(dot) || !start.getDefiningOp<MapOp>() || plan.isInline(start) ||
            plan.laneOf(start) != plan.laneOf(argument))
          continue;
        int rescaled = definedAt.lookup(start);
        bool isReplaced = llvm::all_of(uses[argument], [&](const Use &use) {
          return use.position < rescaled || (use.position == rescaled && use.elementwise);
        });
        if (isReplaced && !isReadLater(start, argument) && lastUse(start) == defined)
          merge({argument, plan.laneOf(argument)}, {start, plan.laneOf(start)});
      }
    });
  }

  /// Whether an op reads a value, itself or through what is computed where it is used.
  bool reads(Operation *op, Value value) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand == value ||
             (plan.isInline(operand) && operand.getDefiningOp() && reads(operand.getDefiningOp(), value));
    });
  }

  /// Whether an op of the sweep that computes `result` reads `value` after that.
  bool isReadLater(Value result, Value value) const {
    Operation *op = result.getDefiningOp();
    const Sweep *sweep = op ? plan.sweepOf.lookup(op) : nullptr;
    if (!sweep)
      return false;
    // All ops of a sweep come after its product.
    auto after = llvm::find(sweep->ops, op);
    return std::any_of(after == sweep->ops.end() ? sweep->ops.begin() : std::next(after), sweep->ops.end(),
                       [&](Operation *reader) { return reads(reader, value); });
  }

  /// A sweep writes over an operand of the same shape that nothing reads after.
  void shareInPlace(Block &block) {
    for (Step &step : plan.steps[&block]) {
      if (step.kind == Step::Control)
        for (Region &region : step.op->getRegions())
          for (Block &inner : region)
            shareInPlace(inner);
      if (step.kind != Step::SweepStep)
        continue;
      if (DotOp dot = step.sweep->dot; dot && plan.tileProductOf(dot) && dot.getC()) {
        Copy sums{dot.getC(), step.sweep->lane}, result{dot.getResult(), step.sweep->lane};
        auto from = plan.places.find(sums), to = plan.places.find(result);
        if (from != plan.places.end() && to != plan.places.end() &&
            plan.slots[to->second.slot].members == 1 && !dot.getC().getDefiningOp<LoadOp>() &&
            definedAt.lookup(dot.getC()) < step.position &&
            plan.slots[from->second.slot].end == step.position)
          merge(sums, result);
      }
      SmallVector<Value> operands;
      for (Operation *op : step.sweep->ops)
        llvm::append_range(operands, op->getOperands());
      for (Operation *op : step.sweep->ops) {
        for (Value result : op->getResults()) {
          auto place = plan.places.find({result, plan.laneOf(result)});
          if (isa<ReduceOp>(op) || place == plan.places.end() || plan.slots[place->second.slot].members != 1)
            continue;
          for (Value operand : operands) {
            auto from = plan.places.find({operand, plan.laneOf(operand)});
            if (!isa<TileType>(operand.getType()) || from == plan.places.end() || operand == result ||
                operand.getDefiningOp<LoadOp>() || definedAt.lookup(operand) >= step.position ||
                plan.slots[from->second.slot].end != step.position)
              continue;
            // A later op of the sweep fetches the operand again, when this one has stored its result.
            if (isReadLater(result, operand))
              continue;
            bool elementwise = llvm::all_of(uses[operand], [&](const Use &use) {
              return use.position != step.position || use.elementwise;
            });
            if (elementwise && merge({operand, plan.laneOf(operand)}, {result, plan.laneOf(result)}))
              break;
          }
        }
      }
    }
  }

  void allocate() {
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < plan.slots.size(); ++i)
      if (plan.slots[i].members)
        order.push_back(i);
    llvm::stable_sort(order,
                      [&](unsigned a, unsigned b) { return plan.slots[a].begin < plan.slots[b].begin; });
    SmallVector<unsigned> placed;
    for (unsigned i : order) {
      // First fit below, between or above the slots that are alive at the same time.
      SmallVector<std::pair<int64_t, int64_t>> taken;
      for (unsigned j : placed)
        if (plan.slots[j].begin <= plan.slots[i].end && plan.slots[i].begin <= plan.slots[j].end)
          taken.push_back({plan.slots[j].offset, plan.slots[j].offset + plan.slots[j].bytes});
      llvm::sort(taken);
      int64_t offset = 0;
      for (auto [begin, end] : taken) {
        if (offset + plan.slots[i].bytes <= begin)
          break;
        offset = std::max(offset, end);
      }
      plan.slots[i].offset = offset;
      plan.scratchBytes = std::max(plan.scratchBytes, offset + plan.slots[i].bytes);
      placed.push_back(i);
    }
  }

  KernelPlan &plan;

  struct Use {
    int position;     // of the step, or the end of a loop around it that does not hold the definition
    bool elementwise; // reads exactly the element that the step computes
  };
  DenseMap<Value, SmallVector<Use>> uses;
  DenseMap<Value, int> definedAt;
  DenseMap<Operation *, std::pair<int, int>> loopRange;
};

void KernelPlan::allocatePlaces() { PlaceAllocator(*this).run(); }
