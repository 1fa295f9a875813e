// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The copies of a loop over host memory alone, in both directions and without kernels: the upper limit of
// its rate.

#include "../../backend/LinkProbe.hpp"
#include "../plain/Numbers.hpp"
#include "../plain/PlainBuffer.hpp"
#include "copy/CopyBaseline.hpp"
#include "stream/StreamBaseline.hpp"

#include <algorithm>

namespace KokkosHostSpaces::Perf {
namespace {

using Impl::Backend::LinkProbe;

class LinkBaseline final : public StreamBaseline {
 public:
  LinkBaseline(std::vector<int> const& devices, StreamLoop const& loop)
      : m_devices(devices), m_loop(loop), m_rates(devices.size(), 1) {
    for (int pieces : {2, 8}) m_variants.push_back({pieces, false});
    if (devices.size() > 1) {
      auto* const host = static_cast<void*>(loop.arrays.a);
      for (std::size_t i = 0; i < devices.size(); ++i)
        m_rates[i] = LinkProbe({{devices[i], host}}, bytes_of(8)).best_rate({1, 1}, 4);
      for (int pieces : {2, 8}) m_variants.push_back({pieces, true});
    }
    choose(0);
  }

  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (Variant const& one : m_variants)
      names.push_back(std::to_string(one.pieces) + " pieces of an array" +
                      (one.by_rates ? ", parts by rates" : ""));
    return names;
  }

  void choose(int variant) override {
    auto const [pieces, by_rates] = m_variants[std::size_t(variant)];
    double all                    = 0;
    for (double rate : m_rates) all += by_rates ? rate : 1;
    m_pieces   = pieces;
    auto* host = reinterpret_cast<char*>(m_loop.arrays.a);
    m_links.clear();
    for (std::size_t i = 0; i < m_devices.size(); ++i) {
      m_links.push_back({m_devices[i], host, (by_rates ? m_rates[i] : 1) / all});
      host += 2 * LinkProbe::bytes_of(m_links.back(), bytes_of(pieces));
    }
    m_probe.reset();
    m_probe = std::make_unique<LinkProbe>(m_links, bytes_of(pieces));
  }

  double run() override {
    m_probe->seconds(mix());
    return 0;
  }

  /// Sends new numbers, and counts the links over which they do not come back; or too few bytes.
  std::optional<std::int64_t> count_missing() const override {
    std::int64_t missing = 0;
    auto const each      = [this](auto action) {
      for (auto const& link : m_links)
        action(static_cast<std::uint64_t*>(link.host),
                    LinkProbe::bytes_of(link, bytes_of(m_pieces)) / sizeof(std::uint64_t));
    };
    each([](std::uint64_t* sent, std::size_t count) {
      fill(sent, count);
      poison(sent + count, count);
    });
    m_probe->seconds({m_pieces, 0});
    m_probe->seconds({0, m_pieces});
    each([&](std::uint64_t* sent, std::size_t count) { missing += !matches(sent + count, count); });
    auto const [in, back] = mix();
    double const expected = double(in + back) * double(bytes_of(m_pieces));
    return missing + (m_probe->bytes(mix()) < 0.9999 * expected);
  }

 private:
  Impl::Backend::LinkMix mix() const {
    return {m_loop.operation == StreamOperation::update ? m_pieces : 2 * m_pieces,
            m_loop.operation == StreamOperation::dot ? 0 : m_pieces};
  }

  struct Variant {
    int pieces;
    bool by_rates;  // devices have parts in proportion to the rates of their links, else equal ones
  };

  // Of all devices' pieces; two fit into an array, as a probe needs.
  std::size_t bytes_of(int pieces) const {
    return std::size_t(m_loop.shape.elements()) * sizeof(double) / std::size_t(pieces);
  }

  std::vector<int> m_devices;
  StreamLoop m_loop;
  std::vector<double> m_rates;
  std::vector<Variant> m_variants;
  int m_pieces = 0;
  std::vector<LinkProbe::Link> m_links;
  std::unique_ptr<LinkProbe> m_probe;
};

}  // namespace

std::unique_ptr<StreamBaseline> make_link_baseline(std::vector<int> const& devices,
                                                   StreamLoop const& loop) {
  return std::make_unique<LinkBaseline>(devices, loop);
}

LinksAtOnce links_at_once(std::vector<int> const& devices, std::size_t bytes) {
  auto const host = std::make_shared<PlainBuffer>(
      make_plain_buffer(PlainKind::pinned, 2 * bytes * devices.size()));
  auto* begin = static_cast<char*>(host->get());
  std::vector<LinkProbe::Link> links;
  for (int const device : devices) {
    links.push_back({device, begin});
    begin += 2 * bytes;
  }
  auto const probe = std::make_shared<LinkProbe>(links, bytes);
  return [host, probe](int times, bool to_device) {
    return probe->seconds(to_device ? Impl::Backend::LinkMix{times, 0}
                                    : Impl::Backend::LinkMix{0, times});
  };
}

}  // namespace KokkosHostSpaces::Perf
