# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc, amx_bf16
# RUN: rm -rf %t && mkdir %t && %python %s %bin_dir %lib_dir %spec_dir %t
"""Where the system denies the matrix unit's registers, an artifact's other code runs, and an artifact without such code is refused with a way out.
It runs on a machine with AMX alone."""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys

BIN, LIB, SPECS, FOLDER = map(pathlib.Path, sys.argv[1:5])
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ARCH_PRCTL, EPERM = 158, 1


def compiled(name, targets):
    subprocess.run([BIN / "taylorc", SPECS / "softmax.mlir", "--dtype=bf16", f"--target={targets}", "-o", FOLDER / name], check=True)
    return FOLDER / name


def deny():
    """Has arch_prctl fail with EPERM, as a sandbox does: load the call's number, compare, answer."""
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, ARCH_PRCTL), (0x06, 0, 0, 0x00050000 | EPERM), (0x06, 0, 0, 0x7FFF0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0) == 0, os.strerror(ctypes.get_errno())


def load(file, denied):
    """What a process that loads the artifact is told; empty where it may."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        if denied:
            deny()
        library = ctypes.CDLL(str(LIB / "libtaylor.so"))
        library.taylor_last_error.restype = ctypes.c_char_p
        kernel = ctypes.c_void_p()
        failed = library.taylor_load(str(file).encode(), ctypes.byref(kernel))
        os.write(writer, library.taylor_last_error() if failed else b"")
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 4096).decode()
    os.close(reader)
    assert os.waitpid(child, 0)[1] == 0
    return text


alone, both = compiled("alone.so", "sapphirerapids"), compiled("both.so", "sapphirerapids,x86-64-v4")
assert load(alone, denied=False) == "" and load(both, denied=False) == ""
expected = (f"requires the features that '{alone}' was compiled for, but the system denies this process the registers of amx-tile "
            "(arch_prctl: Operation not permitted): compile with --target=x86-64-v4 here")
assert load(alone, denied=True).endswith(expected), load(alone, denied=True)
assert load(both, denied=True) == "", load(both, denied=True)
