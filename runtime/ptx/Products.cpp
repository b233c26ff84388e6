// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp w of a warpgroup has rows 16w to 16w + 15. With g = lane / 4, t = lane % 4, its fragments are those of
// mma.sync:
//
//   a, 16 bits   pairs of columns 2t, 2t+1: rows g, g+8, then the same 8 columns further right
//   a, tf32      (g, t), (g+8, t), (g, t+4), (g+8, t+4)
//   d            register 4j + i: row g + 8 (i / 2), column 8j + 2t + i % 2
#include "runtime/ptx/Products.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {

void Products::clear(const Kernel &kernel) {
  pending.clear();
  committed = 0;
  fences = 1;
  uses.assign(kernel.hasProducts ? kernel.registers.size() : 0, Use());
}

void Products::fence() { ++fences; }

std::span<const Operand> Products::leftOf(const Instruction &i) {
  return std::span(i.operands).subspan(i.results, i.leftInRegisters ? 4 : 0);
}

SharedMatrix Products::leftMatrix(const Product &p) {
  return {p.left, p.at->transposesLeft, 64, p.at->vector, 32u / p.at->vector};
}

SharedMatrix Products::rightMatrix(const Product &p) {
  return {p.right, p.at->transposesRight, unsigned(p.at->count), p.at->vector, 32u / p.at->vector};
}

void Products::raiseInFlight(const Warp &w, const Instruction &i, const Operand &o, const char *verb,
                             unsigned lane) const {
  raise(w, i, FaultKind::InFlight, lane, 0,
        verb + (" '" + w.block.nameOf(o)) + "', which wgmma at line " + std::to_string(uses[o.id].line) +
            " still uses: requires wgmma.wait_group before it");
}

void Products::raiseUnfenced(const Warp &w, const Instruction &i, const Operand &o, const char *verb,
                             unsigned line) const {
  raise(w, i, FaultKind::Unfenced, 0, 0,
        "uses '" + w.block.nameOf(o) + "', which line " + std::to_string(line) + " " + verb +
            ": requires wgmma.fence between");
}

void Products::touch(const Warp &w, const Instruction &i, uint32_t mask) {
  if (uses.empty() || i.op == Op::Wgmma)
    return;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    Use &use = uses[i.operands[k].id];
    if (use.sums || use.lefts)
      raiseInFlight(w, i, i.operands[k], k < i.results ? "writes" : "reads", firstLane(mask));
    (k < i.results ? use.written : use.read) = fences;
    use.touchedAt = i.line;
  }
}

/// The value of an operand that all lanes must share.
static uint64_t uniform(Warp &w, const Instruction &i, const Operand &o, const char *name) {
  uint64_t value = w.raw(o, 0);
  for (unsigned l = 1; l < 32; ++l)
    if (w.raw(o, l) != value)
      raise(w, i, FaultKind::Divergent, l, 0,
            "requires one " + std::string(name) + " for the warp, but got " + hexadecimal(value) +
                " in lane 0 and " + hexadecimal(w.raw(o, l)) + " in lane " + std::to_string(l));
  return value;
}

Products::Product Products::describe(Warp &w, const Instruction &i) const {
  const Operand *operand = &i.operands[i.results];
  Product p{&i, 0, 0, false, committed, nullptr};
  if (i.leftInRegisters)
    operand += 4;
  else
    p.left = uniform(w, i, *operand++, "descriptor of a");
  p.right = uniform(w, i, *operand++, "descriptor of b");
  uint32_t adds = w.predicate(*operand);
  if (adds != 0 && adds != ~0u)
    raise(w, i, FaultKind::Divergent, 0, 0, "requires one scale of d for the warp, but lanes differ");
  p.adds = adds != 0;
  return p;
}

void Products::checkSum(const Warp &w, const Product &p) const {
  const Instruction &i = *p.at;
  if (fences == 1)
    raise(w, i, FaultKind::Unfenced, 0, 0, "requires wgmma.fence before the first wgmma.mma_async");
  for (const Operand &o : sumOf(i)) {
    const Use &use = uses[o.id];
    if (use.lefts || (use.sums && (!p.sum || p.sum->pending == 0)))
      raiseInFlight(w, i, o, "adds to", 0);
    if (p.adds && w.valid[o.id] != ~0u)
      raise(w, i, FaultKind::UninitialisedRegister, firstLane(~w.valid[o.id]), 0,
            "adds to '" + w.block.nameOf(o) + "', which has no value yet");
    // Without the sum's old value a write before is dead, and no processor keeps it.
    if (use.read == fences || (p.adds && use.written == fences))
      raiseUnfenced(w, i, o, use.written == fences ? "writes" : "reads", use.touchedAt);
    if (use.added == fences && use.columns != uint64_t(i.count))
      raiseUnfenced(w, i, o, "adds to in another shape", use.line);
  }
}

