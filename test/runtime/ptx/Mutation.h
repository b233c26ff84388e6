// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX texts with one instruction broken: what keeps threads, copies and banks apart, each in turn. A kernel's
// test runs them all and expects every one to be caught, by the interpreter's checks or by a wrong result.
#pragma once
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace taylor::runtime::ptx {

enum class Break {
  RemoveBarrier, ///< bar.sync
  RemoveWait,    ///< cp.async.wait_group and wait_all
  LoosenWait,    ///< one more group may be under way
  RemoveCommit,  ///< cp.async.commit_group
  RemoveXor      ///< of a swizzle: the chunk stays where it is
};

struct Mutation {
  Break kind;
  size_t line;          ///< from 1
  std::string original; ///< of that line
  std::string text;     ///< the whole text, broken
};

inline std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// All texts with one line broken, in the order of the lines.
inline std::vector<Mutation> mutationsOf(const std::string &text) {
  struct Rule {
    Break kind;
    std::regex pattern;
    std::string replacement; ///< of the match; empty: removed
  };
  static const std::regex number("wait_group\\s+(\\d+)");
  const std::string predicate = "(@!?%\\w+\\s+)?";
  const Rule rules[] = {
      {Break::RemoveBarrier, std::regex(predicate + "(bar|barrier)(\\.cta)?\\.sync(\\.aligned)?\\s[^;]*;"),
       ""},
      {Break::RemoveWait, std::regex(predicate + "cp\\.async\\.wait_(group|all)[^;]*;"), ""},
      {Break::RemoveCommit, std::regex(predicate + "cp\\.async\\.commit_group[^;]*;"), ""},
      {Break::RemoveXor, std::regex("xor\\.b32(\\s+[^,;]+,\\s*[^,;]+),[^;]*;"), "mov.b32$1;"}};
  std::vector<std::string> lines = linesOf(text);
  std::vector<Mutation> mutations;
  auto add = [&](Break kind, size_t n, const std::string &broken) {
    std::string whole;
    for (size_t i = 0; i < lines.size(); ++i)
      whole += (i == n ? broken : lines[i]) + "\n";
    mutations.push_back({kind, n + 1, lines[n], whole});
  };
  for (size_t n = 0; n < lines.size(); ++n) {
    for (const Rule &rule : rules)
      if (std::regex_search(lines[n], rule.pattern))
        add(rule.kind, n, std::regex_replace(lines[n], rule.pattern, rule.replacement));
    std::smatch groups;
    if (std::regex_search(lines[n], groups, number))
      add(Break::LoosenWait, n,
          std::regex_replace(lines[n], number, "wait_group " + std::to_string(std::stoi(groups[1]) + 1)));
  }
  return mutations;
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
    list += std::to_string(mutation.line) + ": " + mutation.original + "\n";
  return list;
}

} // namespace taylor::runtime::ptx
