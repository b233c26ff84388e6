"""deep.py FOLDER: specifications whose formulas are deep, each in another way, and long.mlir, which is within the limit, chain.mlir, a long chain of short ones, and
bindings.mlir, one operation of many."""
import pathlib
import sys

n = 200000
formulas = {
    "parentheses": "(" * n + "%x" + ")" * n,
    "minus": "- " * n + "%x",
    "calls": "exp(" * n + "%x" + ")" * n,
    "sum": " + ".join(["%x"] * n),
    "both": "(" * 900 + "%x" + (" + %x" * 900 + ")") * 900,
    "long": " + ".join(["%x"] * 900),
}
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
types = "!row = !taylor.array<[b, h, t]>\n!q = !taylor.array<[b, h, t, d]>\n!k = !taylor.array<[b, g, u, d]>\n!v = !taylor.array<[b, g, u, e]>\n"
for name, formula in formulas.items():
    (folder / f"{name}.mlir").write_text(
        types + f"taylor.spec @deep(%x: !row) {{\n  %y = taylor.map {formula} : !row\n  taylor.yield %y : !row\n}}\n")
conditions = ", ".join(["u <= t"] * n)
(folder / "conditions.mlir").write_text(
    types + f"taylor.spec @deep(%q: !q, %k: !k, %v: !v) {{\n  %o = taylor.recurrences %q, %k, %v exponential causal visible({conditions}) : !q, !k, !v\n"
    "  taylor.yield %o : !taylor.array<[b, h, t, e]>\n}\n")
chain = "".join(f"  %y{i + 1} = taylor.map %y{i} + 1.0 : !v\n" for i in range(600))
(folder / "chain.mlir").write_text(
    types + f"taylor.spec @chain(%q: !q, %k: !k, %v: !v) {{\n  %y0 = taylor.map 2.0 * %v : !v\n{chain}  %o = taylor.recurrences %q, %k, %y600 exponential causal : !q, !k, !v\n"
    "  taylor.yield %o : !taylor.array<[b, h, t, e]>\n}\n")
bindings = "".join(f"y{i + 1} = y{i} + 1.0, " for i in range(n))
(folder / "bindings.mlir").write_text(
    types + f"taylor.spec @deep(%x: !row) {{\n  %y = taylor.map {{ y0 = %x, {bindings}y{n} }} : !row\n  taylor.yield %y : !row\n}}\n")