void Products::checkLeft(const Warp &w, const Instruction &i) const {
  for (const Operand &o : leftOf(i)) {
    const Use &use = uses[o.id];
    if (use.sums)
      raiseInFlight(w, i, o, "reads", 0);
    if (use.written == fences)
      raiseUnfenced(w, i, o, "writes", use.touchedAt);
    if (use.added == fences)
      raiseUnfenced(w, i, o, "adds to", use.line);
  }
}

void Products::checkMatrix(Warp &w, const Instruction &i, const SharedMatrix &m,
                           const std::string &name) const {
  const std::vector<std::byte> &shared = w.block.memory.shared;
  if (auto found = m.problem(name))
    raise(w, i, FaultKind::Malformed, 0, 0, *found);
  m.forChunks(0, m.rows, [&](uint32_t address, unsigned, unsigned) {
    if (address + 16 > shared.size())
      raise(w, i, FaultKind::OutOfBounds, 0, address,
            "reads " + name + " at shared address " + hexadecimal(address) + ", outside of its " +
                std::to_string(shared.size()) + " bytes");
  });
}

/// f(address) for the 16 bytes of each chunk of both matrices. The manual does not say which warp reads what,
/// so each one counts as a reader of all.
template <typename F> void Products::forChunks(const Product &p, F f) {
  auto each = [&](uint32_t address, unsigned, unsigned) { f(address); };
  if (!p.at->leftInRegisters)
    leftMatrix(p).forChunks(0, 64, each);
  rightMatrix(p).forChunks(0, unsigned(p.at->count), each);
}

/// The chain of products that already adds to these registers, or a new one.
std::shared_ptr<Products::Sum> Products::sumFor(const Instruction &i) const {
  auto same = [](const Operand &a, const Operand &b) { return a.id == b.id; };
  for (const Product &p : pending)
    if (std::ranges::equal(p.sum->registers, sumOf(i), same))
      return p.sum;
  auto sum = std::make_shared<Sum>();
  sum->registers = sumOf(i);
  sum->values.resize(sum->registers.size());
  return sum;
}

void Products::start(Warp &w, const Instruction &i) {
  Block &block = w.block;
  Product p = describe(w, i);
  block.warpgroupOf(w).execute(w, i, {p.left, p.right, p.adds});
  if (!i.leftInRegisters)
    checkMatrix(w, i, leftMatrix(p), "a");
  checkMatrix(w, i, rightMatrix(p), "b");
  p.sum = sumFor(i);
  if (block.checks) {
    checkSum(w, p);
    checkLeft(w, i);
    Shadow::Access access = w.accessOf(i, 0);
    access.async = true;
    forChunks(p, [&](uint32_t address) {
      if (auto f = block.memory.shadow.startRead(address, access))
        raise(w, i, 0, "reads", *f);
    });
  }
  if (p.sum->pending++ == 0)
    for (size_t k = 0; k < p.sum->registers.size(); ++k) {
      uint32_t *cells = w.cells<uint32_t>(p.sum->registers[k]);
      std::memcpy(p.sum->values[k].data(), cells, sizeof p.sum->values[k]);
      std::fill_n(cells, 32, ~0u); // NaN
    }
  for (const Operand &o : sumOf(i)) {
    Use &use = uses[o.id];
    ++use.sums;
    use.line = i.line;
    use.added = fences;
    use.written = use.read = 0; // it is the product's now
    use.columns = uint64_t(i.count);
  }
  for (const Operand &o : leftOf(i)) {
    ++uses[o.id].lefts;
    uses[o.id].line = i.line;
  }
  pending.push_back(std::move(p));
}

namespace {

/// 16 bits or 32 bits to what a product takes for them.
template <typename T> float elementOf(const void *data, bool negates) {
  float value;
  if constexpr (std::is_same_v<T, float>) {
    uint32_t bits;
    std::memcpy(&bits, data, 4);
    value = truncateToTf32(bits);
  } else {
    T bits;
    std::memcpy(&bits.bits, data, 2);
    value = toFloat(bits);
  }
  return negates ? -value : value;
}

/// Rows of a matrix in shared memory, as f(row, column, value).
template <typename T, typename F>
void readShared(const BlockMemory &memory, const SharedMatrix &m, unsigned from, unsigned to, bool negates,
                F f) {
  m.forChunks(from, to, [&](uint32_t address, unsigned row, unsigned column) {
    const std::byte *data = memory.shared.data() + address;
    for (unsigned k = 0; k < 16 / m.elementBytes; ++k) {
      float value = elementOf<T>(data + k * m.elementBytes, negates);
      m.isTransposed ? f(row + k, column, value) : f(row, column + k, value);
    }
  });
}

/// The left matrix as fragments, as f(row, column, value).
template <typename T, typename F>
void readFragments(Warp &w, std::span<const Operand> fragments, bool negates, F f) {
  constexpr unsigned perRegister = std::is_same_v<T, float> ? 1 : 2;
  for (unsigned x = 0; x < fragments.size(); ++x) {
    const uint32_t *source = w.cells<uint32_t>(fragments[x]);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned h = 0; h < perRegister; ++h)
        f(l / 4 + 8 * (x % 2), perRegister * (l % 4) + h + 4 * perRegister * (x / 2),
          elementOf<T>(reinterpret_cast<const std::byte *>(&source[l]) + 2 * h, negates));
  }
}

