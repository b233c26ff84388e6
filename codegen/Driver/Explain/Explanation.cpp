// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Explain/Explanation.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace taylor;

/// Where the page has the levels.
static constexpr llvm::StringLiteral kPlace = "{{levels}}";
static const char kPageText[] =
#include "Page.html.inc"
    ;

static unsigned indentOf(StringRef line) { return line.size() - line.ltrim(" \t").size(); }

static StringAttr symbolOf(Operation *op) {
  return op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
}

/// Names from the outermost one in: `forward / attend`.
static std::string pathOf(Operation *op) {
  std::string path = symbolOf(op).str();
  while ((op = op->getParentOp()))
    if (symbolOf(op))
      path = symbolOf(op).str() + " / " + path;
  return path;
}

Explanation::Level &Explanation::addLevel(StringRef name, StringRef title, StringRef file, StringRef text) {
  Level &level = levels.emplace_back();
  level.file = file.str();
  level.name = name.str();
  level.title = title.str();
  for (StringRef rest = text.rtrim("\n"); !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    level.lines.push_back({llvm::json::fixUTF8(line.rtrim('\r')), unsigned(level.lines.size() + 1), {}});
    rest = tail;
  }
  return level;
}

/// Text after the first line of an op is indented further; its last brace is not. So a line belongs to the
/// last op before it that is not indented further than the line is.
void Explanation::chooseOwners(Level &level, const std::set<unsigned> &starts) {
  SmallVector<unsigned> open;
  for (unsigned number = 1; number <= level.lines.size(); ++number) {
    Line &line = level.lines[number - 1];
    StringRef text = StringRef(line.text).ltrim(" \t");
    unsigned indent = indentOf(line.text);
    bool isStart = starts.count(number);
    // Comments and empty lines belong to no operation.
    if (!isStart && (text.empty() || text.starts_with("//")))
      continue;
    while (!open.empty()) {
      unsigned last = indentOf(level.lines[open.back() - 1].text);
      if (last < indent || (last == indent && !isStart))
        break;
      open.pop_back();
    }
    if (isStart)
      open.push_back(number);
    else if (!open.empty())
      line.owner = open.back();
  }
}

Explanation::Explanation(StringRef text, StringRef fileName, ModuleOp module) {
  Level &level = addLevel("spec", "Specification", fileName, text);
  std::set<unsigned> starts;
  for (Operation &top : *module.getBody())
    top.walk([&](Operation *op) {
      std::set<unsigned> lines = linesOf(op->getLoc(), fileName);
      starts.insert(lines.begin(), lines.end());
    });
  chooseOwners(level, starts);
  for (Operation &top : *module.getBody())
    if (symbolOf(&top))
      for (unsigned line : linesOf(top.getLoc(), fileName))
        level.headings.push_back({line, pathOf(&top)});
}

void Explanation::addModule(StringRef name, StringRef title, ModuleOp module) {
  AsmState::LocationMap places;
  std::string text;
  {
    AsmState state(module, OpPrintingFlags(), &places);
    llvm::raw_string_ostream stream(text);
    module->print(stream, state);
  }
  std::string above = levels.back().file;
  Level &level = addLevel(name, title, ("<" + name + ">").str(), text);
  std::set<unsigned> starts;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // What has no line of its own is part of a formula of the op around it.
    Operation *printed = op;
    while (printed && !places.count(printed))
      printed = printed->getParentOp();
    if (!printed)
      return;
    auto [number, column] = places.lookup(printed);
    if (number == 0 || number > level.lines.size())
      return;
    starts.insert(number);
    std::set<unsigned> from = linesOf(op->getLoc(), above);
    // Constants that folding made have no place: they count to the op around them.
    if (from.empty() && op->getParentOp())
      from = linesOf(op->getParentOp()->getLoc(), above);
    level.lines[number - 1].from.insert(from.begin(), from.end());
    if (op == printed && symbolOf(op))
      level.headings.push_back({number, pathOf(op)});
    // Diagnostics show the first place: the user's.
    Location place = FileLineColLoc::get(op->getContext(), level.file, number, column);
    auto addPlace = [&](Location location) { return FusedLoc::get(op->getContext(), {location, place}); };
    op->setLoc(addPlace(op->getLoc()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setLoc(addPlace(argument.getLoc()));
  });
  chooseOwners(level, starts);
}

