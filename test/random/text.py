# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of one specification, written operation by operation: arrays with their axes, operands found in formulas, names for types."""
import re
from typing import NamedTuple

ORDER = ["b", "h", "g", "t", "u", "lag", "d", "e"]


class Array(NamedTuple):
    name: str
    axes: tuple          # in the order above, free axes last
    integer: bool = False

    def alias(self):
        return "!" + ("".join(self.axes).replace("=", "") or "scalar") + ("_i32" if self.integer else "")

    def type(self):
        axes = ", ".join(axis.replace("=", " = ") for axis in self.axes)
        return f"!taylor.array<[{axes}]{', i32' if self.integer else ''}>"

    def has(self, axis):
        return axis in self.axes


def join(arrays, more=()):
    """The axes of a formula over arrays: all of theirs; g is read at h's groups."""
    axes = {axis for array in arrays for axis in array.axes} | set(more)
    if "h" in axes:
        axes.discard("g")
    return tuple(sorted(axes, key=lambda axis: (ORDER.index(axis) if axis in ORDER else len(ORDER), axis)))


class Text:
    def __init__(self):
        self.arrays, self.arguments, self.parameters, self.lines = {}, [], [], []

    def array(self, name, axes, integer=False):
        while name in self.arrays:
            name += "_"
        self.arrays[name] = Array(name, tuple(axes), integer)
        return self.arrays[name]

    def argument(self, name, axes, source=None, integer=False):
        array = self.array(name, axes, integer)
        self.arguments.append((array, source))
        return array

    def parameter(self, name, value):
        self.parameters.append((name, value))
        return name

    def operands(self, formula):
        names = dict.fromkeys(re.findall(r"%(\w+)", formula))
        return [self.arrays[name] for name in names]

    def emit(self, results, operation, operands):
        types = ", ".join(operand.alias() for operand in operands)
        names = ", ".join("%" + result.name for result in results)
        self.lines.append(f"  {names} = taylor.{operation}" + (f" : {types}" if types else ""))
        return results[0]

    # What follows is one operation each. `formula` names arrays as the specification does, %name.

    def map(self, name, formula, indices=()):
        """indices: axes whose index the formula reads."""
        operands = self.operands(formula)
        result = self.array(name, join(operands, indices))
        widened = "" if operands else f" -> {result.alias()}"
        return self.emit([result], f"map {formula}{widened}", operands)

    def reduce(self, name, kind, axis, formula, indices=()):
        operands = self.operands(formula)
        kept = [a for a in join(operands, indices) if a.split("=")[0] != axis]
        return self.emit([self.array(name, kept)], f"reduce {kind} over({axis}) {formula}", operands)

    def scan(self, name, kind, axis, formula):
        operands = self.operands(formula)
        kind, *clauses = kind.split()
        return self.emit([self.array(name, join(operands))], " ".join(["scan", kind, *clauses, f"over({axis})", formula]), operands)

    def rope(self, array, clauses):
        return self.emit([self.array(array.name + "r", array.axes)], " ".join(["rope", "%" + array.name, *clauses]), [array])

    def align(self, array):
        axes = join([array._replace(axes=tuple("t" if a == "u" else a for a in array.axes))])
        return self.emit([self.array(array.name + "t", axes)], f"align %{array.name} to t", [array])

    def convolve(self, array, taps):
        return self.emit([self.array(array.name + "c", join([array, taps._replace(axes=taps.axes[:-1])]))],
                         f"convolve %{array.name}, %{taps.name}", [array, taps])

    def gated_sum(self, array, gates):
        return self.emit([self.array(array.name + "g", array.axes)], f"gated_sum %{array.name}, %{gates.name}", [array, gates])

    def normalize(self, kind, axis, array, epsilon, weight=None, bias=None):
        learned = [(word, a) for word, a in (("weight", weight), ("bias", bias)) if a]
        clauses = "".join(f" {word}(%{a.name})" for word, a in learned)
        operands = [array] + [a for _, a in learned]
        return self.emit([self.array(array.name + "n", join(operands))],
                         f"normalize {kind} over({axis}) %{array.name}{clauses} epsilon({epsilon})", operands)

    def recurrences(self, sums, query, key, value, clauses, decay=None):
        """sums: kinds of sums; the result of each, by kind. `clauses` say nothing of the decay."""
        summed = ("u", query.axes[-1])  # the channel of queries and keys
        rows = [a for a in join([query, key]) if a not in summed]
        axes = {"numerator": [a for a in join([query, key, value]) if a not in summed], "mass": rows,
                "count": [a for a in rows]}
        results = {kind: self.array(letter, axes[kind]) for kind, letter in
                   (("numerator", "n"), ("mass", "z"), ("count", "c")) if kind in sums}
        if decay:
            clauses = clauses + [f"decay(%{decay.name})"]
        extras = [a for a in self.operands(" ".join(clauses)) if a != decay]
        operands = [query, key, value] + ([decay] if decay else []) + extras
        which = "" if list(results) == ["numerator"] else f" [{', '.join(results)}]"
        self.emit(list(results.values()),
                  f"recurrences{which} %{query.name}, %{key.name}, %{value.name} {' '.join(clauses)}", operands)
        return results

    def write(self, name, results):
        used = {a.alias(): a.type() for a in self.arrays.values()}
        body = "\n".join(self.lines)
        arguments = ",\n    ".join(f"%{a.name}: {a.alias()}" + (f" from {source}" if source else "") for a, source in self.arguments)
        free = f" parameters({', '.join(f'{n} : index = {v}' for n, v in self.parameters)})" if self.parameters else ""
        yielded = ", ".join("%" + a.name for a in results) + " : " + ", ".join(a.alias() for a in results)
        text = f"taylor.spec @{name}({arguments}){free} {{\n{body}\n  taylor.yield {yielded}\n}}\n"
        aliases = [alias for alias in used if re.search(re.escape(alias) + r"\b", text)]
        return "".join(f"{alias} = {used[alias]}\n" for alias in sorted(aliases)) + "\n" + text
