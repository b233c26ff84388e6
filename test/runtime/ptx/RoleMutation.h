// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More ways to break PTX text whose warps have roles: signals, copies, choices of a lane, registers,
// counters. With those of Mutation.h they are all that codegen/Targets/NVPTX/HOPPER.md lists.
#ifndef TAYLOR_TEST_RUNTIME_PTX_ROLEMUTATION_H
#define TAYLOR_TEST_RUNTIME_PTX_ROLEMUTATION_H
#include "test/runtime/ptx/Mutation.h"
#include <algorithm>
#include <set>

namespace taylor::runtime::ptx {

class RoleMutations : public BrokenTexts {
public:
  explicit RoleMutations(const std::string &text) : BrokenTexts(text) {
    findCounters();
    for (line = 0; line < lines.size(); ++line) {
      addWait();
      addSignals();
      addCopies();
      addChoices();
      addRegisters();
      addBarriers();
      addRest();
    }
  }

private:
  bool has(const char *part) const { return lines[line].find(part) != std::string::npos; }
  std::string replaced(const std::regex &pattern, const std::string &instead) const {
    return std::regex_replace(lines[line], pattern, instead, std::regex_constants::format_first_only);
  }

  /// A loop around try_wait becomes one question, of which the answer is not looked at.
  void addWait() {
    static const std::regex leaves("^\\s*@%?\\w+\\s+bra(\\.uni)?\\s+\\w+;"),
        again("^\\s*bra(\\.uni)?\\s+\\w+;\\s*$"), back("^\\s*@!%\\w+\\s+bra\\s+\\S+;");
    if (!has("mbarrier.try_wait") || line + 1 == lines.size())
      return;
    std::string once = replaced(std::regex("try_wait"), "test_wait");
    if (std::regex_search(lines[line + 1], back))
      add(Break::PassWait, once + "\n", "", line + 1);
    else if (line + 2 < lines.size() && std::regex_search(lines[line + 1], leaves) &&
             std::regex_search(lines[line + 2], again))
      add(Break::PassWait, once + "\n" + lines[line + 1] + "\n", "", line + 2);
  }

  /// The mbarrier after the one that is meant, and that of the next slot: signals of a slot come in pairs.
  void addSignals() {
    static const std::regex operand("\\[(%\\w+)\\](?=[^\\[]*$)");
    bool isCopy = has("cp.async.bulk.tensor") || has("cp.async.mbarrier");
    if (!std::regex_search(lines[line], operand) || has("mbarrier.init") || !(has("mbarrier.") || isCopy))
      return;
    for (const char *bytes : {"8", "16"})
      add(Break::ChangeSignal, replaced(operand, std::string("[$1+") + bytes + "]"),
          std::string("+") + bytes);
  }

  void addCopies() {
    static const std::regex copy("(@!?%\\w+\\s+)?cp\\.async\\.(bulk\\.tensor|c[ag]\\.)[^;]*;"),
        box("cp\\.async\\.bulk\\.tensor[^\\[]*\\[(%\\w+)\\], \\[%\\w+, \\{([^}]*)\\}\\]");
    if (std::regex_search(lines[line], copy))
      add(Break::RemoveCopy, replaced(copy, ""));
    std::smatch match;
    if (!std::regex_search(lines[line], match, box))
      return;
    // A line of 128 bytes, and 8 of them: as far as a pattern of swizzled lines goes.
    add(Break::ChangeBox, replaced(std::regex("\\[(%\\w+)\\], \\["), "[$1+1024], ["), "destination +1024");
    static const std::regex name("%\\w+|\\d+");
    std::string places = match[2];
    auto start = size_t(match.position(2));
    unsigned axis = 0;
    for (std::sregex_iterator at(places.begin(), places.end(), name), none; at != none; ++at, ++axis) {
      // One more along the axis, in a register of its own, which no other coordinate shares.
      std::string broken = lines[line];
      broken.replace(start + size_t(at->position()), size_t(at->length()), "%mutated");
      add(Break::ChangeBox, "{ .reg .b32 %mutated; add.s32 %mutated, " + at->str() + ", 1; " + broken + " }",
          "axis " + std::to_string(axis) + " +1");
    }
  }

