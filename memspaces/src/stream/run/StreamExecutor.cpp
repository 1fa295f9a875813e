// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/stream/run/StreamExecutor.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace KokkosHostSpaces::Impl {

namespace {

// May lie outside of the memory, for row 0 of what is not there.
char* shifted(char* device, std::ptrdiff_t offset) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(device) +
                                 static_cast<std::uintptr_t>(offset));
}

// Windows lie at multiples of this, for elements that must.
struct AlignedMemory {
  static constexpr std::align_val_t alignment{512};
  explicit AlignedMemory(std::size_t bytes)
      : data(static_cast<char*>(::operator new(bytes, alignment))) {}
  ~AlignedMemory() { ::operator delete(data, alignment); }
  AlignedMemory(AlignedMemory const&)            = delete;
  AlignedMemory& operator=(AlignedMemory const&) = delete;
  char* data;
};

class OneByOne : public StreamExecutor {
 public:
  explicit OneByOne(StreamLauncher const& launcher) : m_launcher(launcher) {}
  void copy(StreamQueue, void* dst, void const* src, std::size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  void launch(StreamLaunch const& launch) override { m_launcher(launch); }
  void record(StreamQueue, int) override {}
  void wait(StreamQueue, int) override {}

 private:
  StreamLauncher const& m_launcher;
};

}  // namespace

bool StreamWalk::next_chunk() {
  if (m_next == m_plan.operations.size()) return false;
  std::int64_t const chunk = m_plan.operations[m_next].chunk;
  while (m_next < m_plan.operations.size() && m_plan.operations[m_next].chunk == chunk)
    execute(m_plan.operations[m_next++]);
  return true;
}

void StreamWalk::execute(StreamOperation const& operation) {
  StreamQueue const queue = operation.queue();
  for (int const before : operation.after)
    if (before >= 0) m_executor.wait(queue, m_plan.operations[at(before)].event);
  if (operation.action == StreamAction::launch) {
    m_first_rows.clear();
    std::size_t const accesses = m_shape.stages[at(operation.stage)].accesses.size();
    for (std::size_t a = 0; a < accesses; ++a)
      m_first_rows.push_back(shifted(m_device, m_plan.origins[operation.first_origin + a]));
    m_executor.launch(
        {operation.stage, operation.chunk, operation.begin, operation.end, m_first_rows.data()});
  } else {
    copy_pieces(operation);
  }
  if (operation.event >= 0) m_executor.record(queue, operation.event);
}

void StreamWalk::copy_pieces(StreamOperation const& operation) {
  for (std::size_t p = operation.first_piece; p < operation.last_piece; ++p) {
    StreamPiece const& piece = m_plan.pieces[p];
    char* const host         = m_shape.buffers[at(piece.buffer)].host;
    char* from               = m_device;
    if (operation.action == StreamAction::load)
      from = piece.source == StreamSource::array         ? host
             : piece.source == StreamSource::saved_below ? m_shape.saved[at(piece.buffer)].below
                                                         : m_shape.saved[at(piece.buffer)].above;
    char* const to = operation.action == StreamAction::store ? host : m_device;
    m_executor.copy(operation.queue(), to + piece.to,
                    shifted(from, static_cast<std::ptrdiff_t>(piece.from)), piece.bytes);
  }
}

void execute(StreamPlan const& plan, StreamShape const& shape, char* device,
             StreamExecutor& executor) {
  StreamWalk walk(plan, shape, device, executor);
  while (walk.next_chunk()) {
  }
}

void execute_on_host(StreamPlan const& plan, StreamShape const& shape,
                     StreamLauncher const& launcher) {
  AlignedMemory const memory(plan.memory);
  OneByOne executor(launcher);
  execute(plan, shape, memory.data, executor);
}

void execute_in_place(StreamShape const& shape, int stage, StreamRows const& rows,
                      std::vector<char*> const& homes, std::int64_t most,
                      StreamLauncher const& launcher) {
  std::vector<char*> first_rows;
  for (StreamAccess const& access : shape.stages[std::size_t(stage)].accesses)
    first_rows.push_back(homes[std::size_t(access.buffer)]);
  std::int64_t chunk = 0;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += most)
    launcher({stage, chunk++, begin, std::min(begin + most, rows.end), first_rows.data()});
}

std::vector<char*> homes_of(StreamShape const& shape,
                            std::function<char*(int, std::size_t)> const& intermediate) {
  std::vector<char*> result;
  std::vector<int> last_use(shape.buffers.size(), -1), free_from;
  std::vector<std::size_t> sizes;
  for (std::size_t s = 0; s < shape.stages.size(); ++s)
    for (StreamAccess const& access : shape.stages[s].accesses)
      last_use[std::size_t(access.buffer)] = int(s);
  std::vector<int> numbers(shape.buffers.size(), -1);
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    for (StreamAccess const& access : shape.stages[s].accesses) {
      StreamBuffer const& buffer = shape.buffers[std::size_t(access.buffer)];
      if (!access.writes || buffer.loaded || buffer.stored) continue;
      std::size_t const bytes = std::size_t(buffer.rows) * buffer.row_bytes;
      std::size_t n           = 0;
      while (n < free_from.size() && (free_from[n] > int(s) || sizes[n] != bytes)) ++n;
      if (n == free_from.size()) {
        free_from.push_back(0);
        sizes.push_back(bytes);
      }
      free_from[n]                        = last_use[std::size_t(access.buffer)] + 1;
      numbers[std::size_t(access.buffer)] = int(n);
    }
  }
  for (std::size_t b = 0; b < shape.buffers.size(); ++b)
    result.push_back(numbers[b] < 0 ? shape.buffers[b].host
                                    : intermediate(numbers[b], sizes[std::size_t(numbers[b])]));
  return result;
}

}  // namespace KokkosHostSpaces::Impl
