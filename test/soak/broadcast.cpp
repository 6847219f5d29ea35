// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class broadcast_call final : public collective_call<broadcast_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::broadcast, true, papcoll::serializable<T>,
                               std::same_as<T, double>>;
    static constexpr auto const& blocking = papcoll::broadcast;
    static constexpr auto const& nonblocking = papcoll::ibroadcast;

    explicit broadcast_call(call_site site)
        : collective_call<broadcast_call, T>(std::move(site)) {}

    void reset() { this->replace(this->is_root() ? expected() : this->old(this->n())); }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const root = this->drawn().root;
        if (this->form() == buffer_form::scalars)
            return f(this->comm(), *this->m_out.data(), root, policy...);
        return f(this->comm(), this->m_out.data(), this->n(), root, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_broadcast<T>(this->comm(), this->n(), this->drawn().root, policy...);
    }
    template <class F>
    void bind(F f) {
        f(this->m_out.data());
    }
    [[nodiscard]] auto expected() const -> std::vector<T> {
        return contents<T>(this->key(this->drawn().root), this->n());
    }
};

} // namespace

auto make_broadcast(call_site site) -> std::unique_ptr<call> {
    return make_call_of<broadcast_call, element_types, broadcast_elements>(std::move(site));
}

} // namespace soak
