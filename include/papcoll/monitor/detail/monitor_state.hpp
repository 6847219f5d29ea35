// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/arrival/predictor.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/monitor/arrival_exchange.hpp>
#include <papcoll/monitor/detail/asked_takes.hpp>
#include <papcoll/monitor/detail/mpi_leavers.hpp>
#include <papcoll/monitor/monitor_options.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/transport/mpi.hpp>
#include <papcoll/transport/threads.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace papcoll::inline v0::detail {

/// Whether a thread may send and receive through a copy of the transport beside others.
template <transport Transport>
[[nodiscard]] auto usable_beside(Transport const& t) -> bool {
    // Endpoints keep nothing of their own: their world is behind a lock.
    return std::derived_from<Transport, threads::endpoint> || t.concurrent();
}

/// The engine that drives this rank's operations, those to come included: of a transport without MPI it is
/// the attachment's.
template <transport Transport>
[[nodiscard]] auto engine_of_rank(Transport& t) -> std::shared_ptr<progress_engine> {
    if constexpr (std::derived_from<Transport, mpi_transport>)
        return engine_of(t);
    else
        return attached_context(t)->engine();
}

/// What is behind a monitor; shared with its thread, with the progress engine and with those who clean up.
template <transport Transport, arrival_predictor Predictor>
class monitor_state final : public leaver {
public:
    monitor_state(Transport t, monitor_options options, Predictor predictor)
        : m_options(std::move(options))
        , m_transport(std::move(t))
        , m_clock(synchronised(m_transport, m_options))
        , m_predictor(std::move(predictor))
        , m_exchange(m_transport, m_clock)
        , m_engine(engine_of_rank(m_transport)) {}

    /// Lets the state progress while its rank is elsewhere: by a thread, or else with papcoll's operations.
    void start(std::shared_ptr<monitor_state> const& self) {
        m_step = std::make_shared<step_operation>(self);
        if (m_options.thread && m_transport.size() > 1 && usable_beside(m_transport)) start_thread();
        if (!m_has_thread) m_engine->add(m_step);
    }

    void begin() {
        std::lock_guard const lock(m_mutex);
        m_begin = m_clock.local_now();
        m_ended = m_reported = false;
        m_asked.computation_begins();
        m_predictor.begin(*m_begin);
        step_unless_thread();
    }
    void progress(double fraction) {
        std::lock_guard const lock(m_mutex);
        m_predictor.progress(m_clock.local_now(), fraction);
        if (fraction >= m_options.share_at && fraction <= 1.0) m_reported = true;
        step_unless_thread();
    }
    void end() {
        std::lock_guard const lock(m_mutex);
        note_end();
        step_unless_thread();
    }

    /// Asks for the next arrivals, which come later.
    auto ask() -> std::shared_ptr<asked_take> {
        std::lock_guard const lock(m_mutex);
        auto take = m_asked.ask();
        step_unless_thread();
        return take;
    }
    /// This rank has its data for the collective of that take.
    void arrive(asked_take& take) {
        std::lock_guard const lock(m_mutex);
        note_end();
        m_asked.arrive(take);
        step_unless_thread();
        end_keeping();
    }
    /// Ends the computation and waits for what was asked for.
    void finish(asked_take& take) {
        std::unique_lock lock(m_mutex);
        note_end();
        m_asked.hurry(take);
        m_asked.arrive(take);
        if (!step_to_answer(take)) {
            lock.unlock();
            wait(take);
            lock.lock();
        }
        m_begin.reset();
        m_ended = m_reported = false;
        end_keeping();
    }
    /// Nobody asks for it any more.
    void forget(asked_take& take) {
        std::lock_guard const lock(m_mutex);
        take.at_once = true; // those before it are waited for as ever
        end_keeping();
    }
    /// Looks for answers.
    void look() {
        std::unique_lock const lock(m_mutex, std::try_to_lock);
        if (!lock) return;
        step();
        if (m_failure) std::rethrow_exception(m_failure);
        end_keeping();
    }
    auto take() -> arrival_source {
        auto const asked = ask();
        finish(*asked);
        return asked->answer;
    }
    // A copy, without the lock: others may wait for this rank's prediction meanwhile.
    auto synchronise(int pings) {
        auto fresh = clock();
        auto t = m_transport;
        fresh.synchronise(t, pings);
        std::lock_guard const lock(m_mutex);
        m_clock = std::move(fresh);
    }

