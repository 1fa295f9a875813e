// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Ranks.hpp"

#include <stdexcept>

namespace KokkosHostSpaces::Perf {

Ranks::Ranks(int*, char***) {}
Ranks::~Ranks() = default;

void Ranks::barrier() const {}
double Ranks::sum(double value) const { return value; }
double Ranks::greatest(double value) const { return value; }
std::vector<double> Ranks::of_all(double value) const { return {value}; }
std::vector<std::string> Ranks::of_all(std::string const& text) const { return {text}; }
void Ranks::abort(std::string const& why) const { throw std::runtime_error(why); }
std::string Ranks::first_of(std::string const& text) const { return text; }

}  // namespace KokkosHostSpaces::Perf
