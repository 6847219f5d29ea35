// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class scatter_call final : public collective_call<scatter_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::scatter, true, papcoll::serializable<T>>;
    static constexpr auto const& blocking = papcoll::scatter;
    static constexpr auto const& nonblocking = papcoll::iscatter;

    explicit scatter_call(call_site site)
        : collective_call<scatter_call, T>(std::move(site)) {}

    void reset() {
        this->m_in = this->is_root() ? all_parts() : std::vector<T>();
        if (replaces())
            this->replace(this->m_in);
        else
            this->expect_elements(this->n());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const root = this->drawn().root;
        T const* const in = this->m_in.data();
        auto* const out = this->m_out.data();
        bool const is_vector = this->form() == buffer_form::vectors;
        if (replaces()) return f(this->comm(), boost::mpi::inplace(out), this->n(), root, policy...);
        if (!this->is_root() && !is_vector && this->own().percent(50))
            return this->form() == buffer_form::scalars ? f(this->comm(), *out, root, policy...)
                                                        : f(this->comm(), out, this->n(), root, policy...);
        if (this->form() == buffer_form::scalars) return f(this->comm(), in, *out, root, policy...);
        if (!is_vector) return f(this->comm(), in, out, this->n(), root, policy...);
        if (this->is_root() && this->own().percent(50))
            return f(this->comm(), this->m_in, this->m_out.vector(), this->n(), root, policy...);
        return f(this->comm(), in, this->m_out.vector(), this->n(), root, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_scatter<T>(this->comm(), this->n(), this->drawn().root, policy...);
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
    [[nodiscard]] auto replaces() const -> bool { return this->is_root() && this->in_place(); }
    [[nodiscard]] auto part_of(int r) const -> std::vector<T> {
        return contents<T>(this->key(this->drawn().root, r), this->n());
    }
    [[nodiscard]] auto all_parts() const -> std::vector<T> {
        std::vector<T> all;
        for (int r = 0; r < this->ranks(); ++r) {
            auto const part = part_of(r);
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }
};

} // namespace

auto make_scatter(call_site site) -> std::unique_ptr<call> {
    return make_call_of<scatter_call, element_types, scatter_elements>(std::move(site));
}

} // namespace soak
