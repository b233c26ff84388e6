# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`Spec.plot`: what `Spec.weights` computes, drawn by matplotlib where it is installed."""
from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from .spec import Spec
    from .weights import Weights


def _drawing() -> Any:
    """The class of figures. It is the module's own by name, so that they can be pickled, and made when matplotlib is there."""
    from matplotlib.figure import Figure  # type: ignore[import-not-found]

    class Drawing(Figure):  # type: ignore[misc]
        """A notebook shows it, whether pyplot has been set up there or not."""

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    Drawing.__qualname__ = "Drawing"
    return globals().setdefault("Drawing", Drawing)


def __getattr__(name: str) -> Any:
    if name == "Drawing":
        return _drawing()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def figure(spec: Spec, compute: Callable[[], list[Weights]]) -> Any:
    """A matplotlib Figure: a line of two drawings for each sum over keys."""
    try:
        drawing = _drawing()
    except ImportError:
        raise ImportError("requires matplotlib: pip install matplotlib; the numbers alone are those of "
                          f"{spec.name}.weights()") from None

    weights = compute()
    result = drawing(figsize=(9.0, 3.0 * len(weights)), layout="constrained")
    result.suptitle(spec.name)
    for (left, right), one in zip(result.subplots(len(weights), 2, squeeze=False), weights):
        left.plot(one.scores.tolist(), one.of_scores.tolist())
        left.set(title=f"weight of a score, {one.name}", xlabel="score s", ylabel="w(s)")
        rows = one.row.tolist()
        for head, row in enumerate(rows):
            if row not in rows[:head]:  # heads that are alike are drawn once
                right.plot(range(len(row)), row, label=f"head {head}")
        right.set(title=f"weights of the last query, {one.name}", xlabel="key u", ylabel="w")
        if any(row != rows[0] for row in rows):
            right.legend()
    return result
