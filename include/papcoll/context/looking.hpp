// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace papcoll::inline v0::detail {

/// Waits for what another rank of the node writes to memory. First it looks again and again, only a few times
/// where processors are fewer than ranks, or where somebody else had the processor when it was yielded
/// lately: there may be more ranks than those of this communicator. While it looks it yields now and then to
/// find out, since the one that it waits for may need another processor. The more often that was so, the more
/// waits are short. Then it yields the processor between two looks: the other may need it to write. Where
/// that helped soon, it looks less the next time. Where processors are fewer it sleeps in between after a
/// millisecond, for a sixteenth of the time that it has waited, so that those who still compute have the
/// processor for themselves. Meanwhile the transport's messages progress.
class looking {
public:
    /// `own_processors`: whether there is one for each rank that was started on the node.
    explicit looking(bool own_processors)
        : m_sleeps(!own_processors)
        , m_most_looks(own_processors ? 20'000 : least_looks) // about half a millisecond
        , m_looks(m_most_looks) {}

    template <class Transport, class Ready>
    [[gnu::noinline]] void until(Transport& t, Ready const& ready) {
        int const looks = m_crowded > 0 ? least_looks : m_looks;
        m_crowded = std::max(m_crowded - 1, 0);
        bool crowded = false;
        for (int i = 0; i < looks && !crowded; ++i) {
            if (ready()) {
                if (i > m_looks / 2) m_looks = std::min(2 * m_looks, m_most_looks);
                if (looks > least_looks) m_short_waits = std::max(m_short_waits / 2, least_short_waits);
                return;
            }
            if (i % between_yields == between_yields - 1) {
                t.progress();
                crowded = yields_to_others(t);
            }
            relax();
        }
        if (yield_until(t, ready, crowded) < soon) m_looks = std::max(m_looks / 2, least_looks);
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr int least_looks = 10;
    static constexpr int between_yields = 1'024; // looks, about 25 microseconds
    static constexpr int least_short_waits = 16;
    static constexpr int most_short_waits = 1'000;
    static constexpr auto own_yield = std::chrono::microseconds(10);
    static constexpr auto soon = std::chrono::microseconds(200);
    static constexpr auto patience = std::chrono::milliseconds(1);
    static constexpr auto between_progress = std::chrono::microseconds(50);

    static void relax() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    /// Whether somebody else has the processor when it is yielded.
    template <class Transport>
    static auto yields_to_others(Transport& t) -> bool {
        auto const before = clock::now();
        t.idle(); // on a busy machine the processor may be back after milliseconds only
        return clock::now() - before > own_yield;
    }
    template <class Transport, class Ready>
    auto yield_until(Transport& t, Ready const& ready, bool crowded) -> clock::duration {
        auto const begin = clock::now();
        auto progressed = begin;
        while (!ready()) {
            crowded = yields_to_others(t) || crowded;
            auto const now = clock::now();
            if (now - progressed < between_progress) continue;
            t.progress();
            progressed = now;
            if (m_sleeps && now - begin > patience)
                std::this_thread::sleep_for(
                    std::min<clock::duration>((now - begin) / 16, std::chrono::microseconds(200)));
        }
        if (crowded) {
            m_crowded = m_short_waits;
            m_short_waits = std::min(2 * m_short_waits, most_short_waits);
        }
        return clock::now() - begin;
    }

    bool m_sleeps;
    int m_most_looks;
    int m_looks;
    int m_crowded = 0; // waits before it looks long again
    int m_short_waits = least_short_waits;
};

} // namespace papcoll::inline v0::detail
