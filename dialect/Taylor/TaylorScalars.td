// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars, inside regions.
#ifndef TAYLOR_SCALARS_TD
#define TAYLOR_SCALARS_TD

class Taylor_ScalarOp<string mnemonic, list<Trait> traits = []>
    : Taylor_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Taylor_DifferentiableScalarOpInterface>], traits)>;

class Taylor_UnaryScalarOp<string mnemonic> : Taylor_ScalarOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins AnyFloat:$operand);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Taylor_SigmoidOp : Taylor_UnaryScalarOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let description = [{ Derivative y (1 - y), finite for every x. `%y = taylor.sigmoid %x : f64`. }];
}

def Taylor_SoftplusOp : Taylor_UnaryScalarOp<"softplus"> {
  let summary = "log(1 + exp(x))";
  let description = [{ max(x, 0) + log1p(exp(-|x|)); derivative sigmoid(x). `%y = taylor.softplus %x : f64`. }];
}

def Taylor_StopGradientOp : Taylor_UnaryScalarOp<"stop_gradient"> {
  let summary = "x, a constant to the derivative";
  let description = [{ `stop(x)` in a formula. `%y = taylor.stop_gradient %x : f64`. Canonical form: `stop(stop(x))` is `stop(x)`, and of a number the number. }];
  let hasFolder = 1;
}

def Taylor_IndexOp : Taylor_ScalarOp<"index"> {
  let summary = "the index along an axis; for t and u the position, for lag their difference";
  let description = [{
    A bare axis name in a formula. Query t stands at offset + t, key u at u; a lag is a query's
    position less a key's, from offset - U to offset + T - 1; h, g, d, e, b and free axes count
    from 0. `%p = taylor.index "t" : f64`.
  }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Taylor_SizeOp : Taylor_ScalarOp<"size"> {
  let summary = "the size of an axis";
  let description = [{ `size(d)` in a formula. `%d = taylor.size "d" : f64`. }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Taylor_ParameterOp : Taylor_ScalarOp<"parameter"> {
  let summary = "a free parameter of the specification";
  let description = [{ A bare name declared in `parameters(..)`. Specialisation replaces it by its value. `%w = taylor.parameter "window" : f64`. }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

#endif
