# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables and the results' file."""
import json
import math


def check_table(rows):
    """One line per artifact's case, the result nearest to its bound; wrong ones all."""
    lines = [f"{'case':44} {'nearest to its bound':24} {'error':>10} {'allowed':>10}"]
    by_case = {}
    for row in rows:
        by_case.setdefault(row["case"], []).append(row)
    for case, results in by_case.items():
        wrong = [row for row in results if row["verdict"] != "ok"]
        worst = max(results, key=lambda row: row["error"] / row["allowed"] if row["allowed"] else 0)
        for row in wrong or [worst]:
            lines.append(f"{case:44} {row['slot']:24} {row['error']:10.3e} {row['allowed']:10.3e}  {row['verdict']}")
    return "\n".join(lines)


def time_table(rows, skipped):
    """For each head size and direction: contenders by lengths, milliseconds and how many times as fast as the base."""
    lines = []
    for d in sorted({row["d"] for row in rows}):
        for direction in ("forward", "backward"):
            some = [row for row in rows if row["d"] == d and row["direction"] == direction]
            lengths = sorted({row["t"] for row in some})
            bases = sorted({row["base"] for row in some if row["base"]})
            lines.append(f"\n{direction}, d = {d}, causal, bf16: milliseconds" + (f" (times as fast as {' or '.join(bases)})" if bases else ""))
            lines.append(f"{'':40}" + "".join(f"{f't = {t}':>18}" for t in lengths))
            for name in dict.fromkeys(row["contender"] for row in some):
                cells = {row["t"]: row for row in some if row["contender"] == name}
                text = [f"{cells[t]['ms']:.3f}" + (f" ({cells[t]['speed']:.2f})" if cells[t]["speed"] else "") if t in cells else "-" for t in lengths]
                lines.append(f"{name:40}" + "".join(f"{cell:>18}" for cell in text))
    reasons = {}
    for row in skipped:
        reasons.setdefault((row["contender"], row["reason"]), []).append(f"{row['t']}/{row['d']}")
    if reasons:
        lines.append("\nnot timed (t/d):")
        lines += [f"  {contender} at {', '.join(where)}: {reason}" for (contender, reason), where in reasons.items()]
    return "\n".join(lines)


def form_table(rows):
    """For each setting, head size and direction: the chunked form's time over the parallel one's, measured and estimated, by lengths."""
    lengths = sorted({row["t"] for row in rows})
    lines = ["\nchunked over parallel: milliseconds of both, how many times as long, and what the compiler's costs say"] if rows else []
    for key in dict.fromkeys((row["setting"], row["d"], row["direction"]) for row in rows):
        cells = {row["t"]: row for row in rows if (row["setting"], row["d"], row["direction"]) == key}
        lines.append(f"{key[0]}, d = {key[1]}, {key[2]}")
        for t in lengths:
            if t in cells:
                row = cells[t]
                lines.append(f"  t = {t:6}  {row['ms']['chunked']:9.3f} {row['ms']['parallel']:9.3f}  {row['measured']:7.3f}  {row['estimated']:7.3f}")
    return "\n".join(lines)


def finite(value):
    """JSON has no NaN and no infinities: null."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(path, results):
    """JSON, replaced whole."""
    temporary = path.with_name(path.name + ".partial")
    temporary.write_text(json.dumps(finite(results), indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
