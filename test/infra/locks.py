# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %source_dir
"""The locks of Python packages fit what was chosen, each other, and what is installed where tests run."""
import importlib.metadata
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1], "cmake/python")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def choices(file):
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", (folder / file).read_text(), re.M)}


def locked(file):
    """Name to version; each has a hash or more."""
    result = {}
    for entry in re.split(r"^(?=[\w.-]+==)", (folder / file).read_text(), flags=re.M):
        if found := re.match(r"([\w.-]+)==(\S+) \\\n", entry):
            assert normal(found[1]) not in result, entry
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
            result[normal(found[1])] = found[2]
        else:
            assert not entry.strip(), f"expected packages with hashes in {file}, but got {entry!r}"
    return result


site = locked("site.lock")
assert choices("site.in").items() <= site.items(), choices("site.in").items() - site.items()
assert choices("site.in").items() <= choices("tests.in").items(), choices("site.in").items() - choices("tests.in").items()
quickstart, tests = locked("quickstart.lock"), locked("tests.lock")
assert quickstart == choices("quickstart.in"), (quickstart, choices("quickstart.in"))
assert choices("tests.in").items() <= tests.items(), choices("tests.in").items() - tests.items()
assert quickstart.items() <= tests.items(), quickstart.items() - tests.items()
installed = {normal(x.metadata["Name"]): x.version for x in importlib.metadata.distributions()}
different = {name: (version, installed[name]) for name, version in tests.items() if name in installed and installed[name] != version}
assert not different, f"other versions than the lock's: {different}; ./test.sh installs those"
