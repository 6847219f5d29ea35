// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/agreement.hpp>
#include <papcoll/context/context.hpp>
#include <papcoll/context/node_agreement.hpp>
#include <papcoll/context/node_sharing.hpp>
#include <papcoll/context/ping.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/context/settings.hpp>
#include <papcoll/context/text_broadcast.hpp>
#include <papcoll/transport/transport.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace papcoll::inline v0::detail {

/// What ranks merge when papcoll attaches.
struct attachment_record {
    double latency;
    double per_byte;
    double per_message;
    std::int64_t of_64_kib, of_256_kib;
    std::int32_t checks;
    std::int32_t measure;
    std::int64_t learn;
    std::int64_t least_settings, greatest_settings;
    /// The length of rank 0's tuning table, or why there is none; others say nothing.
    std::int64_t tuning_bytes;
    /// Of each rank for its node.
    std::int64_t shared_bytes;
    /// Which of attach_options is wrong on some rank; 0: none.
    std::int64_t mistake;

    static constexpr std::int64_t bad_link = 1, bad_node_memory = 2;

    static constexpr std::int64_t not_mine = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t not_readable = -2;
    static constexpr std::int64_t not_named = -1;
    static constexpr std::int32_t no_level = std::numeric_limits<std::int32_t>::max();
    static constexpr std::int64_t not_a_number = std::numeric_limits<std::int64_t>::max();

    static auto merge(attachment_record const& a, attachment_record const& b) -> attachment_record {
        return {std::max(a.latency, b.latency),
                std::max(a.per_byte, b.per_byte),
                std::max(a.per_message, b.per_message),
                std::max(a.of_64_kib, b.of_64_kib),
                std::max(a.of_256_kib, b.of_256_kib),
                std::max(a.checks, b.checks),
                std::max(a.measure, b.measure),
                std::max(a.learn, b.learn),
                std::min(a.least_settings, b.least_settings),
                std::max(a.greatest_settings, b.greatest_settings),
                std::max(a.tuning_bytes, b.tuning_bytes),
                std::max(a.shared_bytes, b.shared_bytes),
                std::max(a.mistake, b.mistake)};
    }
    /// Throws the same on all ranks.
    void check() const {
        if (mistake == bad_link)
            throw std::invalid_argument("papcoll: options.link must have costs that are not negative, "
                                        "times of at most an hour, and at most 1e9 ns per byte and per "
                                        "message, on all ranks");
        if (mistake == bad_node_memory)
            throw std::invalid_argument(
                "papcoll: options.node_memory must be at most 2^30 bytes, on all ranks");
        if (least_settings != greatest_settings)
            throw std::invalid_argument("papcoll: ranks disagree on the environment: PAPCOLL_…_ALGORITHM "
                                        "and PAPCOLL_NODE_MEMORY must be the same on all");
        if (shared_bytes == not_a_number)
            throw std::invalid_argument("papcoll: PAPCOLL_NODE_MEMORY must be a number of bytes, at most "
                                        "2^30");
        if (checks == no_level)
            throw std::invalid_argument("papcoll: PAPCOLL_CHECKS must be local or agreed");
    }
};

/// Lets the ranks of a transport agree on what attach_options and the environment leave open: options and
/// settings, then the link by a ping, the tuning table of rank 0, and the nodes.
template <transport Transport>
class attach_operation final : public operation {
public:
    attach_operation(Transport const& t, attach_options const& options)
        : m_transport(t)
        , m_tuning(t.rank() == 0 ? environment_settings::instance().tuning() : tuning_text())
        , m_options(record_of(options), attachment_record::merge, attachment_tag)
        , m_nodes(t, attachment_tag) {}

    auto advance(bool block) -> bool override { return m_finished = proceed(block); }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    auto abandon() noexcept -> bool override {
        bool kept = m_options.abandon(m_transport);
        kept = (m_ping && m_ping->abandon(m_transport)) || kept;
        kept = (m_link && m_link->abandon(m_transport)) || kept;
        kept = (m_text && m_text->abandon(m_transport)) || kept;
        kept = (m_sharing && m_sharing->abandon(m_transport)) || kept;
        return m_nodes.abandon(m_transport) || kept;
    }
    /// Valid when it has finished; once.
    [[nodiscard]] auto result() -> agreed_options {
        auto const& link = m_link ? m_link->result() : m_options.result();
        auto const& options = m_options.result();
        tuning_text tuning{options.tuning_bytes != attachment_record::not_named};
        if (m_text) tuning.content = m_text->result();
        link_model const exact{ticks(static_cast<std::int64_t>(link.latency)), link.per_byte,
                               link.per_message, ticks(link.of_64_kib), ticks(link.of_256_kib)};
        bool const measured = options.measure != 0;
        if (measured && m_transport.rank() == 0 && m_transport.size() > 1)
            report(tells_nodes ? implausibility_of(exact, m_nodes.result(0)) : implausibility_of(exact));
        agreed_options result{static_cast<check_level>(options.checks), measured ? quantised(exact) : exact,
                              exact, m_nodes.result(m_transport.rank()), std::move(tuning)};
        result.learns = options.learn != 0;
        result.shared = m_sharing->result(m_transport);
        if (m_sharing->is_there()) result.shared_bytes = m_sharing->bytes_per_rank();
        return result;
    }

private:
    using agreement_type =
        agreement<Transport, attachment_record,
                  attachment_record (*)(attachment_record const&, attachment_record const&)>;

