# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Results that look like those of kokkos_host_spaces_perf, from a model of a machine with seeded noise."""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))

from report import groups

GROUPS = ",".join(groups.GROUPS)
LINK, BOTH, TWO_TO_ONE, MEMORY = 55e9, 100e9, 80e9, 4.4e12
KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "nstream": 4, "dot": 2, "axpy": 3, "norm": 1}
SPACES = {"PinnedSpace": 54.8e9, "MappedSpace": 51e9, "WriteCombinedSpace": 55e9, "CudaHostPinnedSpace": 52e9}


def context(**changes):
    return {
        "date": "2026-01-01T00:00:00+00:00", "host_name": "somewhere", "executable": "/home/a/perf",
        "caches": [], "load_avg": [0.1], "library_version": "v1.9.1", "json_schema_version": 1,
        "gpu": "NVIDIA H200", "gpus": "1", "driver_version": "580", "cuda_runtime_version": "13.0",
        "link_generation": "5", "link_width": "16", "huge_pages": "madvise", "execution_space": "OpenMP",
        "kokkos_version": "5.0.2", "kokkos_configuration": "Cuda", "compiler": "GCC 13.3.0, nvcc 13.0",
        "host_threads": "16", "host_cpu": "a CPU", "commit": "0123456789ab", "mode": "full", "groups": GROUPS, "filter": "", "ranks": "1",
        "limit_to_device": f"{LINK}", "limit_to_host": f"{LINK}", "limit_both": f"{BOTH}",
        "limit_two_to_one": f"{TWO_TO_ONE}", "limit_device_memory": f"{MEMORY}"} | changes


def entry(name, index, seconds, **keys):
    """A repetition as Google Benchmark 1.9.1 writes it, in microseconds."""
    return {
        "name": f"{name}/iterations:1/repeats:15/manual_time", "family_index": 0,
        "per_family_instance_index": 0, "run_name": f"{name}/iterations:1/repeats:15/manual_time",
        "run_type": "iteration", "repetitions": 15, "repetition_index": index, "threads": 1,
        "iterations": 1, "real_time": seconds * 1e6, "cpu_time": 1.0, "time_unit": "us"} | keys


class Machine:
    """Adds cases: each is a time of ours, a time of the baseline, and noise of 0.2 % on both."""

    def __init__(self, seed=1, repetitions=15, **changes):
        self.random = random.Random(seed)
        self.repetitions = repetitions
        self.data = {"context": context(**changes), "benchmarks": []}

    def add(self, name, seconds, baseline=None, **keys):
        for index in range(self.repetitions):
            ours, theirs = (seconds * self.random.gauss(1, 0.002), (baseline or 0) * self.random.gauss(1, 0.002))
            more = {"baseline_seconds": theirs, "ratio": theirs / ours} if baseline else {}
            self.data["benchmarks"].append(entry(name, index, ours, **more, **keys))

    def change(self, part, **factors):
        """Multiplies keys of all entries whose name contains part; returns how many there were."""
        changed = [one for one in self.data["benchmarks"] if part in one["name"]]
        for one in changed:
            for key, factor in factors.items():
                one[key] *= factor
            if "baseline_seconds" in one:
                one["ratio"] = one["baseline_seconds"] / (one["real_time"] * 1e-6)
        return len(changed)

    def remove(self, part):
        self.data["benchmarks"] = [one for one in self.data["benchmarks"] if part not in one["name"]]

    def write(self, path):
        path.write_text(json.dumps(self.data), encoding="utf-8")
        return path


