// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text: what is accepted, and each message whole.
#include "Fixture.h"

namespace taylor::runtime::ptx {
namespace {

std::string entry(const std::string &body) { return header + ".visible .entry k()\n{\n" + body + "\n}\n"; }

TEST(PtxParser, KernelInfo) {
  Module m = parse(header + R"(
.extern .shared .align 1024 .b8 dynamic[];
.shared .align 16 .b8 fixed[100];
.visible .entry first(
  .param .u64 .ptr .global .align 1 first_param_0,
  .param .u32 first_param_1,
  .param .align 64 .b8 first_param_2[128],
  .param .u8 last)
.reqntid 128, 2
.minnctapersm 1
{
  .reg .b32 %r<3>;
  .shared .f32 more[4];
  .pragma "nounroll";
  ret;
}
.entry second() .maxntid 64 { .reg .pred %p; ret; }
)");
  auto k = m.kernels();
  ASSERT_EQ(k.size(), 2u);
  EXPECT_EQ(k[0].name, "first");
  ASSERT_EQ(k[0].parameters.size(), 4u);
  size_t offsets[] = {0, 8, 64, 192}, bytes[] = {8, 4, 128, 1};
  for (unsigned n = 0; n < 4; ++n) {
    EXPECT_EQ(k[0].parameters[n].offset, offsets[n]);
    EXPECT_EQ(k[0].parameters[n].bytes, bytes[n]);
  }
  EXPECT_EQ(k[0].parameters[2].align, 64u);
  EXPECT_EQ(k[0].parameterBytes, 193u);
  EXPECT_EQ(k[0].staticSharedBytes, 116u);
  EXPECT_EQ(k[0].required, (std::array<unsigned, 3>{128, 2, 1}));
  EXPECT_EQ(k[1].most, (std::array<unsigned, 3>{64, 1, 1}));
  EXPECT_EQ(k[1].required, (std::array<unsigned, 3>{0, 0, 0}));
}

TEST(PtxParser, WhatCompilersWriteBesideInstructions) {
  EXPECT_EQ(errorOf(header + R"(
	.file	1 "/a/b.py"
.visible .entry k()
{
	.reg .b32 %r<4>;
$L__func_begin0:
	.loc	1 30 0, function_name $L__info_string0, inlined_at 1 30 0 // comment
	/* a comment
	   of two lines */
	mov.u32 %r1, 0x10U;
	{
		.reg .b32 %r1;	// another one
		mov.u32 %r1, 1;
		bra.uni DONE;
		DONE:
	}
	{
		bra DONE;
		DONE: mov.u32 %r2, -5;
	}
	ret;
$L__tmp0:
}
	.section	.debug_abbrev
	{
.b8 1 // {
	}
)"),
            "");
}

TEST(PtxParser, Literals) {
  EXPECT_EQ(valueOf("mov.b32 %o0, 0f3F800000;", {}), 0x3f800000u);
  EXPECT_EQ(valueOf("mov.f32 %o0, 0d3FF0000000000000;", {}), 0x3f800000u);
  EXPECT_EQ(valueOf("mov.f32 %o0, -1.0;", {}), 0xbf800000u);
  EXPECT_EQ(valueOf("mov.f32 %o0, 2.5;", {}), bits(2.5f));
  EXPECT_EQ(valueOf("mov.b32 %o0, -1;", {}), 0xffffffffu);
  EXPECT_EQ(valueOf("mov.b32 %o0, 017;", {}), 15u);
  EXPECT_EQ(valueOf("mov.b32 %o0, 0b101;", {}), 5u);
  EXPECT_EQ(valueOf("mov.b32 %o0, 0XFf;", {}), 255u);
}

TEST(PtxParser, VariablesWithValues) {
  Setting s;
  s.declarations = ".global .align 8 .b32 table[4] = {10, -1, 0x20};\n.const .f32 half = 0.5;\n";
  EXPECT_EQ(
      valuesOf("ld.global.b32 %r0, [table+8];\nld.const.f32 %r1, [half];\nadd.u32 %o0, %r0, %r1;", {}, s)[0],
      0x20 + bits(0.5f));
  EXPECT_EQ(valuesOf("mov.u64 %d0, table;\nld.u32 %o0, [%d0+4];", {}, s)[0], 0xffffffffu);
  EXPECT_EQ(valuesOf("ld.global.b32 %o0, [table+12];", {}, s)[0], 0u); // the rest is zero
}

TEST(PtxParser, Messages) {
  EXPECT_EQ(errorOf(""), "t.ptx:1:1: expected '.version', but got the end of the text");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_80\n.address_size 32\n"),
            "t.ptx:3:15: expected address size 64, but got '32'");
  EXPECT_EQ(errorOf(entry("ret")), "t.ptx:7:1: expected ';', but got '}'");
  EXPECT_EQ(errorOf(entry("frob.b32 %r1;")), "t.ptx:6:1: unsupported instruction 'frob.b32'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<2>;\n  add.sat.u32 %r0, %r1, 1;")),
            "t.ptx:7:3: unsupported instruction 'add.sat.u32'");
  EXPECT_EQ(errorOf(entry(".reg .f32 %f<2>;\nadd.rz.f32 %f0, %f1, %f1;")),
            "t.ptx:7:1: unsupported instruction 'add.rz.f32'");
  EXPECT_EQ(errorOf(entry("mul.rn.f32.bf16 %r1, %r1, %r1;")),
            "t.ptx:6:1: unsupported instruction 'mul.rn.f32.bf16'");
  EXPECT_EQ(errorOf(entry("mad.rn.f32.bf16 %r1, %r1, %r1, %r1;")),
            "t.ptx:6:1: unsupported instruction 'mad.rn.f32.bf16'");
  EXPECT_EQ(errorOf(entry("fma.f32.f16 %r1, %r1, %r1, %r1;")),
            "t.ptx:6:1: unsupported instruction 'fma.f32.f16'");
  EXPECT_EQ(errorOf(entry("tcgen05.fence::before_thread_sync;")),
            "t.ptx:6:1: unsupported instruction 'tcgen05.fence::before_thread_sync'");
  EXPECT_EQ(errorOf(entry("mov.b32 %r1, 0;")), "t.ptx:6:9: expected a declared register, but got '%r1'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<2>;\nadd.s32 %r0, %r1, %x;")),
            "t.ptx:7:19: expected a declared name, but got '%x'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\n.reg .b64 %d;\nadd.s32 %r, %r, %d;")),
            "t.ptx:8:17: expected a register of type .s32, but got '%d' of type .b64");
  EXPECT_EQ(errorOf(entry(".reg .pred %p;\n.reg .b32 %r;\n@%r bra L;\nL:")),
            "t.ptx:8:2: expected a register of type .pred, but got '%r' of type .b32");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nadd.s32 %r, %r;")), "t.ptx:7:15: expected ',', but got ';'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nadd.f32 %r, %r, 1;")),
            "t.ptx:7:17: expected a floating-point constant such as 0f3F800000, but got '1'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nadd.s32 %r, %r, 0x100000000;")),
            "t.ptx:7:17: expected a constant of 32 bits, but got '0x100000000'");
  EXPECT_EQ(errorOf(entry(".reg .b16 %h;\nmov.b16 %h, 0f3F800000;")),
            "t.ptx:7:13: expected an integer constant, but got '0f3F800000'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nmov.b32 %r, 0f3F80;")),
            "t.ptx:7:13: expected 8 digits after 0f, but got '0f3F80'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nmov.b32 %r, 12x;")),
            "t.ptx:7:13: expected a number, but got '12x'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nmov.b32 %r, -0f3F800000;")),
            "t.ptx:7:14: expected a decimal number after '-', but got '0f3F800000'");
  EXPECT_EQ(errorOf(entry(".reg .pred %p, %q;\nmov.pred %p, -%q;")),
            "t.ptx:7:15: expected a predicate, but got '%q'");
  EXPECT_EQ(errorOf(entry("bra AWAY;")), "t.ptx:6:5: expected a label of this kernel, but got 'AWAY'");
  EXPECT_EQ(errorOf(entry("{ IN: }\nbra IN;")), "t.ptx:7:5: expected a label of this kernel, but got 'IN'");
  EXPECT_EQ(errorOf(entry("A:\nA:")),
            "t.ptx:7:1: expected a new label, but got 'A', which this scope has already");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\n.reg .b32 %r;")),
            "t.ptx:7:11: expected a new name, but got '%r', which this scope declares already");
  EXPECT_EQ(errorOf(entry(".reg .b33 %r;")), "t.ptx:6:6: expected the type of registers, but got '.b33'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<9999999>;")),
            "t.ptx:6:14: expected at most 131072 registers in a kernel, but got '9999999' more");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<100000>;\n.reg .b32 %s<100000>;")),
            "t.ptx:7:14: expected at most 131072 registers in a kernel, but got '100000' more");
  EXPECT_EQ(errorOf(entry(".local .b8 depot[524289];")),
            "t.ptx:6:12: expected at most 524288 bytes of local memory in a kernel, but got 524289");
  EXPECT_EQ(errorOf(header + ".global .b64 g[33554433];"),
            "t.ptx:4:16: expected an array of at most 268435456 bytes, but got '33554433' elements");
  EXPECT_EQ(errorOf(header + ".global .b8 a[268435456];\n.global .b8 b[268435456];"),
            "t.ptx:5:13: expected variables of at most 536870912 bytes in a module, but got 536870914");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<4>;\nld.shared.v4.b32 {%r0, %r1}, [%r2];")),
            "t.ptx:7:18: expected 4 operands, but got 2");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<4>;\nld.shared.b32 %r0, %r1;")),
            "t.ptx:7:20: expected '[', but got '%r1'");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nld.shared.b32 %r, [%d];")),
            "t.ptx:7:20: expected a declared register or variable, but got '%d'");
  EXPECT_EQ(errorOf(entry(".reg .b16 %h;\n.reg .b32 %r;\nld.shared.b32 %r, [%h];")),
            "t.ptx:8:20: expected a register of 32 or 64 bits, but got '%h' of type .b16");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r<4>;\n.reg .b64 %d;\ncp.async.cg.shared.global [%r0], [%d], 8;")),
            "t.ptx:8:40: expected 16 bytes, but got 8");
  EXPECT_EQ(errorOf(entry(".reg .b32 %r;\nbrx.idx %r, LIST;")),
            "t.ptx:7:13: expected the name of a .branchtargets list, but got 'LIST'");
  EXPECT_EQ(errorOf(header + ".shared .align 3 .b8 s[4];"),
            "t.ptx:4:16: expected an alignment that is a power of two, but got '3'");
  EXPECT_EQ(errorOf(header + ".global .b32 g[1] = {1, 2};"),
            "t.ptx:4:21: expected at most 1 values, but got 2");
  EXPECT_EQ(errorOf(header + ".global .b32 g[];"),
            "t.ptx:4:14: expected a size or values, but got neither for 'g'");
  EXPECT_EQ(errorOf(header + ".func f() { ret; }"),
            "t.ptx:4:1: unsupported '.func': requires that functions are inlined into their kernels");
  EXPECT_EQ(errorOf(header + "hello"),
            "t.ptx:4:1: expected a directive such as .entry or .shared, but got 'hello'");
  EXPECT_EQ(errorOf(header + "/* never ends"),
            "t.ptx:4:1: expected '*/' that ends this comment, but got the end of the text");
  EXPECT_EQ(errorOf(header + ".file 1 \"never ends"),
            "t.ptx:4:9: expected '\"' that ends this string, but got the end of the line");
  EXPECT_EQ(errorOf(header + ".entry k() { ret;"), "t.ptx:4:18: expected '}', but got the end of the text");
  EXPECT_EQ(errorOf(header + ".entry k() .cluster { ret; }"),
            "t.ptx:4:12: unsupported directive '.cluster' of an entry");
}

TEST(PtxParser, DeepTextIsAMessage) {
  EXPECT_EQ(errorOf(entry(std::string(100000, '{'))),
            "t.ptx:6:257: expected at most 256 scopes inside each other");
  EXPECT_EQ(errorOf(header + ".global .b32 g[1] = " + std::string(100000, '{')),
            "t.ptx:4:278: expected at most 256 braces inside each other, but got '{'");
}

TEST(PtxParser, AnyPrefixIsAMessageOrAModule) {
  std::string text =
      kernelAround("ld.shared.v2.b32 {%r0, %r1}, [s + 8];\n@!%p1 bra L;\nL:", 1, 1, ".shared .b8 s[64];\n");
  for (size_t n = 0; n < text.size(); ++n)
    errorOf(text.substr(0, n));
  for (size_t n = 0; n < text.size(); ++n)
    errorOf(text.substr(0, n) + "\x80(" + text.substr(n));
}

} // namespace
} // namespace taylor::runtime::ptx
