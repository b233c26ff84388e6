# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types that nearly every specification of a test begins with."""

ARRAYS = """!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
"""
