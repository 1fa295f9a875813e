// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP
#define KOKKOS_HOST_SPACES_PERF_PLAIN_BASELINE_HPP

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Marks what both sides call in kernels.
#ifdef __CUDACC__
#define KOKKOS_HOST_SPACES_PERF_FUNCTION __host__ __device__
#else
#define KOKKOS_HOST_SPACES_PERF_FUNCTION
#endif

namespace KokkosHostSpaces::Perf {

/// A cudaStream_t; ignored without a device.
using Stream = void*;

/// The plain side of a benchmark. Each group derives a class whose functions enqueue work on a stream
/// (without a device, carry it out). <Group>BaselineCuda.cpp implements it in CUDA,
/// <Group>BaselineHost.cpp by C++ loops; neither includes Kokkos or this library.
class Baseline {
 public:
  Baseline()                           = default;
  Baseline(Baseline const&)            = delete;
  Baseline& operator=(Baseline const&) = delete;
  virtual ~Baseline()                  = default;

  /// Names of its variants, such as block sizes, of which the first is the default.
  virtual std::vector<std::string> variants() const = 0;
  virtual void choose(int /*variant*/) {}
};

/// A baseline whose variants are functions, of which call takes the chosen one.
template <class Base, class Function>
class ByVariants : public Base {
 public:
  using Variants = std::vector<std::pair<std::string, std::function<Function>>>;

  explicit ByVariants(Variants all) : m_variants(std::move(all)) {}

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (auto const& [name, function] : m_variants) names.push_back(name);
    return names;
  }
  void choose(int variant) override { m_chosen = std::size_t(variant); }

 protected:
  template <class... Arguments>
  auto call(Arguments const&... arguments) const {
    return m_variants[m_chosen].second(arguments...);
  }

 private:
  Variants m_variants;
  std::size_t m_chosen = 0;
};

}  // namespace KokkosHostSpaces::Perf

#endif
