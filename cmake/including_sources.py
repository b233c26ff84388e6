# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: ninja -C build -t deps | including_sources.py HEADER..: the .cpp files of a build that include headers of the
project, one a line, to check a header by. Names are relative to the source tree, of which the build is a subfolder.

Of a header that more than 20 files include, 5: that of the header's own name, then the first by name. A line on stderr
says of each header how many files include it, and how many are listed."""
import os
import sys

MOST, FEW = 20, 5


def read(lines):
    """What each source includes: after `passes/..dir/States/SplitSums.cpp.o: #deps ..` stand lines `  ../passes/States/SplitSums.cpp`, and headers."""
    objects, including = {}, {}
    for line in lines:
        if not line.startswith(" "):
            names = objects.setdefault(line.partition(".o: #deps")[0], [])
        elif line.strip().startswith("../"):
            names.append(line.strip()[3:])
    for name, names in objects.items():
        for source in [one for one in names if one.endswith(".cpp") and os.path.basename(one) == os.path.basename(name)][:1]:
            including.setdefault(source, set()).update(names)
    return including


def choose(header, including):
    """Its sources, those to check first."""
    own = header.removesuffix(".h") + ".cpp"
    return sorted((source for source, names in including.items() if header in names), key=lambda source: (source != own, source))


def main(arguments):
    if not arguments or any(argument.startswith("-") for argument in arguments):
        sys.exit(print(__doc__) if arguments in (["-h"], ["--help"]) else f"error: expected headers\n{__doc__}")
    including, chosen = read(sys.stdin), set()
    for header in arguments:
        sources = choose(header, including)
        few = sources if len(sources) <= MOST else sources[:FEW]
        which = f"the first {FEW} of them are checked" if len(few) < len(sources) else "all are checked" if sources else "it is not checked"
        print(f"style: files of the build that include {header}: {len(sources)}; {which}", file=sys.stderr)
        chosen.update(few)
    for source in sorted(chosen):
        print(source)


if __name__ == "__main__":
    main(sys.argv[1:])
