# Two suites share this file: the lit tests of test/, and the GoogleTest programs of build/unittests.
import os
import re
import shutil
import subprocess
import sys

if not hasattr(config, "taylor_source"):
    lit_config.fatal("expected a test of a build folder, but got one of the source tree; run `lit build/test/...`")
sys.path.insert(0, os.path.join(config.taylor_source, "test", "runner"))
import taylor_formats  # noqa: E402 -- workers of lit unpickle its classes by this name
config.test_source_root = os.path.join(config.taylor_source, "test")
config.test_exec_root = os.path.join(config.taylor_build, "test")
bin_dir = os.path.join(config.taylor_build, "bin")
lib_dir = os.path.join(config.taylor_build, "lib")

# The venv's bin would shadow tools by accident, so scripts name the interpreter: %python. Those that name python3 get the program itself: pyenv's
# stand-in starts twenty shells to find it.
tools_dir = os.path.join(config.test_exec_root, "tools")
os.makedirs(tools_dir, exist_ok=True)
python3 = os.path.join(tools_dir, f"python3-{os.getpid()}")
os.symlink(os.path.realpath(sys.executable), python3)
os.replace(python3, os.path.join(tools_dir, "python3"))
config.environment["PATH"] = os.pathsep.join([bin_dir, config.taylor_llvm_tools, tools_dir, os.environ.get("PATH", "")])
# Kernels compiled by tests stay in the build folder, out of the user's cache.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Tests share the cores: one thread each, except where threads are tested, which say how many; and one that waits must sleep, not spin.
config.environment["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
config.environment["OMP_WAIT_POLICY"] = "PASSIVE"
config.environment["GOMP_SPINCOUNT"] = "0"
config.environment["PYTHONPATH"] = os.pathsep.join(os.path.join(config.taylor_source, x) for x in ("runtime/python", "test/Inputs"))
for name in ("HOME", "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS", "UBSAN_OPTIONS", "CCACHE_DIR", "TERM"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

features = config.taylor_features
for name in ("compiler", "torch", "arrow", "lld"):
    if features[name].upper() in ("ON", "TRUE", "YES", "1"):
        config.available_features.add(name)
if "compiler" in config.available_features:
    config.available_features.add("taylorc")
if features["sanitizer"]:
    config.available_features.add("sanitizer")
    # libLLVM and libtorch are not instrumented: their one-time allocations are no leak of ours, and containers that cross the border are marked by
    # one side only. LLVM's arenas poison what they have not handed out; what our side poisons, libMLIR hands out without a mark. Tests ask for
    # impossible sizes and expect a refusal, not a report.
    config.environment.setdefault("ASAN_OPTIONS", "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:allocator_may_return_null=1")
    config.environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
# What the environment of ./test.sh has; the quickstart's is smaller.
packages_dir = os.path.dirname(config.taylor_torch_dir)
for name, packages in {"triton": ("triton",), "transformers": ("transformers",), "packaging": ("scikit_build_core", "wheel", "auditwheel"),
                       "notebooks": ("nbclient", "ipykernel", "matplotlib"), "harness": ("lm_eval", "accelerate", "transformers"), "sphinx": ("sphinx", "myst_parser", "furo")}.items():
    if all(os.path.exists(os.path.join(packages_dir, package, "__init__.py")) for package in packages):
        config.available_features.add(name)
if os.path.exists(os.path.join(config.taylor_build, "site-python", "bin", "python3")):  # `cmake --build build --target site` says how to make it
    config.available_features.add("sphinx")
# That of the pinned package comes first: its version is known. Where there is none, infra/ptxas.test fails.
ptxas = next(filter(None, map(shutil.which, (os.path.join(packages_dir, "nvidia/cu13/bin/ptxas"),
                                             os.path.join(config.taylor_torch_dir, "bin", "ptxas"), "ptxas"))), None)
if ptxas:
    config.available_features.add("ptxas")
    sys.path.insert(0, os.path.join(config.taylor_source, "test", "Inputs"))
    from machine_code import find_nvdisasm

    if find_nvdisasm(ptxas):
        config.available_features.add("nvdisasm")
if lit_config.params.get("full"):
    config.available_features.add("full")
if os.geteuid() == 0:
    config.available_features.add("root")
    # Hosts that are network namespaces, where this machine lets us make them.
    host = f"taylor-probe-{os.getpid()}"
    probes = (["netns", "add", host], ["-n", host, "link", "add", "cable", "type", "veth", "peer", "name", "other"])
    if shutil.which("ip") and all(subprocess.run(["ip", *probe], capture_output=True).returncode == 0 for probe in probes):
        config.available_features.add("network-namespaces")
    if shutil.which("ip"):
        subprocess.run(["ip", "netns", "del", host], capture_output=True)
with open("/proc/cpuinfo") as f:
    flags = set(re.search(r"^flags\s*:(.*)$", f.read(), re.M).group(1).split())
config.available_features.update(flags & {"avx2", "avx512f", "avx512bw", "avx512_bf16", "amx_bf16"})

# Of a processor; a limit that a test states is for the suite as CI runs it.
config.taylor_seconds = 0 if config.available_features & {"full", "sanitizer"} else taylor_formats.SECONDS

try:
    import psutil  # lit needs it to kill a test's children

    limit = 3600 if config.available_features & {"full", "sanitizer"} else 900
    try:
        lit_config.maxIndividualTestTime = limit
    except AttributeError:  # read-only since lit 23, which has it per suite
        config.maxIndividualTestTime = limit
except ImportError:
    pass

if config.taylor_suite == "unittests":
    config.name = "Taylor-Unit"
    config.test_source_root = config.test_exec_root = os.path.join(config.taylor_build, "unittests")
    config.environment["TAYLOR_SOURCE_DIR"] = config.taylor_source
    config.environment["TAYLOR_BINARY_DIR"] = config.taylor_build
    config.environment["TAYLOR_FULL"] = "1" if "full" in config.available_features else "0"
    config.test_format = taylor_formats.UnitTest(".", "Test")
else:
    config.name = "Taylor"
    config.test_format = taylor_formats.ShellTest(execute_external=False)
    config.suffixes = [".mlir", ".test", ".py", ".td", ".toml"]
    # Inputs/ holds what tests read; a helper module in Python lives there too.
    config.excludes = ["Inputs", "runner", "artifact-fixture", "device-fixture", "lit.cfg.py", "CMakeLists.txt", "README.md"]
    python = config.taylor_python
    config.taylor_warm_python = config.taylor_warm_programs = None
    if features["sanitizer"]:
        python = f"env LD_PRELOAD={config.taylor_sanitizer_runtime} {python}"
    elif "torch" in config.available_features:
        folder = os.path.join(config.test_exec_root, f"python-{os.getpid()}")
        config.taylor_warm_python = (folder, os.getpid(), python)
        config.environment["TAYLOR_WARM_PYTHON"] = folder
        config.taylor_warm_programs = (os.path.join(config.test_exec_root, f"programs-{os.getpid()}"), os.getpid(), bin_dir, config.taylor_cc)
        python = taylor_formats.write_warm_python(os.path.join(config.test_exec_root, "python"), python)
    for key, value in {
        # Before a command that runs under ./test.sh --full alone; without a pipe or &&.
        "%when_full": "" if "full" in config.available_features else ":",
        "%full": "1" if "full" in config.available_features else "0",
        "%python": python,
        "%venv": os.path.dirname(os.path.dirname(config.taylor_python)),
        "%spec_dir": os.path.join(config.taylor_source, "examples", "specs"),
        "%source_dir": config.taylor_source,
        "%caller_path": os.environ.get("PATH", ""),
        "%build_dir": config.taylor_build,
        "%bin_dir": bin_dir,
        "%lib_dir": lib_dir,
        "%torch_dir": config.taylor_torch_dir,
        "%ptxas": ptxas or "",
        "%cxx": config.taylor_cxx,
        "%cc": config.taylor_cc,
    }.items():
        config.substitutions.append((key + r"\b", value))
