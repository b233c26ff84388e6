# What quickstart.sh, test.sh and .ci/run share: check what this machine lacks, install it, configure, build.
# Sourced by bash, from the repository root. Every check that fails ends the script with one message: what is missing, and the
# line that mends it. Nothing is installed, and no network is touched, where everything is there.

# The script's own name, for the lines that say how to run it again.
taylor_self=${taylor_self:-./quickstart.sh}
taylor_start=$SECONDS

taylor_packages=(
  clang-22 lld-22 libclang-rt-22-dev     # compiler, linker, sanitizers' runtime
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev
  cmake ninja-build ccache pkg-config
  libsentencepiece-dev                   # tokenizer
  zlib1g-dev libzstd-dev                 # compressed text
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev
  libgtest-dev
  gnuplot-nox                            # loss curves
  python3-venv
)
# taylor_take_python NAME: the Python packages of cmake/python/NAME.lock, all with versions and hashes. torch brings libtorch,
# which the trainer links, and pyarrow brings Arrow, with which it reads Parquet.
taylor_take_python() {
  taylor_python_lock=cmake/python/$1.lock
  taylor_disk_python=3 # gigabytes, as below: torch without its dependencies, the wheels while they unpack, and the installed files
  [ "$1" = quickstart ] || taylor_disk_python=9
}
# Where there is a GPU, libtorch needs NVIDIA's libraries.
if [ -e "${TAYLOR_GPU_DEVICE:-/dev/nvidiactl}" ]; then taylor_take_python tests; else taylor_take_python quickstart; fi

# Gigabytes (10^9 bytes), measured on Debian 12 and rounded up.
taylor_disk_packages=3   # 155 packages on a minimal system: 2.1 installed, 0.3 of archives
taylor_disk_build=2      # build folder, runs, checkpoints

taylor_venv=${TAYLOR_VENV:-$PWD/.venv}

# taylor_fail MESSAGE [LINE...]: one error, the lines that mend it, exit 1.
taylor_fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then
    printf 'to mend it, run:\n' >&2
    printf '    %s\n' "$@" >&2
  fi
  exit 1
}

# taylor_step TITLE LOG COMMAND...: runs a command with its output in LOG. A terminal sees the seconds and the output's last
# line; anything else one line every 20 seconds. Returns the command's status.
taylor_step() {
  local title=$1 log=$2 start=$SECONDS status=0 next=20 pid last
  shift 2
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  # An interrupted script must not leave a compiler running behind the prompt.
  trap 'kill $pid 2>/dev/null; exit 130' INT TERM
  [ -t 1 ] || printf '%s ...\n' "$title"
  while kill -0 $pid 2>/dev/null; do
    if [ -t 1 ]; then
      last=$(tail -c 4000 "$log" 2>/dev/null | tr '\r' '\n' | grep -av '^[[:space:]]*$' | tail -n 1 | tr -d '\000-\037' | cut -c1-70)
      printf '\r\033[K%s ... %ds  %s' "$title" $((SECONDS - start)) "$last"
    elif [ $((SECONDS - start)) -ge $next ]; then
      last=$(tail -c 4000 "$log" 2>/dev/null | tr '\r' '\n' | grep -av '^[[:space:]]*$' | tail -n 1 | tr -d '\000-\037' | cut -c1-70)
      printf '%s ... %ds  %s\n' "$title" $((SECONDS - start)) "$last"
      next=$((next + 20))
    fi
    sleep 0.2
  done
  wait $pid || status=$?
  trap - INT TERM
  [ -t 1 ] && printf '\r\033[K'
  if [ $status -eq 0 ]; then
    printf '%s: done in %d s\n' "$title" $((SECONDS - start))
  else
    printf '%s: FAILED after %d s\n' "$title" $((SECONDS - start))
  fi
  return $status
}

# The first line of `PROGRAM --version` that names clang's major version, or nothing.
taylor_clang_major() {
  "$@" --version 2>/dev/null | sed -n '1s/.*clang version \([0-9]*\)\..*/\1/p' || true
}

