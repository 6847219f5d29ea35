// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "collective_call.hpp"
#include "operators.hpp"

namespace soak {

/// What the calls of reductions share.
template <class Self, class Case, papcoll::collective_kind Operation>
class reduction_call : public collective_call<Self, typename Case::value_type> {
public:
    using value = typename Case::value_type;
    using types =
        policy_types<Operation, commutes<Case>, papcoll::serializable<value>,
                     Operation == papcoll::collective_kind::all_reduce && std::same_as<value, double>>;

protected:
    explicit reduction_call(call_site site)
        : collective_call<Self, value>(std::move(site)) {}

    [[nodiscard]] auto op() const { return Case::make(this->drawn().key); }
    [[nodiscard]] auto own_contents(std::size_t count) const -> std::vector<value> {
        return contents<value>(this->key(this->rank()), count);
    }
    [[nodiscard]] auto result(std::size_t count, std::size_t first = 0) const -> std::vector<value> {
        return combined<Case>(this->drawn().key, this->ranks(), count, first,
                              [this](int r) { return this->key(r); });
    }
};

} // namespace soak
