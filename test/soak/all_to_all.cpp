// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"

namespace soak {
namespace {

template <class T>
class all_to_all_call final : public collective_call<all_to_all_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::all_to_all>;
    static constexpr auto const& blocking = papcoll::all_to_all;
    static constexpr auto const& nonblocking = papcoll::iall_to_all;

    explicit all_to_all_call(call_site site)
        : collective_call<all_to_all_call, T>(std::move(site)) {}

    void reset() {
        this->m_in = blocks_of([this](int r) { return this->key(this->rank(), r); });
        if (this->in_place())
            this->replace(this->m_in);
        else
            this->expect_elements(this->m_in.size());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        auto* const out = this->m_out.data();
        T const* const in = this->m_in.data();
        bool const is_vector = this->form() == buffer_form::vectors;
        if (this->in_place()) return f(this->comm(), boost::mpi::inplace(out), this->n(), policy...);
        if (is_vector && this->n() == 1) return f(this->comm(), this->m_in, this->m_out.vector(), policy...);
        if (is_vector) return f(this->comm(), this->m_in, this->n(), this->m_out.vector(), policy...);
        if (this->form() == buffer_form::scalars) return f(this->comm(), in, out, policy...);
        return f(this->comm(), in, this->n(), out, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_all_to_all<T>(this->comm(), this->n(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<T> {
        return blocks_of([this](int r) { return this->key(r, this->rank()); });
    }

private:
    template <class KeyOf>
    [[nodiscard]] auto blocks_of(KeyOf key_of) const -> std::vector<T> {
        std::vector<T> all;
        for (int r = 0; r < this->ranks(); ++r) {
            auto const block = contents<T>(key_of(r), this->n());
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    }
};

} // namespace

auto make_all_to_all(call_site site) -> std::unique_ptr<call> {
    return make_call_of<all_to_all_call, element_types, all_to_all_elements>(std::move(site));
}

} // namespace soak