  /// A guard of an arrival; a branch around what one thread sets up, or around the producer's one warp.
  void addChoices() {
    static const std::regex guard("@!?%\\w+\\s+(?=(cp\\.async\\.)?mbarrier\\.arrive)"),
        branch("^\\s*@!?%\\w+\\s+bra\\s+\\S+;");
    if (std::regex_search(lines[line], guard))
      add(Break::DropChoice, replaced(guard, ""), "guard");
    if (!std::regex_search(lines[line], branch))
      return;
    bool isOfWarp = false;
    for (size_t at = line; at-- > 0 && line - at < 12 && !isOfWarp && !isBranchOrLabel(at);)
      isOfWarp = lines[at].find("setmaxnreg.dec") != std::string::npos;
    bool isOfThread = false;
    for (size_t at = line + 1; at < lines.size() && !isBranchOrLabel(at) && !isOfThread; ++at)
      isOfThread = lines[at].find("mbarrier.init") != std::string::npos;
    if (isOfWarp || isOfThread)
      add(Break::DropChoice, "", isOfWarp ? "warp" : "thread");
  }
  bool isBranchOrLabel(size_t at) const {
    return lines[at].find("bra") != std::string::npos || lines[at].starts_with("$");
  }

  void addRegisters() {
    static const std::regex count("(setmaxnreg\\S*\\s+)(\\d+);");
    std::smatch match;
    if (!std::regex_search(lines[line], match, count))
      return;
    add(Break::ChangeRegisters, replaced(count, ""), "none");
    for (int by : {-8, 8})
      add(Break::ChangeRegisters, replaced(count, "$01" + std::to_string(std::stoi(match[2]) + by) + ";"),
          by < 0 ? "-8" : "+8");
  }

  void addBarriers() {
    static const std::regex named("(bar\\.sync\\s+)([%\\w]+), 128;"), ofWarp("bar\\.warp\\.sync[^;]*;");
    if (std::regex_search(lines[line], named)) {
      add(Break::ChangeBarrier,
          replaced(named, "$01"
                          "1, 128;"),
          "number 1");
      add(Break::ChangeBarrier, replaced(named, "$1$2, 64;"), "64 threads");
      add(Break::ChangeBarrier, replaced(named, "$1$2, 256;"), "256 threads");
    }
    if (std::regex_search(lines[line], ofWarp))
      add(Break::RemoveWarpBarrier, replaced(ofWarp, ""));
  }

  void addRest() {
    static const std::regex pieces("(cp\\.async\\.mbarrier\\.arrive)(\\.noinc)?"),
        step("add(\\.[su](32|64)\\s+(%\\w+),\\s*%\\w+), 1;"), dependency("griddepcontrol[^;]*;");
    if (std::regex_search(lines[line], pieces))
      add(Break::ChangePieces, has(".noinc") ? replaced(pieces, "$1") : replaced(pieces, "$1.noinc"));
    std::smatch match;
    if (std::regex_search(lines[line], match, step) && counters.contains(match[3]))
      add(Break::HoldCounter, replaced(step, "add$1, 0;"));
    if (std::regex_search(lines[line], dependency))
      add(Break::RemoveDependency, replaced(dependency, ""));
  }

  /// Registers from which parities come: numbers of a ring's uses.
  void findCounters() {
    static const std::regex parity("(?:try|test)_wait\\.parity[^,;]*,[^,;]*,\\s*(%\\w+)"),
        definition("^\\s*(?:bfe|shr|and|not|cvt|mov|xor|add|sub)\\.\\S+\\s+(%\\w+),\\s*([^;]*);"),
        name("%\\w+");
    std::multimap<std::string, std::string> sources;
    std::vector<std::string> open;
    std::smatch match;
    for (const std::string &text : lines) {
      if (std::regex_search(text, match, parity))
        open.push_back(match[1]);
      if (std::regex_search(text, match, definition)) {
        std::string from = match[2], to = match[1];
        for (std::sregex_iterator at(from.begin(), from.end(), name), none; at != none; ++at)
          sources.emplace(to, at->str());
      }
    }
    while (!open.empty()) {
      std::string one = open.back();
      open.pop_back();
      if (!counters.insert(one).second)
        continue;
      auto [first, last] = sources.equal_range(one);
      for (; first != last; ++first)
        open.push_back(first->second);
    }
  }

