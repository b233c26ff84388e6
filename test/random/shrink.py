# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing case smaller while it fails for the same reason: decisions go to their simplest option, many at a time first (Zeller and
Hildebrandt, Simplifying and Isolating Failure-Inducing Input), then one by one and by halves."""
import time

from generate import generate

TRIES, SECONDS = 200, 600


def shrink(judge, case, run, verdict):
    tries, begin = 0, time.monotonic()

    def attempt(changes):
        nonlocal case, verdict, tries
        given = {name: index for name, index in (case.choices.taken | changes).items()}
        if given == case.choices.taken or tries >= TRIES or time.monotonic() - begin > SECONDS:
            return False
        tries += 1
        smaller = generate(case.seed, given)
        if run not in smaller.runs:
            return False
        other = judge.judge_again(smaller, run, judge.run(smaller, run))
        if (other.kind, other.reason) != (verdict.kind, verdict.reason):
            return False
        # Decisions that are no longer asked for are dropped.
        case, verdict = generate(case.seed, smaller.choices.taken), other
        return True

    def open_decisions():
        return [name for name, index in case.choices.taken.items() if index]

    size = max(1, len(open_decisions()) // 2)
    while True:
        names, progress = open_decisions(), False
        for start in range(0, len(names), size):
            progress |= attempt({name: 0 for name in names[start:start + size]})
        if size > 1:
            size //= 2
        elif not progress:
            break
    for name in open_decisions():
        while index := case.choices.taken.get(name, 0):
            if not attempt({name: index // 2}) and not attempt({name: index - 1}):
                break
    return case, verdict
