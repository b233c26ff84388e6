// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/SourceText.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

using namespace taylor;
using llvm::StringRef;

namespace {

/// Far beyond what anyone writes, far below what a stack holds. Formulas bound their parentheses themselves,
/// at 1000, and say so in the same words.
constexpr size_t kMostLevels = 256, kMostParentheses = 1500;

/// A character of a name; the points between a dialect and what it names are not.
bool isOfName(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

/// Goes through a text, past comments and strings.
class TextScan {
public:
  explicit TextScan(StringRef text) : text(text) {}

  std::optional<TextFault> run(bool all) {
    if (all && text.starts_with("\xEF\xBB\xBF"))
      return fault("unsupported mark of byte order at the beginning; save the file as UTF-8 without it");
    while (at < text.size()) {
      if (skipComment() || skipString())
        continue;
      char c = text[at];
      if (std::optional<TextFault> found = nest(c, all))
        return found;
      if (isArrayOfIndices())
        return fault(
            "unsupported element type of array<..>; write the name of an integer or float type, such as "
            "array<i64: 1>");
      if (all && c == '#' && isComment())
        return fault("unsupported comment after '#'; write // before a comment");
      if (all && c == '!')
        if (std::optional<TextFault> found = nameType())
          return found;
      if (all && c == '.' && isNumber())
        return fault("expected a digit before the point; write 0" +
                     text.substr(at).take_while([](char c) { return c == '.' || llvm::isDigit(c); }));
      if (c != '\n')
        isLineEmpty &= llvm::isSpace(c);
      advance(1);
    }
    while (!open.empty() && open.back().bracket == '<')
      open.pop_back();
    if (all && !open.empty() && open.back().bracket == '{')
      return TextFault{open.back().line, open.back().column,
                       "expected a '}' that closes this '{', but the text ends; add it"};
    return std::nullopt;
  }

private:
  struct Bracket {
    char bracket;
    unsigned line, column;
  };

  unsigned column() const { return unsigned(at - lineStart) + 1; }

  std::optional<TextFault> fault(const llvm::Twine &message) const {
    return TextFault{line, column(), message.str()};
  }

  void advance(size_t count) {
    for (; count && at < text.size(); --count)
      if (text[at++] == '\n') {
        ++line;
        lineStart = at;
        isLineEmpty = true;
      }
  }

  bool skipComment() {
    StringRef rest = text.substr(at);
    if (!rest.starts_with("//"))
      return false;
    // Tests hold several texts, parted by this line.
    if (isLineEmpty && rest.starts_with("// -----")) {
      open.clear();
      types.clear();
      parentheses = 0;
    }
    advance(rest.find('\n')); // all of it where there is no further line
    return true;
  }

  /// A string ends with its line at the latest.
  bool skipString() {
    if (text[at] != '"')
      return false;
    isLineEmpty = false;
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n' ? 2 : 1;
    advance(end - at + (end < text.size() && text[end] == '"'));
    return true;
  }

  /// `<` after a word opens the parameters of a type; a comparison does not, or is closed with what is around
  /// it.
  bool opens(char c) const {
    return StringRef("([{").contains(c) || (c == '<' && at > 0 && llvm::isAlnum(text[at - 1]));
  }

  std::optional<TextFault> nest(char c, bool all) {
    if (opens(c)) {
      open.push_back({c, line, column()});
      parentheses += c == '(';
      if (parentheses > kMostParentheses)
        return fault(
            "unsupported formula of more than 1000 levels of parentheses and operators; give parts of "
            "it names: { a = .., b = .. }");
      if (open.size() - parentheses > kMostLevels)
        return fault("unsupported nesting of more than " + llvm::Twine(kMostLevels) +
                     " levels of brackets; a specification needs a few");
      return std::nullopt;
    }
    size_t which = StringRef(")]}").find(c);
    if (c == '>' && !open.empty() && open.back().bracket == '<' && text[at - 1] != '-') {
      open.pop_back();
    } else if (which != StringRef::npos) {
      while (!open.empty() && open.back().bracket == '<')
        open.pop_back();
      if (all && open.empty() && c == '}')
        return fault("expected no '}' here: every '{' has been closed; remove it");
      if (!open.empty() && open.back().bracket == StringRef("([{")[which]) {
        parentheses -= c == ')';
        open.pop_back();
      }
    }
    return std::nullopt;
  }

  /// Whether the attribute array<index: ..> begins here: MLIR asks for the bits of the type, and an index has
  /// none. The name of a type may stand for it.
  bool isArrayOfIndices() const {
    bool isInside = at > 0 && (isOfName(text[at - 1]) || StringRef(".!#%@^").contains(text[at - 1]));
    StringRef rest = text.substr(at);
    if (isInside || !rest.consume_front("array"))
      return false;
    rest = pastSpace(rest);
    if (!rest.consume_front("<"))
      return false;
    rest = pastSpace(rest);
    StringRef name = rest.take_while([](char c) { return isOfName(c) || c == '.'; });
    return name == "index" || rest.starts_with("!");
  }

  static StringRef pastSpace(StringRef rest) {
    while (true) {
      rest = rest.ltrim();
      if (!rest.starts_with("//"))
        return rest;
      rest = rest.substr(rest.find('\n'));
    }
  }

  /// Whether a '#' begins a comment, as in Python, and not the name of an attribute.
  bool isComment() const {
    StringRef rest = text.substr(at + 1);
    // A section of resources is between {-# and #-}.
    if (rest.empty() || rest.starts_with("-}") || (at > 0 && text[at - 1] == '-'))
      return false;
    if (!llvm::isAlpha(rest.front()) && rest.front() != '_' && rest.front() != '"')
      return !(at > 0 && isOfName(text[at - 1])); // not %results#1
    // A line that begins with a name and goes on with a word is prose.
    StringRef after = rest.drop_while(isOfName);
    return isLineEmpty && after.ltrim(" \t").size() != after.size() &&
           llvm::isAlnum(after.ltrim(" \t").empty() ? ' ' : after.ltrim(" \t").front());
  }

  /// The name of a type at a '!': before a '=' it is defined, elsewhere it must have been.
  std::optional<TextFault> nameType() {
    StringRef rest = text.substr(at + 1);
    StringRef name = rest.take_while(isOfName);
    StringRef after = rest.substr(name.size());
    // Types of a dialect have its name before a point or parameters.
    if (name.empty() || after.starts_with(".") || after.starts_with("<"))
      return std::nullopt;
    if (after.ltrim().starts_with("="))
      types.insert(name);
    else if (!types.contains(name))
      return fault("undefined type '!" + name + "'; define it before, as in !" + name +
                   " = !taylor.array<[b, h, t, d]>");
    return std::nullopt;
  }

  /// Whether a point begins a number, as in `.5`.
  bool isNumber() const {
    bool isInside = at > 0 && (isOfName(text[at - 1]) || StringRef(".%\")>").contains(text[at - 1]));
    return !isInside && at + 1 < text.size() && llvm::isDigit(text[at + 1]);
  }

  StringRef text;
  size_t at = 0, lineStart = 0, parentheses = 0;
  unsigned line = 1;
  bool isLineEmpty = true;
  std::vector<Bracket> open;
  llvm::StringSet<> types;
};

} // namespace

std::optional<TextFault> taylor::findFatalFault(StringRef text) { return TextScan(text).run(/*all=*/false); }

std::optional<TextFault> taylor::findTextFault(StringRef text) { return TextScan(text).run(/*all=*/true); }

llvm::LogicalResult taylor::checkText(StringRef text, StringRef fileName, mlir::MLIRContext &context) {
  std::optional<TextFault> fault = findTextFault(text);
  if (!fault)
    return mlir::success();
  return mlir::emitError(mlir::FileLineColLoc::get(&context, fileName, fault->line, fault->column),
                         fault->message);
}

void taylor::quoteShortly(llvm::SourceMgr &sources) {
  constexpr size_t kColumns = 200, kBefore = 80;
  sources.setDiagHandler([](const llvm::SMDiagnostic &message, void *) {
    StringRef line = message.getLineContents();
    if (line.size() <= kColumns)
      return message.print(nullptr, llvm::errs());
    size_t column = std::max(message.getColumnNo(), 0);
    size_t begin = std::min(column > kBefore ? column - kBefore : 0, line.size() - kColumns);
    size_t end = begin + kColumns;
    auto isInside = [&](size_t at) {
      return at < line.size() && (line[at] & 0xC0) == 0x80;
    }; // of a character
    while (isInside(begin))
      ++begin;
    while (isInside(end))
      ++end;
    std::string quoted =
        (begin ? "..." : "") + line.slice(begin, end).str() + (end < line.size() ? "..." : "");
    std::replace(quoted.begin(), quoted.end(), '\t', ' ');
    // Not by another SMDiagnostic: the column in its head is that of its arrow.
    StringRef kind = message.getKind() == llvm::SourceMgr::DK_Error     ? "error"
                     : message.getKind() == llvm::SourceMgr::DK_Warning ? "warning"
                                                                        : "note";
    llvm::errs() << message.getFilename() << ":" << message.getLineNo() << ":" << column + 1 << ": " << kind
                 << ": " << message.getMessage() << "\n"
                 << quoted << "\n";
    llvm::errs().indent(unsigned(column - begin + (begin ? 3 : 0))) << "^\n";
  });
}
