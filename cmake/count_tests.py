"""usage: count_tests.py RESULTS.json STATUS [RESULTS.json STATUS ..]: prints `N passed, N failed` from the JSON of runs
of lit. Exits 0 only if in each run some test passed, none failed, and lit's own exit status was 0. Tests that neither
passed nor failed are listed before that line."""
import collections
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
NOT_RUN = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"error: expected lit's results in {path}, but got {error}")
        return []


def count(path, status):
    """Passed and failed tests of one run, whose other tests are listed."""
    tests = read(path)
    codes = collections.Counter(test["code"] for test in tests)
    passed = sum(codes[code] for code in PASSED)
    failed = sum(number for code, number in codes.items() if code not in PASSED | NOT_RUN)
    for test in tests:
        if test["code"] not in PASSED | NOT_RUN:
            print(f"{test['code']}: {test['name']}")
        elif test["code"] in NOT_RUN:
            print(f"not run here ({test['code'].lower()}): {test['name']}")
    if failed == 0 and (passed == 0 or status != 0):
        # Nothing ran, or lit failed beside its tests: never a success.
        print(f"error: expected tests to run, but lit exited with {status} and {passed} passed")
        failed = 1
    return passed, failed


def main(arguments):
    counts = [count(path, int(status)) for path, status in zip(arguments[::2], arguments[1::2])]
    passed, failed = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