    static constexpr bool tells_nodes = requires(Transport const& t) { t.node(); };

    static void report(std::string const& complaint) {
        static std::atomic<bool> told = false; // once per process
        if (!complaint.empty() && !told.exchange(true))
            std::fprintf(stderr, "papcoll: %s\n", complaint.c_str());
    }
    [[nodiscard]] auto record_of(attach_options const& options) const -> attachment_record {
        auto const settings = environment_settings::instance().hash();
        auto const link = options.link.value_or(link_model{});
        return {static_cast<double>(link.latency.count()),
                link.per_byte,
                link.per_message,
                link.of_64_kib.count(),
                link.of_256_kib.count(),
                checks(options),
                options.link ? 0 : 1,
                options.learn || environment_settings::instance().learn() ? 1 : 0,
                settings,
                settings,
                tuning_bytes(),
                shared_bytes(options),
                mistake_of(options)};
    }
    static auto checks(attach_options const& options) -> std::int32_t {
        auto const asked = environment_settings::instance().checks();
        return asked ? std::max<std::int32_t>(*asked, static_cast<std::int32_t>(options.checks))
                     : attachment_record::no_level;
    }
    static auto mistake_of(attach_options const& options) -> std::int64_t {
        // A byte per second, and an hour.
        auto const is_cost = [](double value) { return value >= 0 && value <= 1e9; };
        auto const is_time = [](ticks value) { return value >= ticks{0} && value <= std::chrono::hours{1}; };
        auto const can_be = [&](link_model const& link) {
            return is_time(link.latency) && is_time(link.of_64_kib) && is_time(link.of_256_kib) &&
                   is_cost(link.per_byte) && is_cost(link.per_message);
        };
        if (options.link && !can_be(*options.link)) return attachment_record::bad_link;
        return options.node_memory.value_or(0) > (std::size_t(1) << 30U) ? attachment_record::bad_node_memory
                                                                         : 0;
    }
    static auto shared_bytes(attach_options const& options) -> std::int64_t {
        if (options.node_memory) return static_cast<std::int64_t>(*options.node_memory);
        auto const asked = environment_settings::instance().node_memory();
        return asked ? static_cast<std::int64_t>(*asked) : attachment_record::not_a_number;
    }
    [[nodiscard]] auto tuning_bytes() const -> std::int64_t {
        if (m_transport.rank() != 0) return attachment_record::not_mine;
        if (!m_tuning.named) return attachment_record::not_named;
        if (!m_tuning.content) return attachment_record::not_readable;
        return static_cast<std::int64_t>(m_tuning.content->size());
    }
    auto proceed(bool block) -> bool {
        if (!m_options.advance(m_transport, block)) return false;
        auto const& agreed = m_options.result();
        agreed.check();
        if (!m_nodes.advance(m_transport, block)) return false;
        if (agreed.measure != 0) {
            if (!m_ping) m_ping.emplace(m_transport, m_nodes.result(m_transport.rank()), attachment_tag);
            if (!m_ping->advance(m_transport, block)) return false;
            if (!m_link) begin_link_agreement(agreed);
            if (!m_link->advance(m_transport, block)) return false;
        }
        if (agreed.tuning_bytes >= 0) {
            if (!m_text)
                m_text.emplace(std::move(m_tuning.content).value_or(std::string()),
                               static_cast<std::size_t>(agreed.tuning_bytes), attachment_tag);
            if (!m_text->advance(m_transport, block)) return false;
        }
        if (!m_sharing)
            m_sharing.emplace(m_transport, m_nodes.result(m_transport.rank()),
                              static_cast<std::size_t>(agreed.shared_bytes), attachment_tag);
        return m_sharing->advance(m_transport, block);
    }
    void begin_link_agreement(attachment_record record) {
        auto const measured = m_ping->result();
        record.latency = static_cast<double>(measured.latency.count());
        record.per_byte = measured.per_byte;
        record.per_message = measured.per_message;
        record.of_64_kib = measured.of_64_kib.count();
        record.of_256_kib = measured.of_256_kib.count();
        m_link.emplace(record, attachment_record::merge, attachment_tag);
    }

    Transport m_transport;
    tuning_text m_tuning; // rank 0's
    agreement_type m_options;
    std::optional<ping<Transport>> m_ping;
    std::optional<agreement_type> m_link;
    std::optional<text_broadcast<Transport>> m_text;
    node_agreement<Transport> m_nodes;
    std::optional<node_sharing<Transport>> m_sharing;
    bool m_finished = false;
};

} // namespace papcoll::inline v0::detail
