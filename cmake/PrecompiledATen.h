// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What most files of the trainer and of the torch operator include, parsed once (TaylorPrecompiled.cmake).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
