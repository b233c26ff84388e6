# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of unittest in parts: `SHARDS: N` in the file, and TAYLOR_SHARD=%shard in its RUN line. Each test method runs in one of the parts; one that
is @divided runs in all of them, each time with its share of cases."""
import os
import sys
import unittest

SHARD, SHARDS = map(int, os.environ.get("TAYLOR_SHARD", "0/1").split("/"))


def mine(items):
    """This part's share."""
    return list(items)[SHARD::SHARDS]


def divided(method):
    method.divided = True
    return method


def main():
    """In place of unittest.main(); with names of tests on the command line it is that."""
    if sys.argv[1:]:
        unittest.main()
    chosen, whole = unittest.TestSuite(), 0
    module = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    for case in (case for suite in module for case in suite):
        if getattr(getattr(case, case._testMethodName), "divided", False):
            chosen.addTest(case)
        else:
            if whole % SHARDS == SHARD:
                chosen.addTest(case)
            whole += 1
    result = unittest.TextTestRunner().run(chosen)
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