    [[nodiscard]] auto predicted() const -> std::optional<ticks> {
        std::lock_guard const lock(m_mutex);
        return m_begin ? global(m_predictor.predict()) : std::nullopt;
    }
    [[nodiscard]] auto clock() const -> synchronised_clock {
        std::lock_guard const lock(m_mutex);
        return m_clock;
    }
    [[nodiscard]] auto ranks() const -> int { return m_transport.size(); }
    /// Whether the calling thread drives this rank's operations now.
    [[nodiscard]] auto is_driving() const -> bool { return m_engine->is_driven_here(); }
    [[nodiscard]] auto has_thread() const -> bool { return m_has_thread; }
    [[nodiscard]] auto is_closed() const -> bool {
        std::lock_guard const lock(m_mutex);
        return m_exchange.is_closed();
    }

    void leave() noexcept override {
        stop_thread();
        if (!m_has_thread) m_engine->retire(*m_step);
        std::lock_guard const lock(m_mutex);
        if (m_lost) return;
        // After a failure of the predictor, too: the others would wait.
        exchange_messages([this] {
            m_exchange.leave();
            return m_exchange.drive();
        });
    }
    auto settle() noexcept -> bool override {
        std::lock_guard const lock(m_mutex);
        if (!m_lost) exchange_messages([this] { return drive(); });
        if (m_lost) abandon(); // nothing is written to what is freed now
        return m_lost || m_exchange.is_quiet();
    }
    auto abandon() noexcept -> bool { return m_exchange.abandon(); }
    /// Stays until what was asked for is answered; false: nobody asks for anything.
    auto keep(std::shared_ptr<monitor_state> self) -> bool {
        std::lock_guard const lock(m_mutex);
        if (m_asked.forgotten()) return false;
        m_kept = std::move(self);
        return true;
    }

private:
    class step_operation final : public operation {
    public:
        explicit step_operation(std::weak_ptr<monitor_state> state)
            : m_state(std::move(state)) {}
        auto advance(bool) -> bool override {
            auto const state = m_state.lock();
            if (!state) return false;
            std::unique_lock const lock(state->m_mutex, std::try_to_lock);
            return lock && state->step();
        }
        [[nodiscard]] auto finished() const -> bool override { return false; }

    private:
        std::weak_ptr<monitor_state> m_state;
    };

    /// Ends when a take is answered.
    class answer_operation final : public operation {
    public:
        answer_operation(monitor_state& state, asked_take const& take)
            : m_state(state)
            , m_take(take) {}
        auto advance(bool) -> bool override {
            std::unique_lock const lock(m_state.m_mutex, std::try_to_lock);
            return lock && m_state.step_to_answer(m_take);
        }
        [[nodiscard]] auto finished() const -> bool override { return m_take.there; }

    private:
        monitor_state& m_state;
        asked_take const& m_take;
    };

    static auto synchronised(Transport& t, monitor_options const& options) -> synchronised_clock {
        synchronised_clock clock(options.clock);
        clock.synchronise(t, options.pings);
        return clock;
    }

    /// Where the system has no thread to give, this rank does without.
    void start_thread() {
        try {
            m_thread = std::thread([this] { run(); });
            m_has_thread = true;
        } catch (std::system_error const&) {
        }
    }
    void stop_thread() {
        {
            std::lock_guard const lock(m_mutex);
            m_stop = true;
        }
        m_stopped.notify_all();
        if (m_thread.joinable()) m_thread.join();
    }
    void run() {
        std::unique_lock lock(m_mutex);
        while (!m_stop) {
            step();
            bool const busy = is_computing() || !m_asked.empty() || m_exchange.is_open();
            m_stopped.wait_for(lock, busy ? m_options.poll : 4 * m_options.poll, [this] { return m_stop; });
        }
    }