def machine(seed=1, repetitions=15, exponents=range(10, 29, 6), kernels=tuple(KERNELS), **changes):
    """One that reaches every goal."""
    made = Machine(seed, repetitions, **changes)
    for kernel, arrays in ((kernel, KERNELS[kernel]) for kernel in kernels):
        for size in (4, 8):
            for n in (2**exponent for exponent in exponents):
                for space, rate in {**(SPACES if kernel in ("triad", "dot") else {}), "CudaSpace": MEMORY}.items():
                    _vector(made, kernel, space, size, n, 3e-6 + n * size * arrays / rate)
    for moved in (2**12, 2**20, 2**26, 2**28):
        for operation in ("to_device", "to_host"):
            for space in SPACES:
                for words, rate in (("contiguous", LINK), ("strided", LINK * 0.8), ("strided_3d", LINK * 0.8)):
                    seconds = 5e-6 + moved / rate
                    made.add(f"copy/{operation}/{space}/{words}/bytes:{moved}", seconds, seconds,
                             bytes=float(moved), label="cudaMemcpyAsync")
    _batches(made)
    for moved in (2**12, 2**30):
        for space, how, rate in (("HostSpace", "pageable", 1e10), ("PinnedSpace", "pinned", LINK),
                                 ("MappedSpace", "mapped", 5e10), ("CudaSpace", "resident", MEMORY)):
            made.add(f"transport/triad/{space}/{how}/bytes:{moved}", *[5e-6 + 3 * moved / rate] * 2, bytes=3.0 * moved)
    _allocations(made)
    for idiom, gain in (("dual_view_sync", 4), ("bounce_buffer", 3), ("bounce_buffer_grows", 5), ("exchange_buffers", 4),
                        ("output_blocks", 20), ("regridding", 1), ("output_each_step", 1.5), ("run_beside_output", 3),
                        ("blocked_by_output", 10)):
        for stock in ("pageable", "CudaHostPinnedSpace"):
            made.add(f"idioms/{idiom}/PinnedSpace/baseline:{stock}/bytes:1048576", 1e-3, gain * 1e-3)
    for idiom, baseline in (("blocked_by_output", "own_copy"), ("compute_beside_output", "alone")):
        made.add(f"idioms/{idiom}/PinnedSpace/baseline:{baseline}/bytes:1048576", 1e-3, 1e-3)
    for passes in (1, 2, 4, 8):
        for fraction in (0.01, 0.1, 0.5, 1.0):
            end = f"fraction:{fraction:g}/passes:{passes}"
            total = 2**28
            made.add(f"transport/read/MappedSpace/baseline:staged/{end}", 3e-6 + fraction * passes * total / 50e9,
                     3e-6 + total / LINK + fraction * passes * total / MEMORY)
    made.add("latency/launch/CudaSpace/parallel_for", 3.5e-6, 3.5e-6)
    for name in ("fence/CudaSpace/idle", "deep_copy/PinnedSpace/to_device/bytes:8", "flag/MappedSpace/there_and_back"):
        made.add(f"latency/{name}", 3e-6, 2.9e-6)
    _streamed_loops(made)
    for way, rate in (("to_device", LINK), ("to_host", LINK), ("both", BOTH / 2)):
        made.add(f"copy/{way}/PinnedSpace/contiguous/bytes:{2**24}", *[5e-6 + 2**24 / rate] * 2, bytes=float(2**24))
    for way in ("to_device", "to_host"):
        made.add(f"copy/batch/PinnedSpace/{way}/scattered/baseline:best/piece:64/bytes:{2**18}", 4e-5, 3e-5, bytes=float(2**18))
    return made


def _vector(made, kernel, space, size, n, seconds):
    for launch in ("element_wise", "khs_parallel", "range_policy")[: 3 if space == "CudaSpace" else 1]:
        slower = {"element_wise": 1, "khs_parallel": 1.1, "range_policy": 1.25}[launch]
        name, moved = f"vector/{kernel}/{space}/{'float' if size == 4 else 'double'}/{launch}", float(n * size * KERNELS[kernel])
        made.add(f"{name}/n:{n}", seconds * slower, seconds * 1.002, bytes=moved, label="block 512, vectorised")
        if kernel == "dot" and size == 8 and space == "CudaSpace" and slower == 1:
            for baseline, factor in (("repeatable", 1.002), ("CUB", 1.06)):
                made.add(f"{name}/baseline:{baseline}/n:{n}", seconds, seconds * factor, bytes=moved, label=baseline)


def _batches(made):
    """Copies that change the order of dimensions, and many pieces at once."""
    for way in ("to_device", "to_host"):
        for moved in (2**16, 2**20, 2**28):
            made.add(f"copy/{way}/PinnedSpace/transposed/bytes:{moved}", *[moved / 53e9] * 2, bytes=float(moved))
        batch = f"copy/batch/PinnedSpace/{way}"
        moved = 1024 * 4096
        for baseline, factor in (("best", 1.5), ("single", 8)):
            made.add(f"{batch}/scattered/baseline:{baseline}/piece:4096/bytes:{moved}", 1e-4, factor * 1e-4, bytes=float(moved))
        for form in ("prepared_batch", "slices"):
            for pieces, seconds in ((16, 4e-6), (4096, 18e-6)):
                made.add(f"copy/{form}/PinnedSpace/{way}/scattered/baseline:best/piece:64/bytes:{pieces * 64}",
                         seconds, seconds, bytes=float(pieces * 64))
        for moved in (2**24, 2**26):
            made.add(f"{batch}/neighbours/baseline:best/piece:16384/bytes:{moved}", *[moved / LINK / 0.98] * 2, bytes=float(moved))


