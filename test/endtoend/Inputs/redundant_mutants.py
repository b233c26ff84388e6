"""Mutants of test/endtoend/mutants.py that change nothing, and why: what nothing sees must stand here.

A place says what is synchronised before and after. Signals have the numbers in which the kernel initialises them: of a ring of two slots 0 (full)
and 1 (empty) of the first slot, to which the text adds the second one's distance, and 4, the producer's own; the next ring's are 5, 6 and 9."""
import fnmatch
from typing import NamedTuple


class Entry(NamedTuple):
    cases: tuple  # of Inputs/mutant_cases.py
    what: str
    place: str
    reason: str

    @property
    def is_rule(self):
        """Of several mutants, by patterns: a rule of the machine."""
        return "*" in self.what + self.place

    def matches(self, what, place):
        return fnmatch.fnmatchcase(what, self.what) and fnmatch.fnmatchcase(place, self.place)


ROWS, PLACES = ("forward", "forward, overlap", "dq"), ("forward, persistent", "dq, persistent", "dk and dv, persistent")
ROLES = ROWS + ("dk and dv", "states") + PLACES
PAIRS = ("dk and dv", "dk and dv, persistent")
COMPUTED = ("forward, computed", "dq, computed", "dk and dv, computed")
NO_ROLES = ("forward, no roles", "dq, no roles", "dk and dv, no roles")
ALL = ROLES + COMPUTED + NO_ROLES
WIDE = "128 bytes hold all 64 columns of a matrix, so there is no second panel to which this offset leads."
VIRTUAL = ("The interpreter's registers are virtual: it knows the pool, not what a warp needs. With fewer a text is not wrong; ptxas allots registers by "
           "these numbers, and roles-ptxas.py says that they add up to what a multiprocessor has.")
LAST = "A member passes by the last uses of a ring alone, at most as many as it has slots: no one fills these slots again."
PASSED = "A use that this member passes by is read, awaited and released by another one, so that its slot is not filled again before it is full."
ONCE = "A member passes by one use at the end of a place at most, so that this number, of the loop over such uses alone, is read before it counts."
EMPTY = "On this path no copy was started: the loop that would read them has no iteration, or this is its last one. The group is empty."
NO_WRITE = "Since the fence of the product before, of the same straight line, no instruction has touched a register of this product."
CLOSED = "The next commit, of the same straight line, closes this group too, and the wait after it is for all groups."
HEADS = "No block asks for a head beyond the last one."
NO_READ = "Of a use that is passed by no lane reads anything, which an arrival would have to tell."
OWN = ("Each thread rotates, by the same address, the keys that it copied itself, and the eight threads of a line are in all banks with or without this "
       "part of the address.")
UNCUT = "A tile of a chunk ends with the chunk, which is a number of whole tiles, or beyond the array: the producer writes no row of zeros itself."
LAUNCH = "A kernel that does not let the next one in is over before that one begins: slower, and as right."

