// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "reduction_call.hpp"

namespace soak {
namespace {

template <class Case>
class all_reduce_call final
    : public reduction_call<all_reduce_call<Case>, Case, papcoll::collective_kind::all_reduce> {
public:
    using base = reduction_call<all_reduce_call, Case, papcoll::collective_kind::all_reduce>;
    using typename base::value;
    static constexpr auto const& blocking = papcoll::all_reduce;
    static constexpr auto const& nonblocking = papcoll::iall_reduce;

    explicit all_reduce_call(call_site site)
        : base(std::move(site)) {}

    void reset() {
        this->m_in = this->own_contents(this->n());
        if (this->in_place())
            this->replace(this->m_in);
        else
            this->expect_elements(this->n());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const& in = this->m_in;
        auto& out = this->m_out;
        if (this->form() == buffer_form::scalars) {
            if (this->in_place())
                return f(this->comm(), boost::mpi::inplace(*out.data()), this->op(), policy...);
            if constexpr (returns<F>)
                if (this->own().percent(50)) {
                    *out.data() = f(this->comm(), in[0], this->op(), policy...);
                    return;
                }
            return f(this->comm(), in[0], *out.data(), this->op(), policy...);
        }
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(out.data()), this->n(), this->op(), policy...);
        if (this->form() == buffer_form::vectors)
            return f(this->comm(), in, out.vector(), this->op(), policy...);
        return f(this->comm(), in.data(), this->n(), out.data(), this->op(), policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_all_reduce<value>(this->comm(), this->n(), this->op(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<value> { return this->result(this->n()); }

private:
    /// Whether a single value can be returned.
    template <class F>
    static constexpr bool returns = std::same_as<F, std::remove_cvref_t<decltype(papcoll::all_reduce)>>;
};

} // namespace

auto make_all_reduce(call_site site) -> std::unique_ptr<call> {
    return make_call_of<all_reduce_call, reductions, all_reduce_cases>(std::move(site));
}

} // namespace soak
