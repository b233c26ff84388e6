# RUN: %python %s %build_dir/docs
# REQUIRES: compiler
"""Every op and pass that the generated pages list has a description of its own with an example, a pass one of IR before and after,
and every page is about something."""
import pathlib
import re
import sys

pages = sorted(pathlib.Path(sys.argv[1]).glob("*.md"))
assert pages, f"expected pages in {sys.argv[1]}, but got none"
lacking = []
for page in pages:
    text = page.read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.M)[1:]
    assert sections, f"expected ops or passes in {page.name}, but got none"
    for section in sections:
        name = section.split("\n", 1)[0]
        # What stands before the generated tables, without the summary line and the syntax.
        body = re.split(r"^(?:#### |Interfaces: |Traits: )", section, flags=re.M)[0].split("\n", 1)[1]
        body = re.sub(r"^Syntax:\n\n```.*?```", "", body, flags=re.S | re.M)
        body = re.sub(r"^_.*_$", "", body, flags=re.M).strip()
        if not name.startswith("`"):
            continue
        isPass, isOp = name.startswith("`-"), name.endswith("Op)")
        # The scalars of a formula have theirs in the text: `%y = taylor.sigmoid %x : f64`.
        example = re.search(r"^ *//.*\bbecomes\b", body, re.M) if isPass else "```mlir" in body or "`%" in body
        if len(body) < 40 or ((isPass or isOp) and not example):
            lacking.append(f"{page.name}: {name}")
assert not lacking, "without a description or an example: " + ", ".join(lacking)
print(f"{len(pages)} pages")
