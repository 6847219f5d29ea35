// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "call.hpp"
#include "elements.hpp"
#include "policies.hpp"
#include "result_buffer.hpp"
#include "values.hpp"

namespace soak {

/// What a rank passes its buffers as.
enum class buffer_form { pointers, vectors, scalars };

/// What the calls of all collectives share. `Self` has
///
///     types                          how it is compiled with policies (policy_types)
///     reset(run)                     fills the buffers
///     apply(function, policy...)     function(comm, arguments..., policy...)
///     prepare(policy...)             the plan
///     bind(function)                 function(buffers...), as a plan's run takes them
///     blocking, nonblocking          the functions
///     expected()                     the result
///
/// and with `Opens`
///
///     open(policy...)                the open request
///     own_place()                    where this rank's own data belongs; null: nowhere here
template <class Self, class T, bool Opens = false>
class collective_call : public call {
public:
    void begin() final {
        with_policy<typename Self::types>(drawn().policy, m_site.taken,
                                          [this](auto const&... policy) { this->begin_by(policy...); });
    }
    void contribute() final {
        if constexpr (Opens) {
            auto* const place = self().own_place();
            if (place == nullptr || m_site.own.percent(50)) return m_open.contribute(m_in.data());
            std::copy(m_in.begin(), m_in.end(), place);
            m_open.contribute();
        }
    }
    auto test() -> bool final {
        if (!m_request.test() || !m_open.test()) return false;
        take_output();
        return true;
    }
    void wait() final {
        m_request.wait();
        m_open.wait();
        take_output();
    }
    void drop() final {
        m_request = {};
        m_open = {};
        take_output();
    }
    [[nodiscard]] auto complaint() const -> std::string final {
        return m_complaint.empty() ? complaint_of_run() : m_complaint;
    }
    auto spoil() -> bool final { return m_out.spoil(); }

protected:
    explicit collective_call(call_site site)
        : m_site(std::move(site)) {
        auto const& c = drawn();
        bool const may_be_in_place = c.form != call_form::open && !c.own_buffers;
        m_in_place = may_be_in_place && (c.alike ? c.in_place : m_site.own.percent(25));
        m_form = m_site.own.percent(50) ? buffer_form::pointers : buffer_form::vectors;
        if (c.n == 1 && m_site.own.percent(50)) m_form = buffer_form::scalars;
        if (c.form == call_form::planned) m_form = buffer_form::pointers; // what plans are run with
    }

