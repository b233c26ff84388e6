// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Conversation.h"
#include "runtime/Error.h"
#include "runtime/Process.h"
#include "runtime/lab/bench/Folder.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace taylor::bench {

using runtime::fail;

Conversation::Conversation(std::string name, const std::vector<std::string> &arguments)
    : name(std::move(name)) {
  // A socket, since a write to one whose reader is gone can be told not to raise SIGPIPE.
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail("could not create a socket: ", std::strerror(errno));
  errors = ::memfd_create("errors", MFD_CLOEXEC);
  lines = ends[0];
  pid = runtime::startProcess(arguments, ends[1], ends[1], errors);
  ::close(ends[1]);
}

Conversation::~Conversation() {
  if (pid > 0) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  for (int descriptor : {lines, errors})
    if (descriptor >= 0)
      ::close(descriptor);
}

void Conversation::failWithErrors(const std::string &what) {
  std::string said;
  char buffer[4096];
  ::lseek(errors, 0, SEEK_SET);
  for (ssize_t count; (count = ::read(errors, buffer, sizeof buffer)) > 0;)
    said.append(buffer, size_t(count));
  constexpr size_t most = 2000;
  if (said.size() > most)
    said = "..." + said.substr(said.size() - most);
  fail(name, " ", what, said.empty() ? "" : "; it said:\n" + said);
}

void Conversation::tell(const std::string &line) {
  std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = ::send(lines, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR)
      failWithErrors("ended before its work was done");
    sent += count > 0 ? size_t(count) : 0;
  }
}

std::string Conversation::hear() {
  for (size_t end; (end = heard.find('\n')) == std::string::npos;) {
    checkInterrupts();
    char buffer[4096];
    ssize_t count = ::read(lines, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      failWithErrors("ended before its work was done");
    heard.append(buffer, size_t(count));
  }
  size_t end = heard.find('\n');
  std::string line = heard.substr(0, end);
  heard.erase(0, end + 1);
  return line;
}

int64_t Conversation::finish() {
  ::shutdown(lines, SHUT_WR);
  int status = 0;
  rusage usage{};
  while (::wait4(pid, &status, 0, &usage) < 0)
    if (errno != EINTR)
      fail("could not wait for ", name, ": ", std::strerror(errno));
  pid = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    failWithErrors("did not end well");
  return usage.ru_maxrss * 1024;
}

} // namespace taylor::bench
