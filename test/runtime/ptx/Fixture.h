// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small kernels around a few instructions, and their results.
#ifndef TAYLOR_TEST_RUNTIME_PTX_FIXTURE_H
#define TAYLOR_TEST_RUNTIME_PTX_FIXTURE_H
#include "runtime/Error.h"
#include "runtime/ptx/Interpreter.h"
#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace taylor::runtime::ptx {

using Words = std::vector<uint32_t>;

/// from, from + 1, ..: one word for each of n threads.
inline Words iota(unsigned from = 0, unsigned n = 32) {
  Words w(n);
  for (unsigned l = 0; l < n; ++l)
    w[l] = from + l;
  return w;
}

inline const std::string header = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel `k` on in- and output words. Each thread finds word j of input column x in %a<x>, and its %o<x>
/// become the outputs: column x of a block of n threads starts at word n x. Free registers: %p<8>, %h<8> (16
/// bits), %r<32>, %d<16> (64 bits).
inline std::string kernelAround(const std::string &body, unsigned inputs, unsigned outputs,
                                const std::string &declarations = "") {
  std::string text = header + declarations +
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b16 "
                     "%h<8>;\n.reg .b32 %r<32>, %a<16>, %o<16>, "
                     "%t, %n;\n.reg .b64 %d<16>, %in, %out, %w;\nmov.u32 %t, %tid.x;\nmov.u32 %n, "
                     "%ntid.x;\nmul.wide.u32 %w, %t, 4;\n"
                     "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nadd.s64 %in, %in, %w;\nadd.s64 "
                     "%out, %out, %w;\nmul.wide.u32 %w, %n, 4;\n";
  for (unsigned k = 0; k < inputs; ++k)
    text += "ld.global.b32 %a" + std::to_string(k) + ", [%in];\nadd.s64 %in, %in, %w;\n";
  text += body + "\n";
  for (unsigned k = 0; k < outputs; ++k)
    text += "st.global.b32 [%out], %o" + std::to_string(k) + ";\nadd.s64 %out, %out, %w;\n";
  return text + "ret;\n}\n";
}

struct Result {
  RunReport report;
  std::vector<Words> outputs;
};

struct Setting {
  unsigned threads = 32;
  size_t dynamicShared = 0;
  InterpreterOptions options = {};
  std::string declarations = {};
};

inline Result execute(const std::string &body, const std::vector<Words> &inputs, unsigned outputs,
                      const Setting &s = {}) {
  Words in, out(outputs * s.threads + 1, 0xdeadbeef);
  for (const Words &column : inputs)
    for (unsigned t = 0; t < s.threads; ++t)
      in.push_back(column[t % column.size()]);
  in.push_back(0);
  const void *parameters[2] = {in.data(), out.data()};
  std::vector<MemoryRange> memory = {{in.data(), in.size() * 4 - 4, "in", false},
                                     {out.data(), out.size() * 4 - 4, "out"}};
  Module module = parse(kernelAround(body, unsigned(inputs.size()), outputs, s.declarations));
  Result r{launch(module, "k", {}, {s.threads}, s.dynamicShared, std::as_bytes(std::span(parameters)), memory,
                  s.options),
           {}};
  for (unsigned k = 0; k < outputs; ++k)
    r.outputs.emplace_back(out.begin() + k * s.threads, out.begin() + (k + 1) * s.threads);
  return r;
}

/// Output 0 of one warp; a fault fails the test.
inline Words valuesOf(const std::string &body, const std::vector<Words> &inputs, const Setting &s = {}) {
  Result r = execute(body, inputs, 1, s);
  EXPECT_EQ(r.report.fault ? r.report.fault->message : "", "");
  return r.outputs[0];
}

/// What one thread computes from single words.
inline uint32_t valueOf(const std::string &body, std::vector<uint32_t> inputs) {
  std::vector<Words> columns;
  for (uint32_t x : inputs)
    columns.push_back({x});
  return valuesOf(body, columns)[0];
}

inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline float real(uint32_t x) { return std::bit_cast<float>(x); }

/// The message of the fault, or nothing.
inline std::string faultOf(const std::string &body, const std::vector<Words> &inputs = {},
                           unsigned outputs = 0, const Setting &s = {}) {
  RunReport r = execute(body, inputs, outputs, s).report;
  return r.fault ? r.fault->message : "";
}

inline std::string errorOf(const std::string &text) {
  try {
    parse(text, "t.ptx");
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

} // namespace taylor::runtime::ptx

#endif
