// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library to preload: files and folders whose path contains HIDDEN are not there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int isHidden(const char *path) {
  const char *hidden = getenv("HIDDEN");
  if (!hidden || !strstr(path, hidden))
    return 0;
  errno = ENOENT;
  return 1;
}

int access(const char *path, int mode) {
  int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
  return isHidden(path) ? -1 : real(path, mode);
}

int stat(const char *path, struct stat *status) {
  int (*real)(const char *, struct stat *) = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
  return isHidden(path) ? -1 : real(path, status);
}

// What stat() was in programs built for a libc before 2.33: libtorch has such parts of libstdc++ in it.
int __xstat(int version, const char *path, struct stat *status) {
  int (*real)(int, const char *, struct stat *) =
      (int (*)(int, const char *, struct stat *))dlsym(RTLD_NEXT, "__xstat");
  return isHidden(path) ? -1 : real(version, path, status);
}
