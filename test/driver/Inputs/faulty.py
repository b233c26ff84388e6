"""Specifications with one fault each: python3 faulty.py FOLDER"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from arrays import ARRAYS as head

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
begin = "taylor.spec @x(%q: !q, %k: !k, %v: !v) {\n"
sums = "  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v\n"
quotient = "  %o = taylor.map %n / %z : !o, !row\n"
end = "  taylor.yield %o : !o\n}\n"


def write(name, text):
    (out / (name + ".mlir")).write_text(text)


def with_score(score):
    return head + begin + sums.replace(" causal", f" score({score}) causal") + quotient + end


write("good", "// (((( [[[ {{{ \" .5 # }\n" + head + begin + sums + quotient + end)
write("brace", head + begin + sums + quotient + end + "}\n")
write("open", head + begin + sums + quotient + end.removesuffix("}\n"))
write("type", "!q = !taylor.array<[b, h, t, d]>\n" + begin + sums + quotient + end)
write("comment", "# softmax\n" + head + begin + sums + quotient + end)
write("prose", head + begin + "  #the sums\n" + sums + quotient + end)
write("mark", "\ufeff" + head + begin + sums + quotient + end)
write("point", with_score(".5 * s"))
write("product", with_score("2s"))
write("exponent", with_score("2.5e-1s"))
write("indices", "// array<index: 1>, \"array<index: 1>\"\nmodule attributes {a = array<i64: 1>, b = 1.0, c = array<index: 1>} {}\n")
write("named-indices", "!x = index\nmodule attributes {a = array<i64: 1>, b = 1.0, c = array // <i64>\n  < !x : 1>} {}\n")
write("regions", "\n".join(["module {"] * 4000))
write("attributes", "#a = " + "[\n" * 8000)
write("types", "!t = " + "tuple<\n" * 30000)
