// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of passes whose value is a word of an enum: parsed where options are, so that a pass gets the enum.
#ifndef TAYLOR_PASSES_ENUMOPTION_H
#define TAYLOR_PASSES_ENUMOPTION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace taylor {

/// The values that an option of an enum takes, by the words of its .td file, as `llvm::cl::values` is given
/// them: `Option<"form", "form", "::taylor::Form", /*default=*/.., "..", [{::taylor::wordsOf<::taylor::Form>()}]>`.
template <typename Enum> struct EnumWords {
  llvm::SmallVector<Enum> values;

  /// Called by `llvm::cl`.
  template <typename Option> void apply(Option &option) const {
    for (Enum value : values)
      option.getParser().addLiteralOption(stringifyEnum(value), value, "");
  }
};

/// All words of an enum, whose cases are numbered from 0 on.
template <typename Enum> EnumWords<Enum> wordsOf() {
  EnumWords<Enum> words;
  for (unsigned i = 0; !stringifyEnum(Enum(i)).empty(); ++i)
    words.values.push_back(Enum(i));
  return words;
}

} // namespace taylor

#endif
