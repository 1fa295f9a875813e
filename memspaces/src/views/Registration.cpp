// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Registration.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/Device.hpp>

#include "../../../backend/pool/Statistics.hpp"
#include "../../../backend/Registry.hpp"

#include <exception>
#include <iostream>
#include <utility>

namespace KokkosHostSpaces {

Registration::Registration(void* pointer, std::size_t bytes, std::string label, AtFork at_fork)
    : m_pointer(pointer), m_bytes(bytes), m_label(std::move(label)) {
  if (auto const owner = pool::describe(pointer))
    throw RegistrationError(
        "cannot page-lock '" + m_label + "' (it is memory of " +
        (owner->state == pool::State::in_use
             ? "'" + owner->label + "' in the space " + owner->space +
                   ", page-locked already): use it as it is, without a registration"
             : "this library, and no View uses it): check that it was not freed before"));
  Impl::lock_when_initialized();
  Impl::Backend::register_range(pointer, bytes, m_label, at_fork == AtFork::leave_out);
}

Registration::Registration(Registration&& other) noexcept
    : m_pointer(std::exchange(other.m_pointer, nullptr)),
      m_bytes(std::exchange(other.m_bytes, 0)),
      m_label(std::move(other.m_label)),
      m_owner(std::move(other.m_owner)),
      m_is_const(other.m_is_const) {}

Registration& Registration::operator=(Registration&& other) noexcept {
  std::swap(m_pointer, other.m_pointer);
  std::swap(m_bytes, other.m_bytes);
  std::swap(m_label, other.m_label);
  std::swap(m_owner, other.m_owner);
  std::swap(m_is_const, other.m_is_const);
  return *this;
}

Registration::~Registration() {
  try {
    release();
  } catch (std::exception const& error) {  // std::bad_alloc, too
    std::cerr << "KokkosHostSpaces: " << error.what() << std::endl;
  }
}

void Registration::release() {
  void* const pointer = std::exchange(m_pointer, nullptr);
  m_bytes             = 0;
  if (pointer == nullptr) return;
  std::string const problem = Impl::Backend::unregister_range(pointer);
  m_owner.reset();
  if (!problem.empty()) throw RegistrationError(problem);
}

void Registration::check_kernels() const {
  if constexpr (Impl::has_stock_device)
    throw RegistrationError("a View in MappedSpace of the registration \"" + m_label +
                            "\" would be of no use (kernels of this device do not reach registered "
                            "memory): make it in PinnedSpace, and copy it");
}

void Registration::check_may_write() const {
  if (m_is_const)
    throw RegistrationError("the elements of the registration \"" + m_label +
                            "\" are const: make Views of const elements of them");
}

void Registration::check_view(void const* pointer, std::size_t bytes, char const* space) const {
  // An address before the range wraps to an offset beyond it.
  std::size_t const offset =
      reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(m_pointer);
  if (offset <= m_bytes && bytes <= m_bytes - offset) return;
  std::string const size =
      bytes == SIZE_MAX ? "more bytes than size_t can count" : std::to_string(bytes) + " bytes";
  throw RegistrationError("a View in " + std::string(space) + " of " + size +
                          " is not inside the registration \"" + m_label + "\" (" +
                          std::to_string(m_bytes) +
                          " bytes registered): register the whole range that the View shall cover");
}

}  // namespace KokkosHostSpaces
