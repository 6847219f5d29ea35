// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/elements.hpp>
#include <papcoll/executor/failure.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/program/program.hpp>

#include <cstddef>
#include <map>
#include <utility>

namespace papcoll::inline v0::detail {

/// What the memory of a program holds of serialized values that have arrived: they are passed on as they
/// came, and loaded when they are combined, or at the end.
class archived_values {
public:
    using place = std::pair<memory, std::size_t>; // of an element

    /// There are none. `in_place`: `in` and `out` are the same memory.
    void clear(bool in_place) {
        m_values.clear();
        m_in_place = in_place;
    }
    /// A value has arrived from rank `peer`, or that it is missing.
    void arrived(place at, content value, int peer) {
        m_values.insert_or_assign(key(at), held{std::move(value), peer, false});
    }
    /// The value in memory at this place has been saved.
    void saved(place at, content value) {
        m_values.insert_or_assign(key(at), held{std::move(value), -1, true});
    }
    /// The value at this place as it travels; null: it is in memory alone.
    [[nodiscard]] auto find(place at) const -> content const* {
        auto const found = m_values.find(key(at));
        return found == m_values.end() ? nullptr : &found->second.value;
    }
    /// Something is written there.
    void forget(region const& r) { m_values.erase(first_of(r), last_of(r)); }
    /// Calls load(element, content) for the values of a region that are not in memory yet, which they are
    /// then. Throws missing_value_error for one that is missing.
    template <class Load>
    void load(region const& r, Load load) {
        auto const last = last_of(r);
        for (auto v = first_of(r); v != last; ++v) {
            if (v->second.in_memory) continue;
            if (v->second.value.is_missing()) throw missing_value_error(v->second.peer);
            load(v->first.second, v->second.value);
            v->second.in_memory = true;
        }
    }

private:
    struct held {
        content value;
        int peer;
        bool in_memory; // too
    };
    using value_map = std::map<place, held>;

    [[nodiscard]] auto key(place at) const -> place {
        if (m_in_place && at.first == memory::in) at.first = memory::out;
        return at;
    }
    auto first_of(region const& r) -> value_map::iterator {
        return m_values.lower_bound(key({r.where(), r.offset()}));
    }
    auto last_of(region const& r) -> value_map::iterator {
        return m_values.lower_bound(key({r.where(), r.end()}));
    }

    value_map m_values;
    bool m_in_place = false;
};

} // namespace papcoll::inline v0::detail
