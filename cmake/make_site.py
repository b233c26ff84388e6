# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the site: BUILD/site, pages of HTML that ask no other host for anything.

Run by `cmake --build build --target site`. The Python that runs it has torch, and runs the tutorials and the gallery.
Sphinx is that of BUILD/site-python if that is an environment, else that of this Python. Warnings are errors. The output
of tutorials and gallery is kept in BUILD/site-work, and used again if nothing that they read has changed.
"""
import argparse
import ast
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "cmake" / "site"))
import generated
import notebooks
import pages


def find_sphinx(build, programs):
    """The Python that has Sphinx."""
    own, *others = [folder / "site-python" / "bin" / "python3" for folder in (build, programs)]
    python = next((str(path) for path in (own, *others) if path.exists()), sys.executable)
    if subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], capture_output=True).returncode != 0:
        sys.exit(f"error: requires Sphinx, MyST and furo in {python} to make the site; this makes an environment that has them:\n"
                 f"  {sys.executable} -m venv {own.parents[1]}\n"
                 f"  {own} -m pip install --no-deps --require-hashes -r {ROOT / 'cmake/python/site.lock'}")
    return python


class Site:
    def __init__(self, build, programs, only_pages):
        self.root, self.build, self.programs, self.only_pages = ROOT, build, programs, only_pages
        self.work = build / "site-work"
        self.folder, self.extra = self.work / "pages", self.work / "extra"
        self.environment = {**os.environ, "TAYLOR_LIB": str(programs / "lib"), "TAYLORC": str(programs / "bin" / "taylorc"),
                            "PATH": f"{programs / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONPATH": str(ROOT / "runtime" / "python"),
                            "PYTHONDONTWRITEBYTECODE": "1"}

    def program(self, name):
        path = self.programs / "bin" / name
        if not path.exists():
            sys.exit(f"error: requires {path} to make the site; cmake --build {self.build} --target {name}")
        return str(path)

    def python_kinds(self, module):
        """{name: function, class or data} of a module of the package."""
        tree = ast.parse((ROOT / f"runtime/python/taylor_attention/{module}.py").read_text(encoding="utf-8"))
        kinds = {ast.FunctionDef: "function", ast.ClassDef: "class"}
        return {node.name: kinds[type(node)] for node in tree.body if type(node) in kinds}

    def version(self):
        return re.search(r"project\(Taylor VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

    def run(self, *command, what):
        done = subprocess.run([str(word) for word in command], env=self.environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout.rstrip()}\nerror: {what} failed ({done.returncode})")

    def sum_of(self, *files):
        """Of all that a run reads: the files, the package, and the compiler."""
        total = hashlib.sha256()
        for path in sorted({*files, *(ROOT / "runtime/python/taylor_attention").glob("*.py"), *(ROOT / "examples/specs").rglob("*.mlir")}):
            total.update(str(path).encode() + path.read_bytes())
        for path in (self.programs / "bin/taylorc", self.programs / "lib/_taylor.so"):
            total.update(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
        return total.hexdigest()

    def is_made(self, stamp, total):
        return stamp.exists() and stamp.read_text() == total

    def tutorials(self):
        """Runs each tutorial that has changed; {file: text with what its code printed}."""
        result = {}
        for page in sorted((ROOT / "examples" / "tutorials").glob("*.md")):
            if page.name == "README.md":
                continue
            output, stamp = self.work / "tutorials" / page.name, self.work / "tutorials" / f"{page.stem}.stamp"
            output.parent.mkdir(parents=True, exist_ok=True)
            total = self.sum_of(page, ROOT / "cmake/site/run_page.py")
            if not self.only_pages and not self.is_made(stamp, total):
                print(f"-- runs {page.relative_to(ROOT)}", flush=True)
                self.run(sys.executable, ROOT / "cmake/site/run_page.py", page.relative_to(ROOT), output, what=f"the tutorial {page.name}")
                stamp.write_text(total)
            result[page] = output.read_text(encoding="utf-8") if not self.only_pages else None
        return result

    def gallery(self):
        """The folder of the gallery's pages."""
        folder, stamp = self.work / "gallery", self.work / "gallery.stamp"
        examples = ROOT / "examples"
        total = self.sum_of(*examples.glob("*.py"), examples / "measured.json", ROOT / "runtime/lab/gpu-check/h200.json", *examples.glob("python/specs/**/*.py"),
                            *examples.glob("experiments/results/*.csv"), *examples.glob("experiments/figures/*.toml"))
        if not self.is_made(stamp, total):
            print("-- draws the gallery", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            self.run(sys.executable, examples / "gallery.py", "--output", folder, what="the gallery")
            stamp.write_text(total)
        return folder


def pass_page(text, title):
    """A page of passes as mlir-tblgen writes it, with a title."""
    return f"# {title}\n\n" + re.sub(r"^##(#+ )", r"#\1", text, flags=re.M)


def gallery_page(text):
    """A page of the gallery with its two texts in boxes: side by side where a window has the room (site.css)."""
    head, middle, tail = "<table><tr><th>dialect</th><th>Python</th></tr><tr><td>\n", "</td><td>\n", "</td></tr></table>\n"
    boxes = (head, '<div class="sides"><div>\n\nIn the dialect:\n'), (middle, "</div><div>\n\nIn Python:\n"), (tail, "</div></div>\n")
    if head in text:
        for old, new in boxes:
            text = text.replace(old, new)
    return text


def collect(site):
    """All pages of the site, by the files that they come from."""
    result = pages.Pages(ROOT, site.folder, site.extra)
    for file in sorted((ROOT / "cmake" / "site").glob("*.md")):
        if file.name != "README.md":
            text = file.read_text(encoding="utf-8")
            if site.only_pages:
                text = text.replace("gallery/index\n", "")
            result.add(file, file.stem, generated.fill(site, text))
    for file, text in site.tutorials().items():
        result.add(file, f"tutorials/{file.stem}", text)
    for file in sorted((ROOT / "examples" / "tutorials").glob("*.ipynb")):  # what they printed and drew is in them
        result.add(file, f"tutorials/{file.stem}", notebooks.page(file, site.extra / "tutorials"))
    for file in sorted((site.programs / "docs").glob("*.md")):
        text = re.sub(r"^<!--.*?-->\n|^\[TOC\]\n", "", file.read_text(encoding="utf-8"), flags=re.M | re.S)
        if not file.stem.startswith("dialect"):
            text = pass_page(text, f"Passes of {file.stem.removesuffix('-Passes').replace('-', '/')}")
        result.add(file, f"reference/{file.stem}", text)
    if not site.only_pages:
        for file in sorted(site.gallery().glob("*.md")):
            result.add(file, f"gallery/{file.stem}")
    result.add_tree()
    named = set(re.findall(r"^(?:[^\n<]*<)?([\w./-]+)>?$", "\n".join(re.findall(r"```\{toctree\}\n(.*?)```", result.texts["index"][1], re.S)), re.M))
    others = [name for name in result.texts if name not in named | {"index", "folders"} and not name.startswith("gallery/")]
    # A folder's own page, in an order of paths.
    file, text = result.texts["folders"]
    result.texts["folders"] = (file, text + "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(f"{name.removesuffix('/README')} <{name}>" for name in sorted(others)) + "\n```\n")
    for name in [name for name in result.texts if name.startswith("gallery/") and name != "gallery/index"]:
        file, _ = result.texts[name]
        result.texts[name] = (file, "---\norphan: true\n---\n" + gallery_page(file.read_text(encoding="utf-8")))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, metavar="FOLDER", help="folder of the build")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help="folder for the site (default: BUILD/site)")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER",
                        help="folder of bin/, lib/ and docs/ (default: BUILD)")
    parser.add_argument("--only-pages", action="store_true",
                        help="leave tutorials and gallery out, for authors of pages")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    out = (arguments.out or build / "site").resolve()
    programs = (arguments.programs or build).resolve()
    sphinx = find_sphinx(build, programs)
    site = Site(build, programs, arguments.only_pages)
    site.folder.mkdir(parents=True, exist_ok=True)
    site.extra.mkdir(parents=True, exist_ok=True)
    faults = collect(site).write_all()
    if faults:
        sys.exit("error: the site has links to nothing:\n" + "\n".join(faults))
    environment = {**os.environ, "TAYLOR_SITE_VERSION": site.version(), "TAYLOR_SITE_EXTRA": str(site.extra), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sphinx, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", str(ROOT / "cmake/site"), "-d", str(site.work / "doctrees"),
                           str(site.folder), str(out)], env=environment)
    if done.returncode != 0:
        sys.exit(f"error: Sphinx failed ({done.returncode}); its messages are above")
    print(f"{out / 'index.html'}: {sum(1 for _ in out.rglob('*.html'))} pages")


if __name__ == "__main__":
    main()