    [[nodiscard]] auto drawn() const -> drawn_call const& { return *m_site.what; }
    [[nodiscard]] auto rank() const -> int { return m_site.comm.rank(); }
    [[nodiscard]] auto ranks() const -> int { return drawn().ranks; }
    [[nodiscard]] auto is_root() const -> bool { return rank() == drawn().root; }
    [[nodiscard]] auto n() const -> std::size_t { return drawn().n; }
    [[nodiscard]] auto in_place() const -> bool { return m_in_place; }
    [[nodiscard]] auto form() const -> buffer_form { return m_form; }
    [[nodiscard]] auto blocks() const -> bool {
        return drawn().form == call_form::blocking || (drawn().form == call_form::any && m_site.blocks);
    }
    [[nodiscard]] auto own() -> random_source& { return m_site.own; }
    /// Half of the types are used on handles of MPI.
    [[nodiscard]] auto comm() const {
        if constexpr (sizeof(T) % 8 == 0)
            return static_cast<MPI_Comm>(m_site.comm);
        else
            return m_site.comm;
    }
    /// Of the contents that a rank has in this run, for another rank where there is one for each.
    [[nodiscard]] auto key(int of, int to = 0) const -> std::uint64_t {
        return mixed(drawn().key, m_run, of, to);
    }
    /// What is where the result comes to.
    [[nodiscard]] auto old(std::size_t count) const -> std::vector<T> { return contents<T>(key(-1), count); }
    /// Prepares for a result of n elements; a vector that papcoll resizes has any before.
    void expect_elements(std::size_t count) {
        bool const is_vector = m_form == buffer_form::vectors;
        m_out.reset(old(is_vector ? own().below(4) : count), !is_vector);
    }
    /// Prepares for a result in the place of these.
    void replace(std::vector<T> before) { m_out.reset(std::move(before), true); }
    /// The contents of all ranks, one behind the other.
    [[nodiscard]] auto everything() const -> std::vector<T> {
        std::vector<T> all;
        for (int r = 0; r < ranks(); ++r) {
            auto const part = contents<T>(key(r), n());
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }

    /// Gives a run of a plan its buffers.
    template <class F>
    void bind(F f) {
        T const* const in = m_in.data();
        if (in_place()) return f(boost::mpi::inplace(m_out.data()));
        f(in, m_out.data());
    }
    /// Whether the result is all that is in m_out.
    [[nodiscard]] auto fills_buffer() const -> bool { return true; }

    std::vector<T> m_in;
    result_buffer<T> m_out;

private:
    friend Self;

    auto self() -> Self& { return static_cast<Self&>(*this); }
    auto self() const -> Self const& { return static_cast<Self const&>(*this); }

    template <class... Policy>
    void begin_by(Policy const&... policy) {
        if constexpr (requires { self().prepare(policy...).with_buffers(); }) // not of a barrier
            if (drawn().own_buffers) return run_with_buffers(self().prepare(policy...).with_buffers());
        if (drawn().form == call_form::planned) return run_plan(self().prepare(policy...));
        self().reset();
        if constexpr (Opens && (!std::same_as<Policy, papcoll::native> && ...))
            if (drawn().form == call_form::open) {
                m_open = self().open(policy...);
                return;
            }
        if (blocks())
            self().apply(Self::blocking, policy...);
        else
            m_request = self().apply(Self::nonblocking, policy...);
    }
    template <class Plan>
    void run_plan(Plan plan) {
        run_all([&] { self().bind([&](auto... buffers) { plan.run(buffers...); }); },
                [&] { self().bind([&](auto... buffers) { m_request = plan.start(buffers...); }); });
    }
    template <class Plan>
    void run_with_buffers(Plan made) {
        auto const plan = std::make_shared<Plan>(std::move(made));
        auto const give = [this, plan] {
            auto const given = plan->input();
            auto const source = m_in.empty() ? m_out.values() : m_in; // a broadcast has one buffer
            std::copy_n(source.begin(), given.size(), given.begin());
        };
        auto const take = [this, plan] { std::ranges::copy(plan->output(), m_out.data()); };
        run_all(
            [&] {
                give();
                plan->run();
                take();
            },
            [&] {
                give();
                m_request = plan->start();
                m_take = take;
            });
    }
    template <class Run, class Start>
    void run_all(Run const& run, Start const& start) {
        for (; m_run + 1 < drawn().runs; ++m_run) {
            self().reset();
            run();
            if (m_complaint = complaint_of_run(); !m_complaint.empty()) {
                m_complaint = "in run " + std::to_string(m_run) + ": " + m_complaint;
                return;
            }
        }
        self().reset();
        start();
    }
    /// Of a plan with buffers of its own, whose last run has ended.
    void take_output() {
        if (m_take) std::exchange(m_take, nullptr)();
    }
    [[nodiscard]] auto complaint_of_run() const -> std::string {
        return m_out.complaint(self().expected(), self().fills_buffer());
    }

    call_site m_site;
    bool m_in_place = false;
    buffer_form m_form = buffer_form::pointers;
    int m_run = 0;
    std::string m_complaint;
    std::function<void()> m_take; // has the plan
    papcoll::request m_request;
    std::conditional_t<Opens, papcoll::open_request<T>, papcoll::request> m_open;
};

/// The types in element_table.
using element_types = std::tuple<char, int, double, triple, padded, std::string, counts>;
static_assert(std::tuple_size_v<element_types> == element_table.size());

/// Makes a Call<Types[i]> for the i that was drawn, which is one of `Indices`.
template <template <class> class Call, class Types, auto const& Indices>
auto make_call_of(call_site site) -> std::unique_ptr<call> {
    std::unique_ptr<call> result;
    auto const drawn = site.what->element;
    auto const try_one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        constexpr auto index = Indices[I];
        if (index == drawn)
            result = std::make_unique<Call<std::tuple_element_t<index, Types>>>(std::move(site));
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (try_one(std::integral_constant<std::size_t, I>()), ...);
    }
    (std::make_index_sequence<Indices.size()>());
    return result;
}

} // namespace soak
