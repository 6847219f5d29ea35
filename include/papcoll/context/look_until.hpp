// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace papcoll::inline v0::detail {

/// Waits for what another rank of the node writes to memory. First it looks again and again, as long as that
/// has paid lately; then it yields the processor between two looks, which the others may need to write; after
/// a millisecond it sleeps in between, for a sixteenth of the time that it has waited, so that those who
/// still compute have the processor for themselves. All the while the transport's messages progress.
class looking {
public:
    /// `own_processors`: whether there is one for each rank of the node.
    explicit looking(bool own_processors)
        : m_most_looks(own_processors ? 4'000 : 50)
        , m_looks(m_most_looks) {}

    template <class Transport, class Ready>
    void until(Transport& t, Ready const& ready) {
        for (int i = 0; i < m_looks; ++i) {
            if (ready()) {
                if (i > m_looks / 2) m_looks = std::min(2 * m_looks, m_most_looks);
                return;
            }
            relax();
        }
        m_looks = std::max(m_looks / 2, 25);
        yield_until(t, ready);
    }

private:
    static void relax() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    template <class Transport, class Ready>
    static void yield_until(Transport& t, Ready const& ready) {
        using clock = std::chrono::steady_clock;
        constexpr auto patience = std::chrono::milliseconds(1);
        auto const begin = clock::now();
        for (unsigned i = 1; !ready(); ++i) {
            t.idle();
            if (i % 16 != 0) continue;
            t.progress();
            if (auto const waited = clock::now() - begin; waited > patience)
                std::this_thread::sleep_for(
                    std::min<clock::duration>(waited / 16, std::chrono::microseconds(200)));
        }
    }

    int m_most_looks;
    int m_looks;
};

} // namespace papcoll::inline v0::detail
