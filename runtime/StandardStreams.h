// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Standard input, output and error of a program of ours.
#ifndef TAYLOR_RUNTIME_STANDARDSTREAMS_H
#define TAYLOR_RUNTIME_STANDARDSTREAMS_H
#include <fcntl.h>
#include <unistd.h>

namespace taylor::runtime {

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed: the next file that a program opens
/// would get its number, and what is printed would go into that file. Reading from a closed input, and
/// writing to a closed output, stays an error. To be called before anything else is opened.
inline void openStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) // the lowest number that is free is this one
      (void)!::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

} // namespace taylor::runtime

#endif
