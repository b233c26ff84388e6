// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mnemonic to an opcode with typed modifiers, its operands, and the function that executes it.
#include "runtime/ptx/Build.h"

namespace taylor::runtime::ptx {

/// What the scheduler executes itself.
static bool scheduled(Op op) {
  return op == Op::BarSync || op == Op::BarArrive || op == Op::WarpSync || op == Op::MbarrierArrive ||
         op == Op::MbarrierTry || op == Op::MbarrierTest || op == Op::SetMaxRegisters || op >= Op::Bra;
}

void decode(KernelParser &parser, Instruction &i) {
  Build b{parser, i, {}, 1, parser.lexer.take()};
  for (std::string_view rest = i.text; !rest.empty();) {
    size_t dot = rest.find('.');
    b.words.push_back(rest.substr(0, dot));
    rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  }
  Decoder decoder = nullptr;
  for (const Decoders *all : {&arithmeticDecoders(), &machineDecoders(), &asyncDecoders()})
    if (auto it = all->find(b.words[0]); it != all->end())
      decoder = it->second;
  if (!decoder)
    b.unsupported();
  decoder(b);
  if (!scheduled(i.op) && !(i.run = handlerFor(i)))
    b.unsupported();
}

} // namespace taylor::runtime::ptx
