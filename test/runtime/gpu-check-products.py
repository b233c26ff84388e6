# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: torch
# UNSUPPORTED: sanitizer
# The driver without a GPU has the interpreter; ptxas reads the same texts, where it is installed.
# RUN: env TAYLOR_CUDA_DRIVER=%lib_dir/libfake-cuda-driver.so %python %s %source_dir %t %cc %python "%ptxas"
"""runtime/lab/gpu-check/products.py: every product is exact in the interpreter, by a GPU's text and calls; messages."""
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys

source, work = map(pathlib.Path, sys.argv[1:3])
cc, python, ptxas = sys.argv[3:6]
HERE = source / "runtime" / "lab" / "gpu-check"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import products
from products import Image, Layout, Product, Progress


def run(*arguments, status=0):
    done = subprocess.run([python, HERE / "products.py", *arguments], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def check(some):
    """The results and the lines, without the times."""
    products.all_products = lambda: some
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        results = products.check_products(Progress(0))
    return results, [line.split(" s] ")[-1] for line in out.getvalue().splitlines()]


# ---- Every type, number of columns, place of A, order and swizzle: all are exact.
every = products.all_products()
assert len(every) == len(set(map(products.name_of, every))) == 2 * 8 * (1 + 2 * 4) * (2 * 4) == 1152
assert run().stdout.endswith("integer products on Fake H100: 1152, 0 wrong\n")

# ---- What ptxas reads is what ran.
run("--write", work / "text")
texts = sorted((work / "text").iterdir())
columns = (8, 16, 24, 64, 96, 128, 192, 256)
assert [file.stem for file in texts] == sorted(f"{dtype}-{n}" for dtype in ("bf16", "f16") for n in columns)
for file in texts:
    dtype, n = file.stem.split("-")
    text = file.read_text()
    assert text == products.text_of(dtype, int(n)) and text.count(f"m64n{n}k16.f32.{dtype}.{dtype} ") == 6 * 4
    if ptxas:
        subprocess.run([ptxas, "-arch=sm_90a", file, "-o", work / "cubin"], check=True)

# ---- One element of one matrix is another: its product alone is wrong, with the place.
first = Product("bf16", 16, Layout("registers", 0), Layout("k", 32))
second = Product("bf16", 16, Layout("mn", 64), Layout("k", 0))
third = Product("f16", 24, Layout("k", 128), Layout("mn", 128))
original = products.left_image


def changed(dtype, columns, layout):
    image = original(dtype, columns, layout)
    if layout.major == "k":
        return image
    matrix = products.operands(dtype, columns)[0].clone()
    matrix[5, 40] += 1
    return products.image_of(matrix, layout)


products.left_image = changed
right = products.operands("bf16", 16)[1][:, 40].tolist()
column = next(n for n, x in enumerate(right) if x)
exact = int(products.operands("bf16", 16)[2][5, column])
got = exact + int(right[column])
verdict = f"WRONG: {sum(x != 0 for x in right)} of 1024 sums; at [5, {column}] expected {exact}, but got {got}"
name = "bf16 N=16, A: MN-major, swizzle 64, B: K-major, no swizzle"
results, lines = check([first, second, third])
wrong = [{"product": name, "verdict": verdict}]
assert results == {"gpu": "Fake H100", "run": 3, "wrong": wrong, "skipped": None}, results
assert lines == ["integer products on Fake H100: 3, 1 wrong", f"{name}: {verdict}"], lines

# ---- Another swizzle, order of strides, or fragment than the manual's is seen.
products.left_image = original


def is_wrong(product, change):
    """`change` gets the descriptor of each step of A."""
    products.left_image = lambda *key: Image(original(*key).data, list(map(change, original(*key).descriptors)))
    results, _ = check([product])
    products.left_image = original
    return len(results["wrong"]) == 1


def strides_exchanged(descriptor):
    return descriptor & ~(0xFFFFFFFF << 16) | (descriptor >> 32 & 0xFFFF) << 16 | (descriptor >> 16 & 0xFFFF) << 32


for layout in products.LAYOUTS:
    product = Product("f16", 8, layout, Layout("k", 128))
    assert not is_wrong(product, lambda descriptor: descriptor)
    assert is_wrong(product, lambda descriptor: descriptor ^ 1 << 62), layout
    assert is_wrong(product, strides_exchanged), layout

# ---- A call that fails: the context is lost, and nothing more runs.
with_base_offset = lambda *key: Image(original(*key).data, [x | 1 << 49 for x in original(*key).descriptors])
products.left_image = with_base_offset
results, lines = check([first, third, second, first])
verdict = "WRONG: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS; 2 more are not run"
assert results["run"] == 2 and results["wrong"] == [{"product": products.name_of(third), "verdict": verdict}], results
products.left_image = original


# ---- Where none can run: one sentence, and status 2.
def driver(count, minor=0, load=0):
    """A driver of `count` GPUs of compute capability 9.`minor`, which loads no module."""
    library = work / f"driver-{count}-{minor}-{load}.so"
    text = f"""
int cuInit(unsigned f) {{ return f; }}
int cuDeviceGetCount(int *n) {{ *n = {count}; return 0; }}
int cuDeviceGet(int *device, int n) {{ *device = n; return 0; }}
int cuDeviceGetAttribute(int *value, int attribute, int device) {{ *value = attribute == 75 ? 9 : {minor}; return 0; }}
int cuDeviceGetName(char *name, int size, int device) {{ *name = 0; return 0; }}
int cuDevicePrimaryCtxRetain(void **context, int device) {{ *context = 0; return 0; }}
int cuDevicePrimaryCtxRelease_v2(int device) {{ return 0; }}
int cuCtxPushCurrent_v2(void *context) {{ return 0; }}
int cuCtxPopCurrent_v2(void **context) {{ return 0; }}
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {{ return {load}; }}
int cuGetErrorName(int code, const char **text) {{ *text = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return 0; }}
"""
    subprocess.run([cc, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=text, text=True, check=True)
    return str(library)


for library, why in ((driver(0), "wgmma needs a GPU of compute capability 9.0, and the driver finds none"),
                     (driver(2, 1), "wgmma needs a GPU of compute capability 9.0, and the driver finds 9.1, 9.1"),
                     (driver(1, 0, 222), "this driver does not know PTX 8.0"),
                     ("/nowhere.so", "requires an NVIDIA driver, but /nowhere.so could not be loaded "
                      "(/nowhere.so: cannot open shared object file: No such file or directory)")):
    os.environ["TAYLOR_CUDA_DRIVER"] = library
    results, lines = check([first])
    assert results == {"gpu": None, "run": 0, "wrong": [], "skipped": why}, results
    assert lines == [f"integer products: skipped: {why}"], lines
assert run(status=2).stdout.count("\n") == 1
os.environ["TAYLOR_CUDA_DRIVER"] = driver(1, 0, 209)
refused = run(status=1).stdout
verdict = "WRONG: cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU; 1151 more are not run"
assert refused.endswith(f"bf16 N=8, A: registers, B: K-major, no swizzle: {verdict}\n"), refused
