// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Allocator meets the requirements of the standard.

#include "../KokkosTest.hpp"

#include <list>
#include <memory_resource>

namespace {

// A container of itself: the element is incomplete where the allocator is named.
struct Tree {
  std::vector<Tree, khs::Allocator<Tree>> children;
  int value = 0;
};

using Traits = std::allocator_traits<khs::Allocator<int>>;
static_assert(Traits::is_always_equal::value);
static_assert(std::is_same_v<Traits::rebind_alloc<void>, khs::Allocator<void>>);
static_assert(std::is_nothrow_move_assignable_v<std::vector<int, khs::Allocator<int>>>);

}  // namespace

TEST_CASE("an allocator takes elements that are not complete yet", "[allocator]") {
  Tree tree;
  tree.children.resize(10);
  tree.children[9].children.resize(2);
  tree.children[9].children[1].value = 7;
  CHECK(Tree(tree).children[9].children[1].value == 7);
}

TEST_CASE(
    "an allocator of void is made, compared and converted, and memory moves between containers",
    "[allocator]") {
  khs::Allocator<void> const any(khs::PinnedSpace(3));
  khs::Allocator<int> const ints(any);
  CHECK(any == ints);
  CHECK(ints.space().device_id() == 3);
  std::list<int, khs::Allocator<int>> const list({1, 2, 3}, khs::Allocator<int>(any));
  CHECK(list.back() == 3);
  CHECK(std::allocate_shared<int>(any, 5).use_count() == 1);
  using Vector = std::vector<int, khs::Allocator<int>>;
  Vector from(1000, 1, khs::Allocator<int>(khs::PinnedSpace(0))),
      to(khs::Allocator<int>(khs::PinnedSpace(1)));
  int const* const memory = from.data();
  to                      = std::move(from);
  CHECK(to.data() == memory);
}

TEST_CASE("containers lie in their space", "[allocator]") {
  std::vector<double, khs::Allocator<double, khs::MappedSpace>> vector(1000, 3.);
  vector.push_back(4.);
  auto const of_vector = khs::pool::describe(static_cast<void const*>(vector.data()));
  REQUIRE(of_vector.has_value());
  CHECK(of_vector->space == "Mapped");
}

TEST_CASE("impossible sizes throw what users of containers catch, with words", "[allocator]") {
  khs::Allocator<double> allocator;
  CHECK_THROWS_AS(allocator.allocate(std::size_t(-1) / 4), std::bad_alloc);
  CHECK_THROWS_AS(allocator.allocate(std::size_t(1) << 50), std::bad_alloc);
}

TEST_CASE("a label that is too long is cut before a character", "[allocator]") {
  std::string const most(46, 'a');
  khs::PinnedSpace const space;
  for (auto const& [label, kept] :
       {std::pair(most + "\xc3\xbc", most), std::pair(most + "bc", most + "b"),
        std::pair(std::string(45, 'a') + "\xe2\x82\xac", std::string(45, 'a')),
        std::pair(std::string(45, 'a') + "\xc3\xbc" + "b", std::string(45, 'a') + "\xc3\xbc")}) {
    void* const memory = space.allocate(label.c_str(), 1000);
    CHECK(khs::pool::describe(static_cast<void const*>(memory))->label == kept);
    space.deallocate(label.c_str(), memory, 1000);
  }
}
