# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages from the Markdown files of the tree, which Sphinx then reads in one folder: each link leads to a page, to a page that shows a source file, or to a
picture. A file keeps its text; only what its links lead to is written anew."""
import os
import pathlib
import re

CODE = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$|`[^`\n]+`)", re.S | re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
ATTRIBUTE = re.compile(r'\b(href|src)="([^"]+)"')
LANGUAGES = {".mlir": "mlir", ".py": "python", ".h": "cpp", ".cpp": "cpp", ".c": "c", ".td": "text", ".sh": "sh", ".toml": "toml", ".json": "json", ".cmake": "cmake",
             ".test": "text", ".cff": "yaml", ".csv": "text", "": "text", ".txt": "text"}
PICTURES = (".svg", ".png")


class Pages:
    def __init__(self, root, folder, extra):
        self.root, self.folder, self.extra = root, folder, extra
        self.names = {}    # file -> name of its page, without a suffix
        self.texts = {}    # name -> text
        self.sources = {}  # file -> name of the page that shows it
        self.faults = []

    def add(self, file, name, text=None):
        file = file.resolve()
        self.names[file], self.texts[name] = name, (file, text)

    def add_tree(self):
        """Every Markdown file of the repository, under its own path."""
        for folder, names, files in os.walk(self.root):
            if pathlib.Path(folder) == self.root:
                names[:] = [name for name in names if not re.match(r"(build|\.|runs)", name)]
            for file in sorted(files):
                path = pathlib.Path(folder, file)
                if path.suffix == ".md" and path.resolve() not in self.names:
                    self.add(path, path.relative_to(self.root).with_suffix("").as_posix())

    def show_source(self, file):
        """The name of a page that shows the file, or a folder's files."""
        relative = file.relative_to(self.root).as_posix()
        name = self.sources.setdefault(file, f"source/{relative}")
        return name

    def write_sources(self):
        for file, name in self.sources.items():
            relative = file.relative_to(self.root).as_posix()
            if file.is_dir():
                body = "\n".join(f"* `{path.name}`" for path in sorted(file.iterdir()) if not path.name.startswith((".", "__")))
            else:
                text = file.read_text(encoding="utf-8").rstrip("\n")
                fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
                body = f"{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}\n{fence}"
            self.write(name, f"---\norphan: true\nno-search: true\n---\n# {relative}\n\n{body}\n")

    def write(self, name, text):
        path = self.folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        # Sphinx reads again what is newer.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def copy(self, file, base, name):
        target = base / name
        target.parent.mkdir(parents=True, exist_ok=True)
        data = file.read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.write_bytes(data)

    def resolve(self, file, name, target, raw):
        """What a link of the page becomes; `raw`: in HTML that Sphinx hands on as it is."""
        if re.match(r"[a-z]+:|#", target):
            return target
        place, mark, anchor = target.partition("#")
        real = (file.parent / place).resolve()
        if real.is_dir() and (real / "README.md") in self.names:
            real = real / "README.md"
        here = pathlib.PurePosixPath(name).parent
        to = lambda path: os.path.relpath(path, here).replace(os.sep, "/")
        if real in self.names:
            return to(self.names[real]) + (".html" if raw else ".md") + mark + anchor
        if raw and (self.extra / here / place).exists():
            return target
        if not real.exists():
            self.faults.append(f"{file}: expected a file of this tree, but got a link to {target}")
            return target
        if real.suffix in PICTURES:
            inside = real.is_relative_to(self.root)
            picture = f"pictures/{real.relative_to(self.root).as_posix()}" if inside else f"{here}/{place}"
            self.copy(real, self.extra if raw else self.folder, picture)
            return to(picture)
        if not real.is_relative_to(self.root):
            self.faults.append(f"{file}: expected a file of this tree, but got a link to {target}")
            return target
        return to(self.show_source(real)) + (".html" if raw else ".md")

    def rewrite(self, file, name, text):
        def link(match):
            mark, words, target = match.groups()
            words = LINK.sub(link, words) if "](" in words else words
            return f"{mark}[{words}]({self.resolve(file, name, target, False)})"

        def attribute(match):
            return f'{match[1]}="{self.resolve(file, name, match[2], True)}"'

        # Links may hold code (`[`name`](target)`), so code is put away first and back afterwards.
        code = []

        def away(match):
            code.append(match[0])
            return f"\0{len(code) - 1}\0"

        text = CODE.sub(away, text)
        text = ATTRIBUTE.sub(attribute, LINK.sub(link, text))
        return re.sub(r"\0(\d+)\0", lambda match: code[int(match[1])], text)

    def write_all(self):
        """Writes every page; returns the faults."""
        for name, (file, text) in self.texts.items():
            text = file.read_text(encoding="utf-8") if text is None else text
            self.write(name, self.rewrite(file, name, text))
        self.write_sources()
        wanted = {f"{name}.md" for name in [*self.texts, *self.sources.values()]}
        for path in self.folder.rglob("*.md"):
            if path.relative_to(self.folder).as_posix() not in wanted:
                path.unlink()
        return self.faults
