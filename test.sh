#!/usr/bin/env bash
# Builds Taylor and runs its tests. The last line is `N passed, N failed`; the exit status is 0 only if something ran and nothing failed.
set -euo pipefail
cd "$(dirname "$0")"
taylor_self="./test.sh"

usage() {
  cat <<'END'
usage: ./test.sh [--full | --quick] [--preset=release|dev|asan] [--filter=REGEX] [--style] [--slowest-objects] [--help]

Installs what is missing (as ./quickstart.sh does), builds everything and runs every test: lit with FileCheck,
GoogleTest, end to end. Each test that fails has a line with the command that runs it alone. The last line counts:
`N passed, N failed`.

  --quick            build the compiler and run what the author of a pass runs, in minutes: tests of dialects, passes,
                     code generators and tools
  --full             run the three-way cover of shapes, types and masks instead of the pairwise one (one to two hours on
                     two cores). The tests of the release build, without --filter, also run on a build with sanitizers,
                     in build-asan (test/README.md)
  --preset=NAME      release (default), dev (assertions), asan (assertions, address and undefined-behaviour sanitizers)
  --filter=REGEX     tests to run, by name, for example --filter=runtime/
  --slowest-objects  only list what the last build took longest for
  --style            only check C++ files: their format, guards and names of constants, and with clang-tidy those that
                     differ from main, or include a header that does (with --full all of them, in half an hour or more),
                     by the commands of the last build
  --help             print this text
END
}

preset=release
lit_args=()
for argument in "$@"; do
  case $argument in
    --full) full=1 ;;
    --quick) quick=1 ;;
    --slowest-objects) slowest=1 ;;
    --preset=release | --preset=dev | --preset=asan) preset=${argument#*=} ;;
    --filter=?*) filter=1 lit_args+=("$argument") ;;
    --style) style=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; printf "\nerror: unsupported argument '%s'\n" "$argument" >&2; exit 2 ;;
  esac
done

. cmake/setup.sh

[ -z "${full:-}" ] || [ -z "${quick:-}" ] || taylor_fail "expected --full or --quick, but got both" "./test.sh --quick"
if [ -n "${slowest:-}" ]; then
  folder=build
  [ $preset = release ] || folder=build-$preset
  exec python3 cmake/slowest_objects.py $folder
fi

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
  python3 test/infra/style.py . >/dev/null || taylor_fail "the lines above are not in the project's style" "CONTRIBUTING.md, Style, has the rules"
  echo "style: guards, comments and names of constants are as CONTRIBUTING.md says"
  # The compiler's commands and precompiled headers are those of the last build.
  tidy=$(command -v clang-tidy-22 || true)
  [ -n "$tidy" ] || taylor_fail "requires clang-tidy-22" "$(taylor_root_line 'apt-get install -y clang-tidy-22')"
  [ -e build/compile_commands.json ] || taylor_fail "requires build/compile_commands.json" "./test.sh --quick"
  if [ -n "${full:-}" ]; then
    checked=$(git ls-files '*.cpp')
  else
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~1
    changed=$( (git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h'; git ls-files --others --exclude-standard -- '*.cpp' '*.h') | sort -u)
    checked=$(grep '\.cpp$' <<<"$changed" || true)
    # A header is checked by files that include it.
    headers=$(grep '\.h$' <<<"$changed" || true)
    if [ -n "$headers" ]; then
      including=$(ninja -C build -t deps | python3 cmake/including_sources.py $headers)
      checked=$(printf '%s\n' $checked $including | sort -u)
    fi
  fi
  checked=$(for file in $checked; do ! grep -qF "\"$PWD/$file\"" build/compile_commands.json || echo "$file"; done)
  echo "$checked" | xargs -r -n 4 -P "$(nproc)" "$tidy" -p build -quiet || taylor_fail "clang-tidy found what .clang-tidy does not allow" \
    "clang-tidy-22 -p build FILE"
  echo "style: clang-tidy found nothing in $(echo "$checked" | grep -c . || true) files"
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

# Tests import torch, load checkpoints in transformers, with the tokenizer, and events in TensorBoard, and make the wheel.
taylor_take_python tests
parts=$((1 + 2 * ${#suites[@]})) part=0
begin_part() {
  part=$((part + 1))
  echo "Part $part of $parts: $1 ($(taylor_clock))"
}
begin_part "what this machine has"
taylor_requirements
lit_python=$taylor_venv/bin/python3
targets=(all)
[ -z "${quick:-}" ] || targets=(taylor-quick) lit_args+=(--quick)
results=()
for suite in "${suites[@]}"; do
  folder=${suite#*:}
  begin_part "build in $folder"
  taylor_build "${suite%:*}" "$folder" "${targets[@]}"
  status=0
  begin_part "tests of $folder"
  "$lit_python" test/runner/run_tests.py /usr/lib/llvm-22/bin/lit "$folder" "${lit_args[@]}" -j "$(nproc)" || status=$?
  results+=("$folder/test-results.json" $status)
  echo "All of this took $(taylor_clock); results in $folder/test-results.json"
  lit_args=("${lit_args[@]/-Dfull=1/-Dfull=}")
done
counted=1
"$lit_python" cmake/count_tests.py "${results[@]}"