REDUNDANT = [
    # Rules of the machine
    Entry(tuple(case for case in ALL if case != "states"), "descriptor: ?, K-major: LBO by *", "step * of *", "PTX ISA, matrix descriptor: with a swizzle the leading offset of a K-major matrix is not used."),
    Entry(ALL, "descriptor: b, MN-major: LBO by *", "step * of m64n64k16, *", WIDE),
    Entry(ROLES, "other registers: none", "setmaxnreg.inc *", VIRTUAL),
    Entry(ROLES, "other registers: -8", "setmaxnreg.inc *", VIRTUAL),
    Entry(ROLES, "other registers: -8", "setmaxnreg.dec *", VIRTUAL),
    Entry(ROLES, "tensor map: heads +1", "map *", HEADS),

    # Members that pass by what only others read
    Entry(ROWS, "no arrival", "mbarrier.arrive 1, after mbarrier.try_wait 0, before mbarrier.try_wait 5", LAST),
    Entry(("forward",), "no arrival", "mbarrier.arrive 6, after mbarrier.try_wait 5, before setmaxnreg.dec 32", LAST),
    Entry(("forward, overlap", "dq"), "no arrival", "mbarrier.arrive 6, after mbarrier.try_wait 5, before fence.proxy", LAST),
    Entry(("forward, overlap",), "no arrival", "mbarrier.arrive 6, after wgmma.wait_group 0, before mbarrier.try_wait 0",
          "What the last products read, after the loop, no one fills again."),
    Entry(("dq",), "another signal: +16", "mbarrier.try_wait 0, after setmaxnreg.dec 32, before mbarrier.arrive 1", PASSED),
    Entry(("dq",), "another signal: +16", "mbarrier.try_wait 5, after mbarrier.arrive 1, before mbarrier.arrive 6", PASSED),
    Entry(("dk and dv",), "another signal: +16", "mbarrier.try_wait 0, after bar.sync, before mbarrier.arrive 1", PASSED),
    Entry(("dk and dv",), "another signal: +16", "mbarrier.try_wait 5, after mbarrier.arrive 1, before mbarrier.arrive 6", PASSED),
    Entry(PAIRS, "another signal: +16", "mbarrier.try_wait 10, after mbarrier.arrive 6, before bar.warp.sync", PASSED),
    Entry(("dk and dv",), "another signal: +16", "mbarrier.try_wait 10, after mbarrier.arrive 6, before bar.warp.sync (2)", PASSED),
    Entry(PAIRS, "a wait that goes on", "mbarrier.try_wait 5, after mbarrier.arrive 1, before mbarrier.arrive 6", PASSED),
    Entry(PAIRS, "a wait that goes on", "mbarrier.try_wait 10, after mbarrier.arrive 6, before bar.warp.sync", PASSED),
    Entry(PAIRS, "a wait that goes on", "mbarrier.try_wait 14, after mbarrier.arrive 11, before bar.warp.sync", PASSED),
    Entry(PAIRS, "a wait that goes on", "mbarrier.try_wait 14, after mbarrier.arrive 11, before bar.warp.sync (2)", PASSED),
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.try_wait 10, before mbarrier.arrive 11", NO_READ),
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.try_wait 10, before mbarrier.arrive 11 (2)", NO_READ),
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.try_wait 14, before mbarrier.arrive 15", NO_READ),
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.try_wait 14, before mbarrier.arrive 15 (2)", NO_READ),

    Entry(("forward, overlap",), "a wait that goes on", "mbarrier.try_wait 0, after mbarrier.arrive 6, before mbarrier.arrive 1", PASSED),
    Entry(("forward, persistent",), "a counter that stays", "after mbarrier.arrive 6, before setmaxnreg.dec 32", ONCE),
    Entry(("dk and dv, persistent",), "a counter that stays", "after mbarrier.arrive 15, before setmaxnreg.dec 40 (2)", ONCE),

    # What the order of others keeps
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.try_wait 10, before mbarrier.arrive 15",
          "The producer waits for signal 11 before 15, and the barrier before the arrival at 11 orders the reads of both."),
    Entry(PAIRS, "no barrier of the warp", "bar.warp.sync, after mbarrier.arrive 15, before mbarrier.arrive 11",
          "Between the barrier before the arrival at 15 and this one no lane reads shared memory."),
    Entry(("dq", "dq, persistent"), "a wait that goes on", "mbarrier.try_wait 6, after mbarrier.arrive 0, before elect.sync",
          "The producer waits for the slot of keys first, which members release after that of the same tile's values: dq is their last product."),
    Entry(("states",), "a wait that goes on", "mbarrier.try_wait 6, after mbarrier.arrive 0, before cp.async.cg",
          "The producer waits for the slot of values first, which members release after the vectors of the same tile."),
    Entry(("dk and dv",), "a wait that goes on", "mbarrier.try_wait 11, after mbarrier.arrive, before cp.async.ca",
          "The producer waits for the slot of queries first, which members release after the scalars of the same tile."),
    Entry(PAIRS, "no arrival", "cp.async.mbarrier.arrive 10, after cp.async.ca, before bar.warp.sync",
          "The arrival of the second scalars, for which members wait before they read the first ones, waits for the pieces of both."),

    # Products and groups
    Entry(("dq", "dq, persistent", "forward, overlap"), "no fence", "wgmma.fence, after mbarrier.try_wait 5, before wgmma.commit_group", NO_WRITE),
    Entry(("dq, computed", "dk and dv", "dk and dv, persistent", "dk and dv, computed", "dq, no roles", "dk and dv, no roles"), "no fence", "wgmma.fence, after wgmma.commit_group, before wgmma.commit_group", NO_WRITE),
    Entry(("dk and dv, computed", "dk and dv, no roles"), "no fence", "wgmma.fence, after wgmma.commit_group, before wgmma.commit_group (2)", NO_WRITE),
    Entry(PAIRS, "no fence", "wgmma.fence, after mbarrier.try_wait 5, before wgmma.commit_group", NO_WRITE),
    Entry(("dk and dv", "dk and dv, persistent", "dk and dv, computed", "dk and dv, no roles"), "no commit", "wgmma.commit_group, after wgmma.fence, before wgmma.fence", CLOSED),
    Entry(("dk and dv, computed",), "no commit", "wgmma.commit_group, after wgmma.fence, before wgmma.fence (2)", CLOSED),
    Entry(PAIRS, "no commit", "wgmma.commit_group, after wgmma.fence, before mbarrier.try_wait 5", CLOSED),
    Entry(("forward, no roles",), "no commit", "cp.async.commit_group, after wgmma.wait_group 0, before the end", EMPTY),
    Entry(("dq, no roles",), "no commit", "cp.async.commit_group, after wgmma.wait_group 1, before the end", EMPTY),
    Entry(("dk and dv, no roles",), "no commit", "cp.async.commit_group, after cp.async.cg, before bar.sync 0",
          "A head of which a block of keys has no query reads nothing: what was started belongs to the next commit then, and its wait."),
    Entry(("dk and dv, computed",), "no commit", "cp.async.commit_group, after cp.async.cg, before cp.async.cg", EMPTY),
    *(Entry(("forward, overlap",), f"descriptor: b, MN-major: {field}", f"step {step} of m64n64k16, after mbarrier.try_wait 5, before wgmma.commit_group (2)",
            "The last tile ends before the keys of this step: their weights are 0, and times another row 0, too.")
      for field, step in [("SBO by 2048", 6), ("start by 1024", 7), ("SBO by 2048", 7)]),

    # Swizzles
    *(Entry((case,), "no swizzle", place, OWN)
      for case, place in [("forward, computed", "after the entry, before griddepcontrol.wait (2)"),
                          ("dq, computed", "after the entry, before griddepcontrol.launch_dependents (3)"),
                          ("dk and dv, computed", "after the entry, before griddepcontrol.wait (5)")]),

    # Rows that end within an array
    Entry(("states",), "another signal: +16", "mbarrier.test_wait 4, after cp.async.bulk 0, before bar.warp.sync", UNCUT),
    Entry(("states",), "no barrier of the warp", "bar.warp.sync, after fence.proxy, before mbarrier.arrive 0", UNCUT),

    # The call
    *(Entry(("states",), f"tensor map: tokens {change}", "map 0", "Only the last chunk ends with the array, and no query reads what it leaves behind.")
      for change in ("-1", "+1")),
    Entry(PAIRS, "tensor map: tokens +1", "map 0",
          "One row more is read from the array after rotated queries in the workspace; the mask hides queries past the last one."),
    Entry(("dq, computed",), "no dependency", "griddepcontrol.launch_dependents, after the entry, before griddepcontrol.wait", LAUNCH),
    Entry(("dq, persistent",), "no dependency", "griddepcontrol.launch_dependents, after the entry, before mbarrier.init 0", LAUNCH),
]
