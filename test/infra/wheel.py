# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %build_dir %source_dir %t
# REQUIRES: compiler, torch, lld, packaging
# UNSUPPORTED: sanitizer
"""The wheel: what is in it, and that it works in a new environment that sees the project's torch, where there is neither a compiler nor a linker nor LLVM."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from email.parser import Parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from symbols import FOREIGN

BUILD, SOURCE, FOLDER = (pathlib.Path(x) for x in sys.argv[1:4])
PACKAGE = "taylor_attention"
SITE = "lib/python{}.{}/site-packages".format(*sys.version_info)
TORCH = next((pathlib.Path(x) for x in sys.path if os.path.isdir(os.path.join(x, "torch"))), None)
# What would help the package where it must help itself.
HIDDEN_FOLDERS = ["/usr/lib/llvm-22", *(str(BUILD / x) for x in ("bin", "lib")), *(str(SOURCE / x) for x in ("runtime", "examples"))]
HIDDEN_PROGRAMS = re.compile(r"(ld(\.(bfd|gold|lld.*))?|as|(gcc|g\+\+|cc|c\+\+|clang|lld|llvm|mlir|x86_64-linux-gnu-)[\w.+-]*)")  # and not ld.so


def run(*command, **options):
    return subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def dynamic(file):
    """Tags and values of a file's dynamic section."""
    lines = run("llvm-readelf", "-d", file).stdout
    return re.findall(r"\((NEEDED|RUNPATH|RPATH)\)[^\[]*\[([^\]]*)\]", lines)


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        made = run(sys.executable, SOURCE / "cmake/make_wheel.py", f"--build={BUILD}", f"--out={FOLDER / 'wheel'}")
        assert made.returncode == 0, made.stdout
        cls.wheel, = (FOLDER / "wheel").glob("*.whl")
        cls.venv = FOLDER / "venv"
        made = run(sys.executable, "-m", "venv", "--without-pip", cls.venv)
        assert made.returncode == 0, made.stdout
        cls.site = cls.venv / SITE
        # Its own folder comes first; torch and what it needs are the project's.
        (cls.site / "torch-of-the-project.pth").write_text(f"{TORCH}\n")
        made = run(sys.executable, "-m", "pip", f"--python={cls.venv}/bin/python", "install", "--disable-pip-version-check", "--no-index",
                   "--no-deps", "--no-compile", cls.wheel)
        assert made.returncode == 0, made.stdout
        cls.package = cls.site / PACKAGE

    def environment(self, **more):
        return {"PATH": str(self.venv / "bin"), "HOME": str(FOLDER), "TAYLOR_CACHE_DIR": str(FOLDER / "cache"), "OMP_NUM_THREADS": "1",
                "PYTHONDONTWRITEBYTECODE": "1", **more}

    def alone(self, *command):
        """Runs in the new environment, out of sight of compilers, linkers, LLVM and this project, where this machine lets us hide them."""
        command = [str(x) for x in command]
        if can_hide():
            command = [shutil.which("unshare"), "--mount", sys.executable, __file__, "--hide", os.pathsep.join(HIDDEN_FOLDERS), *command]
        return run(*command, env=self.environment(), cwd=FOLDER)

    def test_name_and_metadata(self):
        version = re.search(r"project\(Taylor VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertRegex(self.wheel.name, rf"^taylor_attention-{re.escape(version)}-py3-none-manylinux_2_(2\d|3[0-5])_x86_64\.whl$")
        self.assertLessEqual(self.wheel.stat().st_size, 40_000_000)
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = Parser().parsestr(archive.read(f"taylor_attention-{version}.dist-info/METADATA").decode())
            tags = Parser().parsestr(archive.read(f"taylor_attention-{version}.dist-info/WHEEL").decode())
        self.assertEqual((metadata["Version"], metadata["Requires-Python"], metadata.get_all("Requires-Dist")), (version, ">=3.10", ["torch>=2.10"]))
        self.assertEqual(tags["Root-Is-Purelib"], "false")
        for licence in ("LICENSE", "runtime/python/LICENSE-THIRD-PARTY"):
            self.assertIn(f"taylor_attention-{version}.dist-info/licenses/{licence}", names)
        for file in ("CITATION.cff", "CHANGELOG.md"):
            self.assertIn(version, (SOURCE / file).read_text())

    def test_files(self):
        specs = sorted(x.relative_to(self.package / "specs") for x in (self.package / "specs").rglob("*.mlir"))
        self.assertEqual(specs, sorted(x.relative_to(SOURCE / "examples/specs") for x in (SOURCE / "examples/specs").rglob("*.mlir")))
        self.assertGreater(len(specs), 50)
        modules = sorted(x.name for x in self.package.glob("*.py"))
        self.assertEqual(modules, sorted(x.name for x in (SOURCE / "runtime/python" / PACKAGE).glob("*.py")))
        self.assertTrue((self.package / "py.typed").exists())
        others = {x.relative_to(self.package).as_posix() for x in self.package.rglob("*") if x.is_file() and x.suffix not in (".py", ".mlir", ".typed")}
        self.assertEqual(others, {"bin/taylorc", "bin/taylor-run", "lib/_taylor.so"})

    def test_libraries(self):
        system = {"libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
        for name, allowed in (("bin/taylorc", system), ("bin/taylor-run", system), ("lib/_taylor.so", system | {"libstdc++.so.6", "libtorch_cpu.so"})):
            tags = dynamic(self.package / name)
            self.assertLessEqual({value for tag, value in tags if tag == "NEEDED"}, allowed, name)
            self.assertLessEqual({value for tag, value in tags if tag != "NEEDED"}, {"$ORIGIN/../lib:$ORIGIN"}, name)
            data = (self.package / name).read_bytes()
            for folder in (str(BUILD), str(SOURCE), str(TORCH), "/usr/lib/llvm-22"):
                self.assertNotIn(folder.encode(), data, name)
        symbols = run("llvm-readelf", "--dyn-syms", self.package / "lib/_taylor.so").stdout
        needed = re.findall(r" UND (\w+)", symbols)
        self.assertIn("torch_parallel_for", needed)
        self.assertEqual([name for name in needed if FOREIGN.match(name) or re.match("_?Py", name)], [])

    def test_self_check(self):
        done = self.alone(self.venv / "bin/python", "-m", PACKAGE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?s)^taylor-attention \d+\.\d+\.\d+, Python .*  cpu +softmax-gate: right: 5 results, "
                                      r".*  cpu +linear-elu: right: 4 results, .*all is well\n$")
        self.assertIn(str(self.package / "bin/taylorc"), done.stdout)

    def test_use(self):
        code = """
import torch, taylor_attention as ta
@ta.spec
def clipped(q, k, v, gate=ta.projection("b h t")):
    n, c = ta.recurrences(q, k, v, sums=("numerator", "count"), score=lambda s: ta.minimum(s, 5.0))
    return ta.sigmoid(gate) * n / c
q, k, v = (torch.randn(1, 2, 33, 16, requires_grad=True) for _ in range(3))
o = ta.attention(q, k, v, torch.randn(1, 2, 33), spec=clipped)
o.sum().backward()
step = ta.Decoder("linear-elu", head_dim=16)
whole = ta.attention(q, k, v, spec="linear-elu")
last = [step.extend(*(x.detach()[:, :, i:i + 1] for x in (q, k, v))) for i in range(33)][-1]
print(tuple(o.shape), bool(q.grad.isfinite().all()), bool((last - whole[:, :, -1:]).norm() < 1e-4 * whole.norm()), ta.__version__, ta.__file__)
"""
        done = self.alone(self.venv / "bin/python", "-c", code)
        self.assertRegex(done.stdout, r"(?m)^\(1, 2, 33, 16\) True True \d+\.\d+\.\d+ " + re.escape(str(self.package)))

    def test_commands(self):
        version = self.alone(self.venv / "bin/taylorc", "--version")
        self.assertRegex(version.stdout, r"^taylorc \d+\.\d+\.\d+ \(commit .*\), LLVM 22")
        spec = self.package / "specs/softmax.mlir"
        checked = self.alone(self.venv / "bin/taylor-run", spec, "--shape=1,2,20,16", "--device=cpu", "--check", "--grad")
        self.assertEqual((checked.returncode, checked.stdout.count(" ok\n")), (0, 4), checked.stdout)
        # By its name; a file of that name comes first.
        named = self.alone(self.venv / "bin/taylor-run", "softmax", "--shape=1,2,20,16", "--device=cpu", "--check", "--grad")
        self.assertEqual((named.returncode, results(named.stdout)), (0, results(checked.stdout)))
        (FOLDER / "linear-elu").write_text("no specification")
        named = self.alone(self.venv / "bin/taylor-run", "linear-elu", "--shape=1,2,20,16")
        (FOLDER / "linear-elu").unlink()
        self.assertEqual(named.returncode, 1, named.stdout)
        failed = self.alone(self.venv / "bin/taylorc", FOLDER / "no.mlir", "-o", FOLDER / "no.so")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("requires the specification", failed.stdout)

    def test_what_is_missing(self):
        python = self.venv / "bin/python"
        for more, words in (({"TAYLORC": "/nowhere/taylorc"}, "taylor_attention: error: expected an executable file at '/nowhere/taylorc', as TAYLORC says"),
                            ({"TAYLOR_LIB": "/nowhere"}, "taylor_attention: error: the library of operators does not load: expected _taylor.so in /nowhere")):
            done = run(python, "-m", PACKAGE, env=self.environment(**more), cwd=FOLDER)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(words, done.stdout)
        done = run(self.venv / "bin/taylorc", "--version", env=self.environment(TAYLORC="/nowhere/taylorc"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "taylorc: error: expected an executable file at '/nowhere/taylorc', as TAYLORC says, but it is not there\n")
        done = run(python, "-m", PACKAGE, "softmax", env=self.environment(), cwd=FOLDER)
        self.assertEqual(done.returncode, 2)
        self.assertIn("taylor_attention: error: expected no arguments, but got 'softmax'; the commands of the package are taylorc and taylor-run", done.stdout)
        # Without the project's packages, and so without torch.
        code = f"import runpy, sys; sys.path.insert(0, {str(self.site)!r}); sys.argv = ['x']; runpy.run_module('{PACKAGE}', run_name='__main__')"
        done = run(python, "-S", "-c", code, env=self.environment(), cwd=FOLDER)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("taylor_attention: error: requires torch 2.10 or later, but: No module named 'torch'; pip install torch", done.stdout)
        done = run(sys.executable, "-S", SOURCE / "cmake/make_wheel.py", f"--build={BUILD}", f"--out={FOLDER / 'none'}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: requires scikit-build-core, wheel and auditwheel to make a wheel", done.stdout)


def results(text):
    """What taylor-run prints, without the lines of a compilation that takes long."""
    return re.sub(r"(?m)^taylor: compil.*\n", "", text)


def can_hide():
    return os.geteuid() == 0 and shutil.which("unshare") and run(shutil.which("unshare"), "--mount", "true").returncode == 0


def hide_and_become(folders, command):
    """In a mount namespace of this process's own: covers the folders, and programs that compile or link; then becomes the command."""
    mount = shutil.which("mount", path=os.defpath)
    covers = [[mount, "-t", "tmpfs", "none", folder] for folder in folders if os.path.isdir(folder)]
    for folder in os.defpath.split(os.pathsep):
        covers += [[mount, "--bind", "/dev/null", f"{folder}/{name}"] for name in sorted(os.listdir(folder)) if HIDDEN_PROGRAMS.fullmatch(name)]
    for cover in covers:
        if os.path.exists(cover[-1]):  # not a link whose file was covered already
            subprocess.run(cover, check=True)
    os.execv(command[0], command)


if __name__ == "__main__" and sys.argv[1] == "--hide":
    hide_and_become(sys.argv[2].split(os.pathsep), sys.argv[3:])
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
