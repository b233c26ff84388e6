// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library to preload: something happens to the N-th call by which the process changes a file below a
// folder.
//
//   FAULT_FOLDER  the folder; other files are left alone
//   FAULT_LOG     a file that gets one line per call: its number, name and path
//   FAULT_AT      N, from 1; none: calls are only counted
//   FAULT_KIND    kill: SIGKILL in front of the call, of a write after half of its bytes
//                 term: SIGTERM in front of it
//                 full: from there on the disk is full; of the first write half of the bytes still fit
//                 once: so too, but there is room again after the first call that fails
//   FAULT_REFUSE  a part of a path: nothing can be renamed to such a path, whoever asks
//   FAULT_PLAIN   if set, rename has no flags, as on NFS
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { Pass, Half, Fail };

static int calls, isFull;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

// What is to become of a call on a path. `isWrite`: half of it can be done; `adds`: it needs room on the
// disk.
static int fault(const char *call, const char *path, int isWrite, int adds) {
  const char *folder = getenv("FAULT_FOLDER"), *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND"),
             *log = getenv("FAULT_LOG");
  if (!folder || strncmp(path, folder, strlen(folder)) != 0)
    return Pass;
  ++calls;
  if (log) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%d %s %s\n", calls, call, path + strlen(folder));
    int (*open_)(const char *, int, ...) = next("open");
    ssize_t (*write_)(int, const void *, size_t) = next("write");
    int file = open_(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (write_(file, line, size) != size)
      abort();
    close(file);
  }
  if (isFull && adds) {
    isFull = strcmp(kind, "once") != 0;
    return Fail;
  }
  if (!at || calls != atoi(at))
    return Pass;
  if (!strcmp(kind, "term"))
    raise(SIGTERM);
  else if (!strcmp(kind, "kill") && !isWrite)
    raise(SIGKILL);
  else if (!strcmp(kind, "full") || !strcmp(kind, "once"))
    isFull = 1;
  if (!strcmp(kind, "kill"))
    return Half;
  if (!isFull || !adds)
    return Pass;
  if (isWrite)
    return Half;
  isFull = strcmp(kind, "once") != 0;
  return Fail;
}

static int refuse(void) {
  errno = ENOSPC;
  return -1;
}

static int faultOfFile(const char *call, int file, int isWrite) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0)
    return Pass;
  path[size] = 0;
  return fault(call, path, isWrite, 1);
}

// A path relative to an open folder, as remove_all has it.
static const char *below(int folder, const char *path, char *whole) {
  char link[64];
  if (path[0] == '/' || folder == AT_FDCWD)
    return path;
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = readlink(link, whole, PATH_MAX);
  if (size < 0)
    return path;
  snprintf(whole + size, PATH_MAX - size, "/%s", path);
  return whole;
}

ssize_t write(int file, const void *bytes, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = next("write");
  int what = faultOfFile("write", file, 1);
  if (what == Fail)
    return refuse();
  if (what == Half) {
    ssize_t done = size < 2 ? 0 : real(file, bytes, size / 2);
    if (!isFull)
      raise(SIGKILL);
    return done > 0 ? done : refuse();
  }
  return real(file, bytes, size);
}

// What a stream writes. Half of it is its first part.
ssize_t writev(int file, const struct iovec *parts, int count) {
  ssize_t (*real)(int, const struct iovec *, int) = next("writev");
  int what = faultOfFile("writev", file, 1);
  if (what == Fail)
    return refuse();
  if (what == Half) {
    ssize_t done = real(file, parts, 1);
    if (!isFull)
      raise(SIGKILL);
    return done > 0 ? done : refuse();
  }
  return real(file, parts, count);
}

int fsync(int file) {
  int (*real)(int) = next("fsync");
  return faultOfFile("fsync", file, 0) == Fail ? refuse() : real(file);
}

static int opened(const char *name, int folder, const char *path, int flags, int mode) {
  int (*real)(int, const char *, int, ...) = next(name);
  char whole[PATH_MAX + 2];
  int makes = (flags & O_CREAT) || (flags & O_TRUNC);
  if (makes && fault("open", below(folder, path, whole), 0, 1) == Fail)
    return refuse();
  return real(folder, path, flags, mode);
}

#define OPEN(name, at)                                                                                       \
  int name(const char *path, int flags, ...) {                                                               \
    va_list list;                                                                                            \
    va_start(list, flags);                                                                                   \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;                                        \
    va_end(list);                                                                                            \
    return opened(at, AT_FDCWD, path, flags, mode);                                                          \
  }
OPEN(open, "openat")
OPEN(open64, "openat64")

FILE *fopen(const char *path, const char *mode) {
  FILE *(*real)(const char *, const char *) = next("fopen");
  if (mode[0] != 'r' && fault("fopen", path, 0, 1) == Fail)
    return refuse(), NULL;
  return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
  FILE *(*real)(const char *, const char *) = next("fopen64");
  if (mode[0] != 'r' && fault("fopen", path, 0, 1) == Fail)
    return refuse(), NULL;
  return real(path, mode);
}

int mkdir(const char *path, mode_t mode) {
  int (*real)(const char *, mode_t) = next("mkdir");
  return fault("mkdir", path, 0, 1) == Fail ? refuse() : real(path, mode);
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) = next("rename");
  const char *refused = getenv("FAULT_REFUSE");
  if (refused && strstr(to, refused)) {
    errno = EACCES;
    return -1;
  }
  return fault("rename", to, 0, 0) == Fail ? refuse() : real(from, to);
}

int renameat2(int fromFolder, const char *from, int toFolder, const char *to, unsigned flags) {
  int (*real)(int, const char *, int, const char *, unsigned) = next("renameat2");
  if (getenv("FAULT_PLAIN") && flags) {
    errno = EINVAL;
    return -1;
  }
  return fault("renameat2", to, 0, 0) == Fail ? refuse() : real(fromFolder, from, toFolder, to, flags);
}

int unlink(const char *path) {
  int (*real)(const char *) = next("unlink");
  fault("unlink", path, 0, 0);
  return real(path);
}

int unlinkat(int folder, const char *path, int flags) {
  int (*real)(int, const char *, int) = next("unlinkat");
  char whole[PATH_MAX + 2];
  fault("unlinkat", below(folder, path, whole), 0, 0);
  return real(folder, path, flags);
}

int remove(const char *path) {
  int (*real)(const char *) = next("remove");
  fault("remove", path, 0, 0);
  return real(path);
}

int rmdir(const char *path) {
  int (*real)(const char *) = next("rmdir");
  fault("rmdir", path, 0, 0);
  return real(path);
}
