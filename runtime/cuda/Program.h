// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code of one artifact: loaded once per context, launched on the caller's stream.
#ifndef TAYLOR_RUNTIME_CUDA_PROGRAM_H
#define TAYLOR_RUNTIME_CUDA_PROGRAM_H
#include "runtime/cuda/Driver.h"
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>

namespace taylor::runtime::cuda {

/// Code for one kind of GPU. The bytes outlive the program that holds the image; PTX ends with a zero byte.
struct Image {
  std::string target; // "sm_80", "sm_90a"
  bool isPtx = false; // else a cubin
  std::string_view bytes;
};

/// Where a kernel runs. Sizes as in cuLaunchKernel.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned sharedBytes = 0; // dynamic shared memory, bytes
  /// It waits for what the stream had before, and may begin earlier (CUDA C++ Programming Guide,
  /// "Programmatic Dependent Launch").
  bool startsEarly = false;
  /// Its blocks take more than one place each: of the grid's first extent as many are launched as the GPU has
  /// multiprocessors, if these are fewer.
  bool isPersistent = false;
};

/// Picks the image for a GPU of this capability (80 for sm_80): a cubin of the same major version that is not
/// newer, else PTX that is not newer, which the driver compiles; of several the newest. Targets with a suffix
/// (sm_90a) fit their own GPU only. Null where none fits.
const Image *chooseImage(const std::vector<Image> &images, int capability);

/// Any number of threads and contexts may use one program at a time.
class DeviceProgram {
public:
  /// `name` stands in messages: the artifact's path or its specification.
  DeviceProgram(std::string name, std::vector<Image> images)
      : name(std::move(name)), images(std::move(images)) {}
  /// Unloads the modules; a driver that has already shut down is no error.
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram &) = delete;
  DeviceProgram &operator=(const DeviceProgram &) = delete;

  bool hasImages() const { return !images.empty(); }

  /// The image that serves the calling thread's current context, loaded at first use. A stream that is being
  /// captured into a CUDA graph is refused then, since loading is no work of a stream.
  const Image &image(Stream stream);

  /// The kernel in the current context, ready for `sharedBytes` of dynamic shared memory.
  Function find(const std::string &kernel, unsigned sharedBytes, Stream stream);

  /// Puts the kernel on the stream. `parameters[i]` points to the value of parameter i, which is copied. Does
  /// not wait, so it may be captured into a graph, once the kernel has run in the context. A grid without
  /// blocks launches nothing.
  void launch(const std::string &kernel, const LaunchShape &shape, Stream stream, void **parameters);

private:
  struct Kernel {
    Function function = nullptr;
    unsigned sharedBytes = 0; // the most that it has been made ready for
  };
  struct Loaded {
    Module module = nullptr;
    const Image *image = nullptr;
    unsigned multiprocessors = 0;
  };
  const Loaded &loaded(Stream stream);
  const Loaded &load(const DriverApi &driver, Context context, Stream stream);

  std::string name;
  std::vector<Image> images;
  std::shared_mutex mutex; // of both maps
  std::map<Context, Loaded> modules;
  std::map<std::pair<Context, std::string>, Kernel> kernels;
};

} // namespace taylor::runtime::cuda

#endif
