// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's forms (parallel, long, chunked) on one target, and which of them runs a call.
#ifndef TAYLOR_RUNTIME_FORMS_H
#define TAYLOR_RUNTIME_FORMS_H
#include "runtime/Call.h"

namespace taylor::runtime {

/// Pairs that queries see of keys, in one head: all of them, or where `causal` those with u <= offset + t.
double visiblePairs(const Dims &dims, bool causal);

/// What a call of these sizes costs in a form, by CallCost.
double costOf(const FormCode &code, const Manifest &manifest, const Dims &dims);

/// The floating-point operations of a call of these sizes, by FormOperations.
double operationsOf(const FormCode &code, const Manifest &manifest, const Dims &dims);

/// Number of the form of `code` that runs a call of these sizes: the cheapest by CallCost, the first of equal
/// ones; or, where `form` is not empty, the one of that name. Throws Error where there is none: `function`
/// and `target` say of what.
int chooseForm(const TargetFunction &code, const Manifest &manifest, const Dims &dims, std::string_view form,
               const std::string &function, const std::string &target);

} // namespace taylor::runtime

#endif
