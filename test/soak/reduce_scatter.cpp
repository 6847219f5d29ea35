// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <numeric>

#include "reduction_call.hpp"

namespace soak {
namespace {

template <class Case>
class reduce_scatter_call final
    : public reduction_call<reduce_scatter_call<Case>, Case, papcoll::collective_kind::reduce_scatter> {
public:
    using base = reduction_call<reduce_scatter_call, Case, papcoll::collective_kind::reduce_scatter>;
    using typename base::value;
    static constexpr auto const& blocking = papcoll::reduce_scatter;
    static constexpr auto const& nonblocking = papcoll::ireduce_scatter;

    explicit reduce_scatter_call(call_site site)
        : base(std::move(site)) {}

    void reset() {
        this->m_in = this->own_contents(total());
        if (this->in_place())
            this->replace(this->m_in);
        else
            this->expect_elements(sizes()[static_cast<std::size_t>(this->rank())]);
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto& out = this->m_out;
        std::vector<int> const sizes_as_ints(sizes().begin(), sizes().end());
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(out.data()), sizes_as_ints, this->op(), policy...);
        if (this->form() == buffer_form::vectors)
            return f(this->comm(), this->m_in, sizes(), out.vector(), this->op(), policy...);
        return f(this->comm(), std::as_const(this->m_in).data(), sizes(), out.data(), this->op(), policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_reduce_scatter<value>(this->comm(), sizes(), this->op(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<value> {
        auto const me = sizes().begin() + this->rank();
        return this->result(*me, std::accumulate(sizes().begin(), me, std::size_t(0)));
    }
    /// In place nothing is said of what is behind the result.
    [[nodiscard]] auto fills_buffer() const -> bool { return !this->in_place(); }

private:
    [[nodiscard]] auto sizes() const -> std::vector<std::size_t> const& { return this->drawn().sizes; }
    [[nodiscard]] auto total() const -> std::size_t {
        return std::accumulate(sizes().begin(), sizes().end(), std::size_t(0));
    }
};

} // namespace

auto make_reduce_scatter(call_site site) -> std::unique_ptr<call> {
    return make_call_of<reduce_scatter_call, reductions, reduce_scatter_cases>(std::move(site));
}

} // namespace soak