LogicalResult Explanation::traceAssembly(ModuleOp module) {
  FailureOr<std::vector<TracedFunction>> traced = keepDebugLines(module, levels.back().file);
  if (failed(traced))
    return failure();
  functions = std::move(*traced);
  return success();
}

/// Whether a line is there because of debug info: its directives, and labels that only they use.
static bool isDebugLine(StringRef line) {
  for (StringRef directive : {".file", ".loc", ".cfi_", ".section .debug_"})
    if (line.starts_with(directive))
      return true;
  return line.ends_with(":") &&
         llvm::any_of(ArrayRef<StringRef>{"$L__func_", "$L__tmp", ".Lfunc_begin", ".Ltmp"},
                      [&](StringRef label) { return line.starts_with(label); });
}

/// Whether a function's code begins here: a label, or an entry of PTX.
static bool beginsFunction(StringRef line, StringRef name) {
  size_t at = line.find(name);
  if (at == StringRef::npos)
    return false;
  StringRef before = line.take_front(at), after = line.drop_front(at + name.size());
  return (before.empty() && after.starts_with(":")) ||
         ((before.ends_with(".entry ") || before.ends_with(".func ")) && after.starts_with("("));
}

void Explanation::addAssembly(StringRef name, StringRef title, StringRef text) {
  Level &level = addLevel(name, title, "", "");
  unsigned current = 0;
  while (!text.empty()) {
    auto [line, tail] = text.split('\n');
    text = tail;
    StringRef content = line.trim();
    if (content.contains("func_end"))
      current = 0;
    if (content.starts_with(".loc")) {
      // .loc FILE LINE COLUMN ..
      SmallVector<StringRef> words;
      llvm::SplitString(content, words);
      if (words.size() < 3 || words[2].getAsInteger(10, current))
        current = 0;
    }
    if (isDebugLine(content))
      continue;
    unsigned number = level.lines.size() + 1;
    for (const TracedFunction &function : functions)
      if (beginsFunction(line, function.name)) {
        level.headings.push_back({number, function.name});
        current = function.line;
      }
    Line &added = level.lines.emplace_back();
    added.text = llvm::json::fixUTF8(line);
    added.owner = number;
    if (current && !content.empty() && !content.starts_with("//"))
      added.from.insert(current);
  }
}

std::string Explanation::printPage(StringRef subtitle, ArrayRef<std::string> forms) const {
  std::string data;
  llvm::raw_string_ostream stream(data);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("subtitle", llvm::json::fixUTF8(subtitle));
    json.attributeArray("forms", [&] {
      for (const std::string &form : forms)
        json.value(llvm::json::fixUTF8(form));
    });
    json.attributeArray("levels", [&] {
      for (const Level &level : levels)
        json.object([&] {
          json.attribute("name", level.name);
          json.attribute("title", level.title);
          json.attributeArray("headings", [&] {
            for (const auto &[line, name] : level.headings)
              json.array([&] {
                json.value(line);
                json.value(llvm::json::fixUTF8(name));
              });
          });
          // [text, owner, from ..]
          json.attributeArray("lines", [&] {
            for (const Line &line : level.lines)
              json.array([&] {
                json.value(line.text);
                json.value(line.owner);
                for (unsigned from : line.from)
                  json.value(from);
              });
          });
        });
    });
  });
  // Nothing in a text may end the element that holds it.
  std::string safe;
  for (char c : data)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  auto [before, after] = StringRef(kPageText).split(kPlace);
  return (before + safe + after).str();
}
