// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX texts with one instruction broken: what keeps threads, copies and banks apart, each in turn. A kernel's
// test runs them all and expects every one to be caught, by the interpreter's checks or by a wrong result.
#ifndef TAYLOR_TEST_RUNTIME_PTX_MUTATION_H
#define TAYLOR_TEST_RUNTIME_PTX_MUTATION_H
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace taylor::runtime::ptx {

enum class Break {
  RemoveBarrier, ///< bar.sync
  RemoveWait,    ///< of cp.async, wgmma and bulk copies: wait_group and wait_all
  LoosenWait,    ///< one more group may be under way
  RemoveCommit,  ///< commit_group
  RemoveXor,     ///< of a swizzle: the chunk stays where it is
  RemoveFence,   ///< wgmma.fence, fence.proxy.async, fence.mbarrier_init
  FlipParity,    ///< of a phase that is waited for
  RemoveArrive,  ///< mbarrier.arrive, also of cp.async
  EarlyArrive,   ///< before the wait for a product that comes before it
  ChangeCount,   ///< of an mbarrier's arrivals, by one up and down
  ChangeBytes,   ///< that a phase expects, by 16 up and down
  ElectAll,      ///< elect.sync
  Descriptor,    ///< of a matrix: one bit of each field
  Transpose,     ///< a matrix of wgmma
  // What RoleMutation.h adds
  PassWait,          ///< a wait for an mbarrier that asks once and goes on
  ChangeSignal,      ///< another mbarrier than the one meant
  RemoveCopy,        ///< cp.async and bulk copies
  ChangeBox,         ///< the place of a bulk copy's box, in the array and in shared memory
  DropChoice,        ///< of one lane or warp
  ChangeRegisters,   ///< setmaxnreg: 8 more, 8 fewer, none
  ChangeBarrier,     ///< a named barrier's number and its count of threads
  RemoveWarpBarrier, ///< bar.warp.sync
  ChangePieces,     ///< an arrival of pieces that counts, in place of one that was counted, and the other way
  HoldCounter,      ///< of a ring's uses
  RemoveDependency, ///< griddepcontrol
  ChangeMap         ///< a field of a tensor map (Rerun.h)
};

inline const char *nameOf(Break kind) {
  constexpr const char *names[] = {"no barrier",
                                   "no wait",
                                   "a looser wait",
                                   "no commit",
                                   "no swizzle",
                                   "no fence",
                                   "another parity",
                                   "no arrival",
                                   "an early arrival",
                                   "another count",
                                   "other bytes",
                                   "all lanes elected",
                                   "descriptor",
                                   "transposition",
                                   "a wait that goes on",
                                   "another signal",
                                   "no copy",
                                   "another box",
                                   "no choice",
                                   "other registers",
                                   "another barrier",
                                   "no barrier of the warp",
                                   "other pieces",
                                   "a counter that stays",
                                   "no dependency",
                                   "tensor map"};
  return names[unsigned(kind)];
}

struct Mutation {
  Break kind;
  size_t line;          ///< from 1
  std::string original; ///< of that line
  std::string text;     ///< the whole text, broken
  std::string detail = {};
};

inline std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// Texts with one place broken.
class BrokenTexts {
public:
  std::vector<Mutation> all;

protected:
  explicit BrokenTexts(const std::string &text) : lines(linesOf(text)) {}

  /// The text with other lines in the place of the current one and those after it up to `last`.
  void add(Break kind, const std::string &broken, const std::string &detail = "", size_t last = 0) {
    std::string whole;
    for (size_t i = 0; i < lines.size(); ++i)
      if (i <= line || i > last)
        whole += (i == line ? broken : lines[i]) + "\n";
    all.push_back({kind, line + 1, lines[line], whole, detail});
  }

  /// An operand, a register of so many bits or a number, is changed while its instruction runs.
  void change(Break kind, const std::smatch &operand, const std::string &operation, unsigned bits,
              int64_t by) {
    const std::string &text = lines[line], name = operand[1];
    std::string detail = (by < 0 ? "" : "+") + std::to_string(by);
    if (name[0] != '%') {
      int64_t value = std::stoll(name);
      add(kind,
          text.substr(0, size_t(operand.position(1))) +
              std::to_string(operation == "xor" ? value ^ by : value + by) + operand.suffix().str(),
          detail);
      return;
    }
    std::string type = operation == "xor" ? ".b" : ".s";
    auto step = [&](int64_t by) {
      return operation + type + std::to_string(bits) + " " + name + ", " + name + ", " + std::to_string(by) +
             "; ";
    };
    add(kind, step(by) + text + " " + step(operation == "xor" ? by : -by), detail);
  }

  std::vector<std::string> lines;
  size_t line = 0;
};

/// Breaks one instruction after the other.
class Mutations : public BrokenTexts {
public:
  explicit Mutations(const std::string &text) : BrokenTexts(text) {
    for (line = 0; line < lines.size(); ++line) {
      addRemovals();
      addNumbers();
      addEarlyArrival();
      addProduct();
    }
  }

private:
  void addRemovals() {
    struct Rule {
      Break kind;
      std::regex pattern;
      std::string replacement; ///< of the match; empty: removed
    };
    static const std::string predicate = "(@!?%\\w+\\s+)?";
    static const Rule rules[] = {
        {Break::RemoveBarrier, std::regex(predicate + "(bar|barrier)(\\.cta)?\\.sync(\\.aligned)?\\s[^;]*;"),
         ""},
        {Break::RemoveWait, std::regex(predicate + "(cp\\.async|wgmma)(\\.bulk)?\\.wait_(group|all)[^;]*;"),
         ""},
        {Break::RemoveCommit, std::regex(predicate + "(cp\\.async|wgmma)(\\.bulk)?\\.commit_group[^;]*;"),
         ""},
        {Break::RemoveXor, std::regex("xor\\.b32(\\s+[^,;]+,\\s*[^,;]+),[^;]*;"), "mov.b32$1;"},
        {Break::RemoveFence, std::regex(predicate + "(wgmma\\.fence|fence\\.(proxy|mbarrier_init))[^;]*;"),
         ""},
        {Break::RemoveArrive, std::regex(predicate + "(cp\\.async\\.)?mbarrier\\.arrive[^;]*;"), ""},
        {Break::ElectAll, std::regex("elect\\.sync\\s+(%?\\w+)\\|(%\\w+),[^;]*;"), "setp.eq.u32 $2, 0, 0;"}};
    for (const Rule &rule : rules)
      if (std::regex_search(lines[line], rule.pattern))
        add(rule.kind, std::regex_replace(lines[line], rule.pattern, rule.replacement));
  }

  void addNumbers() {
    static const std::regex wait("wait_group(?:\\.\\w+)*\\s+(\\d+)"),
        parity("(?:try|test)_wait\\.parity[^,;]*,[^,;]*,\\s*(%?\\w+)"),
        count("mbarrier\\.init[^,;]*,\\s*(%?\\w+)"), bytes("expect_tx[^,;]*\\][^,;]*,\\s*(%?\\w+)"),
        arrivedBytes("arrive\\.expect_tx[^,;]*,[^,;]*,\\s*(%?\\w+)");
    std::smatch match;
    if (std::regex_search(lines[line], match, wait))
      change(Break::LoosenWait, match, "add", 32, 1);
    if (std::regex_search(lines[line], match, parity))
      change(Break::FlipParity, match, "xor", 32, 1);
    if (std::regex_search(lines[line], match, count))
      for (int by : {-1, 1})
        change(Break::ChangeCount, match, "add", 32, by);
    if (std::regex_search(lines[line], match, arrivedBytes) || std::regex_search(lines[line], match, bytes))
      for (int by : {-16, 16})
        change(Break::ChangeBytes, match, "add", 32, by);
  }

  /// An arrival moves to the line before the last wait for products before it, of the same kernel.
  void addEarlyArrival() {
    if (lines[line].find("mbarrier.arrive") == std::string::npos)
      return;
    size_t wait = line;
    while (wait > 0 && lines[wait].find("wgmma.wait_group") == std::string::npos) {
      if (lines[wait].find(".entry") != std::string::npos ||
          lines[wait].find("mbarrier.init") != std::string::npos ||
          lines[wait].find("elect.sync") != std::string::npos)
        return;
      --wait;
    }
    if (wait == 0)
      return;
    std::string whole;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i == wait)
        whole += lines[line] + "\n";
      if (i != line)
        whole += lines[i] + "\n";
    }
    all.push_back({Break::EarlyArrive, line + 1, lines[line], whole});
  }

  void addProduct() {
    if (lines[line].find("wgmma.mma_async") == std::string::npos)
      return;
    size_t last = line;
    std::string statement = lines[last];
    while (statement.find(';') == std::string::npos && last + 1 < lines.size())
      statement += "\n" + lines[++last];
    // d, a, b, scale of d; scales of a and b; transpositions of a, unless it is in registers, and b.
    static const std::regex operands(
        "\\}\\s*,\\s*(\\{[^}]*\\}|%\\w+)\\s*,\\s*(%\\w+)\\s*,\\s*\\w+(?:\\s*,\\s*-?1){2}"
        "(?:\\s*,\\s*([01]))?(?:\\s*,\\s*([01]))?\\s*;");
    std::smatch match;
    if (!std::regex_search(statement, match, operands))
      return;
    bool isInRegisters = match[1].str()[0] == '{';
    for (unsigned k = isInRegisters ? 1 : 0; k < 2; ++k) {
      unsigned group = isInRegisters ? 3 : 3 + k;
      bool isTransposed = match[group].matched && match[group] == "1";
      std::string name = match[1 + k],
                  of = std::string(k ? "b" : "a") + (isTransposed ? ", MN-major" : ", K-major");
      addFields(name, of, statement, last);
      if (!match[group].matched)
        continue;
      std::string broken = statement;
      broken[size_t(match.position(group))] = isTransposed ? '0' : '1';
      add(Break::Transpose, broken, of, last);
    }
  }

  /// One bit of each field of a matrix' descriptor.
  void addFields(const std::string &name, const std::string &of, const std::string &statement, size_t last) {
    struct Field {
      const char *name;
      unsigned bit;
    };
    constexpr Field fields[] = {{"start by 32", 1},  {"start by 1024", 6}, {"LBO by 256", 20},
                                {"LBO by 1024", 22}, {"SBO by 256", 36},   {"SBO by 2048", 39},
                                {"base", 49},        {"swizzle", 62},      {"swizzle", 63}};
    for (const Field &field : fields) {
      std::string flip =
          "xor.b64 " + name + ", " + name + ", " + std::to_string(uint64_t(1) << field.bit) + "; ";
      add(Break::Descriptor, flip + statement + " " + flip, of + ": " + field.name, last);
    }
  }
};

