// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_MPI_EXCHANGE_HPP
#define KOKKOS_HOST_SPACES_MPI_EXCHANGE_HPP

#include <KokkosHostSpaces/MappedSpace.hpp>
#include <KokkosHostSpaces/impl/mpi/Messages.hpp>
#include <KokkosHostSpaces/impl/mpi/Pack.hpp>

#include <iostream>
#include <limits>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

namespace KokkosHostSpaces {

/// A View whose elements are sent to a rank, or come from it: what khs::outgoing and khs::incoming make.
template <class View, bool GoesOut>
struct ViewMessage {
  View view;
  int rank, tag;
};
template <class View>
using Outgoing = ViewMessage<View, true>;
template <class View>
using Incoming = ViewMessage<View, false>;

/// A message of the elements of `view` to `rank`. MPI_PROC_NULL: none.
template <class DataType, class... P>
auto outgoing(Kokkos::View<DataType, P...> const& view, int rank, int tag = 0) {
  return Outgoing<Kokkos::View<DataType, P...>>{view, rank, tag};
}

/// A message from `rank` to the elements of `view`. MPI_PROC_NULL: none.
template <class DataType, class... P>
auto incoming(Kokkos::View<DataType, P...> const& view, int rank, int tag = 0) {
  static_assert(!std::is_const_v<typename Kokkos::View<DataType, P...>::value_type>,
                "what comes in is written: the elements are not const");
  return Incoming<Kokkos::View<DataType, P...>>{view, rank, tag};
}

/// An argument of khs::exchange: MPI sends from, and receives into, the memory of dense Views itself, without
/// buffers. Such outgoing Views must not be overwritten before wait() has returned. For Views in device
/// memory MPI must be CUDA-aware. KOKKOS_HOST_SPACES_UNBUFFERED=on is this argument of all calls.
struct Unbuffered {};
inline constexpr Unbuffered unbuffered{};

/// The messages of a call of khs::exchange. Use it in one thread at a time, the one that may call MPI.
class Exchange {
 public:
  /// Not for users: khs::exchange makes it.
  explicit Exchange(std::unique_ptr<Impl::Messages> messages) : m_messages(std::move(messages)) {}
  Exchange(Exchange&&) noexcept = default;
  /// Waits for the old messages of this object.
  Exchange& operator=(Exchange other) noexcept {
    std::swap(m_messages, other.m_messages);
    return *this;
  }

  /// Waits for the messages, before MPI_Finalize. Prints errors to stderr.
  ~Exchange() {
    try {
      wait();
    } catch (std::exception const& error) {
      std::cerr << "KokkosHostSpaces: " << error.what() << std::endl;
    }
  }

  /// Gets on: sends what the device has ready, enqueues what has arrived. True if all is done, as after
  /// wait(). Waits for nothing.
  /// \throw Error that names the first message that failed, when all others have been begun; the exchange
  /// is over then, its Views are undefined, and buffers that MPI still uses are lost to the process
  bool test() {
    if (m_messages != nullptr && m_messages->progress()) {
      auto const done = std::move(m_messages);
      done->check();
    }
    return m_messages == nullptr;
  }

  /// Waits until all messages have gone and arrived: their sources may be overwritten, and later work on
  /// the instance finds what came. Does not wait for the instance.
  /// \throw Error as test
  void wait() {
    while (!test()) std::this_thread::yield();
  }

 private:
  std::unique_ptr<Impl::Messages> m_messages;
};

namespace Impl {

template <bool GoesOut, class View, bool Out, class Call>
void for_each_message(ViewMessage<View, Out> const& message, Call const& call) {
  if constexpr (Out == GoesOut)
    if (message.rank != MPI_PROC_NULL) call(message);
}
template <bool GoesOut, class Call>
void for_each_message(Unbuffered, Call const&) {}
template <bool GoesOut, class Message, class Call>
void for_each_message(std::vector<Message> const& messages, Call const& call) {
  for (Message const& message : messages) for_each_message<GoesOut>(message, call);
}

/// The message of a View, without its memory.
template <class ExecutionSpace, class View, bool GoesOut>
Message describe_message(ViewMessage<View, GoesOut> const& of) {
  using Space = typename View::memory_space;
  static_assert(std::is_trivially_copyable_v<typename View::value_type>,
                "the elements of a message are trivially copyable");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, Space>::accessible || HostSpace<Space>,
                "a message is a View that kernels of the instance reach, or one in a space of this "
                "library: copies of pageable memory would wait for the device");
  Message message{of.view.label(), of.rank, of.tag,
                  of.view.size() * sizeof(typename View::value_type), GoesOut};
  if (is_stock_v<ExecutionSpace> && is_only_registered(of.view.data()))
    throw Error(
        message.in_words() +
        " is registered memory (kernels of this device do not reach it): send it from a View "
        "that PinnedSpace allocates");
  if (message.bytes > std::size_t(std::numeric_limits<int>::max()))
    throw Error(message.in_words() + " is too large (MPI counts to 2147483647): send it in parts");
  return message;
}

}  // namespace Impl

