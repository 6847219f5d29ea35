// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/executor/short_script.hpp>
#include <papcoll/program/program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// The script of a short program for elements of one size, with peers, places and sizes in bytes. A message
/// of several short stretches of memory is packed into a staging buffer.
class short_steps {
public:
    /// An address in the memory of a call, or in the staging.
    struct place {
        std::uint8_t base = 0; // an enum memory, or staging
        std::size_t begin = 0; // bytes
    };
    static constexpr std::uint8_t staging = memory_kinds;

    struct stretch {
        place where;
        std::size_t bytes;
    };
    struct step {
        enum class kind : std::uint8_t {
            send,
            receive,
            send_stretches,
            receive_stretches,
            await_sent,
            await_received,
            send_and_await,
            receive_and_await,
            post,       ///< to the others of the node
            await_post, ///< of one of them
            any_order,  ///< parts of equal length follow, whose right operands come in any order
            // those that compute
            combine,
            combine_alike,
            combine_one,    ///< element, alike
            copy_in_pieces, ///< to the memory of the node
            copy            ///< also to or from the staging
        };

        kind what = kind::copy;
        int peer = -1;
        // Which of all messages; of parts in any order how many; of an await which member of the node.
        std::uint32_t message = 0;
        std::uint32_t first_stretch = 0, stretches = 0;
        // Bytes of a message or a copy, elements to combine, how many posts, steps of all parts together.
        std::size_t size = 0;
        place target = {}, left = {}, right = {};

        [[nodiscard]] auto computes() const -> bool { return what >= kind::combine; }
        [[nodiscard]] auto is_sign() const -> bool {
            return what == kind::post || what == kind::await_post || what == kind::any_order;
        }
        /// Whether a message begins that a later step waits for.
        [[nodiscard]] auto posts() const -> bool { return what <= kind::receive_stretches; }
        [[nodiscard]] auto sends() const -> bool {
            return what == kind::send || what == kind::send_stretches;
        }
    };

    /// Empty for a program that is not short, or has a message longer than `most_bytes`. `joins`: whether a
    /// message that is waited for as soon as it has begun may be one step.
    short_steps(program const& p, std::size_t element_bytes, std::size_t most_bytes, bool joins)
        : m_element_bytes(element_bytes)
        , m_node_bytes(p.node * element_bytes)
        , m_node_key(p.node_key)
        , m_joins(joins) {
        short_script const script(p);
        m_applies = script.applies() && script.longest() * element_bytes <= most_bytes;
        if (!m_applies) return;
        std::vector<step> messages(p.size());
        auto posts = p.posts.begin(); // awaits keep their order
        auto group = p.any_orders.begin();
        for (auto const& s : script.steps()) {
            if (group != p.any_orders.end() && group->begin == s.instruction) begin_parts(*group++);
            if (p.is_sign(s.instruction))
                add_sign(p.instructions[s.instruction], posts);
            else
                translate(p, s, messages[s.instruction]);
        }
    }

    [[nodiscard]] auto applies() const -> bool { return m_applies; }
    /// Of the elements that they were made for.
    [[nodiscard]] auto element_bytes() const -> std::size_t { return m_element_bytes; }
    [[nodiscard]] auto steps() const -> std::span<step const> { return m_steps; }
    /// Of a message that is not packed.
    [[nodiscard]] auto stretches_of(step const& s) const -> std::span<stretch const> {
        return std::span(m_stretches).subspan(s.first_stretch, s.stretches);
    }
    /// Awaits know which member of the node the peer is: `member(peer)`.
    template <class Member>
    void number_peers(Member member) {
        for (auto& s : m_steps)
            if (s.what == kind::await_post) s.message = static_cast<std::uint32_t>(member(s.peer));
    }
    [[nodiscard]] auto messages() const -> std::size_t { return m_messages; }
    /// Of the memory that all ranks of the node use together.
    [[nodiscard]] auto node_bytes() const -> std::size_t { return m_node_bytes; }
    [[nodiscard]] auto node_key() const -> std::uint64_t { return m_node_key; }
    [[nodiscard]] auto staged_bytes() const -> std::size_t { return m_staged_bytes; }
    [[nodiscard]] auto held_bytes() const -> std::size_t { return detail::held_bytes(m_steps, m_stretches); }

private:
    using index = program::index;
    using kind = step::kind;
    static constexpr std::size_t longest_packed_bytes = std::size_t(4) << 10;

