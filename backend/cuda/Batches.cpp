// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The seam by the CUDA runtime: many copies by one call.

#include "Chunks.hpp"
#include "Runtime.hpp"

namespace KokkosHostSpaces::Impl::Driver {

namespace {

#if CUDART_VERSION >= 12080
bool is_in_one_chunk(void const* pointer, std::size_t bytes) {
  return bytes <= to_chunk_end(static_cast<char const*>(pointer));
}

cudaError_t call(void* const* dsts, void const* const* srcs, std::size_t const* bytes,
                 std::size_t count, cudaStream_t stream) {
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder       = cudaMemcpySrcAccessOrderStream;
  std::size_t of_all              = 0;  // the first piece that has these attributes
#if CUDART_VERSION >= 13000
  return cudaMemcpyBatchAsync(dsts, srcs, bytes, count, &attributes, &of_all, 1, stream);
#else
  std::size_t failed = 0;
  return cudaMemcpyBatchAsync(const_cast<void**>(dsts), const_cast<void**>(srcs),
                              const_cast<std::size_t*>(bytes), count, &attributes, &of_all, 1,
                              &failed, stream);
#endif
}
#endif

}  // namespace

bool takes_batches([[maybe_unused]] Stream stream) noexcept {
#if CUDART_VERSION >= 12080
  return stream != nullptr && stream != cudaStreamLegacy;
#else
  return false;
#endif
}

bool copy_batch([[maybe_unused]] void* const* dsts, [[maybe_unused]] void const* const* srcs,
                [[maybe_unused]] std::size_t const* bytes, [[maybe_unused]] std::size_t count,
                [[maybe_unused]] Stream stream) {
#if CUDART_VERSION >= 12080
  if (!takes_batches(stream)) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_in_one_chunk(dsts[i], bytes[i]) || !is_in_one_chunk(srcs[i], bytes[i])) return false;
  ContextInUse const context(require_runtime());
  return succeeded(call(dsts, srcs, bytes, count, static_cast<cudaStream_t>(stream)));
#else
  return false;
#endif
}

}  // namespace KokkosHostSpaces::Impl::Driver
