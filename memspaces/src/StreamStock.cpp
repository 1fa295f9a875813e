// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/StreamStock.hpp>

#include "../../backend/Driver.hpp"
#include "../../backend/Error.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace KokkosHostSpaces::Impl {

namespace {

constexpr std::size_t first_bytes = 64;

// Copies on streams, one after the other.
class FirstCopies {
 public:
  FirstCopies(int device, void*& done) : m_device(device), m_done(done) {}

  void copy(void* stream, void* dst, void const* src) {
    if (m_any) Driver::make_wait(stream, m_done, m_device);
    Driver::copy(dst, src, first_bytes, stream);
    Driver::record(m_done, stream, m_device);
    m_any = true;
  }

 private:
  int m_device;
  void*& m_done;
  bool m_any = false;
};

}  // namespace

StreamSet::~StreamSet() {
  for (Pair const& pair : {in, out})
    for (void* const stream : pair) Driver::release_stream(stream);
}

StreamStock::~StreamStock() {
  if (m_pinned != nullptr) Driver::free_pinned(m_pinned);
}

std::unique_ptr<StreamSet> StreamStock::take(int device, char* memory, void*& done) {
  auto const fits = [&](auto const& set) { return set->device == device; };
  if (std::none_of(m_unused.begin(), m_unused.end(), fits)) make(device, memory, done);
  auto const found = std::find_if(m_unused.begin(), m_unused.end(), fits);
  auto set         = std::move(*found);
  m_unused.erase(found);
  return set;
}

void StreamStock::make(int device, char* memory, void*& done) {
  if (m_pinned == nullptr) m_pinned = Driver::allocate_pinned(first_bytes, false);
  if (m_pinned == nullptr)
    throw Error("a streamed loop cannot have page-locked memory (not even " +
                std::to_string(first_bytes) +
                " bytes): raise `ulimit -l`, or free what is page-locked");
  std::unique_ptr<StreamSet> sets[] = {std::make_unique<StreamSet>(device, 0),
                                       std::make_unique<StreamSet>(device, 1)};
  for (StreamSet::Pair StreamSet::*const pair : {&StreamSet::in, &StreamSet::out})
    for (auto const& set : sets)
      for (void*& stream : (*set).*pair) stream = Driver::make_stream(device);
  FirstCopies copies(device, done);
  for (auto const& set : sets)
    for (void* const stream : set->in) copies.copy(stream, memory, m_pinned);
  for (auto const& set : sets)
    for (void* const stream : set->out) copies.copy(stream, m_pinned, memory);
  for (auto& set : sets) m_unused.push_back(std::move(set));
}

bool StreamStock::exchange_for_other_queues(std::unique_ptr<StreamSet>& set) noexcept {
  for (auto& other : m_unused) {
    if (other->device != set->device || other->queues == set->queues) continue;
    other.swap(set);
    return true;
  }
  return false;
}

void StreamStock::put_back(std::unique_ptr<StreamSet> set) noexcept {
  try {
    m_unused.push_back(std::move(set));
  } catch (std::bad_alloc const&) {  // then it is gone
  }
}

}  // namespace KokkosHostSpaces::Impl