    /// `message` is that of its instruction: made when it is posted, for when it is waited for.
    void translate(program const& p, short_script::step const& s, step& message) {
        auto const i = s.instruction;
        switch (s.what) {
        case short_script::step::kind::compute:
            return compute(p, i);
        case short_script::step::kind::post:
            message = message_of(p, i);
            if (message.sends()) pack(message);
            m_steps.push_back(message);
            return;
        case short_script::step::kind::await:
            bool const sent = message.sends();
            await(message, sent);
            if (!sent) pack(message);
        }
    }
    // Each of their instructions is one step.
    void begin_parts(program::any_order const& parts) {
        step s;
        s.what = kind::any_order;
        s.message = parts.count;
        s.size = std::size_t{parts.part} * parts.count;
        m_steps.push_back(s);
    }
    void add_sign(program::instruction const& sign, std::vector<index>::const_iterator& posts) {
        step s;
        s.what = sign.what == program::action::post ? kind::post : kind::await_post;
        s.peer = sign.peer;
        if (s.what == kind::await_post) s.size = *posts++;
        m_steps.push_back(s);
    }
    [[nodiscard]] auto place_of(region const& r) const -> place {
        return {static_cast<std::uint8_t>(r.where()), r.offset() * m_element_bytes};
    }
    [[nodiscard]] static auto kind_of_combination(bool alike, std::size_t n) -> kind {
        if (!alike) return kind::combine;
        return n == 1 ? kind::combine_one : kind::combine_alike;
    }
    /// Other ranks have the lines of the target in their caches, and the C library's copy takes up to twice
    /// as long to get them for most of these sizes; why is not known. Of shorter and longer copies pieces are
    /// slower, or it makes no difference (bench/results/one_machine.md). Pieces must not overlap their
    /// source.
    [[nodiscard]] static auto is_better_in_pieces(step const& copy) -> bool {
        constexpr auto node = static_cast<std::uint8_t>(memory::node);
        return copy.target.base == node && copy.left.base != node && copy.size > 64 && copy.size <= 512;
    }
    void compute(program const& p, index i) {
        auto const& what = p.instructions[i];
        bool const combines = what.what == program::action::combine;
        auto const regions = p.regions_of(i);
        for (std::size_t r = 0; r < regions.size(); r += program::operands(what.what)) {
            if (!combines && p.moves_nothing(regions[r], regions[r + 1])) continue;
            step s;
            if (combines) s.what = kind_of_combination(what.alike, regions[r].size());
            s.size = regions[r].size() * (combines ? 1 : m_element_bytes);
            s.target = place_of(regions[r]);
            s.left = place_of(regions[r + 1]);
            if (!combines && is_better_in_pieces(s)) s.what = kind::copy_in_pieces;
            if (combines) s.right = place_of(regions[r + 2]);
            m_steps.push_back(s);
        }
    }
    void await(step const& message, bool sent) {
        auto& last = m_steps.back();
        if (m_joins && last.message == message.message && last.what == kind::send)
            last.what = kind::send_and_await;
        else if (m_joins && last.message == message.message && last.what == kind::receive)
            last.what = kind::receive_and_await;
        else
            m_steps.push_back(message), m_steps.back().what = sent ? kind::await_sent : kind::await_received;
    }
    auto message_of(program const& p, index i) -> step {
        bool const sends = p.instructions[i].what == program::action::send;
        step m;
        m.what = sends ? kind::send : kind::receive;
        m.peer = p.instructions[i].peer;
        m.message = m_messages++;
        list_stretches(p.regions_of(i), m);
        if (m.stretches == 1)
            m.target = m_stretches.back().where;
        else if (m.size > longest_packed_bytes)
            m.what = sends ? kind::send_stretches : kind::receive_stretches;
        else
            stage(m);
        return m;
    }
    void list_stretches(std::span<region const> regions, step& m) {
        m.first_stretch = static_cast<std::uint32_t>(m_stretches.size());
        region last;
        for (auto const& r : regions) {
            if (r.size() == 0) continue;
            auto const bytes = r.size() * m_element_bytes;
            if (m.size > 0 && last.is_followed_by(r))
                m_stretches.back().bytes += bytes;
            else
                m_stretches.push_back({place_of(r), bytes});
            m.size += bytes;
            last = r;
        }
        m.stretches = static_cast<std::uint32_t>(m_stretches.size()) - m.first_stretch;
    }
    void stage(step& m) {
        m.target = {staging, m_staged_bytes};
        m_staged_bytes += m.size;
    }
    /// Between the stretches of a message and the staging, if it is there.
    void pack(step const& m) {
        if (m.target.base != staging) return;
        auto staged = m.target;
        for (auto const& part : stretches_of(m)) {
            step s;
            s.what = kind::copy;
            s.size = part.bytes;
            s.target = m.sends() ? staged : part.where;
            s.left = m.sends() ? part.where : staged;
            m_steps.push_back(s);
            staged.begin += part.bytes;
        }
    }

    std::size_t m_element_bytes;
    std::size_t m_node_bytes;
    std::uint64_t m_node_key;
    bool m_joins;
    bool m_applies = false;
    std::vector<step> m_steps;
    std::vector<stretch> m_stretches;
    std::uint32_t m_messages = 0;
    std::size_t m_staged_bytes = 0;
};

} // namespace papcoll::inline v0::detail