def _streamed_loops(made):
    array = 2**30
    loops = {"triad": (3, TWO_TO_ONE), "dot": (2, LINK), "update": (2, BOTH)}
    for operation, (arrays, rate) in loops.items():
        seconds, moved = arrays * array / rate / 0.99, float(arrays * array)
        for baseline, factor in (("pipeline", 1.005), ("link", 0.99), ("serial", BOTH / LINK)):
            made.add(f"stream/{operation}/PinnedSpace/staged/baseline:{baseline}/bytes:{array}", seconds, seconds * factor,
                     bytes=moved)
        made.add(f"stream/{operation}/MappedSpace/zero_copy/baseline:kernel/bytes:{array}", *[moved / 50e9] * 2, bytes=moved)
        made.add(f"transport/{operation}/MappedSpace/automatic/baseline:better/bytes:{array}", seconds * 1.01, seconds, bytes=moved)
    seconds = 3 * 8 * array / TWO_TO_ONE / 0.99
    for baseline, factor in (("pipeline", 1.005), ("link", 0.99)):
        made.add(f"stream/triad/PinnedSpace/staged/baseline:{baseline}/bytes:{8 * array}", seconds, seconds * factor,
                 bytes=24.0 * array)
    one = 2 * array / BOTH
    made.add(f"stream/stencil/PinnedSpace/staged/baseline:pipeline/steps:1/bytes:{array}", one, one, bytes=2.0 * array)
    for steps in range(2, 9):
        made.add(f"stream/stencil/PinnedSpace/chain/baseline:passes/steps:{steps}/bytes:{array}", one * 1.1, one * steps,
                 bytes=2.0 * array * steps)


def add_two_gpus(made, rate=TWO_TO_ONE * 1.7, read_rate=LINK * 1.95):
    """The cases of a process that uses two GPUs."""
    made.data["context"] |= {"visible_gpus": "2", "limit_all_two_to_one": f"{rate}", "limit_all_to_device": f"{read_rate}"}
    for operation, arrays, both, alone in (("triad", 3, rate, TWO_TO_ONE), ("dot", 2, read_rate, LINK)):
        moved = float(arrays * 2**30)
        for baseline, seconds in (("one_device", moved / alone / 0.99), ("all_links", moved / both)):
            made.add(f"stream/{operation}/PinnedSpace/all_devices/baseline:{baseline}/bytes:{2**30}", moved / both / 0.99, seconds,
                     bytes=moved)


def add_ranks(made, ranks=2, rate=BOTH):
    """What makes it a run by several ranks, each with a link of its own that carries so much both ways."""
    alone = {"to_device": LINK, "to_host": LINK, "both": BOTH, "two_to_one": TWO_TO_ONE}
    made.data["context"] |= {"gpus": f"{ranks}", "ranks": f"{ranks}"}
    made.data["context"] |= {f"limit_{way}": f"{ranks * limit}" for way, limit in alone.items()}
    moved = 2**28
    made.add(f"copy/both/PinnedSpace/contiguous/bytes:{moved}", *[2 * moved / rate] * 2, bytes=2.0 * moved)


# Cases of whole Views, and what is wanted of their baselines' time by theirs.
VIEWS = (("alloc/cold/View_PinnedSpace/baseline:View_CudaHostPinnedSpace/bytes:4294967296", 8),
         ("alloc/cold/zeroed_View_PinnedSpace/baseline:View_PinnedSpace/bytes:4294967296", 0.952))


def _allocations(made):
    for moved in (2**14, 2**26, 2**28, 2**30, 2**32):
        cold = 1e-4 + moved / 25e9
        for baseline, factor in (("cudaHostAlloc", 11), ("mmap_cudaHostRegister", 1.01)):
            made.add(f"alloc/cold/PinnedSpace/baseline:{baseline}/bytes:{moved}", cold, cold * factor)
        made.add(f"alloc/cold/View_PinnedSpace/baseline:View_CudaHostPinnedSpace/bytes:{moved}", cold * 1.1, cold * 12)
        made.add(f"alloc/warm/PinnedSpace/baseline:cudaHostAlloc/bytes:{moved}", 2e-7, 2e-5 + moved / 5e9)
        made.add(f"alloc/warm/View_PinnedSpace/baseline:View_CudaHostPinnedSpace/bytes:{moved}", 1.5e-6, 2e-5 + moved / 5e9)
        for space, baseline in (("PinnedSpace", "cudaFreeHost"), ("View_PinnedSpace", "View_CudaHostPinnedSpace")):
            made.add(f"alloc/free_busy/{space}/baseline:{baseline}/bytes:{moved}", 1e-6, 0.05)
    made.add("alloc/cold/zeroed_View_PinnedSpace/baseline:View_PinnedSpace/bytes:4294967296", 0.19, 0.19)
