// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "collective_call.hpp"

namespace soak {
namespace {

class barrier_call final : public collective_call<barrier_call, char> {
public:
    using types = policy_types<papcoll::collective_kind::barrier>;
    static constexpr auto const& blocking = papcoll::barrier;
    static constexpr auto const& nonblocking = papcoll::ibarrier;

    explicit barrier_call(call_site site)
        : collective_call<barrier_call, char>(std::move(site)) {}

    void reset() { replace({}); }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        return f(comm(), policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_barrier(comm(), policy...);
    }
    template <class F>
    void bind(F f) {
        f();
    }
    [[nodiscard]] auto expected() const -> std::vector<char> { return {}; }
};

} // namespace

auto make_barrier(call_site site) -> std::unique_ptr<call> {
    return std::make_unique<barrier_call>(std::move(site));
}

} // namespace soak