/// All texts with one line broken, in the order of the lines.
inline std::vector<Mutation> mutationsOf(const std::string &text) { return Mutations(text).all; }

/// The manual calls the leading offset of K-major matrices with a swizzle unused (PTX ISA, "Leading Dimension
/// Byte Offset"); kernels here have no others.
inline bool isOffsetUnused(const Mutation &mutation) {
  return mutation.kind == Break::Descriptor && mutation.detail.find(", K-major: LBO") != std::string::npos;
}

/// The mutations, of those that `isTried` asks for, that `isCaught` denies for every one of the runs 0 to
/// below `runs`.
inline std::vector<Mutation> survivorsOf(
    const std::string &text, unsigned runs,
    const std::function<bool(const Mutation &, unsigned run)> &isCaught,
    const std::function<bool(const Mutation &)> &isTried = [](const Mutation &) { return true; }) {
  std::vector<Mutation> survivors;
  for (Mutation &mutation : mutationsOf(text)) {
    bool caught = !isTried(mutation);
    for (unsigned run = 0; run < runs && !caught; ++run)
      caught = isCaught(mutation, run);
    if (!caught)
      survivors.push_back(std::move(mutation));
  }
  return survivors;
}

/// For messages: "LINE: instruction" of each.
inline std::string listOf(const std::vector<Mutation> &mutations) {
  std::string list;
  for (const Mutation &mutation : mutations)
    list += std::to_string(mutation.line) + ": " + mutation.original +
            (mutation.detail.empty() ? "" : " (" + mutation.detail + ")") + "\n";
  return list;
}

} // namespace taylor::runtime::ptx

#endif
