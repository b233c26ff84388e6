#!/usr/bin/env bash
# Packs the compiled kernels with stored fp64 results and a checking program into one folder, for a machine with an NVIDIA GPU.
set -euo pipefail
cd "$(dirname "$0")"
taylor_self="./gpu-check.sh"

usage() {
  cat <<'END'
usage: ./gpu-check.sh [--targets=NAME,..] [--folder=FOLDER] [--help]

Installs what is missing (as ./quickstart.sh does), builds, and makes build/gpu-check: seven specifications of examples/specs compiled for
GPUs, forward, backward, two of them token by token, and some in chunks and in documents, with fp64 results that they are checked by; at most 80 MB. No GPU is needed for that; about 10 minutes on two cores.

On a machine with a GPU, with nothing but a driver, Python and torch: python3 check.py, in a copy of that folder. It checks every kernel, times
them beside torch's attention, and writes results.json. runtime/gpu-check/README.md says more.

  --targets=NAME,..  GPUs to compile for (default: sm_80,sm_90; newer ones take the newest)
  --folder=FOLDER    the folder to make (default: build/gpu-check)
END
}

targets=sm_80,sm_90
folder=build/gpu-check
for argument in "$@"; do
  case $argument in
    --targets=?*) targets=${argument#*=} ;;
    --folder=?*)
      folder=${argument#*=}
      [[ $folder = /* ]] || folder=$OLDPWD/$folder ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; printf "\nerror: unsupported argument '%s'\n" "$argument" >&2; exit 2 ;;
  esac
done

. cmake/setup.sh
taylor_take_python tests

taylor_requirements
taylor_build release build taylorc taylor-run taylor taylor_attention

jobs=$(taylor_jobs)
"$taylor_venv/bin/python3" runtime/gpu-check/pack.py --targets="$targets" --folder="$folder" --jobs="$jobs" </dev/null
echo "Packed in $(taylor_clock). On a machine with a GPU, in a copy of $folder: python3 check.py"
