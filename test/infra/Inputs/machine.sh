# machine.sh FOLDER: puts into FOLDER a bare machine as quickstart.sh sees it: a PATH with the usual small tools, a compiler that says what
# it is, and stand-ins for what asks about or changes the system. Their answers lie in FOLDER/answers, which a test overwrites:
#   uid       what `id -u` says
#   free      bytes that df reports
#   missing   package names that dpkg-query does not know, space-separated
#   candidate package names that apt knows, or `all`
#   update    what `apt-get update` prints        install   what `apt-get install` prints, with its status in `status`
#   compiler  the first line of clang-22 --version
# What was run as root is appended to FOLDER/ran. Nothing outside FOLDER is written.
set -e
machine=$1
rm -rf "$machine"
mkdir -p "$machine/bin" "$machine/answers" "$machine/tree/cmake"
for tool in bash sh env cat grep sed awk tail head tr cut sort dirname mkdir rm sleep uname nproc printf df du kill touch chmod test true false tee python3 stat; do
  path=$(command -v "$tool") && ln -sf "$path" "$machine/bin/$tool"
done
answer() { printf '%s\n' "$2" >"$machine/answers/$1"; }
answer uid 0
answer os-release 'ID=debian VERSION_ID=12 PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"'
answer free 100000000000
answer missing ''
answer candidate all
answer update 'Hit:1 bookworm InRelease'
answer install ''
answer status 0
answer compiler 'Debian clang version 22.1.8 (1~deb12u1)'
program() {
  rm -f "$machine/bin/$1"
  { echo '#!/bin/bash'; echo "cd $machine/answers"; cat; } >"$machine/bin/$1"
  chmod +x "$machine/bin/$1"
}
program id <<'END'
cat uid
END
program df <<'END'
echo "Filesystem 1-blocks Used Available Capacity Mounted"
echo "/dev/disk 0 0 $(cat free) 0% /"
END
program dpkg-query <<'END'
for package; do :; done
[[ " $(cat missing) " = *" $package "* || " $(cat missing) " = " all " ]] && exit 1
echo -n installed
END
program apt-cache <<'END'
if [[ " $(cat candidate) " = *" $2 "* || $(cat candidate) = all ]]; then echo "  Candidate: 1:22.1.8"; else echo "  Candidate: (none)"; fi
END
program apt-get <<'END'
case "$*" in
  indextargets*) echo "mirror://debian/" ;;
  *update*) echo "apt-get update" >>../ran; cat update ;;
  *install*) line="$*"; echo "apt-get install ${line##*recommends }" >>../ran; cat install; exit "$(cat status)" ;;
esac
END
for name in clang-22 clang++-22; do
  program $name <<'END'
cat compiler
END
done
# The interpreter that makes the virtual environment; the environment's pip prints `pip` and ends with `pip-status`.
answer pip ''
answer pip-status 0
program python3 <<'END'
for folder; do :; done
mkdir -p "$folder/bin"
cat >"$folder/bin/python3" <<PIP
#!/bin/bash
echo pip >>$PWD/../ran
cat $PWD/pip
exit \$(cat $PWD/pip-status)
PIP
chmod +x "$folder/bin/python3"
END
# A virtual environment that has everything.
site=$machine/venv/lib/python3.11/site-packages
for package in $(sed -n 's/^\([A-Za-z0-9._-]*\)==\([^ ]*\).*/\1-\2/p' cmake/python/tests.lock); do
  package=${package%-*}_${package##*-} # Folders have _ in names; capitals may stay.
  package=$(tr - _ <<<"${package%_*}")-${package##*_}
  mkdir -p "$site/$package.dist-info"
  touch "$site/$package.dist-info/RECORD"
done
# The scripts themselves, in a tree of their own: logs and environments stay in it.
cp quickstart.sh test.sh gpu-check.sh "$machine/tree/"
cp -r cmake/setup.sh cmake/count_tests.py cmake/python "$machine/tree/cmake/"
cat >"$machine/run" <<END
#!/bin/bash
# run SCRIPT ARGUMENT...: in the bare machine, with the variables that the test sets.
cd $machine/tree
script=\$1
shift
exec env -i PATH=$machine/bin TAYLOR_VENV=\${VENV-$machine/venv} TAYLOR_PYTHON=$machine/bin/python3 TAYLOR_GPU_DEVICE=$machine/gpu TAYLOR_OS_RELEASE=$machine/answers/os-release \${VARIABLES:-} ./\$script "\$@" </dev/null
END
chmod +x "$machine/run"
