// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "reduction_call.hpp"

namespace soak {
namespace {

template <class Case>
class reduce_scatter_block_call final
    : public reduction_call<reduce_scatter_block_call<Case>, Case, papcoll::collective_kind::reduce_scatter> {
public:
    using base = reduction_call<reduce_scatter_block_call, Case, papcoll::collective_kind::reduce_scatter>;
    using typename base::value;
    static constexpr auto const& blocking = papcoll::reduce_scatter_block;
    static constexpr auto const& nonblocking = papcoll::ireduce_scatter_block;

    explicit reduce_scatter_block_call(call_site site)
        : base(std::move(site)) {}

    void reset() {
        this->m_in = this->own_contents(this->n() * static_cast<std::size_t>(this->ranks()));
        if (this->in_place())
            this->replace(this->m_in);
        else
            this->expect_elements(this->n());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto& out = this->m_out;
        auto const n = this->n();
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(out.data()), n, this->op(), policy...);
        if (this->form() == buffer_form::vectors)
            return f(this->comm(), this->m_in, n, out.vector(), this->op(), policy...);
        return f(this->comm(), std::as_const(this->m_in).data(), n, out.data(), this->op(), policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_reduce_scatter_block<value>(this->comm(), this->n(), this->op(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<value> {
        return this->result(this->n(), this->n() * static_cast<std::size_t>(this->rank()));
    }
    /// In place nothing is said of what is behind the result.
    [[nodiscard]] auto fills_buffer() const -> bool { return !this->in_place(); }
};

} // namespace

auto make_reduce_scatter_block(call_site site) -> std::unique_ptr<call> {
    return make_call_of<reduce_scatter_block_call, reductions, reduce_scatter_block_cases>(std::move(site));
}

} // namespace soak
