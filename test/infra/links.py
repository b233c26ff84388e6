# RUN: %python %s %source_dir
"""Every relative link of every README leads to a file, and a heading of it, that is in the tree, every folder outside test/ that has files has a README, and
the README's specification is the one in examples/specs."""
import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def find(suffix):
    """Files of the tree; folders that other tests make and delete are not walked."""
    for folder, names, files in os.walk(root):
        if pathlib.Path(folder) == root:
            names[:] = [name for name in names if not re.match(r"(build|\.|runs)", name)]
        yield from (pathlib.Path(folder) / file for file in files if file.endswith(suffix))


pages = list(find(".md"))
assert root / "README.md" in pages
broken, links, anchors = [], 0, 0


def headings(page):
    """The anchors of a page, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.M)}


for page in pages:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)", text):
        if "://" in target:
            continue
        links += 1
        file = page.parent / target if target else page
        if not file.exists():
            broken.append(f"{page.relative_to(root)}: {target}")
        elif anchor and file.suffix == ".md":
            anchors += 1
            if anchor not in headings(file):
                broken.append(f"{page.relative_to(root)}: {target}#{anchor}")
assert not broken, "links to nothing: " + ", ".join(broken)
assert links > 10 and anchors > 10, (links, anchors)

# CONTRIBUTING.md names files in its text: where a change goes. NAME and FILE stand for the reader's own.
named = re.findall(r"`((?:cmake|codegen|dialect|examples|passes|runtime|test)/[^`\s]*)", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"))
gone = [name for name in named if not re.search(r"\b(NAME|FILE)\b|taylor-name", name) and not (root / name).exists()]
assert len(named) > 25 and not gone, f"CONTRIBUTING.md names {len(named)} files, of which these are not there: {gone}"

parts = ["cmake", "codegen", "dialect", "examples", "passes", "runtime", "trainer", "test"]
folders = [root / part for part in parts] + [x for part in parts[:-1] for x in (root / part).rglob("*") if x.is_dir()]
bare = [str(x.relative_to(root)) for x in folders if x.name != "__pycache__" and not (x / "README.md").exists()]
assert not bare, "folders without a README.md: " + ", ".join(bare)

# Nor does any text speak of a page that is not there; those in build/docs are generated.
names = {page.name for page in pages}
unknown = []
for suffix in ("md", "td", "h", "cpp", "c", "mlir", "py", "sh", "cmake", "txt", "toml"):
    for file in find(f".{suffix}"):
        if file.samefile(__file__):
            continue
        for name in re.findall(r"(?<![\w-])(?<!docs/)[A-Za-z][\w-]*\.md\b", file.read_text(encoding="utf-8", errors="replace")):
            if name not in names:
                unknown.append(f"{file.relative_to(root)}: {name}")
assert not unknown, "pages that are nowhere: " + ", ".join(unknown)


def statements(text):
    lines = (re.sub(r"\s+", " ", re.sub(r"//.*", "", line)).strip() for line in text.splitlines())
    return [line for line in lines if line]


readme = (root / "README.md").read_text(encoding="utf-8")
shown = re.search(r"```mlir\n(.*?)```", readme, re.S).group(1)
file = re.search(r"\]\((examples/specs/[a-z0-9-]+\.mlir)\)", readme).group(1)
assert statements(shown) == statements((root / file).read_text(encoding="utf-8")), f"README.md shows another text than {file}"
