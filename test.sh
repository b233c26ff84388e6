#!/usr/bin/env bash
# Builds Taylor and runs its tests. The last line is `N passed, N failed`; the exit status is 0 only if something ran and nothing failed.
set -euo pipefail
cd "$(dirname "$0")"
taylor_self="./test.sh"

usage() {
  cat <<'END'
usage: ./test.sh [--full] [--preset=release|dev|asan] [--filter=REGEX] [--style] [--help]

Installs what is missing (as ./quickstart.sh does), builds everything and runs every test: lit with FileCheck, GoogleTest, end to end.
About 45 minutes from a clean clone on two cores. The last line counts: `N passed, N failed`.

  --full           the three-way cover of shapes, types and masks instead of the pairwise one (one to two hours on two cores); of the release build, without --filter,
                   the tests run on a build with sanitizers too (test/README.md), in build-asan
  --preset=NAME    release (default), dev (assertions), asan (assertions, address and undefined-behaviour sanitizers)
  --filter=REGEX   only tests whose name matches, for example --filter=runtime/
  --style          checks the format of C++ files only, and prints the line that mends them
END
}

preset=release
lit_args=()
for argument in "$@"; do
  case $argument in
    --full) full=1 ;;
    --preset=release | --preset=dev | --preset=asan) preset=${argument#*=} ;;
    --filter=?*) filter=1 lit_args+=("$argument") ;;
    --style) style=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; printf "\nerror: unsupported argument '%s'\n" "$argument" >&2; exit 2 ;;
  esac
done

. cmake/setup.sh

if [ -n "${style:-}" ]; then
  format=$(command -v clang-format-22 || true)
  [ -n "$format" ] || taylor_fail "requires clang-format-22" "$(taylor_root_line 'apt-get install -y clang-format-22')"
  if ! git ls-files '*.h' '*.cpp' '*.c' | xargs -r "$format" --dry-run -Werror 2>.style.log; then
    sed -n 's/:.*//p' .style.log | grep -E '\.(h|cpp|c)$' | sort | uniq -c | sort -rn
    rm -f .style.log
    taylor_fail "some files are not formatted" "git ls-files '*.h' '*.cpp' '*.c' | xargs clang-format-22 -i"
  fi
  rm -f .style.log
  echo "style: every file is formatted"
  exit 0
fi

folder=build
[ $preset = release ] || folder=build-$preset

# A build that fails is a test that fails: the closing line says so, whatever the reason.
# With --full a second suite follows, of the build with sanitizers, without the larger cover.
suites=("$preset:$folder")
if [ -n "${full:-}" ]; then
  lit_args+=(-Dfull=1)
  [ $preset != release ] || [ -n "${filter:-}" ] || suites+=(asan:build-asan)
fi
for suite in "${suites[@]}"; do
  rm -f "${suite#*:}/test-results.json"
done
trap 'status=$?; [ -n "${counted:-}" ] || echo "0 passed, 1 failed"; exit $status' EXIT

# Tests alone load checkpoints in transformers, with the tokenizer, and events in TensorBoard.
taylor_python_packages+=(transformers==5.23.0 sentencepiece==0.2.3 protobuf==7.36.2 tensorboard==2.21.0)
taylor_requirements
lit_python=$taylor_venv/bin/python3
results=()
for suite in "${suites[@]}"; do
  folder=${suite#*:}
  result=$folder/test-results.json
  taylor_build "${suite%:*}" "$folder" all
  status=0
  "$lit_python" /usr/lib/llvm-22/bin/lit -v --no-progress-bar "${lit_args[@]}" -j "$(nproc)" --output "$result" "$folder/test" "$folder/unittests" </dev/null || status=$?
  results+=("$result" $status)
  echo "Tests took $(taylor_clock) with the build; results in $result"
  lit_args=("${lit_args[@]/-Dfull=1/-Dfull=}")
done
counted=1
"$lit_python" cmake/count_tests.py "${results[@]}"
