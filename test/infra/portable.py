# RUN: %python %s %source_dir %t
# REQUIRES: compiler
# UNSUPPORTED: sanitizer
"""The preset `portable` on a machine without Ninja: any compiler and linker and no ccache are configured, and a Makefile makes each generated file by the
target that wants it, whatever was made before."""
import pathlib
import re
import shutil
import subprocess
import sys

source, folder = map(pathlib.Path, sys.argv[1:3])
if not shutil.which("make") or not shutil.which("c++"):  # ./test.sh installs neither
    print("this machine has no make or no c++")
    sys.exit()
shutil.rmtree(folder, ignore_errors=True)


def run(*command):
    done = subprocess.run([str(x) for x in command], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


run("cmake", "--preset=portable", "-B", folder, "-G", "Unix Makefiles", "-DTAYLOR_BUILD_TORCH=OFF")
cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (folder / "CMakeCache.txt").read_text(), re.M))
assert "ccache" not in cache.get("CMAKE_CXX_COMPILER_LAUNCHER", "") and "lld" not in cache["CMAKE_EXE_LINKER_FLAGS"], cache
# ld looks for what an archive needs in those after it alone: what LLVM is compressed by is in its group.
for program in ("taylor-opt", "taylorc"):
    words = (folder / f"codegen/tools/CMakeFiles/{program}.dir/link.txt").read_text().split()
    begin, end = words.index("-Wl,--start-group"), words.index("-Wl,--end-group")
    for library in ("libLLVMSupport.a", "libz.a", "libzstd.a"):
        places = [i for i, word in enumerate(words) if word.endswith("/" + library)]
        assert places and begin < places[-1] < end, (program, library, places, begin, end)
# The last of all comes first.
targets = re.findall(r"^taylor_tablegen\((\w+) ", "\n".join(file.read_text() for file in sorted(source.glob("[cdp]*/**/CMakeLists.txt"), reverse=True)), re.M)
assert len(targets) >= 9, targets
for target in targets:
    run("make", "-C", folder, target)
made = {path.relative_to(folder).as_posix() for path in folder.rglob("*.h.inc")}
assert {"passes/Passes.h.inc", "passes/LowerToTile/Passes.h.inc", "codegen/Targets/NVPTX/Simt/SimtEnums.h.inc"} <= made, made
shutil.rmtree(folder)