/// Sends and receives the elements of Views by messages between page-locked buffers of the pool.
///
///     auto halo = khs::exchange(instance, comm, khs::outgoing(face, left, 0), khs::incoming(ghost, right, 0));
///     compute_the_inside(other_instance);
///     halo.wait();
///     compute_the_rest(instance);  // ordered behind what came
///
/// The call enqueues on `instance` what takes the outgoing Views to the host, after its earlier work, and
/// returns: they may be overwritten by later work of `instance`. Each message goes, in Exchange::test or
/// Exchange::wait of any exchange, when its own elements are on the host; what arrives is enqueued at once on
/// `instance`, in these calls of its own exchange. No device is fenced, and no stream waits for MPI. Incoming
/// Views must not be used by work of `instance` between the call and the end of wait().
///
/// Elements go by their indices: those of View (i, j) arrive at (i, j), whatever the layouts; extents and
/// types are equal on both sides. MPI sees bytes, ordered by the leftmost index first. Messages of one
/// tag between two ranks arrive in the order of the arguments; exchanges that are under way at once need
/// other tags or communicators. MPI is called by the calling thread alone (MPI_THREAD_FUNNELED suffices).
///
/// \param instance of the device that the Views belong to, or of the host; not captured into a graph; kept
/// \param comm     a communicator, not to be freed before the end of wait()
/// \param messages of khs::outgoing and khs::incoming, or std::vectors of these; and khs::unbuffered.
///                 Less than 2 GiB each, of trivially copyable elements
/// \throw Error that names the message, before any message is begun, or of MPI
/// \throw OutOfPinnedMemory
/// \throw DeviceError
template <Impl::ExecutionSpace ExecutionSpace, class... Messages>
Exchange exchange(ExecutionSpace const& instance, MPI_Comm comm, Messages const&... messages) {
  constexpr bool is_driven  = Impl::is_driven_v<ExecutionSpace>;
  Impl::StreamHandle stream = nullptr;
  int device                = -1;
  if constexpr (is_driven) {
    stream = Impl::stream_of(instance);
    device = Impl::device_id_of(instance);
    if (Impl::is_captured(stream))
      throw Error(
          "messages cannot be captured into a graph (MPI takes no part in it): exchange outside of the capture");
  }
  // Receives wait for MPI before sends do.
  auto const for_each = [&](auto const& call) {
    (Impl::for_each_message<false>(messages, call), ...);
    (Impl::for_each_message<true>(messages, call), ...);
  };

  bool const is_unbuffered =
      (std::is_same_v<Messages, Unbuffered> || ...) || Impl::sends_unbuffered();
  std::vector<Impl::Message> described;
  std::size_t bytes = 0;
  auto const padded = [](std::size_t size) { return (size + 255) / 256 * 256; };
  for_each([&](auto const& message) {
    described.push_back(Impl::describe_message<ExecutionSpace>(message));
    if (is_unbuffered &&
        Impl::plan_for(Impl::dense_view(nullptr, message.view), message.view).contiguous())
      described.back().data = const_cast<char*>(reinterpret_cast<char const*>(message.view.data()));
    else
      bytes += padded(described.back().bytes);
  });
  auto memory = std::make_unique<Impl::PoolMemory>(device, "KokkosHostSpaces::exchange", bytes);
  char* next  = static_cast<char*>(memory->data());

  auto under_way = std::make_unique<Impl::Messages>(comm, std::move(described), std::move(memory),
                                                    stream, device);
  auto it        = under_way->all().begin();
  for_each([&]<class View, bool GoesOut>(ViewMessage<View, GoesOut> const& message) {
    bool const is_buffered = it->data == nullptr;
    if (is_buffered) {
      it->data = next;
      next += padded(it->bytes);
      auto const dense = Impl::dense_view(it->data, message.view);
      if constexpr (GoesOut)
        Impl::copy_elements(instance, dense, message.view);
      else
        it->unpack = [=, view = message.view] {
          Impl::copy_elements(instance, view, dense);
          if constexpr (!is_driven)
            instance.fence("KokkosHostSpaces::exchange: a message is there");
        };
    }
    // Keep what MPI writes and reads, and the stream.
    if (!it->unpack) it->unpack = [instance, view = is_buffered ? View() : message.view] {};
    // Earlier work of the instance writes what goes out, and may still read what is received into.
    if constexpr (is_driven)
      if (GoesOut || !is_buffered) it->ready = Impl::StreamMark(stream, device);
    ++it;
  });
  if constexpr (!is_driven)
    instance.fence("KokkosHostSpaces::exchange: messages of the host are packed");
  Exchange result(std::move(under_way));
  result.test();
  return result;
}

}  // namespace KokkosHostSpaces

#endif
