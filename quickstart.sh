#!/usr/bin/env bash
# From a fresh Debian 12 to two trained Llamas: installs what is missing, builds, compiles two attentions, trains a tiny Llama with each.
set -euo pipefail
cd "$(dirname "$0")"
taylor_self="./quickstart.sh"

usage() {
  cat <<'END'
usage: ./quickstart.sh [--data FILE_OR_FOLDER] [--prompt TEXT] [--requirements] [--help]

Checks what is missing and installs it (Debian packages, as root or with sudo; torch and a few Python packages into
.venv), builds the compiler and the trainer, compiles two attention specifications, trains a tiny Llama with each (same
seed, same data), prints a table, draws both loss curves, and lets each model continue a prompt. Takes 10 to 20 minutes
the first time on two cores, 4 after that.

  --data PATH      text to train on, a file or a folder of files (default: the sentences of the documentation comments
                   in the LLVM and MLIR headers on this machine, under the Apache License 2.0 with LLVM Exceptions)
  --prompt TEXT    text that the models continue (default: Returns true if)
  --requirements   stop when everything needed is installed
  --help           print this text
END
}

prompt="Returns true if"
data=()
while [ $# -gt 0 ]; do
  # `--data PATH` and `--data=PATH` are the same.
  case $1 in
    --data | --prompt)
      [ $# -gt 1 ] || { usage >&2; printf "\nerror: expected a value after '%s'\n" "$1" >&2; exit 2; }
      set -- "$1=$2" "${@:3}" ;;
  esac
  case $1 in
    --data=?*)
      path=${1#*=}
      [[ $path = /* ]] || path=$OLDPWD/$path
      [ -r "$path" ] || { printf "error: expected a readable file or folder in --data, but got '%s'\n" "${1#*=}" >&2; exit 2; }
      data=(--data "$path") ;;
    --prompt=?*) prompt=${1#*=} ;;
    --requirements) only_requirements=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; printf "\nerror: unsupported argument '%s'\n" "$1" >&2; exit 2 ;;
  esac
  shift
done

. cmake/setup.sh

heading() { printf '\n== %s\n' "$1"; }

heading "1/6 Requirements"
taylor_requirements
echo "everything needed is installed"
[ -z "${only_requirements:-}" ] || exit 0

heading "2/6 Build"
taylor_build release build taylorc taylor-run taylor-train taylor-generate

variants=(softmax softmax-norm-l2)
runs=runs/quickstart
mkdir -p $runs

heading "3/6 Compile: a specification becomes a shared object"
for variant in "${variants[@]}"; do
  begin=$(date +%s%N)
  build/bin/taylorc examples/specs/$variant.mlir -o $runs/$variant.so
  end=$(date +%s%N)
  printf '  examples/specs/%-22s -> %s  (forward and backward, %d KB, %d ms)\n' $variant.mlir $runs/$variant.so \
    $(($(stat -c %s $runs/$variant.so) / 1000)) $(((end - begin) / 1000000))
done

heading "4/6 Train: the same Llama, seed and text, with each attention"
if [ ${#data[@]} -eq 0 ]; then
  "$taylor_venv/bin/python3" examples/quickstart/sentences.py $runs/sentences.txt "$(llvm-config-22 --includedir)"/{llvm,mlir}
  data=(--data $runs/sentences.txt)
fi
train_start=$SECONDS
curves=()
for variant in "${variants[@]}"; do
  echo "-- $variant"
  build/bin/taylor-train --config examples/experiments/quickstart.toml --attention examples/specs/$variant.mlir \
    --out $runs/$variant --overwrite "${data[@]}" </dev/null
  curves+=("$variant=$runs/$variant")
done
echo "training took $((SECONDS - train_start)) s"

heading "5/6 Compare"
"$taylor_venv/bin/python3" examples/quickstart/report.py $runs "${curves[@]}"
echo "  loss curves: $runs/losses.png and $runs/losses.svg"

heading "6/6 Generate"
for variant in "${variants[@]}"; do
  echo "-- $variant continues '$prompt'"
  build/bin/taylor-generate --checkpoint $runs/$variant --prompt "$prompt" --temperature 0.5 </dev/null
  echo
done

cat <<END

Done in $(taylor_clock). Next:
  an attention of your own    copy examples/specs/softmax.mlir and change it; README.md shows how
  check it                    build/bin/taylor-run MINE.mlir --device=cpu --shape 1,4,256,64 --grad --check
  train with it               build/bin/taylor-train --config examples/experiments/quickstart.toml --attention MINE.mlir --out runs/mine
  on your own text            ./quickstart.sh --data FILE_OR_FOLDER
END
