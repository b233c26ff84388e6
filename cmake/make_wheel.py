# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs a build folder into taylor_attention-VERSION-py3-none-PLATFORM.whl.

Run by `cmake --build build --target wheel`. The files are those of CMake's component `wheel`, stripped. The metadata is
what scikit-build-core makes of pyproject.toml, as for pip. The platform is the oldest manylinux that
auditwheel finds the files to fit. Requires scikit-build-core, wheel and auditwheel, which ./test.sh installs.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALLOWED = ("libtorch_cpu.so",)  # of the torch that loads the operators
MOST_BYTES = 40_000_000


def run(*command, **options):
    """A program's output; its words and exit status 1 where it fails."""
    done = subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{done.stdout}error: {command[0]} failed ({done.returncode})")
    return done.stdout


def write_metadata(tree):
    """The .dist-info folder, from pyproject.toml, in `tree`."""
    try:
        from scikit_build_core.build import prepare_metadata_for_build_wheel
    except ImportError:
        sys.exit("error: requires scikit-build-core, wheel and auditwheel to make a wheel; ./test.sh installs them, or "
                 f"{sys.executable} -m pip install scikit-build-core wheel auditwheel")
    os.chdir(ROOT)
    return tree / prepare_metadata_for_build_wheel(str(tree))


def platform_of(wheel):
    """The oldest manylinux that the wheel's programs and libraries fit."""
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.wheel_abi import analyze_wheel_abi

    found = analyze_wheel_abi(Libc.GLIBC, Architecture.x86_64, wheel, frozenset(ALLOWED), disable_isa_ext_check=False,
                              allow_graft=False)
    return found.overall_policy.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, metavar="FOLDER", help="folder of the build")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER",
                        help="folder for the wheel, emptied first (default: BUILD/wheel)")
    parser.add_argument("--cmake", default="cmake", metavar="PROGRAM", help="CMake (default: cmake)")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    out = (arguments.out or build / "wheel").resolve()
    tree = out / "tree"
    shutil.rmtree(out, ignore_errors=True)
    tree.mkdir(parents=True)
    run(arguments.cmake, "--install", build, "--component", "wheel", "--strip", "--prefix", tree / "taylor_attention")
    write_metadata(tree)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", out)
    wheel, = out.glob("*.whl")
    platform = platform_of(wheel)
    run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform, wheel)
    shutil.rmtree(tree)
    wheel, = out.glob("*.whl")
    size = wheel.stat().st_size
    if not re.search(r"manylinux_2_(\d+)_", wheel.name) or size > MOST_BYTES:
        sys.exit(f"error: expected a wheel for manylinux of at most {MOST_BYTES} bytes, but got {wheel.name} of {size}")
    print(f"{wheel} ({size / 1e6:.1f} MB)")


main()