# CC and CXX are followed by CMake's presets nowhere; a user who sets them wants another compiler, which Taylor is not built with.
taylor_check_compiler() {
  local variable value
  for variable in CC CXX; do
    value=${!variable:-}
    [ -n "$value" ] || continue
    # shellcheck disable=SC2086 -- CC may hold a launcher: "ccache clang-22"
    [ "$(taylor_clang_major $value)" = 22 ] && continue
    taylor_fail "expected clang 22 in $variable, but got '$value' ($($value --version 2>/dev/null | head -n 1 | grep . || echo 'it does not run'))" \
      "env -u CC -u CXX $taylor_self"
  done
}

# After the packages: the compiler that the presets name is the one wanted.
taylor_check_installed_compiler() {
  local program major
  for program in clang-22 clang++-22; do
    command -v $program >/dev/null || taylor_fail "requires $program, but the PATH does not have it" "$(taylor_root_line 'apt-get install --reinstall -y clang-22')"
    major=$(taylor_clang_major $program)
    [ "$major" = 22 ] || taylor_fail "expected $program to be clang 22, but got '$($program --version 2>/dev/null | head -n 1)' from $(command -v $program)" \
      "env PATH=/usr/bin:/bin $taylor_self"
  done
}

# taylor_root_line COMMAND: the line that this user types to run a command as root.
taylor_root_line() {
  if [ "$(id -u)" = 0 ]; then echo "$1"; elif command -v sudo >/dev/null; then echo "sudo $1"; else echo "su -c '$1'"; fi
}

# taylor_as_root COMMAND...: runs it as root; only after taylor_can_root.
taylor_as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n env DEBIAN_FRONTEND=noninteractive "$@"; fi
}
taylor_can_root() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

taylor_missing_packages() {
  local package
  for package in "${taylor_packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# Those of the lock that the environment lacks, as NAME==VERSION, one a line.
taylor_missing_python() {
  local file installed=" "
  # The file that pip writes last; importing torch to learn its version takes seconds.
  for file in "$taylor_venv"/lib/python3*/site-packages/*.dist-info/RECORD; do
    file=${file%.dist-info/RECORD}
    installed+="${file##*/} "
  done
  # Folders have - in a name as _, and capitals as the author has them.
  awk -v installed="$(tr 'A-Z-' 'a-z_' <<<"$installed")" '
    /^[A-Za-z0-9]/ {
      split($1, part, "==")
      name = tolower(part[1])
      gsub(/[-.]/, "_", name)
      if (!index(installed, " " name "_" part[2] " ")) print $1
    }' "$taylor_python_lock"
}

# taylor_check_disk FOLDER GIGABYTES: what is about to be written there fits.
taylor_check_disk() {
  local free
  free=$(df -P -B1 "$1" | awk 'NR == 2 {print $4}')
  [ "$free" -ge $(($2 * 1000000000)) ] && return
  taylor_fail "requires $2 GB of free disk in $1, but got $(awk -v b="$free" 'BEGIN {printf "%.1f", b / 1e9}') GB; free the rest there, or clone Taylor to a larger disk" \
    "du -xh --max-depth=2 $1 | sort -h | tail -n 20"
}

taylor_offline='Could not resolve|Temporary failure|Failed to fetch|Unable to fetch|Could not connect|Network is unreachable|Connection (refused|timed out|broken)|NewConnectionError|Name or service not known|Max retries exceeded|ProxyError|ReadTimeout'

# taylor_check_distribution PACKAGE...: these come from Debian 12's own sources. Lines for those would break another system, so
# there the advice is what works anywhere.
taylor_check_distribution() {
  local release=${TAYLOR_OS_RELEASE:-/etc/os-release} name=unknown id=
  if [ -r "$release" ]; then
    # shellcheck disable=SC1090 -- a list of variables (man os-release)
    id=$(. "$release" && echo "${ID:-} ${VERSION_ID:-}") name=$(. "$release" && echo "${PRETTY_NAME:-${ID:-unknown}}")
  fi
  [ "$id" != "debian 12" ] || ! command -v apt-get >/dev/null || return 0
  taylor_fail "requires packages of Debian 12, but this system is '$name' and has not: $*" \
    "pip install taylor_attention-*.whl                                # the wheel needs none of them" \
    "podman build -t taylor . && podman run --rm -it taylor            # Debian 12 in a container, or docker" \
    "cmake --preset portable -DMLIR_DIR=FOLDER/lib/cmake/mlir          # with LLVM and MLIR 22 of your own (examples/guide/building.md)"
}

