// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"
#include "uneven_parts.hpp"

namespace soak {
namespace {

template <class T>
class scatterv_call final : public collective_call<scatterv_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::scatter>;
    static constexpr auto const& blocking = papcoll::scatterv;
    static constexpr auto const& nonblocking = papcoll::iscatterv;

    explicit scatterv_call(call_site site)
        : collective_call<scatterv_call, T>(std::move(site))
        , m_parts(this->drawn().sizes, this->own().percent(50), this->own()) {}

    void reset() {
        this->m_in = this->is_root() ? all_parts() : std::vector<T>();
        if (replaces())
            this->replace(this->m_in);
        else
            this->expect_elements(n());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const root = this->drawn().root;
        auto const& sizes = m_parts.sizes();
        auto const& begins = m_parts.begins();
        T const* const in = this->m_in.data();
        auto* const out = this->m_out.data();
        bool const is_vector = this->form() == buffer_form::vectors;
        if (replaces())
            return m_parts.scattered()
                       ? f(this->comm(), boost::mpi::inplace(out), sizes, begins, root, policy...)
                       : f(this->comm(), boost::mpi::inplace(out), sizes, root, policy...);
        if (!this->is_root() && !is_vector && this->own().percent(50))
            return f(this->comm(), out, n(), root, policy...);
        if (m_parts.scattered())
            return is_vector ? f(this->comm(), in, sizes, begins, this->m_out.vector(), n(), root, policy...)
                             : f(this->comm(), in, sizes, begins, out, n(), root, policy...);
        if (this->is_root() && is_vector)
            return f(this->comm(), this->m_in, sizes, this->m_out.vector(), root, policy...);
        std::vector<int> const sizes_as_ints(sizes.begin(), sizes.end());
        if (is_vector) return f(this->comm(), in, sizes_as_ints, this->m_out.vector(), root, policy...);
        return f(this->comm(), in, sizes_as_ints, out, root, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        auto const root = this->drawn().root;
        if (this->is_root())
            return papcoll::plan_scatterv<T>(this->comm(), m_parts.sizes(), m_parts.begins(), root,
                                             policy...);
        return papcoll::plan_scatterv<T>(this->comm(), n(), root, policy...);
    }
    template <class F>
    void bind(F f) {
        T const* const in = this->m_in.data();
        if (replaces()) return f(boost::mpi::inplace(this->m_out.data()));
        if (this->is_root()) return f(in, this->m_out.data());
        f(this->m_out.data());
    }
    [[nodiscard]] auto expected() const -> std::vector<T> {
        return replaces() ? all_parts() : part_of(this->rank());
    }

private:
    /// Elements of this rank.
    [[nodiscard]] auto n() const -> std::size_t { return m_parts.size(this->rank()); }
    [[nodiscard]] auto replaces() const -> bool { return this->is_root() && this->in_place(); }
    [[nodiscard]] auto part_of(int r) const -> std::vector<T> {
        return contents<T>(this->key(this->drawn().root, r), m_parts.size(r));
    }
    [[nodiscard]] auto all_parts() const -> std::vector<T> {
        auto all = this->old(m_parts.end());
        for (int r = 0; r < this->ranks(); ++r) m_parts.put(r, part_of(r), all);
        return all;
    }

    uneven_parts m_parts;
};

} // namespace

auto make_scatterv(call_site site) -> std::unique_ptr<call> {
    return make_call_of<scatterv_call, element_types, scatterv_elements>(std::move(site));
}

} // namespace soak
