# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of calls. A round runs every contender once, so that what else the machine does falls on all alike; a ratio is the median over
rounds of two times of the same round."""
import statistics
import time

import torch

CYCLES_PER_SECOND = 2.0e9  # at least what a GPU's clock makes; see GpuClock


class GpuClock:
    """CUDA events around a call. Before it the second-level cache is overwritten, and the GPU is kept busy for longer than the host needs to
    put the call's kernels on the stream, so that no gap between launches is counted."""

    def __init__(self):
        cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.flush = torch.empty(2 * cache, dtype=torch.uint8, device="cuda")
        self.begin = lambda: torch.cuda.Event(enable_timing=True)

    def round(self, calls, host_seconds):
        """Milliseconds of each call."""
        events = []
        for call, seconds in zip(calls, host_seconds):
            self.flush.zero_()
            torch.cuda._sleep(int((1.5 * seconds + 50e-6) * CYCLES_PER_SECOND))
            start, end = self.begin(), self.begin()
            start.record()
            call()
            end.record()
            events.append((start, end))
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in events]

    def host_seconds(self, call):
        """How long the host needs for a call, without what it launches."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        torch.cuda.synchronize()
        return min(seconds, 0.05)


class HostClock:
    def round(self, calls, host_seconds):
        times = []
        for call in calls:
            start = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - start))
        return times

    def host_seconds(self, call):
        return 0.0


def measure(clock, calls, seconds, rounds=(5, 25)):
    """Rounds of milliseconds per call: as many as fit into `seconds`, at least the first number of `rounds` and at most the second."""
    for call in calls:
        call()
        call()
    host = [clock.host_seconds(call) for call in calls]
    done, end = [], time.monotonic() + seconds
    while len(done) < rounds[0] or (len(done) < rounds[1] and time.monotonic() < end):
        done.append(clock.round(calls, host))
    return done


def median(rounds, i):
    return statistics.median(r[i] for r in rounds)


def ratio(rounds, i, base):
    """How many times as fast as contender `base` contender i is."""
    return statistics.median(r[base] / r[i] for r in rounds)


def quartiles(values):
    ordered = sorted(values)
    return [ordered[len(ordered) * share // 4] for share in (1, 2, 3)]
