// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Heat spreads in a plate, and the whole field is written after each step, as HDF5 or as .npy files
// that NumPy reads: once with deep_copy to a mirror and writing, which stop the run, and once by
// snapshots, whose writers run beside it.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef KOKKOS_HOST_SPACES_EXAMPLE_HDF5
#include <hdf5.h>
#endif

namespace khs = KokkosHostSpaces;

using Device = Kokkos::DefaultExecutionSpace;
using Plate  = Kokkos::View<double**, Kokkos::LayoutRight, Device>;

// A file of NumPy: magic number, length and text of a header that a multiple of 64 bytes holds, data.
template <class Field>
void write_npy(std::string const& file, Field const& field) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(field.extent(0)) + ", " + std::to_string(field.extent(1)) +
                       "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ').append("\n");
  std::ofstream out(file, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << char(header.size() % 256) << char(header.size() / 256)
      << header;
  out.write(reinterpret_cast<char const*>(field.data()),
            std::streamsize(field.size() * sizeof(double)));
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

#ifdef KOKKOS_HOST_SPACES_EXAMPLE_HDF5
// Most builds of HDF5 allow one thread at a time: while snapshots are written, that is theirs.
template <class Field>
void write_h5(std::string const& file, Field const& field) {
  auto const checked = [&](auto result) {
    if (result < 0) throw std::runtime_error("cannot write " + file);
    return result;
  };
  hsize_t const extents[] = {field.extent(0), field.extent(1)};
  hid_t const out   = checked(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  hid_t const space = checked(H5Screate_simple(2, extents, nullptr));
  hid_t const properties = checked(H5Pcreate(H5P_DATASET_CREATE));
  checked(H5Pset_obj_track_times(properties, false));  // equal fields make equal files
  hid_t const data = checked(
      H5Dcreate2(out, "temperature", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  checked(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field.data()));
  checked(H5Dclose(data));
  checked(H5Pclose(properties));
  checked(H5Sclose(space));
  checked(H5Fclose(out));
}
char const* const format = "h5";
#else
template <class Field>
void write_h5(std::string const&, Field const&) {
  throw std::runtime_error("this example was built without HDF5: use --format=npy");
}
char const* const format = "npy";
#endif

template <class Field>
void write(std::string const& file, Field const& field) {
  file.ends_with(".h5") ? write_h5(file, field) : write_npy(file, field);
}

void start(Device const& instance, Plate const& plate) {
  auto const n = plate.extent_int(0);
  Kokkos::parallel_for(
      "start", Kokkos::MDRangePolicy<Device, Kokkos::Rank<2>>(instance, {0, 0}, {n, n}),
      KOKKOS_LAMBDA(int i, int j) {
        plate(i, j) = 4 * i > n && 4 * i < 3 * n && 4 * j > n && 4 * j < 3 * n ? 1 : 0;
      });
}

void step(Device const& instance, Plate const& from, Plate const& to) {
  auto const n = from.extent_int(0);
  Kokkos::parallel_for(
      "heat", Kokkos::MDRangePolicy<Device, Kokkos::Rank<2>>(instance, {1, 1}, {n - 1, n - 1}),
      KOKKOS_LAMBDA(int i, int j) {
        to(i, j) = 0.5 * from(i, j) +
                   0.125 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1));
      });
}

std::vector<char> contents_of(std::string const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool run(Example::Options const& options) {
  std::size_t const n      = options.size("cells");
  int const steps          = int(options.size("steps"));
  std::string const folder = options.text("folder");
  std::string const ending = "." + options.text("format");
  if (ending != ".h5" && ending != ".npy") throw std::runtime_error("--format is h5 or npy");
  auto const name = [&](std::string const& way, int number) {
    return folder + "/heat_" + way + "_" + std::to_string(number) + ending;
  };
  Device const instance;
  Plate plate("plate", n, n), next("next plate", n, n);
  // `output` is called after each step, and `finish` at the end.
  auto const seconds_with = [&](auto const& output, auto const& finish) {
    start(instance, plate);
    start(instance, next);
    instance.fence();
    auto const begin = std::chrono::steady_clock::now();
    for (int number = 1; number <= steps; ++number) {
      step(instance, plate, next);
      std::swap(plate, next);
      output(number);
    }
    finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };

  auto const mirror    = Kokkos::create_mirror_view(plate);
  double const stopped = seconds_with(
      [&](int number) {
        Kokkos::deep_copy(mirror, plate);
        write(name("mirror", number), mirror);
      },
      [] {});

  khs::Snapshot last;
  double loop         = 0;
  double const beside = seconds_with(
      [&](int number) {
        auto const begin = std::chrono::steady_clock::now();
        last             = khs::snapshot(
                        "heat", instance, plate,
                        [file = name("snapshot", number)](auto const& host) { write(file, host); });
        loop += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      },
      [&] { last.fence(); });

  std::printf("%d steps, a file of %s each, in %s:\n", steps,
              Example::bytes_text(n * n * sizeof(double)).c_str(), folder.c_str());
  std::printf("  deep_copy to a mirror, then writing: %.3f s\n", stopped);
  std::printf("  snapshots: %.3f s until all is written; calls took %.3f s of them\n", beside,
              loop);
  bool same = true;
  for (int number = 1; number <= steps; ++number) {
    auto const file = contents_of(name("snapshot", number));
    same &= !file.empty() && file == contents_of(name("mirror", number));
  }
  std::printf("The files are %s\n", same ? "the same" : "DIFFERENT");
  return same;
}

int main(int argc, char* argv[]) {
  return Example::run(argc, argv,
                      {{"cells", "2K", "along each side of the plate"},
                       {"steps", "10", "time steps"},
                       {"folder", ".", "for two files each step"},
                       {"format", format, "of the files: h5 (where HDF5 was found) or npy"}},
                      run);
}
