// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <boost/mpi/inplace.hpp>

#include "collective_call.hpp"
#include "uneven_parts.hpp"

namespace soak {
namespace {

template <class T>
class all_to_allv_call final : public collective_call<all_to_allv_call<T>, T> {
public:
    using types = policy_types<papcoll::collective_kind::all_to_all>;
    static constexpr auto const& blocking = papcoll::all_to_allv;
    static constexpr auto const& nonblocking = papcoll::iall_to_allv;

    explicit all_to_allv_call(call_site site)
        : collective_call<all_to_allv_call, T>(std::move(site)) {
        bool const scattered = this->form() == buffer_form::pointers && this->own().percent(50);
        m_arriving = uneven_parts(sizes([this](int r) { return size_between(r, this->rank()); }), scattered,
                                  this->own());
        m_leaving = this->in_place()
                        ? m_arriving // as many come as go
                        : uneven_parts(sizes([this](int r) { return size_between(this->rank(), r); }),
                                       scattered, this->own());
    }

    void reset() {
        this->m_in = this->old(m_leaving.end());
        for (int r = 0; r < this->ranks(); ++r) m_leaving.put(r, part(this->rank(), r), this->m_in);
        if (this->in_place())
            this->replace(this->m_in);
        else if (this->form() == buffer_form::pointers)
            this->replace(this->old(m_arriving.end()));
        else
            this->expect_elements(m_arriving.end());
    }
    template <class F, class... Policy>
    auto apply(F const& f, Policy const&... policy) {
        T const* const in = this->m_in.data();
        auto* const out = this->m_out.data();
        bool const scattered = m_arriving.scattered();
        auto const &leaving = m_leaving.sizes(), &arriving = m_arriving.sizes();
        if (this->in_place() && scattered)
            return f(this->comm(), boost::mpi::inplace(out), arriving, m_arriving.begins(), policy...);
        if (this->in_place()) return f(this->comm(), boost::mpi::inplace(out), arriving, policy...);
        if (scattered)
            return f(this->comm(), in, leaving, m_leaving.begins(), out, arriving, m_arriving.begins(),
                     policy...);
        std::vector<int> const leaving_as_ints(leaving.begin(), leaving.end());
        if (this->form() != buffer_form::vectors)
            return f(this->comm(), in, leaving_as_ints, out, arriving, policy...);
        return f(this->comm(), this->m_in, leaving_as_ints, this->m_out.vector(), arriving, policy...);
    }
    template <class... Policy>
    auto prepare(Policy const&... policy) {
        return papcoll::plan_all_to_allv<T>(this->comm(), m_leaving.sizes(), m_leaving.begins(),
                                            m_arriving.sizes(), m_arriving.begins(), policy...);
    }
    [[nodiscard]] auto expected() const -> std::vector<T> {
        auto result = this->old(m_arriving.end());
        for (int r = 0; r < this->ranks(); ++r) m_arriving.put(r, part(r, this->rank()), result);
        return result;
    }

private:
    /// At most n, of some pairs none; in place the same both ways.
    [[nodiscard]] auto size_between(int from, int to) const -> std::size_t {
        if (this->in_place() && from > to) std::swap(from, to);
        random_source random(mixed(this->drawn().key, -2, from, to));
        return random.percent(20) ? 0 : random.between<std::size_t>(0, this->n());
    }
    template <class SizeOf>
    [[nodiscard]] auto sizes(SizeOf size_of) const -> std::vector<std::size_t> {
        std::vector<std::size_t> result;
        for (int r = 0; r < this->ranks(); ++r) result.push_back(size_of(r));
        return result;
    }
    [[nodiscard]] auto part(int from, int to) const -> std::vector<T> {
        return contents<T>(this->key(from, to), size_between(from, to));
    }

    uneven_parts m_leaving, m_arriving;
};

} // namespace

auto make_all_to_allv(call_site site) -> std::unique_ptr<call> {
    return make_call_of<all_to_allv_call, element_types, all_to_allv_elements>(std::move(site));
}

} // namespace soak