constexpr unsigned kMostColumns = 256;

/// 16 x N sums += 16 x k by k x N in fp32.
template <unsigned k>
void multiply(std::vector<std::array<float, 32>> &sums, const float (&a)[16][k],
              const float (&b)[k][kMostColumns], unsigned columns) {
  float c[kMostColumns];
  for (unsigned m = 0; m < 16; ++m) {
    auto each = [&](auto f) { // row m of the fragments
      for (unsigned n = 0; n < columns; ++n)
        f(c[n], sums[4 * (n / 8) + n % 2 + 2 * (m / 8)][4 * (m % 8) + n % 8 / 2]);
    };
    each([](float &to, float from) { to = from; });
    for (unsigned q = 0; q < k; ++q)
      for (unsigned n = 0; n < columns; ++n)
        c[n] += a[m][q] * b[q][n];
    each([](float from, float &to) { to = from; });
  }
}

} // namespace

void Products::finish(Warp &w, const Product &p) {
  const Instruction &i = *p.at;
  unsigned row = 16 * (w.index % 4), columns = unsigned(i.count);
  if (!p.adds)
    for (auto &values : p.sum->values)
      values.fill(0);
  auto execute = [&]<typename T, unsigned k>(Tag<T>, std::integral_constant<unsigned, k>) {
    float a[16][k], b[k][kMostColumns];
    auto left = [&](unsigned r, unsigned c, float x) { a[r % 16][c] = x; };
    if (i.leftInRegisters)
      readFragments<T>(w, leftOf(i), i.negatesLeft, left);
    else
      readShared<T>(w.block.memory, leftMatrix(p), row, row + 16, i.negatesLeft, left);
    readShared<T>(w.block.memory, rightMatrix(p), 0, columns, i.negatesRight,
                  [&](unsigned n, unsigned c, float x) { b[c][n] = x; });
    multiply<k>(p.sum->values, a, b, columns);
  };
  if (i.from == Type::TF32)
    execute(Tag<float>(), std::integral_constant<unsigned, 8>());
  else if (i.from == Type::BF16)
    execute(Tag<BHalf>(), std::integral_constant<unsigned, 16>());
  else
    execute(Tag<Half>(), std::integral_constant<unsigned, 16>());
  w.block.memory.countBytes(Space::Shared, false, (i.leftInRegisters ? 0 : 512) + 32 * uint64_t(columns));
  if (w.block.checks) {
    Shadow::Access access = w.accessOf(i, 0);
    forChunks(p, [&](uint32_t address) { w.block.memory.shadow.finishRead(address, access); });
  }
  for (const Operand &o : leftOf(i))
    --uses[o.id].lefts;
  for (const Operand &o : p.sum->registers)
    --uses[o.id].sums;
  if (--p.sum->pending == 0)
    for (size_t k = 0; k < p.sum->registers.size(); ++k)
      std::memcpy(w.cells<uint32_t>(p.sum->registers[k]), p.sum->values[k].data(), sizeof p.sum->values[k]);
}

void Products::wait(Warp &w, uint64_t keep) {
  while (!pending.empty() && pending.front().group + keep < committed) {
    finish(w, pending.front());
    pending.pop_front();
  }
}

Handler productHandler(const Instruction &i) {
  switch (i.op) {
  case Op::Wgmma:
    return [](Warp &w, const Instruction &i, uint32_t) { w.products.start(w, i); };
  case Op::WgmmaFence:
    return [](Warp &w, const Instruction &i, uint32_t) {
      w.block.warpgroupOf(w).execute(w, i);
      w.products.fence();
    };
  case Op::WgmmaCommit:
    return [](Warp &w, const Instruction &i, uint32_t) {
      w.block.warpgroupOf(w).execute(w, i);
      w.products.commit();
    };
  case Op::WgmmaWait:
    return [](Warp &w, const Instruction &i, uint32_t) {
      w.block.warpgroupOf(w).execute(w, i);
      w.products.wait(w, uint64_t(i.count));
    };
  case Op::ProxyFence:
    return [](Warp &w, const Instruction &i, uint32_t) {
      if (i.space != Space::Global)
        w.order.fence(w.index);
    };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx
