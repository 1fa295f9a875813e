// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Whichever call of the driver fails, a batch is copied all the same, or it is told.

#include "CopyBatchCases.hpp"

#include <KokkosHostSpaces/impl/core/DeviceMemory.hpp>
#include <KokkosHostSpaces/impl/batch/FewCopies.hpp>
#include <KokkosHostSpaces/impl/batch/PieceRows.hpp>

#include <cuda.h>

namespace CopyBatches {

namespace {

// Errors that the library takes for "this way is not to be had", and others.
constexpr int errors[] = {cudaErrorInvalidValue, cudaErrorNotSupported, cudaErrorMemoryAllocation,
                          cudaErrorLaunchFailure};

struct AfterFailures {
  int copied = 0, told = 0;
};

// Lets each call fail in turn, until none is left that could.
template <class Copy>
AfterFailures fail_each_call(Copy const& copy, std::size_t registrations = 1) {
  AfterFailures seen;
  for (int const error : errors)
    for (std::size_t call = 1;; ++call) {
      CAPTURE(error, call);
      Memory memory(1 << 20, registrations);
      DeviceWork::Stream stream;
      std::size_t const before = FakeCuda::calls("*");
      FakeCuda::fail_nth_call("*", call, error);
      try {
        copy(memory, stream);
        std::size_t const made = FakeCuda::calls("*") - before;
        FakeCuda::fail_no_more();
        Backend::Driver::fence(stream.get());
        REQUIRE(memory.is_copied());
        ++seen.copied;
        if (made < call) break;
      } catch (KokkosHostSpaces::CudaError const& told) {
        FakeCuda::fail_no_more();
        REQUIRE(told.code() == error);
        ++seen.told;
      }
      REQUIRE(cudaPeekAtLastError() == cudaSuccess);
      REQUIRE(FakeCuda::outstanding().device_allocations == 1);
    }
  return seen;
}

void copy_batch(Memory& memory, DeviceWork::Stream& stream, bool are_merged) {
  CopyBatch batch(are_merged && CopyBatch::may_merge(stream.get()) ? CopyBatch::Neighbours::merged
                                                                   : CopyBatch::Neighbours::apart);
  add_irregular(memory, batch, 40);
  for (std::size_t i = 0; i < 80; ++i) memory.add(batch, 100000 + 300 * i, 100000 + 500 * i, 200);
  for (std::size_t i = 0; i < 50; ++i) memory.add(batch, 300000 + 64 * i, 300000 + 64 * i, 64);
  REQUIRE_FALSE(batch.find_conflict());
  if (!batch.enqueue(stream.get(), -1).refused) return;
  for (CopyPiece const& piece : memory.added)
    Backend::Driver::copy(piece.dst, piece.src, piece.bytes, stream.get());
}

}  // namespace

TEST_CASE("whichever call fails, a batch is copied all the same, or it is told", "[copy_batch]") {
  for (bool const are_merged : {false, true}) {
    AfterFailures const seen = fail_each_call([&](Memory& memory, DeviceWork::Stream& stream) {
      copy_batch(memory, stream, are_merged);
    });
    CHECK((seen.copied > 4 && seen.told >= 3));
  }
}

TEST_CASE("whichever call fails, few copies are made by another one, or it is told",
          "[few_copies]") {
  for (std::size_t const count : {std::size_t(1), std::size_t(3)}) {
    AfterFailures const seen = fail_each_call([&](Memory& memory, DeviceWork::Stream& stream) {
      CopyBatch batch;
      FewCopies few;
      for (std::size_t i = 0; i < count; ++i) {
        memory.add(batch, 1000 * i, 3000 * i + i % 2, 100 + i);
        REQUIRE(few.add(memory.device + 1000 * i, memory.host + 3000 * i + i % 2, 100 + i));
      }
      if (!copy_few(few, true, stream.get())) batch.enqueue(stream.get(), -1);
    });
    CHECK(seen.copied > 4);
  }
}

TEST_CASE("whichever call fails, rows are copied by another one, or it is told", "[copy_batch]") {
  for (std::size_t const registrations : {std::size_t(1), std::size_t(4)}) {
    AfterFailures const seen = fail_each_call(
        [&](Memory& memory, DeviceWork::Stream& stream) {
          CopyBatch batch;
          PieceRows rows;
          for (std::size_t i = 0; i < 9; ++i) {
            memory.add(batch, 100 * i, 100000 * i, 100);
            REQUIRE(rows.add(memory.device + 100 * i, memory.host + 100000 * i, 100));
          }
          REQUIRE(rows.sides_are_apart());
          if (!copy_rows(rows.rows(), stream.get())) batch.enqueue(stream.get(), -1);
        },
        registrations);
    CHECK((seen.copied > 4 && seen.told >= 3));
  }
}

TEST_CASE("rows that the driver refuses are not tried again", "[copy_batch]") {
  Memory memory(1 << 20, 4);
  DeviceWork::Stream stream;
  auto const rows = [&](std::size_t count) {
    PieceRows of;
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(of.add(memory.device + 104 * i, memory.host + 100000 * i, 100));
    return of.rows();
  };
  Calls const before;
  for (int time = 0; time < 3; ++time) CHECK_FALSE(copy_rows(rows(10), stream.get()));
  CHECK(Calls().boxes == before.boxes + 1);
  CHECK_FALSE(copy_rows(rows(9), stream.get()));  // others are
  CHECK(Calls().boxes == before.boxes + 2);
  CHECK(copy_rows(rows(2), stream.get()));  // of one registration
  Backend::Driver::fence(stream.get());
}

TEST_CASE("whichever call fails, there is a table of a device, or none, or it is told",
          "[copy_batch]") {
  std::vector<int> const list(5000, 7);
  int told = 0, none = 0;
  for (std::size_t call = 1; call < 40; ++call) {
    CAPTURE(call);
    FakeCuda::reset(1);
    FakeCuda::fail_nth_call("*", call, cudaErrorLaunchFailure);
    try {
      auto const table = try_copy_to_device(0, list.data(), list.size() * sizeof(int));
      FakeCuda::fail_no_more();
      if (table != nullptr)
        CHECK(std::equal(list.begin(), list.end(), reinterpret_cast<int const*>(table.get())));
      none += table == nullptr;
    } catch (KokkosHostSpaces::CudaError const&) {
      FakeCuda::fail_no_more();
      ++told;
    }
    CHECK(FakeCuda::outstanding().device_allocations == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
  CHECK(told > 0);
}

}  // namespace CopyBatches
