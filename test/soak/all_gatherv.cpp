// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include <numeric>

#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class all_gatherv_call final : public collective_call<all_gatherv_call<T>, T, true> {
public:
    using types = policy_types<papcoll::collective_kind::all_gather>;
    static constexpr auto const& blocking = papcoll::all_gatherv;
    static constexpr auto const& nonblocking = papcoll::iall_gatherv;

    explicit all_gatherv_call(call_site site)
        : collective_call<all_gatherv_call, T, true>(std::move(site))
        , m_scattered(!is_vector() && this->own().percent(50)) {
        place_parts();
    }

    void reset() {
        this->m_in = contents<T>(this->key(this->rank()), size_of(this->rank()));
        m_before = this->old(m_end);
        if (this->in_place()) copy_part(this->rank(), m_before);
        if (is_vector())
            this->expect_elements(m_end);
        else
            this->replace(m_before);
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto* const out = this->m_out.data();
        T const* const in = this->m_in.data();
        auto const& sizes = this->drawn().sizes;
        std::vector<int> const counts_as_ints(sizes.begin(), sizes.end());
        if (is_vector()) return f(this->comm(), this->m_in, this->m_out.vector(), sizes, policy...);
        if (this->in_place() && m_scattered)
            return f(this->comm(), boost::mpi::inplace(out), counts_as_ints, m_begins, policy...);
        if (this->in_place()) return f(this->comm(), boost::mpi::inplace(out), sizes, policy...);
        if (m_scattered) return f(this->comm(), in, out, sizes, m_begins, policy...);
        return f(this->comm(), in, out, counts_as_ints, policy...);
    }
    template <class... Policy>
    auto open(Policy const&... policy) {
        auto const& sizes = this->drawn().sizes;
        if (is_vector())
            return papcoll::open_all_gatherv(this->comm(), this->m_out.vector(), sizes, policy...);
        if (m_scattered)
            return papcoll::open_all_gatherv(this->comm(), this->m_out.data(), sizes, m_begins, policy...);
        return papcoll::open_all_gatherv(this->comm(), this->m_out.data(), sizes, policy...);
    }
    auto own_place() -> T* {
        return this->m_in.empty() ? nullptr : this->m_out.data() + begin_of(this->rank());
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_all_gatherv<T>(this->comm(), this->drawn().sizes, m_begins, policy...);
    }
    /// What is between the parts stays.
    [[nodiscard]] auto expected() const -> std::vector<T> {
        auto result = m_before;
        for (int r = 0; r < this->ranks(); ++r) copy_part(r, result);
        return result;
    }

private:
    [[nodiscard]] auto is_vector() const -> bool {
        return this->form() == buffer_form::vectors && !this->in_place();
    }
    [[nodiscard]] auto size_of(int r) const -> std::size_t {
        return this->drawn().sizes[static_cast<std::size_t>(r)];
    }
    [[nodiscard]] auto begin_of(int r) const -> std::ptrdiff_t {
        return static_cast<std::ptrdiff_t>(m_begins[static_cast<std::size_t>(r)]);
    }
    void copy_part(int r, std::vector<T>& to) const {
        auto const part = contents<T>(this->key(r), size_of(r));
        std::copy(part.begin(), part.end(), to.begin() + begin_of(r));
    }
    /// One part behind the other, or on this rank in any order and with gaps.
    void place_parts() {
        std::vector<std::size_t> order(this->drawn().sizes.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        for (std::size_t i = order.size(); i > 1 && m_scattered; --i)
            std::swap(order[i - 1], order[this->own().below(i)]);
        m_begins.resize(order.size());
        for (auto const r : order) {
            if (m_scattered) m_end += this->own().below(4);
            m_begins[r] = m_end;
            m_end += this->drawn().sizes[r];
        }
    }

    bool m_scattered;
    std::vector<std::size_t> m_begins;
    std::size_t m_end = 0;
    std::vector<T> m_before;
};

} // namespace

auto make_all_gatherv(call_site site) -> std::unique_ptr<call> {
    return make_call_of<all_gatherv_call, element_types, all_gatherv_elements>(std::move(site));
}

} // namespace soak
