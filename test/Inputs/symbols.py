# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the library of the wheel's operators may not ask for: names of torch's C++, also of const methods and within templates, which change with each
release, and OpenMP's."""
import re

FOREIGN = re.compile(r"_ZN?K?(2at|3c10|5torch|6caffe2)|_Z\w*(N2at|N3c10|N5torch)|GOMP_|omp_|kmp")
for name in ("_ZN2at6detail10noopDeleteEPv", "_ZNK3c1010TensorImpl4sizeEl", "_ZSt4moveIRN2at6TensorEEv", "GOMP_parallel"):
    assert FOREIGN.match(name), name
assert not FOREIGN.match("aoti_torch_get_dim") and not FOREIGN.match("_ZNSt9exceptionD2Ev")