taylor_install_packages() {
  local missing=("$@") package absent=() log=.cache/log/apt uri
  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  taylor_check_distribution "${missing[@]}"
  if ! taylor_can_root; then
    if command -v sudo >/dev/null; then
      line="sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    else
      line="su -c '$line'"
    fi
    taylor_fail "requires ${#missing[@]} Debian packages, and root to install them: ${missing[*]}" "$line" "$taylor_self"
  fi
  export DEBIAN_FRONTEND=noninteractive
  taylor_step "Debian's package lists" $log-update.log taylor_as_root apt-get -o Acquire::Retries=2 -o Acquire::http::Timeout=30 update || true
  for package in "${missing[@]}"; do
    # No pipe into `grep -q`: it closes early, and apt-cache's SIGPIPE would count as absent under pipefail.
    [[ $(apt-cache policy "$package" 2>/dev/null) =~ Candidate:\ [0-9] ]] || absent+=("$package")
  done
  if [ ${#absent[@]} -gt 0 ]; then
    if grep -Eq "$taylor_offline" $log-update.log; then
      taylor_fail "requires the network to install ${missing[*]}, but apt-get update reached no server ($log-update.log)" "$taylor_self    # with the network up"
    fi
    # The machine's own mirror, so that the line fits it.
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n 's|/debian/*$|/debian|p' | sort -u | head -n 1)
    taylor_fail "requires ${absent[*]}, but no source of apt has them; on Debian 12 they come from the suites bookworm and bookworm-security, component main" \
      "echo 'deb ${uri:-<mirror>/debian}-security bookworm-security main' | $(taylor_root_line 'tee -a /etc/apt/sources.list.d/taylor.list')" \
      "echo 'deb ${uri:-<mirror>/debian} bookworm main' | $(taylor_root_line 'tee -a /etc/apt/sources.list.d/taylor.list')" "$taylor_self"
  fi
  if ! taylor_step "${#missing[@]} Debian packages" $log-install.log taylor_as_root apt-get -o Acquire::Retries=2 -o Acquire::http::Timeout=60 \
    -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"; then
    tail -n 15 $log-install.log >&2
    if grep -Eq "$taylor_offline" $log-install.log; then
      taylor_fail "requires the network to install ${missing[*]}, but apt-get could not fetch them ($log-install.log)" "$taylor_self    # with the network up"
    fi
    taylor_fail "apt-get could not install ${missing[*]} ($log-install.log)" "$(taylor_root_line 'apt-get -f install')"
  fi
}

taylor_install_python() {
  local missing="$*" python=${TAYLOR_PYTHON:-/usr/bin/python3} log=.cache/log/pip.log
  [ $# -le 6 ] || missing="$# Python packages"
  if [ ! -x "$taylor_venv/bin/python3" ]; then
    # A venv whose creation was interrupted has no pip; --clear starts over.
    $python -m venv --clear "$taylor_venv" >/dev/null || taylor_fail "$python cannot make a virtual environment in $taylor_venv" "$(taylor_root_line 'apt-get install -y python3-venv')"
  fi
  # pip unpacks gigabytes; /tmp is often small.
  mkdir -p "$taylor_venv/tmp"
  if ! TMPDIR=$taylor_venv/tmp taylor_step "Python: $missing, into ${taylor_venv#"$PWD"/}" $log \
    "$taylor_venv/bin/python3" -m pip install --disable-pip-version-check --no-input --no-cache-dir --retries 2 --no-deps --require-hashes \
    -r "$taylor_python_lock"; then
    rm -rf "$taylor_venv/tmp"
    tail -n 5 $log >&2
    if grep -q 'No space left' $log; then
      taylor_fail "requires $taylor_disk_python GB of free disk in $taylor_venv, but pip ran out of it" "df -h $taylor_venv"
    elif grep -Eq "$taylor_offline" $log; then
      taylor_fail "requires the network to install $missing, but pip reached no server ($log)" "$taylor_self    # with the network up"
    fi
    taylor_fail "pip could not install $missing ($log)" "rm -rf $taylor_venv && $taylor_self"
  fi
  rm -rf "$taylor_venv/tmp"
}

# Checks everything before it installs anything, so that a machine that cannot hold it is told at once.
taylor_requirements() {
  local packages python need=$taylor_disk_build
  [ "$(uname -sm)" = "Linux x86_64" ] || taylor_fail "unsupported machine '$(uname -sm)': Taylor's CPU code is for Linux on x86-64"
  command -v dpkg-query >/dev/null || taylor_check_distribution "${taylor_packages[@]}"
  taylor_check_compiler
  mapfile -t packages < <(taylor_missing_packages)
  mapfile -t python < <(taylor_missing_python)
  [ ${#python[@]} -gt 0 ] && need=$((need + taylor_disk_python))
  if [ ${#packages[@]} -gt 0 ]; then
    if [ "$(df -P / | awk 'NR == 2 {print $1}')" = "$(df -P . | awk 'NR == 2 {print $1}')" ]; then
      need=$((need + taylor_disk_packages))
    else
      taylor_check_disk / $taylor_disk_packages
    fi
  fi
  taylor_check_disk "$PWD" $need
  [ ${#packages[@]} -eq 0 ] || taylor_install_packages "${packages[@]}"
  taylor_check_installed_compiler
  [ ${#python[@]} -eq 0 ] || taylor_install_python "${python[@]}"
}

# Parallel jobs: one per core, but two gigabytes of memory each (a file that includes torch or MLIR takes up to 1.5).
taylor_jobs() {
  local memory
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  if [ "$memory" -lt "$(nproc)" ]; then echo "$memory"; else nproc; fi
}

# taylor_build PRESET FOLDER TARGET...: configures and builds; the log's end is shown where that fails.
taylor_build() {
  local preset=$1 folder=$2 log=.cache/log torch fresh=()
  shift 2
  torch=$(compgen -G "$taylor_venv/lib/python3*/site-packages/torch" | head -n 1)
  # A folder configured elsewhere, or by another generator, is of no use and CMake only complains about it.
  if [ -f $folder/CMakeCache.txt ]; then
    grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" $folder/CMakeCache.txt && grep -qx 'CMAKE_GENERATOR:INTERNAL=Ninja' $folder/CMakeCache.txt || fresh=(--fresh)
  fi
  # Paths relative to the tree, so that a second clone finds the first one's objects.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  # The presets name their compiler.
  unset CC CXX
  if ! taylor_step "Configure ($preset)" $log/configure.log cmake "${fresh[@]}" --preset "$preset" "-DTAYLOR_TORCH_DIR=$torch"; then
    grep -A 12 'CMake Error' $log/configure.log >&2 || tail -n 30 $log/configure.log >&2
    taylor_fail "the configuration failed ($log/configure.log)" "rm -rf $folder && $taylor_self"
  fi
  if ! taylor_step "Build ($preset)" $log/build.log cmake --build $folder -j "$(taylor_jobs)" --target "$@"; then
    grep -E -A 8 'error:|FAILED:' $log/build.log | head -n 60 >&2 || tail -n 40 $log/build.log >&2
    if grep -q 'No space left' $log/build.log; then
      taylor_fail "requires $taylor_disk_build GB of free disk in $PWD, but the build ran out of it" "df -h ."
    fi
    taylor_fail "the build failed ($log/build.log)" "cmake --build $folder -j 1 --target $*    # shows the first error alone"
  fi
}

# taylor_clock: minutes and seconds since the script's start.
taylor_clock() {
  printf '%d min %02d s' $(((SECONDS - taylor_start) / 60)) $(((SECONDS - taylor_start) % 60))
}
