# RUN: %python %s %source_dir
"""Every relative link of every README leads to a file that is in the tree, and the README's specification is the one in examples/specs."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = [page for page in root.rglob("*.md") if not re.match(r"(build|\.|runs)", str(page.relative_to(root)))]
assert root / "README.md" in pages
broken, links = [], 0
for page in pages:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" in target:
            continue
        links += 1
        if not (page.parent / target).exists():
            broken.append(f"{page.relative_to(root)}: {target}")
assert not broken, "links to nothing: " + ", ".join(broken)
assert links > 10, links


def statements(text):
    lines = (re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in text.splitlines())
    return [line for line in lines if line]


readme = (root / "README.md").read_text(encoding="utf-8")
shown = re.search(r"```mlir\n(.*?)```", readme, re.S).group(1)
file = re.search(r"\]\((examples/specs/[a-z0-9-]+\.mlir)\)", readme).group(1)
assert statements(shown) == statements((root / file).read_text(encoding="utf-8")), f"README.md shows another text than {file}"
