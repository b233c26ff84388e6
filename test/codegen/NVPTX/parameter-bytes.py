# A kernel of more arrays than its parameters have room for is refused, before ptxas would; a processor takes it.
# REQUIRES: taylorc
# RUN: rm -rf %t
# RUN: %python %s %t
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from cases import REFUSED

GATES = 54
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
arguments = ", ".join(f"%g{i}: !o" for i in range(GATES))
gates = " + ".join(f"sigmoid(%g{i})" for i in range(GATES))
spec = folder / "gates.mlir"
spec.write_text(f"""!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, h, u, d]>
!v = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @gates(%q: !q, %k: !k, %v: !v, {arguments}) {{
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z * ({gates}) : !o, !row, {", ".join(["!o"] * GATES)}
  taylor.yield %o : !o
}}
""")
command = ["taylorc", spec, "--head-dim=16", "--form=parallel", "--quiet", "-o", folder / "gates.out"]
gpu = subprocess.run([*command, "--target=sm_80", "--emit=ptx"], capture_output=True, text=True)
expected = " bytes of parameters, for "
assert gpu.returncode == REFUSED and expected in gpu.stderr and "where a kernel may have 4352" in gpu.stderr, gpu.stderr
assert not (folder / "gates.out").exists()
cpu = subprocess.run([*command, "--emit=llvm"], capture_output=True, text=True)
assert cpu.returncode == 0, cpu.stderr
