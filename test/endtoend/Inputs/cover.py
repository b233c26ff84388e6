# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Covering arrays: few cases in which every allowed combination of levels of any `strength` factors occurs."""
import itertools


def cover(factors, strength, allowed=lambda case: True, once=None, apart=()):
    """factors: {name: [levels]}; allowed judges partial cases too (missing factors may be anything). Deterministic, greedy.
    once: a factor of which each level has one case; what occurs is then as much as these have room for.
    apart: groups of factors whose combinations need not occur."""
    names = list(factors)
    missing = {}
    for group in itertools.combinations(names, strength):
        if any(set(pair) <= set(group) for pair in apart):
            continue
        for levels in itertools.product(*(factors[n] for n in group)):
            combination = dict(zip(group, levels))
            if allowed(combination):
                missing[tuple(combination.items())] = None  # a dict keeps the order, so every run gives the same cases
    cases = []
    single = [{once: level} for level in factors[once]] if once else []
    while single if once else missing:
        # Start from a combination that is still missing, and give each other factor the level that covers most.
        case = single.pop(0) if once else dict(next(iter(missing)))
        for name in names:
            if name in case:
                continue
            others = [n for n in names if n in case]
            best, best_gain = None, -1
            for offset in range(len(factors[name])):
                level = factors[name][(offset + len(cases)) % len(factors[name])]
                trial = {**case, name: level}
                if not allowed(trial):
                    continue
                gain = 0
                for group in itertools.combinations(others, strength - 1):
                    key = tuple((n, trial[n]) for n in names if n in group or n == name)
                    gain += key in missing
                if gain > best_gain:
                    best, best_gain = level, gain
            if best_gain < 0:
                raise ValueError(f"requires a level of {name} that is allowed beside {case}")
            case[name] = best
        cases.append({n: case[n] for n in names})
        for group in itertools.combinations(names, strength):
            missing.pop(tuple((n, case[n]) for n in group), None)
    return cases


def cover_few_kernels(factors, run, allowed, apart):
    """Combinations of two, as cover, where compiling takes longest: `run` names the factors that no kernel depends on. Kernels are a cover of the
    other factors without the pairs `apart`; what those kernels cannot have is left out, and all else occurs."""
    kernels = cover({name: levels for name, levels in factors.items() if name not in run}, 2, allowed, apart=apart)

    def possible(case):
        return any(all(kernel[name] == case[name] for name in kernel if name in case) and allowed({**kernel, **case}) for kernel in kernels)

    return cover(factors, 2, possible)
