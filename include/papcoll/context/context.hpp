// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/context/node_agreement.hpp>
#include <papcoll/context/observer.hpp>
#include <papcoll/context/ping.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/context/settings.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <any>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// How much is checked before the messages of an operation leave.
enum class check_level {
    off,   ///< nothing: arguments are trusted
    local, ///< what one rank can see alone
    agreed ///< also that all ranks agree, at the price of ⌈log2 P⌉ small messages per operation
};

struct attach_options {
    /// The highest level that any rank asks for holds on all of them.
    check_level checks = check_level::local;
    /// Latency and time per byte of a message, when known; else they are measured by a short ping, which
    /// moves 1.3 MB between pairs of ranks. Must be given on all ranks or on none; the maximum counts.
    std::optional<link_model> link = {};
};

namespace detail {

/// On the data channel; messages of the agreement on options come before those of any operation.
inline constexpr int attachment_tag = tag_count - 1;
/// How many operations have tags of their own at a time: two each, beneath those that are reserved.
inline constexpr int operation_tags = (tag_count - reserved_tags) / 2;
static_assert(2 * operation_tags <= tag_count - reserved_tags && is_reserved_tag(attachment_tag));

/// What all ranks agree on when papcoll attaches.
struct attachment_record {
    double latency;
    double per_byte;
    std::int32_t checks;
    std::int32_t measure;
    std::int64_t least_settings, greatest_settings;

    static auto merge(attachment_record const& a, attachment_record const& b) -> attachment_record {
        return {std::max(a.latency, b.latency),
                std::max(a.per_byte, b.per_byte),
                std::max(a.checks, b.checks),
                std::max(a.measure, b.measure),
                std::min(a.least_settings, b.least_settings),
                std::max(a.greatest_settings, b.greatest_settings)};
    }
    /// Throws the same on all ranks.
    void check() const {
        if (least_settings != greatest_settings)
            throw std::invalid_argument("papcoll: ranks disagree on the environment: PAPCOLL_…_ALGORITHM and "
                                        "the content of PAPCOLL_TUNING_FILE must be the same on all");
    }
};

} // namespace detail

/// What papcoll keeps for one group of ranks: the transport, what the ranks agreed on, the progress engine
/// and the tags. Its state is driven by the operations that need it, under the engine's rule of one driver.
template <transport Transport>
class context {
public:
    context(Transport t, std::shared_ptr<progress_engine> engine)
        : m_transport(std::move(t))
        , m_engine(std::move(engine)) {
        begin_agreement(check_level::local, {}, true);
    }

    [[nodiscard]] auto transport_layer() -> Transport& { return m_transport; }
    [[nodiscard]] auto engine() -> std::shared_ptr<progress_engine> const& { return m_engine; }
    [[nodiscard]] auto rank() const -> int { return m_transport.rank(); }
    [[nodiscard]] auto size() const -> int { return m_transport.size(); }
    /// Agreed; valid once prepare() was true.
    [[nodiscard]] auto link() const -> link_model const& { return m_link; }
    [[nodiscard]] auto checks() const -> check_level { return m_checks; }
    /// Who is told of operations that have ended; empty: nobody.
    [[nodiscard]] auto observed_by() -> observer& { return m_observer; }
    /// The number of the next operation.
    [[nodiscard]] auto sequence() const -> std::uint32_t { return m_sequence; }
    /// A number for each rank, equal where they share a node; empty until prepare() was true.
    [[nodiscard]] auto nodes() const -> std::vector<int> const& { return m_nodes; }
    /// Where policies keep plans to use again.
    [[nodiscard]] auto cache() -> std::any& { return m_cache; }

    /// Begins a new agreement with these options; collective, completed by prepare().
    void configure(attach_options const& options) {
        if (options.link)
            begin_agreement(options.checks, *options.link, false);
        else
            begin_agreement(options.checks, {}, true);
    }
    /// True when the attachment is complete; drives it otherwise. Throws std::invalid_argument, on all ranks,
    /// where they cannot agree.
    auto prepare(bool block) -> bool {
        if (m_prepared) return true;
        if (!m_transport.ready() || !m_options_agreement->advance(m_transport, block)) return false;
        auto agreed = m_options_agreement->result();
        agreed.check();
        if (agreed.measure != 0) {
            if (!m_ping->advance(m_transport, block)) return false;
            if (!m_link_agreement) begin_link_agreement(agreed);
            if (!m_link_agreement->advance(m_transport, block)) return false;
            agreed = m_link_agreement->result();
        }
        if (!m_node_agreement->advance(m_transport, block)) return false;
        m_nodes = m_node_agreement->result(rank());
        m_link = {ticks(static_cast<std::int64_t>(agreed.latency)), agreed.per_byte};
        m_checks = static_cast<check_level>(agreed.checks);
        m_prepared = true;
        return true;
    }
    /// The tag of the next operation, whose second one is the next number: ranks begin the operations of one
    /// group in the same order.
    auto next_tag() -> int {
        int const tag = static_cast<int>(2 * (m_sequence % detail::operation_tags));
        ++m_sequence;
        return tag;
    }

    /// Operations begin their work in the order of their calls, though they may be ready in another.
    auto next_turn() -> std::uint32_t { return m_turns++; }
    [[nodiscard]] auto is_turn(std::uint32_t turn) const -> bool { return m_turn == turn; }
    void pass_turn() { ++m_turn; }
    /// Whether an operation that is called now can begin its work now: the attachment is complete, nothing is
    /// to be agreed first, and none waits for its turn.
    [[nodiscard]] auto begins_at_once() const -> bool {
        return !m_engine->concurrent() && m_prepared && m_checks != check_level::agreed && m_turn == m_turns;
    }

private:
    using agreement_type = detail::agreement<Transport, detail::attachment_record,
                                             detail::attachment_record (*)(detail::attachment_record const&,
                                                                           detail::attachment_record const&)>;

    void begin_agreement(check_level checks, link_model const& link, bool measure) {
        auto const settings = environment_settings::instance().hash();
        detail::attachment_record const mine{static_cast<double>(link.latency.count()),
                                             link.per_byte,
                                             static_cast<std::int32_t>(checks),
                                             measure ? 1 : 0,
                                             settings,
                                             settings};
        m_checks = std::max(m_checks.load(), checks);
        m_options_agreement.emplace(mine, detail::attachment_record::merge, detail::attachment_tag);
        m_ping.emplace(m_transport, detail::attachment_tag);
        m_node_agreement.emplace(m_transport, detail::attachment_tag);
        m_link_agreement.reset();
        m_prepared = false;
    }
    void begin_link_agreement(detail::attachment_record record) {
        auto const measured = m_ping->result();
        record.latency = static_cast<double>(measured.latency.count());
        record.per_byte = measured.per_byte;
        m_link_agreement.emplace(record, detail::attachment_record::merge, detail::attachment_tag);
    }

    Transport m_transport;
    std::shared_ptr<progress_engine> m_engine;
    link_model m_link;
    std::atomic<check_level> m_checks = check_level::off;
    bool m_prepared = false;
    std::uint32_t m_sequence = 0;
    std::uint32_t m_turns = 0;
    std::uint32_t m_turn = 0;
    std::any m_cache;
    observer m_observer;
    std::optional<agreement_type> m_options_agreement, m_link_agreement;
    std::optional<detail::ping<Transport>> m_ping;
    std::optional<detail::node_agreement<Transport>> m_node_agreement;
    std::vector<int> m_nodes;
};

} // namespace papcoll::inline v0
