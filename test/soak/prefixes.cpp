// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "reduction_call.hpp"

namespace soak {
namespace {

/// scan, or exscan.
template <class Case, papcoll::collective_kind Operation>
class prefix_call final : public reduction_call<prefix_call<Case, Operation>, Case, Operation> {
public:
    using base = reduction_call<prefix_call, Case, Operation>;
    using typename base::value;
    static constexpr bool includes = Operation == papcoll::collective_kind::scan;
    static constexpr papcoll::detail::explained<papcoll::detail::combining_function<Operation, true>>
        blocking{};
    static constexpr papcoll::detail::explained<papcoll::detail::combining_function<Operation, false>>
        nonblocking{};

    explicit prefix_call(call_site site)
        : base(std::move(site)) {}

    void reset() {
        this->m_in = this->own_contents(this->n());
        if (this->in_place())
            this->replace(this->m_in);
        else if (takes_vectors())
            this->expect_elements(this->n());
        else
            this->replace(this->old(this->n()));
        m_before = this->m_out.values();
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const& in = this->m_in;
        auto& out = this->m_out;
        bool const is_one = this->form() == buffer_form::scalars;
        if (this->in_place() && is_one)
            return f(this->comm(), boost::mpi::inplace(*out.data()), this->op(), policy...);
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(out.data()), this->n(), this->op(), policy...);
        if (is_one) return f(this->comm(), in[0], *out.data(), this->op(), policy...);
        if (takes_vectors()) return f(this->comm(), in, out.vector(), this->op(), policy...);
        return f(this->comm(), in.data(), this->n(), out.data(), this->op(), policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        if constexpr (includes)
            return papcoll::plan_scan<value>(this->comm(), this->n(), this->op(), policy...);
        else
            return papcoll::plan_exscan<value>(this->comm(), this->n(), this->op(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<value> {
        int const end = includes ? this->rank() + 1 : this->rank();
        if (end == 0) return m_before;
        return combined<Case>(this->drawn().key, end, this->n(), 0, [this](int r) { return this->key(r); });
    }

private:
    /// What a vector of an exscan has on rank 0 is not said.
    [[nodiscard]] auto takes_vectors() const -> bool {
        return includes && this->form() == buffer_form::vectors;
    }

    std::vector<value> m_before; // stays on rank 0
};

template <class Case>
using scan_call = prefix_call<Case, papcoll::collective_kind::scan>;
template <class Case>
using exscan_call = prefix_call<Case, papcoll::collective_kind::exscan>;

} // namespace

auto make_scan(call_site site) -> std::unique_ptr<call> {
    return make_call_of<scan_call, reductions, scan_cases>(std::move(site));
}
auto make_exscan(call_site site) -> std::unique_ptr<call> {
    return make_call_of<exscan_call, reductions, exscan_cases>(std::move(site));
}

} // namespace soak
