#!/usr/bin/env bash
# ccache as CMake starts it, so that files with precompiled headers are cached, and found again from a clone in another folder.
set -eu
# What ccache asks for with precompiled headers: macros on the command line are the same for all files of one, and none of ours has the time in it.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}pch_defines,time_macros

output='' dependencies='' emits='' previous=''
for argument in "$@"; do
  case $previous in
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  [ "$argument" != -emit-pch ] || emits=1
  previous=$argument
done

if [ -n "$emits" ]; then
  # Not from the cache: a precompiled header has its folder and the times of its files in it.
  "$@"
  # What its objects depend on is what was included, wherever that lies: the sum stands for the header in what ccache hashes.
  [ -z "$dependencies" ] || sed -e 's/^[^:]*: //' -e 's/\\$//' "$dependencies" | xargs cat | sha256sum >"$output.sum"
  exit
fi

# CMake names the precompiled header by its whole path, in arguments that ccache does not shorten.
arguments=()
for argument in "$@"; do
  arguments+=("${argument#"$PWD/"}")
done
export CCACHE_PCH_EXTSUM=1
exec ccache "${arguments[@]}"
