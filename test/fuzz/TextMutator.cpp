// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libFuzzer's mutator for texts of tokens. Changed bytes mostly give words that no parser knows; every second
// change is one of tokens and lines instead, which the parser often takes, so that verifiers and passes are
// reached.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

using Random = std::minstd_rand;

bool isWord(char c) { return isalnum(static_cast<unsigned char>(c)) || std::strchr("_.%!@#$", c); }

/// What a token may stand in for: the first character of a word tells values, types, numbers and names apart.
int classOf(const std::string &token) {
  char first = token.front();
  if (isdigit(static_cast<unsigned char>(first)))
    return '0';
  return isalpha(static_cast<unsigned char>(first)) ? 'a' : isWord(first) ? first : ' ';
}

/// Words, other characters one by one, and nothing in between: pieces whose concatenation is the text.
std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = begin + 1;
    while (isWord(text[begin]) && end < text.size() && isWord(text[end]))
      ++end;
    tokens.push_back(text.substr(begin, end - begin));
  }
  return tokens;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = text.find('\n', begin);
    end = end == std::string::npos ? text.size() : end + 1;
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

std::string join(const std::vector<std::string> &pieces) {
  std::string text;
  for (const std::string &piece : pieces)
    text += piece;
  return text;
}

void changeToken(std::vector<std::string> &tokens, Random &random) {
  static const char *numbers[] = {
      "0", "1", "2", "3", "7", "64", "1000000007", "9223372036854775807", "1.0e308", "1.0e-310"};
  size_t at = random() % tokens.size();
  int kind = classOf(tokens[at]);
  if (kind == '0' && random() % 2) {
    tokens[at] = numbers[random() % std::size(numbers)];
    return;
  }
  std::vector<size_t> others;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (classOf(tokens[i]) == kind && tokens[i] != tokens[at])
      others.push_back(i);
  if (!others.empty())
    tokens[at] = tokens[others[random() % others.size()]];
}

/// Deletes, repeats, moves or exchanges a piece, or a few in a row.
void changeOrder(std::vector<std::string> &pieces, Random &random) {
  size_t from = random() % pieces.size(), count = std::min<size_t>(1 + random() % 3, pieces.size() - from),
         to = random() % pieces.size();
  std::vector<std::string> some(pieces.begin() + long(from), pieces.begin() + long(from + count));
  unsigned action = random() % 4;
  if (action == 3)
    return std::swap(pieces[from], pieces[to]);
  if (action != 1)
    pieces.erase(pieces.begin() + long(from), pieces.begin() + long(from + count));
  if (action != 0)
    pieces.insert(pieces.begin() + long(std::min(to, pieces.size())), some.begin(), some.end());
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  std::string text(reinterpret_cast<char *>(data), size);
  if (text.empty() || random() % 2)
    return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 1 + random() % 3; i > 0 && !text.empty(); --i) {
    bool lines = random() % 3 == 0;
    std::vector<std::string> pieces = lines ? linesOf(text) : tokensOf(text);
    if (lines || random() % 4 == 0)
      changeOrder(pieces, random);
    else
      changeToken(pieces, random);
    text = join(pieces);
  }
  size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}
