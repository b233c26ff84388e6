# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where kernels run: a GPU, this processor, or the interpreter of PTX, which has the host's memory and checks every access."""
import platform
import subprocess
import threading

import torch

from errors import Unusable


def require_torch():
    """A message where torch cannot use the GPU that the driver finds."""
    if not torch.cuda.is_available():
        built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
        raise Unusable(f"requires a torch that can use the GPU, but torch {torch.__version__} ({built}) cannot; install one that fits the driver")


class Host:
    """The processor (`cpu`) or the interpreter (`ptx`), by name."""

    def __init__(self, name):
        self.name, self.torch = name, "cpu"

    def describe(self):
        return {"device": self.name, "name": platform.processor() or platform.machine()}

    def stream(self):
        return None

    def synchronize(self):
        pass

    def concurrently(self, calls):
        """Runs the calls at the same time, each in a thread of its own."""
        failures = []

        def guarded(call):
            try:
                call(None)
            except RuntimeError as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


class Gpu:
    def __init__(self):
        require_torch()
        self.name, self.torch = "cuda", "cuda"
        torch.cuda.init()

    def describe(self):
        properties = torch.cuda.get_device_properties(0)
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            driver = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.split("\n")[0].strip()
        except (OSError, subprocess.SubprocessError):
            driver = "unknown (no nvidia-smi)"
        return {"device": "cuda", "name": properties.name, "capability": f"sm_{properties.major}{properties.minor}", "driver": driver,
                "memory": properties.total_memory, "multiprocessors": properties.multi_processor_count}

    def stream(self):
        return torch.cuda.current_stream().cuda_stream

    def synchronize(self):
        torch.cuda.synchronize()

    def concurrently(self, calls):
        """Puts each call on a stream of its own; the current stream waits for all."""
        main = torch.cuda.current_stream()
        streams = [torch.cuda.Stream() for _ in calls]
        for stream, call in zip(streams, calls):
            stream.wait_stream(main)
            call(stream.cuda_stream)
        for stream in streams:
            main.wait_stream(stream)


def open_device(name):
    return Gpu() if name == "cuda" else Host(name)
