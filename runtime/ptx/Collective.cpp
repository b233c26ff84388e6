// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions in which lanes of a warp exchange values (PTX ISA, "shfl.sync", "vote.sync", "redux.sync",
// "elect.sync").
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {
namespace {

/// Operands: d, p if there are two results; a, b, c, members. c holds the clamp in bits 0-4 and the segment
/// mask in bits 8-12.
void shuffle(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand *source = &i.operands[i.results];
  std::array<uint32_t, 32> values;
  std::memcpy(values.data(), w.cells<uint32_t>(source[0]), sizeof values);
  uint32_t inside = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    int lane = int(l), b = int(w.get<uint32_t>(source[1], l) & 31), c = int(w.get<uint32_t>(source[2], l));
    int clamp = c & 31, segment = c >> 8 & 31;
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment, from = lane;
    bool valid = false;
    switch (i.lane) {
    case Lane::Up:
      valid = (from = lane - b) >= most;
      break;
    case Lane::Down:
      valid = (from = lane + b) <= most;
      break;
    case Lane::Butterfly:
      valid = (from = lane ^ b) <= most;
      break;
    case Lane::Index:
      valid = (from = least | (b & ~segment)) <= most;
      break;
    }
    if (!valid)
      from = lane;
    if (!(mask >> from & 1)) {
      if (w.block.checks)
        raise(w, i, FaultKind::UninitialisedRegister, l, 0,
              "reads lane " + std::to_string(from) + ", which does not take part");
      from = lane;
    }
    w.cells<uint32_t>(i.operands[0])[l] = values[unsigned(from)];
    inside |= uint32_t(valid) << l;
  }
  if (i.results == 2)
    w.setPredicate(i.operands[1], mask, inside);
}

void vote(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t yes = w.predicate(i.operands[1]) & mask;
  switch (i.vote) {
  case Vote::All:
    return w.setPredicate(i.operands[0], mask, yes == mask ? ~0u : 0);
  case Vote::Any:
    return w.setPredicate(i.operands[0], mask, yes ? ~0u : 0);
  case Vote::Uniform:
    return w.setPredicate(i.operands[0], mask, yes == mask || !yes ? ~0u : 0);
  case Vote::Ballot:
    for (uint32_t m = mask; m; m &= m - 1)
      w.cells<uint32_t>(i.operands[0])[firstLane(m)] = yes;
  }
}

template <typename T> void redux(Warp &w, const Instruction &i, uint32_t mask) {
  T all = w.get<T>(i.operands[1], firstLane(mask));
  for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
    T x = w.get<T>(i.operands[1], firstLane(m));
    switch (i.combine) {
    case Combine::Add:
      all = T(uint32_t(all) + uint32_t(x));
      break;
    case Combine::Min:
      all = std::min(all, x);
      break;
    case Combine::Max:
      all = std::max(all, x);
      break;
    case Combine::And:
      all &= x;
      break;
    case Combine::Or:
      all |= x;
      break;
    default:
      all ^= x;
      break;
    }
  }
  for (uint32_t m = mask; m; m &= m - 1)
    w.cells<T>(i.operands[0])[firstLane(m)] = toCell<T>(all);
}

void elect(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1)
    w.cells<uint32_t>(i.operands[0])[firstLane(m)] = firstLane(mask);
  w.setPredicate(i.operands[1], mask, mask & -mask);
}

void activemask(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1)
    w.cells<uint32_t>(i.operands[0])[firstLane(m)] = mask;
}

} // namespace

Handler collectiveHandler(const Instruction &i) {
  switch (i.op) {
  case Op::Shfl:
    return shuffle;
  case Op::VoteSync:
    return vote;
  case Op::Redux: {
    bool bits = i.combine >= Combine::And;
    return bits != (i.type == Type::B32) ? nullptr : i.type == Type::S32 ? redux<int32_t> : redux<uint32_t>;
  }
  case Op::Elect:
    return elect;
  case Op::Activemask:
    return activemask;
  case Op::Fence: // each block runs on one host thread; blocks exchange values by atomics
  case Op::Nop:
    return [](Warp &, const Instruction &, uint32_t) {};
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx
