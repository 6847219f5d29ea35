// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class gather_call final : public collective_call<gather_call<T>, T, true> {
public:
    using types = policy_types<papcoll::collective_kind::gather>;
    static constexpr auto const& blocking = papcoll::gather;
    static constexpr auto const& nonblocking = papcoll::igather;

    explicit gather_call(call_site site)
        : collective_call<gather_call, T, true>(std::move(site)) {}

    void reset() {
        this->m_in = contents<T>(this->key(this->rank()), this->n());
        if (replaces()) {
            auto before = this->old(whole());
            std::copy(this->m_in.begin(), this->m_in.end(), before.begin() + own_begin());
            this->replace(std::move(before));
        } else {
            this->expect_elements(whole());
        }
        m_before = this->m_out.values();
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const root = this->drawn().root;
        auto const* const in = this->m_in.data();
        bool const passes_out = this->is_root() || this->own().percent(50);
        if (replaces())
            return f(this->comm(), boost::mpi::inplace(this->m_out.data()), this->n(), root, policy...);
        if (this->form() == buffer_form::scalars)
            return passes_out ? f(this->comm(), *in, this->m_out.data(), root, policy...)
                              : f(this->comm(), *in, root, policy...);
        if (!passes_out) return f(this->comm(), in, this->n(), root, policy...);
        if (this->form() == buffer_form::vectors)
            return f(this->comm(), in, this->n(), this->m_out.vector(), root, policy...);
        return f(this->comm(), in, this->n(), this->m_out.data(), root, policy...);
    }
    template <class... Policy>
    auto open(Policy const&... policy) {
        auto const root = this->drawn().root;
        if (this->form() == buffer_form::vectors)
            return papcoll::open_gather(this->comm(), this->m_out.vector(), this->n(), root, policy...);
        return papcoll::open_gather(this->comm(), this->m_out.data(), this->n(), root, policy...);
    }
    auto own_place() -> T* {
        return this->is_root() && this->n() > 0 ? this->m_out.data() + own_begin() : nullptr;
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_gather<T>(this->comm(), this->n(), this->drawn().root, policy...);
    }
    template <class F>
    void bind(F f) {
        T const* const in = this->m_in.data();
        if (replaces()) return f(boost::mpi::inplace(this->m_out.data()));
        if (this->is_root()) return f(in, this->m_out.data());
        f(in);
    }
    [[nodiscard]] auto expected() const -> std::vector<T> {
        return this->is_root() ? this->everything() : m_before;
    }

private:
    [[nodiscard]] auto replaces() const -> bool { return this->is_root() && this->in_place(); }
    [[nodiscard]] auto whole() const -> std::size_t {
        return this->n() * static_cast<std::size_t>(this->ranks());
    }
    [[nodiscard]] auto own_begin() const -> std::ptrdiff_t {
        return static_cast<std::ptrdiff_t>(this->n()) * this->rank();
    }

    std::vector<T> m_before; // stays on ranks other than the root
};

} // namespace

auto make_gather(call_site site) -> std::unique_ptr<call> {
    return make_call_of<gather_call, element_types, gather_elements>(std::move(site));
}

} // namespace soak
