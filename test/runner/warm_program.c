// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loaded program for all calls of it that a test makes: libtorch registers its operators for 0.3 s of a
// processor before `main` of taylor-train or taylor-generate begins, which is more than most of their tests
// take. A server of each run of lit is the program itself, stopped before its `main`; it forks for each call.
// As warm_python.py for Python.
//
// Compiled as a library, which the server preloads ($TAYLOR_WARM_SERVE is its socket, $TAYLOR_WARM_OWNER the
// process with which it ends), and with -DCLIENT="FOLDER" as the program of that name that tests call: it
// asks the server at $TAYLOR_WARM_PROGRAMS, or becomes the program in FOLDER.
//
// A call has its own process, folder, environment, arguments, limits and streams; signals that end the client
// reach it. Where more than that differs from the server's surroundings (a preloaded library, threads of
// OpenMP, cores, network, user, ignored or blocked signals, limited memory, further streams), the client
// becomes the program. A fork leads a session of its own, and its start is not in its limits of time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { REFUSED = 1 << 30, SIZE = 1 << 20 };

struct reply {
  int64_t status; // of wait4, or REFUSED
  double seconds;
};

// What libraries read once, when they are loaded; warm_python.py has the same.
static const char *const readOnce[] = {
    "LD_",   "OMP_",   "GOMP_", "MKL_", "KMP_", "OPENBLAS_", "MALLOC_", "GLIBC_", "ASAN_", "UBSAN_", "TORCH",
    "CUDA_", "ARROW_", "LC_",   "LANG", "TZ",   "PYTORCH",   "C10_",    "ATEN_",  "DNNL_", "MLIR_",  NULL};

static int compareText(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// What a process inherits and a fork of the server would not have, as text.
static void describeSurroundings(char **environment, char *text, size_t size) {
  static char *found[4096];
  size_t count = 0, used = 0;
  for (char **entry = environment; *entry && count < 4096; ++entry)
    for (const char *const *prefix = readOnce; *prefix; ++prefix)
      if (!strncmp(*entry, *prefix, strlen(*prefix))) {
        found[count++] = *entry;
        break;
      }
  qsort(found, count, sizeof *found, compareText);
#define ADD(...) used += used < size ? (size_t)snprintf(text + used, size - used, __VA_ARGS__) : 0
  for (size_t i = 0; i < count; ++i)
    ADD("%s\n", found[i]);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &cores))
      ADD("%d,", core);
  char network[100] = "";
  if (readlink("/proc/self/ns/net", network, sizeof network - 1) < 0)
    network[0] = 0;
  ADD(" %s %d %d %d", network, getuid(), geteuid(), getpriority(PRIO_PROCESS, 0));
  // Signals that are ignored or blocked, memory that is limited, streams beyond the three.
  for (int number = 1; number < 32; ++number) {
    struct sigaction action;
    if (number != SIGCHLD && !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
      ADD(" ignored %d", number);
  }
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int number = 1; number < 32; ++number)
    if (sigismember(&blocked, number))
      ADD(" blocked %d", number);
  for (int i = 0; i < 2; ++i) {
    struct rlimit value;
    getrlimit((int[]){RLIMIT_AS, RLIMIT_DATA}[i], &value);
    ADD(" %llu", (unsigned long long)value.rlim_cur);
  }
  for (int stream = 3; stream < 256; ++stream) {
    int flags = fcntl(stream, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC))
      ADD(" stream %d", stream);
  }
#undef ADD
}

static int transfer(int socket, char *data, size_t size, int sending) {
  while (size) {
    ssize_t moved = sending ? send(socket, data, size, MSG_NOSIGNAL) : recv(socket, data, size, 0);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved <= 0)
      return 0;
    data += moved;
    size -= moved;
  }
  return 1;
}

