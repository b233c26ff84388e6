// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_GENERATION_PROMPTS_H
#define TAYLOR_TRAINER_GENERATION_PROMPTS_H
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

/// The prompts of a file: one per line, or, where its name ends in .jsonl, the field "prompt" of the object
/// on each line, which may hold line breaks; blank lines are no objects. A mark of byte order at the file's
/// head is no text. Throws Error that names the file and the line.
std::vector<std::string> readPrompts(const std::filesystem::path &path);

} // namespace taylor::trainer
#endif