  std::set<std::string> counters;
};

/// What of a kernel's text says when things happen, in words that do not depend on registers and lines.
class MutationPlaces {
public:
  explicit MutationPlaces(const std::string &text) : lines(linesOf(text)) {
    static const std::regex definition("^\\s*add\\.s32\\s+(%\\w+),\\s*%\\w+,\\s*(\\d+);"),
        init("mbarrier\\.init[^\\[]*\\[(%\\w+)\\]"), address("\\[(%\\w+)\\](?=[^\\[]*$)");
    std::map<std::string, int64_t> offsets;
    std::vector<int64_t> signals;
    std::vector<int64_t> of(lines.size(), -1);
    std::smatch match;
    for (size_t at = 0; at < lines.size(); ++at) {
      if (std::regex_search(lines[at], match, definition))
        offsets[match[1]] = std::stoll(match[2]);
      bool isInit = std::regex_search(lines[at], match, init);
      if (isInit ||
          (lines[at].find("mbarrier") != std::string::npos && std::regex_search(lines[at], match, address)))
        if (auto found = offsets.find(match[1]); found != offsets.end()) {
          of[at] = found->second;
          if (isInit)
            signals.push_back(found->second);
        }
    }
    for (size_t at = 0; at < lines.size(); ++at) {
      auto found = std::find(signals.begin(), signals.end(), of[at]);
      names.push_back(
          nameOf(lines[at], found == signals.end() ? "" : std::to_string(found - signals.begin())));
    }
  }

  /// "mbarrier.arrive 3, after wgmma.wait_group 0, before mbarrier.try_wait 5", of a line from 1.
  std::string of(size_t line) const {
    size_t at = line - 1;
    std::string own = names[at];
    if (size_t product = lines[at].find("wgmma.mma_async"); product != std::string::npos) {
      unsigned step = 0;
      for (; at > 0 && lines[at].find("wgmma.fence") == std::string::npos; --at)
        ++step;
      std::string shape = lines[line - 1].substr(lines[line - 1].find(".m64", product) + 1);
      own = "step " + std::to_string(step) + " of " + shape.substr(0, shape.find('.'));
    }
    size_t before = at, after = line;
    while (before > 0 && names[before - 1].empty())
      --before;
    while (after < lines.size() && names[after].empty())
      ++after;
    return (own.empty() ? "" : own + ", ") + "after " + (before > 0 ? names[before - 1] : "the entry") +
           ", before " + (after < lines.size() ? names[after] : "the end");
  }

private:
  static std::string nameOf(const std::string &text, const std::string &signal) {
    static const std::regex instruction(
        "\\b(bar\\.(?:warp\\.)?sync|wgmma\\.(?:fence|commit_group|wait_group)|fence\\.(?:proxy|mbarrier_init)"
        "|"
        "mbarrier\\.(?:init|try_wait|test_wait|arrive)(?:\\.expect_tx)?|cp\\.async\\.bulk|cp\\.async\\."
        "mbarrier\\.arrive|"
        "cp\\.async\\.(?:commit_group|wait_group|wait_all|c[ag])|elect\\.sync|setmaxnreg\\.(?:inc|dec)|"
        "griddepcontrol\\.\\w+)\\S*(\\s+\\d+;)?");
    std::smatch match;
    if (!std::regex_search(text, match, instruction))
      return "";
    std::string number = match[2].matched ? " " + match[2].str() : "";
    std::erase_if(number, [](char c) { return c == ';' || c == '\t'; });
    if (size_t space = number.find_last_of(' '); space != std::string::npos)
      number = " " + number.substr(space + 1);
    return match[1].str() + number + (signal.empty() ? "" : " " + signal);
  }

  std::vector<std::string> lines, names;
};

} // namespace taylor::runtime::ptx

#endif