// The streams travel with the first bytes, which are the size of the rest.
static int transferHead(int socket, uint64_t *size, int streams[3], int sending) {
  union {
    char bytes[CMSG_SPACE(3 * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec data = {size, sizeof *size};
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (sending) {
    *header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(3 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), streams, 3 * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof *size;
  }
  if (recvmsg(socket, &message, 0) != sizeof *size || !(header = CMSG_FIRSTHDR(&message)) ||
      header->cmsg_type != SCM_RIGHTS)
    return 0;
  memcpy(streams, CMSG_DATA(header), 3 * sizeof(int));
  return 1;
}

#ifdef CLIENT

// A call has the client's limits, as text.
static void describeLimits(char *text, size_t size) {
  for (size_t limit = 0, used = 0; limit < RLIM_NLIMITS && used < size; ++limit) {
    struct rlimit value;
    getrlimit(limit, &value);
    used += snprintf(text + used, size - used, "%llu %llu ", (unsigned long long)value.rlim_cur,
                     (unsigned long long)value.rlim_max);
  }
}

static int server = -1;

static void forward(int number) {
  char byte = number;
  if (send(server, &byte, 1, MSG_NOSIGNAL) < 0)
    _exit(128 + number);
}

static char request[SIZE];
static size_t requestSize;

static int add(const char *text) {
  size_t size = strlen(text) + 1;
  if (requestSize + size > SIZE)
    return 0;
  memcpy(request + requestSize, text, size);
  requestSize += size;
  return 1;
}

static int addAll(char **list) {
  char count[20];
  int entries = 0;
  while (list[entries])
    ++entries;
  snprintf(count, sizeof count, "%d", entries);
  int fits = add(count);
  for (int i = 0; i < entries; ++i)
    fits = fits && add(list[i]);
  return fits;
}

// Whether the server took the call; then with how it ended.
static int ask(const char *name, char **arguments, struct reply *reply) {
  const char *folder = getenv("TAYLOR_WARM_PROGRAMS");
  int descriptor = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (descriptor < 0)
    return 0;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", descriptor, name);
  server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0)
    return 0;
  static char surroundings[1 << 16], here[4096], limits[2000];
  char mask[20];
  mode_t old = umask(0);
  umask(old);
  snprintf(mask, sizeof mask, "%d", (int)old);
  describeSurroundings(environ, surroundings, sizeof surroundings);
  describeLimits(limits, sizeof limits);
  int streams[3] = {0, 1, 2};
  uint64_t size;
  if (!getcwd(here, sizeof here) || !add(surroundings) || !add(here) || !add(mask) || !add(limits) ||
      !addAll(arguments) || !addAll(environ))
    return 0;
  size = requestSize;
  if (!transferHead(server, &size, streams, 1) || !transfer(server, request, size, 1)) // a stream is closed
    return 0;
  static const int forwarded[4] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  struct sigaction before[4];
  for (int i = 0; i < 4; ++i) {
    struct sigaction action;
    sigaction(forwarded[i], NULL, &before[i]);
    action = before[i];
    action.sa_flags = SA_RESTART;
    if (action.sa_handler != SIG_IGN) {
      action.sa_handler = forward;
      sigaction(forwarded[i], &action, NULL);
    }
  }
  if (!transfer(server, (char *)reply, sizeof *reply, 0)) {
    fprintf(stderr, "warm_program: the server has ended\n");
    exit(125);
  }
  for (int i = 0; i < 4; ++i)
    sigaction(forwarded[i], &before[i], NULL);
  return reply->status != REFUSED;
}

int main(int count, char **arguments) {
  (void)count;
  const char *name = strrchr(arguments[0], '/') ? strrchr(arguments[0], '/') + 1 : arguments[0];
  struct reply reply;
  if (!ask(name, arguments, &reply)) {
    char program[4096];
    snprintf(program, sizeof program, "%s/%s", CLIENT, name);
    execv(program, arguments);
    perror(program);
    return 127;
  }
  const char *times = getenv("TAYLOR_TEST_SECONDS");
  FILE *file = times ? fopen(times, "a") : NULL;
  if (file) {
    fprintf(file, "%f\n", reply.seconds);
    fclose(file);
  }
  if (WIFSIGNALED(reply.status)) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(reply.status), SIG_DFL);
    raise(WTERMSIG(reply.status));
  }
  return WEXITSTATUS(reply.status);
}

#else

typedef int Main(int, char **, char **);
static Main *programMain;

