// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "reduction_call.hpp"

namespace soak {
namespace {

template <class Case>
class reduce_call final : public reduction_call<reduce_call<Case>, Case, papcoll::collective_kind::reduce> {
public:
    using base = reduction_call<reduce_call, Case, papcoll::collective_kind::reduce>;
    using typename base::value;
    static constexpr auto const& blocking = papcoll::reduce;
    static constexpr auto const& nonblocking = papcoll::ireduce;

    explicit reduce_call(call_site site)
        : base(std::move(site)) {}

    void reset() {
        this->m_in = this->own_contents(this->n());
        if (this->in_place())
            this->replace(this->m_in);
        else
            this->expect_elements(this->n());
        m_before = this->m_out.values();
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const& in = this->m_in;
        auto& out = this->m_out;
        auto const root = this->drawn().root;
        bool const passes_out = this->is_root() || this->own().percent(50);
        if (this->form() == buffer_form::scalars) {
            if (this->in_place())
                return f(this->comm(), boost::mpi::inplace(*out.data()), this->op(), root, policy...);
            return passes_out ? f(this->comm(), in[0], *out.data(), this->op(), root, policy...)
                              : f(this->comm(), in[0], this->op(), root, policy...);
        }
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(out.data()), this->n(), this->op(), root, policy...);
        if (this->form() == buffer_form::vectors)
            return passes_out ? f(this->comm(), in, out.vector(), this->op(), root, policy...)
                              : f(this->comm(), in, this->op(), root, policy...);
        return passes_out ? f(this->comm(), in.data(), this->n(), out.data(), this->op(), root, policy...)
                          : f(this->comm(), in.data(), this->n(), this->op(), root, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_reduce<value>(this->comm(), this->n(), this->op(), this->drawn().root,
                                           policy...);
    }
    template <class F>
    void bind(F f) {
        value const* const in = this->m_in.data();
        if (this->in_place()) return f(boost::mpi::inplace(this->m_out.data()));
        if (this->is_root()) return f(in, this->m_out.data());
        f(in);
    }
    [[nodiscard]] auto expected() const -> std::vector<value> {
        return this->is_root() ? this->result(this->n()) : m_before;
    }

private:
    std::vector<value> m_before; // stays on ranks other than the root
};

} // namespace

auto make_reduce(call_site site) -> std::unique_ptr<call> {
    return make_call_of<reduce_call, reductions, reduce_cases>(std::move(site));
}

} // namespace soak
