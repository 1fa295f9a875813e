# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

# flake8: noqa: F405

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.packages.kokkos.package import Kokkos

from spack.package import *


class KokkosHostSpaces(CMakePackage, CudaPackage):
    """Kokkos memory spaces for host memory that a GPU reaches: page-locked, mapped and
    write-combined, from a pool, with deep copies that never wait."""

    # The clone that this recipe lies in: the one place to name another address.
    git = pathlib.Path(__file__).resolve().parents[5].as_uri()

    maintainers()  # accounts at GitHub, left to the maintainers

    license("Apache-2.0 WITH LLVM-exception")

    test_requires_compiler = True

    version("main", branch="main", preferred=True)  # as long as no release is tagged

    variant("shared", default=True, description="Build a shared library")
    variant("hwloc", default=True, description="Place memory on the NUMA node nearest to the GPU")
    for when, default in (("+cuda", True), ("~cuda", False)):
        variant(
            "adopt",
            default=default,
            description="Install kokkos_host_spaces_run, for unchanged programs",
            when=when,
        )
    variant("tests", default=False, description="Build the tests and the examples")
    variant("perf", default=False, description="Build and install the benchmarks")
    variant("mpi", default=False, description="Use MPI in the benchmarks and the examples")
    variant(
        "cuda_arch",
        default="none",
        values=("none",) + CudaPackage.cuda_arch_values,
        multi=False,  # Kokkos is built for one
        sticky=True,
        description="CUDA architecture, handed down to Kokkos",
        when="+cuda",
    )

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("hwloc@2.7:", when="+hwloc")
    depends_on("mpi", when="+mpi")
    depends_on("benchmark@1.9:", when="+perf")
    depends_on("catch2@3.4:", type="build", when="+tests")
    depends_on("catch2@3.4:", type="test")  # of spack install --test
    depends_on("cuda@12.2:", type="build", when="+adopt")  # its headers: the program has the runtime

    depends_on("kokkos@5.0:5")
    depends_on("kokkos ~cuda", when="~cuda")
    depends_on("kokkos +cuda", when="+cuda")
    for arch in Kokkos.spack_cuda_arch_map:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    requires(
        "^kokkos +shared",
        "^kokkos +pic",
        policy="any_of",
        when="+shared",
        msg="a shared library needs a Kokkos that is shared or position-independent",
    )
    requires(
        "^kokkos +wrapper",
        "^kokkos +cmake_lang",
        policy="any_of",
        when="+cuda",
        msg="nvcc compiles what depends on Kokkos: by its wrapper, or as a language of CMake",
    )

    conflicts("%gcc@:10", msg="C++20 with its concepts is needed: GCC 11 or later")
    conflicts("%clang@:13", msg="C++20 with its concepts is needed: Clang 14 or later")
    conflicts("^kokkos +openmptarget", msg="OpenMPTarget has no pinned space of Kokkos")
    conflicts(
        "+mpi",
        when="~tests ~perf",
        msg="the library itself does not use MPI: add +perf or +tests, or leave +mpi out",
    )
    conflicts("+perf", when="~hwloc", msg="the benchmarks bind processes to cores by hwloc")
    with when("+cuda"):
        conflicts("cuda_arch=none", msg="name the GPU's architecture, as in cuda_arch=90")
        conflicts("^cuda@:12.1", msg="CUDA 12.2 is the first that has what the pool needs")
        for arch in CudaPackage.cuda_arch_values:
            if arch not in Kokkos.spack_cuda_arch_map:
                conflicts(f"cuda_arch={arch}", msg=f"Kokkos does not know cuda_arch={arch}")

    @property
    def sanity_check_is_file(self):
        files = [
            join_path("include", "KokkosHostSpaces.hpp"),
            join_path("lib", "cmake", "KokkosHostSpaces", "KokkosHostSpacesConfig.cmake"),
        ]
        if self.spec.satisfies("+adopt"):
            files.append(join_path("bin", "kokkos_host_spaces_run"))
            files.append(join_path("lib", "libkokkos_host_spaces_adopt.so"))
        if self.spec.satisfies("+perf"):
            perf = join_path("share", "kokkos_host_spaces", "perf")
            files.append(join_path("bin", "kokkos_host_spaces_perf"))
            files.append(join_path(perf, "report.py"))
            files.append(join_path(perf, "cluster", "suite.slurm"))
        return files

    def kokkos_args(self):
        """What a build against our Kokkos needs, our own and the one of the stand-alone test."""
        args = [self.define("Kokkos_ROOT", self.spec["kokkos"].prefix)]
        if self.spec.satisfies("^kokkos +cmake_lang +cuda"):
            arch = self.spec.variants["cuda_arch"].value
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", arch))
        return args

    def cmake_args(self):
        tests = self.run_tests or self.spec.satisfies("+tests")
        return self.kokkos_args() + [
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("KokkosHostSpaces_ENABLE_ADOPT", "adopt"),
            self.define_from_variant("KokkosHostSpaces_ENABLE_CUDA", "cuda"),
            self.define_from_variant("KokkosHostSpaces_ENABLE_HWLOC", "hwloc"),
            self.define_from_variant("KokkosHostSpaces_ENABLE_MPI", "mpi"),
            self.define_from_variant("KokkosHostSpaces_ENABLE_PERF", "perf"),
            self.define("KokkosHostSpaces_ENABLE_EXAMPLES", tests),
            self.define("KokkosHostSpaces_ENABLE_TESTS", tests),
            self.define("KokkosHostSpaces_WARNINGS_AS_ERRORS", False),
        ]

    consumer = join_path("examples", "consumer")

    @run_after("install")
    def keep_consumer(self):
        cache_extra_test_sources(self, self.consumer)

    def test_consumer(self):
        """a program of its own finds the installed package, builds and runs"""
        source = self.test_suite.current_test_cache_dir.join(self.consumer)
        cmake = self.spec["cmake"].command
        prefixes = [self.prefix] + get_cmake_prefix_path(self)
        found = self.define("CMAKE_PREFIX_PATH", ";".join(map(str, prefixes)))
        cmake("-S", source, "-B", "build", found, *self.kokkos_args())
        cmake("--build", "build")
        gpu = which("nvidia-smi")
        if self.spec.satisfies("+cuda"):
            if not gpu or "GPU 0" not in gpu("-L", output=str.split, fail_on_error=False):
                raise SkipTest("built, and not run: no GPU is visible (nvidia-smi -L finds none)")
        Executable(join_path("build", "consumer"))()
