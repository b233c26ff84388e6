// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices of a compilation that targets see. Their words are those of taylorc's options, of the
// manifest and of messages.
#ifndef TAYLOR_CODEGEN_TARGETS_CHOICES_TD
#define TAYLOR_CODEGEN_TARGETS_CHOICES_TD

include "mlir/IR/EnumAttr.td"

class Choice<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::taylor";
  let genSpecializedAttr = 0;
}

def F32Products : Choice<"F32Products", "how GPUs multiply f32: tf32 on matrix units, operands rounded to 11 bits", [
  I32EnumAttrCase<"FMA", 0, "fma">, I32EnumAttrCase<"TF32", 1, "tf32">]>;

def BF16Products : Choice<"BF16Products", "how targets that multiply bf16 take operands that are computed in f32", [
  I32EnumAttrCase<"Auto", 0, "auto">,         // rounded
  I32EnumAttrCase<"Rounded", 1, "rounded">,
  I32EnumAttrCase<"Split", 2, "split">]>;     // two numbers of bf16, on GPUs

def RowSumsChoice : Choice<"RowSumsChoice", "how GPUs sum into rows where pairs are summed into columns too", [
  I32EnumAttrCase<"Separate", 0, "separate">, // in a kernel of their own, always to the same bits
  I32EnumAttrCase<"Atomic", 1, "atomic">]>;   // in any order

def Decode : Choice<"Decode", "how a function for one new token goes on from those before", [
  I32EnumAttrCase<"Auto", 0, "auto">,         // from states where they are not larger than keys
  I32EnumAttrCase<"State", 1, "state">,
  I32EnumAttrCase<"Cache", 2, "cache">]>;     // from all keys

#endif
