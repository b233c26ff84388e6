# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many cases in one process of taylor-run (--cases): it starts once, compiles each kernel once, and evaluates the reference of each
problem once."""
import re
import subprocess
from typing import NamedTuple


REFUSED = 3  # the exit status of taylorc and taylor-run where something is refused on purpose (TAYLOR_REFUSED of runtime/taylor.h)


class Result(NamedTuple):
    passed: bool
    output: str  # of both streams
    refused: bool = False  # by the compiler, on purpose


def run_cases(command, lines, **options):
    """command: the program and the arguments that all cases share; lines: those of each case. A process that ends within a case fails
    in that case and in those after it."""
    done = subprocess.run([*map(str, command), "--cases=-"], input="\n".join(lines) + "\n", text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    results, end = [], 0
    for i in range(1, len(lines) + 1):
        start = done.stdout.find(f"case {i} of {len(lines)}: ", end)
        verdict = re.compile(rf"^case {i}: (ok|FAILED|refused)$", re.M).search(done.stdout, max(start, end)) if start >= 0 else None
        if verdict:
            results.append(Result(verdict[1] == "ok", done.stdout[done.stdout.index("\n", start) + 1:verdict.start()], verdict[1] == "refused"))
            end = verdict.end()
        else:
            results.append(Result(False, f"{done.stdout[max(start, end):]}\ntaylor-run ended with status {done.returncode} in case {i} of {len(lines)}"
                                  if start >= 0 or i == 1 else "was not reached"))
    assert done.returncode == 0 or not all(result.passed for result in results), done.stdout
    return results