static double secondsOf(const struct rusage *used) {
  return used->ru_utime.tv_sec + used->ru_stime.tv_sec +
         1e-6 * (used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

static char **readAll(char **text) {
  int count = atoi(*text);
  char **list = calloc(count + 1, sizeof *list);
  *text += strlen(*text) + 1;
  for (int i = 0; i < count; ++i) {
    list[i] = *text;
    *text += strlen(*text) + 1;
  }
  return list;
}

// In a process for this client: starts the program, and answers when it has ended; ends it when the client
// has.
static int handle(int client, const char *own) {
  uint64_t size;
  int streams[3];
  char *text;
  if (!transferHead(client, &size, streams, 0) || size > SIZE || !(text = malloc(size)) ||
      !transfer(client, text, size, 0))
    return 1;
  struct reply reply = {REFUSED, 0};
  if (strcmp(text, own))
    return !transfer(client, (char *)&reply, sizeof reply, 1);
  text += strlen(text) + 1;
  pid_t program = fork();
  if (program == 0) {
    setsid();
    close(client);
    for (int i = 0; i < 3; ++i)
      dup2(streams[i], i);
    for (int i = 0; i < 3; ++i)
      close(streams[i]);
    int there = chdir(text);
    text += strlen(text) + 1;
    umask(atoi(text));
    text += strlen(text) + 1;
    for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
      struct rlimit value;
      value.rlim_cur = strtoull(text, &text, 10);
      value.rlim_max = strtoull(text, &text, 10);
      setrlimit(limit, &value);
    }
    text += strlen(text) + 1;
    char **arguments = readAll(&text);
    environ = readAll(&text);
    int count = 0;
    while (arguments[count])
      ++count;
    // As after exec.
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    exit(there < 0 ? 125 : programMain(count, arguments, environ));
  }
  for (int i = 0; i < 3; ++i)
    close(streams[i]);
  int ended = syscall(SYS_pidfd_open, program, 0);
  struct pollfd ready[2] = {{.fd = ended, .events = POLLIN}, {.fd = client, .events = POLLIN}};
  while (poll(ready, 2, -1) < 0 || !ready[0].revents) {
    char number;
    if (!ready[1].revents)
      continue;
    if (recv(client, &number, 1, 0) == 1) {
      kill(program, number);
      continue;
    }
    if (kill(-program, SIGKILL) < 0)
      kill(program, SIGKILL);
    break;
  }
  struct rusage used, here;
  int status;
  wait4(program, &status, 0, &used);
  getrusage(RUSAGE_SELF, &here);
  reply = (struct reply){status, secondsOf(&used) + secondsOf(&here)};
  return !transfer(client, (char *)&reply, sizeof reply, 1);
}

static int serve(int count, char **arguments, char **environment) {
  (void)count, (void)arguments, (void)environment;
  static char own[1 << 16];
  const char *path = getenv("TAYLOR_WARM_SERVE"), *owner = getenv("TAYLOR_WARM_OWNER");
  int ended = syscall(SYS_pidfd_open, atoi(owner), 0);
  unsetenv("LD_PRELOAD");
  describeSurroundings(environ, own, sizeof own);
  // In its folder, so that the name is short enough for a socket.
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", strrchr(path, '/') + 1);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (ended < 0 || server < 0 || bind(server, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen(server, 64) < 0) {
    perror(path);
    return 1;
  }
  signal(SIGCHLD, SIG_IGN);
  struct pollfd ready[2] = {{.fd = server, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
  while (poll(ready, 2, -1) < 0 || !ready[1].revents) {
    int client = ready[0].revents ? accept4(server, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (client < 0)
      continue;
    if (fork() == 0) {
      signal(SIGCHLD, SIG_DFL);
      close(server);
      close(ended);
      _exit(handle(client, own));
    }
    close(client);
  }
  return 0;
}

int __libc_start_main(Main *main, int count, char **arguments, void (*begin)(void), void (*end)(void),
                      void (*unload)(void), void *stack) {
  int (*start)(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  programMain = main;
  return start(getenv("TAYLOR_WARM_SERVE") ? serve : main, count, arguments, begin, end, unload, stack);
}

#endif