    // What follows is called under the lock.
    /// Without messages there is nobody to tell: the exchange is lost.
    template <class F>
    auto exchange_messages(F f) noexcept -> bool {
        try {
            return f();
        } catch (...) {
            m_lost = true;
            if (!m_failure) m_failure = std::current_exception();
            return true;
        }
    }
    /// Of the predictor; where it throws, nothing is predicted and the monitor has failed, but can still say
    /// that it leaves.
    auto local_prediction() -> std::optional<ticks> {
        if (m_failure) return std::nullopt;
        try {
            return m_predictor.predict();
        } catch (...) {
            m_failure = std::current_exception();
            return std::nullopt;
        }
    }
    auto drive() -> bool {
        bool const progressed = m_exchange.drive();
        return m_asked.answer(m_exchange, false) || progressed;
    }
    auto step() -> bool {
        if (m_failure) return false;
        return exchange_messages([this] {
            bool progressed = drive();
            if (is_due()) {
                m_exchange.give(is_computing() ? global(local_prediction()) : std::nullopt);
                progressed = true;
            }
            progressed = m_asked.answer(m_exchange, true) || progressed;
            if (has_waited_enough()) m_exchange.call();
            return progressed;
        });
    }
    void end_keeping() {
        if (!m_kept || !m_asked.forgotten()) return;
        (void)m_exchange.abandon();
        m_kept.reset(); // the caller has it, too
    }
    void step_unless_thread() {
        if (!m_has_thread) step();
    }
    void note_end() {
        if (!m_begin || m_ended) return;
        m_predictor.end(m_clock.local_now());
        m_ended = true;
        m_asked.computation_ends();
    }
    [[nodiscard]] auto global(std::optional<ticks> local) const -> std::optional<ticks> {
        return local ? std::optional(m_clock.to_global(*local)) : std::nullopt;
    }
    /// A computation has begun of which no take has had the prediction.
    [[nodiscard]] auto is_computing() const -> bool { return m_begin && m_asked.is_current(); }
    /// Whether to give the prediction now. Asks the predictor, which may fail.
    [[nodiscard]] auto is_due() -> bool {
        if (m_exchange.is_urgent()) return true;
        // What is decided for this computation needs no other round; one that ranks an iteration ahead wait
        // for is for the next computation.
        if (!m_exchange.may_begin()) return false;
        if (m_asked.needs_round()) return true;
        if (m_exchange.is_called() && (is_computing() || !m_asked.empty())) return true;
        if (!is_computing()) return false;
        if (m_ended) return true;
        auto const expected = local_prediction();
        if (!expected) return false;
        if (m_reported) return true;
        auto const remaining = static_cast<double>((*expected - *m_begin).count());
        auto const elapsed = m_clock.local_now() - *m_begin - m_options.patience;
        return static_cast<double>(elapsed.count()) >= m_options.share_at * remaining;
    }
    /// Whether this rank has waited for the others as long as it is patient; also for what nobody asks for
    /// any more, which would pile up.
    [[nodiscard]] auto has_waited_enough() -> bool {
        auto const now = m_clock.local_now();
        if (!m_asked.has_arrived() && !m_asked.first_waits_for_nothing())
            m_waits_since.reset();
        else if (!m_waits_since)
            m_waits_since = now;
        return m_waits_since && now - *m_waits_since >= m_options.patience;
    }
    auto step_to_answer(asked_take const& take) -> bool {
        if (take.there) return true;
        step();
        if (m_failure) std::rethrow_exception(m_failure);
        return take.there;
    }
    void wait(asked_take const& take) {
        ticks pause = std::chrono::microseconds(30);
        auto const rest = [&] {
            std::this_thread::sleep_for(pause);
            pause = std::min(2 * pause, std::max(m_options.poll / 2, pause));
        };
        if (auto const failure = m_engine->run(std::make_shared<answer_operation>(*this, take), rest))
            std::rethrow_exception(failure);
    }

    monitor_options m_options;
    Transport m_transport;
    synchronised_clock m_clock;
    Predictor m_predictor;
    arrival_exchange<Transport> m_exchange;
    std::shared_ptr<progress_engine> m_engine;
    std::shared_ptr<step_operation> m_step;
    mutable std::mutex m_mutex;
    std::thread m_thread;
    bool m_has_thread = false;
    bool m_stop = false;
    std::condition_variable m_stopped;
    std::exception_ptr m_failure;
    bool m_lost = false; // messages have failed
    asked_takes m_asked;
    std::optional<ticks> m_begin; // of the computation, on the local clock
    bool m_ended = false;
    bool m_reported = false;
    std::optional<ticks> m_waits_since;    // this rank, for others
    std::shared_ptr<monitor_state> m_kept; // until what is asked for is answered
};

/// Ends what is behind a monitor, without waiting for others.
template <transport Transport, arrival_predictor Predictor>
void let_go(std::shared_ptr<monitor_state<Transport, Predictor>> const& state) noexcept {
    state->leave();
    if constexpr (std::derived_from<Transport, mpi_transport>)
        mpi_leavers::instance().remove(state);
    else if (!state->settle() && !state->keep(state))
        state->abandon();
}

} // namespace papcoll::inline v0::detail
