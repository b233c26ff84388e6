#!/usr/bin/env bash
# Packs the compiled kernels with stored fp64 results and a checking program into one folder, for a machine with an NVIDIA GPU.
set -euo pipefail
cd "$(dirname "$0")"
taylor_self="./gpu-check.sh"

usage() {
  cat <<'END'
usage: ./gpu-check.sh [--targets=NAME,..] [--folder=FOLDER] [--help]

Installs what is missing (as ./quickstart.sh does), builds, and makes a folder of at most 80 MB: seven specifications of
examples/specs compiled for GPUs, with the fp64 results by which they are checked. They run forward and backward, two of
them token by token, and some in chunks and in documents. Takes about 10 minutes on two cores, and needs no GPU.

A machine with a GPU needs a driver, Python and torch, and nothing else. There, in a copy of the folder, run
python3 check.py. It checks every kernel, times them next to torch's attention, and writes results.json.
runtime/lab/gpu-check/README.md says more.

  --targets=NAME,..  GPUs to compile for (default: sm_80,sm_90a; newer ones take the newest)
  --folder=FOLDER    folder to make (default: build/gpu-check)
  --help             print this text
END
}

targets=sm_80,sm_90a
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
"$taylor_venv/bin/python3" runtime/lab/gpu-check/pack.py --targets="$targets" --folder="$folder" --jobs="$jobs" </dev/null
echo "Packed in $(taylor_clock). On a machine with a GPU, in a copy of $folder: python3 check.py"
