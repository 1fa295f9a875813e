// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The copies of a loop over host memory alone, in both directions and without kernels: the upper limit of
// its rate.

#include "../../plain/Platform.hpp"
#include "LinkCopiesCuda.hpp"
#include "StreamKernelsCuda.hpp"

#include <numeric>

namespace KokkosHostSpaces::Perf {
namespace {

// The copies of an update read b, since reads of `a` while it is overwritten could not be verified.
LinkArrays arrays_of(StreamLoop const& loop) {
  Traffic const traffic = traffic_of(loop.operation);
  LinkArrays arrays{{loop.arrays.b}, traffic.a_out ? loop.arrays.a : nullptr, loop.arrays.c};
  if (traffic.c_in) arrays.in.push_back(loop.arrays.c);
  return arrays;
}

struct LinkVariant {
  std::size_t piece_bytes;
  bool in_step;   // the direction with fewer bytes does not run ahead
  bool by_rates;  // devices have parts in proportion to the rates of their links, else equal ones
};

class LinkBaseline final : public StreamBaseline {
 public:
  LinkBaseline(std::vector<int> const& devices, StreamLoop const& loop)
      : m_loop(loop), m_elements(loop.shape.elements()) {
    LinkArrays const arrays = arrays_of(loop);
    for (int device : devices) {
      OnDevice const here(device);
      m_links.push_back(std::make_unique<LinkCopies>(device, arrays));
    }
    m_shares.assign(m_links.size(), 1);
    bool const less_comes_back = arrays.out != nullptr && arrays.in.size() > 1;
    for (std::size_t mebibytes : {64, 16, 256})
      for (bool in_step : {false, true})
        for (bool by_rates : {false, true})
          if ((less_comes_back || !in_step) && (m_links.size() > 1 || !by_rates))
            m_variants.push_back({mebibytes << 20, in_step, by_rates});
    if (m_links.size() > 1) measure_shares();
    choose(0);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (LinkVariant const& variant : m_variants)
      names.push_back("pieces of " + std::to_string(variant.piece_bytes >> 20) + " MiB" +
                      (variant.in_step ? ", in step" : "") +
                      (variant.by_rates ? ", parts by rates" : ""));
    return names;
  }

  void choose(int variant) override { use(m_variants[std::size_t(variant)]); }

  void prepare() override {
    for (auto const& link : m_links) link->poison();
  }

  double run() override {
    for (auto const& link : m_links) link->begin();
    bool any = true;
    for (std::int64_t step = 0; any; ++step) {
      any = false;
      for (auto const& link : m_links) any |= link->enqueue(step, m_variant.in_step);
    }
    for (auto const& link : m_links) link->end();
    for (auto const& link : m_links) link->wait();
    return 0;
  }

  std::optional<std::int64_t> count_missing() const override {
    std::int64_t missing = 0, next = 0;
    std::size_t copied = 0;
    for (auto const& link : m_links) {
      missing += link->count_missing();
      missing += link->part().first != next;
      next = link->part().last;
      copied += link->copied_bytes();
    }
    return missing + (next != m_loop.shape.elements()) + (copied != bytes_of_loop());
  }

 private:
  // Bytes that the operation implies: the copies of an update are others.
  std::size_t bytes_of_loop() const {
    Traffic const traffic = traffic_of(m_loop.operation);
    return std::size_t(traffic.a_in + traffic.b_in + traffic.c_in + traffic.a_out) *
           std::size_t(m_loop.shape.elements()) * sizeof(double);
  }

  void use(LinkVariant const& variant) {
    m_variant                = variant;
    std::int64_t const piece = std::int64_t(variant.piece_bytes / sizeof(double));
    double const all         = std::accumulate(m_shares.begin(), m_shares.end(), 0.);
    double so_far            = 0;
    std::int64_t first       = 0;
    for (std::size_t l = 0; l < m_links.size(); ++l) {
      so_far += variant.by_rates ? m_shares[l] / all : 1 / double(m_links.size());
      std::int64_t const last = l + 1 == m_links.size()
                                    ? m_elements
                                    : std::int64_t(std::min(so_far, 1.) * double(m_elements));
      m_links[l]->take({first, last, std::min(piece, m_elements)});
      first = last;
    }
  }

  // Find parts with which all links end at the same time. Iterate twice: links are faster once one is done.
  void measure_shares() {
    for (int i = 0; i < 2; ++i) {
      use({m_variants[0].piece_bytes, false, true});
      for (int k = 0; k < 2; ++k) run();  // the first run wakes the links up
      for (std::size_t l = 0; l < m_links.size(); ++l) m_shares[l] /= m_links[l]->seconds();
      double const all = std::accumulate(m_shares.begin(), m_shares.end(), 0.);
      for (double& share : m_shares) share /= all;
    }
  }

  StreamLoop m_loop;
  std::int64_t m_elements;
  std::vector<std::unique_ptr<LinkCopies>> m_links;
  std::vector<double> m_shares;  // parts of the elements, in proportion to the rates of the links
  std::vector<LinkVariant> m_variants;
  LinkVariant m_variant{};
};

}  // namespace

std::unique_ptr<StreamBaseline> make_link_baseline(StreamWay way, StreamLoop const& loop) {
  std::vector<int> devices{current_device()};
  if (way == StreamWay::all_links) {
    devices.resize(list_devices().size());
    std::iota(devices.begin(), devices.end(), 0);
  }
  return std::make_unique<LinkBaseline>(devices, loop);
}

}  // namespace KokkosHostSpaces::Perf
