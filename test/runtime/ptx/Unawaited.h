// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proves of a commit of PTX text that no wait concerns it. LLVM gives a path on which copies are off its own
// copy of their commit; that such a path ends without a wait follows from its branches, and from what earlier
// ones have decided: the test that turned the copies off is, turned around, that of the loop.
#ifndef TAYLOR_TEST_RUNTIME_PTX_UNAWAITED_H
#define TAYLOR_TEST_RUNTIME_PTX_UNAWAITED_H
#include "test/runtime/ptx/Mutation.h"
#include <algorithm>
#include <optional>
#include <set>

namespace taylor::runtime::ptx {

/// What holds at a place of a kernel, by all paths to it.
struct Facts {
  struct Meaning {
    std::string test; ///< "lt.s64 %rd1, %rd2"
    bool isNegated;
    bool operator==(const Meaning &) const = default;
  };
  std::map<std::string, bool> outcomes;    ///< of predicates and tests
  std::map<std::string, Meaning> meanings; ///< predicate -> the test of which it is the outcome
  bool operator==(const Facts &) const = default;

  void define(const std::string &predicate, const Meaning &meaning) {
    if (auto known = outcomes.find(meaning.test); known != outcomes.end())
      outcomes[predicate] = known->second != meaning.isNegated;
    meanings[predicate] = meaning;
  }
  void learn(const std::string &predicate, bool value) {
    outcomes[predicate] = value;
    if (auto meaning = meanings.find(predicate); meaning != meanings.end())
      outcomes[meaning->second.test] = value != meaning->second.isNegated;
  }
  /// A register gets a new value.
  void forget(const std::string &name) {
    auto names = [&](const std::string &text) {
      size_t at = text.find(name), end = at + name.size();
      for (; at != std::string::npos; at = text.find(name, end), end = at + name.size())
        if (end == text.size() || !(std::isalnum(text[end]) || text[end] == '_'))
          return true;
      return false;
    };
    std::erase_if(outcomes, [&](auto &entry) { return names(entry.first); });
    std::erase_if(meanings, [&](auto &entry) { return names(entry.first) || names(entry.second.test); });
  }
  void intersect(const Facts &other) {
    auto isMissing = [](const auto &map) {
      return [&map](auto &entry) {
        auto found = map.find(entry.first);
        return found == map.end() || !(found->second == entry.second);
      };
    };
    std::erase_if(outcomes, isMissing(other.outcomes));
    std::erase_if(meanings, isMissing(other.meanings));
  }
};

/// The kernel around one line of a text.
class KernelPaths {
public:
  KernelPaths(const std::string &text, size_t line) : lines(linesOf(text)) {
    auto isEntry = [&](size_t n) { return lines[n].find(".entry") != std::string::npos; };
    first = last = line;
    while (first > 0 && !isEntry(first - 1))
      --first;
    while (last < lines.size() && !isEntry(last))
      ++last;
    for (size_t n = first; n < last; ++n)
      steps.push_back(decode(lines[n]));
    for (size_t n = first; n < last; ++n)
      if (!steps[n - first].label.empty())
        labels[steps[n - first].label] = n;
  }

  /// Whether no wait can tell the group that line `line` (from 1) commits from the next one: none follows, or
  /// another commit always comes before it and all waits of the kernel are for every group.
  bool isNeverAwaited(size_t line) const {
    if (std::ranges::any_of(steps, [](const Step &step) { return step.isUnknown; }))
      return false;
    bool areForAll = std::ranges::none_of(steps, [](const Step &step) { return step.waitLeaves > 0; });
    Reached before = reach(first, {}, false);
    auto here = before.find(line - 1);
    if (here == before.end())
      return true;
    Reached after = reach(line, here->second, areForAll);
    return std::ranges::none_of(
        after, [&](auto &entry) { return steps[entry.first - first].waitLeaves.has_value(); });
  }

private:
  struct Step {
    std::string label, target, guard; ///< `guard`: the predicate of a branch; none where it is always taken
    bool guardValue = true, isEnd = false, isCommit = false;
    bool isUnknown = false;        ///< goes to a place that it does not name
    std::optional<int> waitLeaves; ///< a wait, and how many groups it leaves
    std::vector<std::string> written;
    std::optional<Facts::Meaning> meaning; ///< of the predicate written
  };
  /// What holds before each line that is reached.
  using Reached = std::map<size_t, Facts>;

