// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"
#include "uneven_parts.hpp"

namespace soak {
namespace {

template <class T>
class gatherv_call final : public collective_call<gatherv_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::gather>;
    static constexpr auto const& blocking = papcoll::gatherv;
    static constexpr auto const& nonblocking = papcoll::igatherv;

    explicit gatherv_call(call_site site)
        : collective_call<gatherv_call, T>(std::move(site))
        , m_parts(this->drawn().sizes, this->form() == buffer_form::pointers && this->own().percent(50),
                  this->own()) {}

    void reset() {
        this->m_in = part_of(this->rank());
        auto before = this->old(m_parts.end());
        if (replaces()) m_parts.put(this->rank(), this->m_in, before);
        if (replaces() || this->form() == buffer_form::pointers)
            this->replace(std::move(before));
        else
            this->expect_elements(m_parts.end());
        m_before = this->m_out.values();
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const root = this->drawn().root;
        auto const& sizes = m_parts.sizes();
        auto const n = this->m_in.size();
        T const* const in = this->m_in.data();
        auto* const out = this->m_out.data();
        bool const is_vector = this->form() == buffer_form::vectors;
        if (replaces())
            return m_parts.scattered()
                       ? f(this->comm(), boost::mpi::inplace(out), sizes, m_parts.begins(), root, policy...)
                       : f(this->comm(), boost::mpi::inplace(out), sizes, root, policy...);
        if (!this->is_root() && this->own().percent(50))
            return is_vector ? f(this->comm(), this->m_in, root, policy...)
                             : f(this->comm(), in, n, root, policy...);
        if (is_vector) return f(this->comm(), this->m_in, this->m_out.vector(), sizes, root, policy...);
        std::vector<int> const sizes_as_ints(sizes.begin(), sizes.end());
        if (m_parts.scattered())
            return f(this->comm(), in, n, out, sizes_as_ints, m_parts.begins(), root, policy...);
        return f(this->comm(), in, n, out, sizes_as_ints, root, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        auto const root = this->drawn().root;
        if (this->is_root())
            return papcoll::plan_gatherv<T>(this->comm(), m_parts.sizes(), m_parts.begins(), root, policy...);
        return papcoll::plan_gatherv<T>(this->comm(), m_parts.size(this->rank()), root, policy...);
    }
    template <class F>
    void bind(F f) {
        T const* const in = this->m_in.data();
        if (replaces()) return f(boost::mpi::inplace(this->m_out.data()));
        if (this->is_root()) return f(in, this->m_out.data());
        f(in);
    }
    /// What is between the parts stays, as on ranks other than the root.
    [[nodiscard]] auto expected() const -> std::vector<T> {
        if (!this->is_root()) return m_before;
        auto result = m_before;
        result.resize(m_parts.end());
        for (int r = 0; r < this->ranks(); ++r) m_parts.put(r, part_of(r), result);
        return result;
    }

private:
    [[nodiscard]] auto replaces() const -> bool { return this->is_root() && this->in_place(); }
    [[nodiscard]] auto part_of(int r) const -> std::vector<T> {
        return contents<T>(this->key(r), m_parts.size(r));
    }

    uneven_parts m_parts;
    std::vector<T> m_before;
};

} // namespace

auto make_gatherv(call_site site) -> std::unique_ptr<call> {
    return make_call_of<gatherv_call, element_types, gatherv_elements>(std::move(site));
}

} // namespace soak
