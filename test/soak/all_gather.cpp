// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class all_gather_call final : public collective_call<all_gather_call<T>, T, !papcoll::serializable<T>> {
public:
    using types = policy_types<papcoll::collective_kind::all_gather, true, papcoll::serializable<T>>;
    static constexpr auto const& blocking = papcoll::all_gather;
    static constexpr auto const& nonblocking = papcoll::iall_gather;

    explicit all_gather_call(call_site site)
        : collective_call<all_gather_call, T, !papcoll::serializable<T>>(std::move(site)) {}

    void reset() {
        this->m_in = contents<T>(this->key(this->rank()), this->n());
        if (!this->in_place()) return this->expect_elements(whole());
        auto before = this->old(whole());
        std::copy(this->m_in.begin(), this->m_in.end(), before.begin() + own_begin());
        this->replace(std::move(before));
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto const* const in = this->m_in.data();
        bool const is_vector = this->form() == buffer_form::vectors;
        if (this->in_place())
            return f(this->comm(), boost::mpi::inplace(this->m_out.data()), this->n(), policy...);
        if (this->form() == buffer_form::scalars) return f(this->comm(), *in, this->m_out.data(), policy...);
        if (is_vector && this->n() == 1) return f(this->comm(), *in, this->m_out.vector(), policy...);
        if (is_vector) return f(this->comm(), in, this->n(), this->m_out.vector(), policy...);
        return f(this->comm(), in, this->n(), this->m_out.data(), policy...);
    }
    template <class... Policy>
    auto open(Policy const&... policy) {
        if (this->form() == buffer_form::vectors)
            return papcoll::open_all_gather(this->comm(), this->m_out.vector(), this->n(), policy...);
        return papcoll::open_all_gather(this->comm(), this->m_out.data(), this->n(), policy...);
    }
    auto own_place() -> T* { return this->n() > 0 ? this->m_out.data() + own_begin() : nullptr; }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_all_gather<T>(this->comm(), this->n(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<T> { return this->everything(); }

private:
    [[nodiscard]] auto whole() const -> std::size_t {
        return this->n() * static_cast<std::size_t>(this->ranks());
    }
    [[nodiscard]] auto own_begin() const -> std::ptrdiff_t {
        return static_cast<std::ptrdiff_t>(this->n()) * this->rank();
    }
};

} // namespace

auto make_all_gather(call_site site) -> std::unique_ptr<call> {
    return make_call_of<all_gather_call, element_types, all_gather_elements>(std::move(site));
}

} // namespace soak
