// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The messages of an exchange between page-locked buffers. Knows nothing of Views.

#ifndef KOKKOS_HOST_SPACES_IMPL_MESSAGES_HPP
#define KOKKOS_HOST_SPACES_IMPL_MESSAGES_HPP

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/mpi/Agree.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace KokkosHostSpaces::Impl {

struct Message {
  std::string label;
  int rank, tag;
  std::size_t bytes;
  bool goes_out;
  char* data                   = nullptr;
  StreamMark ready             = {};       ///< MPI may have `data` when it is passed
  std::function<void()> unpack = nullptr;  ///< enqueues what takes `data` to its View

  std::string in_words() const {
    return "the message \"" + label + (goes_out ? "\" to rank " : "\" from rank ") +
           std::to_string(rank) + " (tag " + std::to_string(tag) + ", " + std::to_string(bytes) +
           " bytes)";
  }
};

/// Messages under way, in the order of their posting: the incoming ones first; and their memory.
class Messages {
 public:
  Messages(MPI_Comm comm, std::vector<Message> messages, std::unique_ptr<PoolMemory> memory,
           StreamHandle stream, int device)
      : m_comm(comm),
        m_messages(std::move(messages)),
        m_requests(m_messages.size(), MPI_REQUEST_NULL),
        m_memory(std::move(memory)),
        m_stream(stream),
        m_device(device) {}

  /// Gives the memory back for the next exchange, behind the work of the stream alone. After an error, what
  /// MPI may still read or write is lost to the process: messages that come late do not reach later exchanges.
  ~Messages() {
    {
      std::lock_guard const lock(s_mutex);
      s_under_way.erase(this);
    }
    for (MPI_Request& request : m_requests)
      if (request != MPI_REQUEST_NULL) give_up(request);
    if (m_is_lost) {
      static_cast<void>(m_memory.release());
      new (std::nothrow) std::vector<Message>(std::move(m_messages));
    }
    std::optional<ScopedRetirement> of_stream;
    if (m_memory != nullptr && m_device >= 0)
      of_stream.emplace(m_memory->data(), m_stream, m_device);
    m_memory.reset();
  }

  std::vector<Message>& all() { return m_messages; }

  /// Posts what is ready, enqueues what has arrived. True if all messages are done; or if one has failed, and
  /// no other rank waits for one that is not posted. Posts for all exchanges: another rank may wait for one
  /// of theirs before it sends what this one waits for. Does not wait.
  bool progress() {
    std::lock_guard const lock(s_mutex);
    s_under_way.insert(this);
    for (Messages* const each : s_under_way) each->post();
    bool is_done = true;
    for (std::size_t i = 0; i < m_posted; ++i)
      if (m_requests[i] != MPI_REQUEST_NULL) is_done &= has_ended([&] { return test(i); });
    return m_posted == m_messages.size() && (is_done || m_error);
  }

  /// \throw Error that names the first message that failed
  void check() const {
    if (m_error) std::rethrow_exception(m_error);
  }

 private:
  // Returns true if the step of a message has ended, or failed.
  template <class Step>
  bool has_ended(Step const& step) try {
    return step();
  } catch (...) {
    if (!m_error) m_error = std::current_exception();
    return true;
  }

  // In order, so that messages of one tag do not overtake each other.
  void post() {
    while (m_posted < m_messages.size() && has_ended([&] { return post(m_posted); })) ++m_posted;
  }

  bool post(std::size_t i) {
    Message const& of = m_messages[i];
    if (!of.ready.is_passed()) return false;
    int const code =
        of.goes_out
            ? MPI_Isend(of.data, int(of.bytes), MPI_BYTE, of.rank, of.tag, m_comm, &m_requests[i])
            : MPI_Irecv(of.data, int(of.bytes), MPI_BYTE, of.rank, of.tag, m_comm, &m_requests[i]);
    if (code != MPI_SUCCESS) check_mpi(code, of.in_words() + " cannot be begun");
    return true;
  }

  bool test(std::size_t i) {
    Message const& of = m_messages[i];
    int is_done = 0, bytes = 0;
    MPI_Status status;
    int const code = MPI_Test(&m_requests[i], &is_done, &status);
    if (code == MPI_SUCCESS && is_done == 0) return false;
    if (m_requests[i] != MPI_REQUEST_NULL) give_up(m_requests[i]);  // some leave it after an error
    if (code != MPI_SUCCESS) check_mpi(code, of.in_words() + " failed");
    if (of.goes_out) return true;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (std::size_t(bytes) != of.bytes)
      throw Error(
          of.in_words() + " has " + std::to_string(bytes) +
          " bytes (the ranks differ in extents or types): send and receive Views of equal extents");
    of.unpack();
    return true;
  }

  // MPI goes on with a request that is not done.
  void give_up(MPI_Request& request) {
    int is_done = 0;
    MPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0) m_is_lost = true;
    MPI_Request_free(&request);
  }

  inline static std::mutex s_mutex;
  inline static auto& s_under_way = *new std::set<Messages*>;  // never destroyed

  MPI_Comm m_comm;
  std::vector<Message> m_messages;
  std::vector<MPI_Request> m_requests;
  std::unique_ptr<PoolMemory> m_memory;
  StreamHandle m_stream;
  int m_device;
  std::size_t m_posted = 0;      // or failed
  bool m_is_lost       = false;  // MPI may still use the memory
  std::exception_ptr m_error;
};

}  // namespace KokkosHostSpaces::Impl

#endif