  static Step decode(const std::string &line) {
    static const std::regex label("^\\s*([$%\\w]+):"),
        branch("^\\s*(?:@(!?)(%\\w+)\\s+)?bra(?:\\.uni)?\\s+([$%\\w]+)"), end("^\\s*(ret|exit)\\b"),
        wait("cp\\.async\\.wait_(?:all|group\\s+(\\d+))"), commit("cp\\.async\\.commit_group"),
        unknown("\\b(brx|call)\\b"),
        test("^\\s*setp\\.(eq|ne|lt|le|gt|ge)\\.([sub]\\d+)\\s+(%\\w+),\\s*([^,;|]+),\\s*([^,;]+);"),
        result("^\\s*(?:@!?%\\w+\\s+)?(?:[a-z][\\w.:]*\\s+)?(\\{[^}]*\\}|[^,;{]*)"), name("%\\w+");
    Step step;
    std::smatch match;
    if (std::regex_search(line, match, label))
      step.label = match[1];
    if (std::regex_search(line, match, branch)) {
      step.guardValue = match[1].length() == 0;
      step.guard = match[2];
      step.target = match[3];
      return step;
    }
    step.isEnd = std::regex_search(line, end);
    step.isUnknown = std::regex_search(line, unknown);
    step.isCommit = std::regex_search(line, commit);
    if (std::regex_search(line, match, wait))
      step.waitLeaves = match[1].matched ? std::stoi(match[1]) : 0;
    if (std::regex_search(line, match, test)) {
      // Of integers, one of each pair of opposites says all.
      static const std::map<std::string, std::string> opposites = {{"ne", "eq"}, {"ge", "lt"}, {"gt", "le"}};
      auto opposite = opposites.find(match[1]);
      std::string kind = opposite == opposites.end() ? match[1].str() : opposite->second;
      step.meaning =
          Facts::Meaning{kind + "." + match[2].str() + " " + match[4].str() + ", " + match[5].str(),
                         opposite != opposites.end()};
    }
    // The first operand, of operands over several lines all: what it names besides the results loses nothing
    // but facts.
    if (std::regex_search(line, match, result)) {
      std::string names = match[1];
      for (std::sregex_iterator at(names.begin(), names.end(), name), none; at != none; ++at)
        step.written.push_back(at->str());
    }
    return step;
  }

  /// Follows all paths from before line `from` (from 0) as far as the facts allow them; not past a commit
  /// with `stopsAtCommit`.
  Reached reach(size_t from, const Facts &facts, bool stopsAtCommit) const {
    Reached reached;
    std::set<size_t> open;
    auto enter = [&](size_t n, const Facts &facts) {
      if (n >= last)
        return;
      auto [known, isNew] = reached.try_emplace(n, facts);
      Facts joined = known->second;
      joined.intersect(facts);
      if (isNew || joined != known->second)
        open.insert(n);
      known->second = std::move(joined);
    };
    enter(from, facts);
    while (!open.empty()) {
      size_t n = *open.begin();
      open.erase(open.begin());
      const Step &step = steps[n - first];
      Facts next = reached.at(n);
      if (step.isEnd || (stopsAtCommit && step.isCommit))
        continue;
      for (const std::string &name : step.written)
        next.forget(name);
      if (step.meaning)
        next.define(step.written.front(), *step.meaning);
      if (step.target.empty()) {
        enter(n + 1, next);
        continue;
      }
      for (bool taken : {true, false}) {
        if (step.guard.empty() && !taken)
          continue;
        Facts way = next;
        if (!step.guard.empty()) {
          bool value = taken == step.guardValue;
          if (auto known = way.outcomes.find(step.guard);
              known != way.outcomes.end() && known->second != value)
            continue;
          way.learn(step.guard, value);
        }
        enter(taken ? labels.at(step.target) : n + 1, way);
      }
    }
    return reached;
  }

  std::vector<std::string> lines;
  size_t first, last; ///< lines of the kernel, from 0
  std::vector<Step> steps;
  std::map<std::string, size_t> labels;
};

/// See KernelPaths::isNeverAwaited.
inline bool isNeverAwaited(const std::string &text, size_t line) {
  return KernelPaths(text, line).isNeverAwaited(line);
}

} // namespace taylor::runtime::ptx

#endif
