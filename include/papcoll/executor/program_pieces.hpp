// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/message_program.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The pieces of the blocks of a program, numbered in the order of the blocks. All ranks cut blocks of equal
/// sizes alike, so both ends of a message cut it at the same places.
class block_pieces {
public:
    /// Blocks of at most `longest` elements are one piece.
    block_pieces(message_program const& whole, std::size_t longest)
        : m_whole(whole)
        , m_longest(longest) {
        m_first.reserve(whole.blocks.size() + 1);
        m_first.push_back(0);
        for (auto const& block : whole.blocks) m_first.push_back(m_first.back() + count(block));
    }

    [[nodiscard]] auto total() const -> std::size_t { return m_first.back(); }
    [[nodiscard]] auto of(int block) const -> block_partition {
        auto const b = static_cast<std::size_t>(block);
        return {m_whole.blocks[b].size, static_cast<int>(m_first[b + 1] - m_first[b])};
    }
    [[nodiscard]] auto first(int block) const -> int {
        return static_cast<int>(m_first[static_cast<std::size_t>(block)]);
    }
    [[nodiscard]] auto uses_of(message_program::side const& side) const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& use : side.uses) sum += static_cast<std::size_t>(of(use.block).blocks);
        return sum;
    }

private:
    [[nodiscard]] auto count(block_range const& block) const -> std::size_t {
        return std::max<std::size_t>(block.size / m_longest + (block.size % m_longest != 0 ? 1 : 0), 1);
    }

    message_program const& m_whole;
    std::size_t m_longest;
    std::vector<std::size_t> m_first;
};

/// One side with its blocks cut, and its messages between pieces; none with more than `most` messages.
[[nodiscard]] inline auto cut_side(message_program::side const& whole, block_pieces const& pieces,
                                   std::size_t longest, std::size_t most)
    -> std::optional<message_program::side> {
    message_program::side result;
    result.uses.reserve(pieces.uses_of(whole));
    for (auto const& m : whole.messages) {
        bool begins = true;
        for (auto const& use : whole.uses_of(m)) {
            auto const cut = pieces.of(use.block);
            for (int i = 0; i < cut.blocks; ++i) {
                if (begins || result.messages.back().elements + cut.size(i) > longest) {
                    if (result.messages.size() == most) return std::nullopt;
                    result.messages.push_back({m.peer, static_cast<int>(result.uses.size()), 0, 0});
                }
                begins = false;
                result.uses.push_back({pieces.first(use.block) + i, use.turn});
                ++result.messages.back().use_count;
                result.messages.back().elements += cut.size(i);
            }
        }
    }
    result.messages.shrink_to_fit();
    return result;
}

inline constexpr auto without_limit = std::numeric_limits<std::size_t>::max();

} // namespace detail

/// The program with every block of more than `longest_block` elements cut into pieces of equal size, which
/// are its new blocks, and with its messages cut between blocks where they have more than
/// windows.longest_elements. None where its lists would hold more than `limit` bytes.
[[nodiscard]] inline auto cut(message_program const& whole, std::size_t longest_block,
                              std::size_t limit = detail::without_limit) -> std::optional<message_program> {
    detail::block_pieces const pieces(whole, longest_block);
    auto held = pieces.total() * (sizeof(block_range) + 1); // the bit that tells its owner: less than a byte
    if (held >= limit) return std::nullopt;
    held +=
        (pieces.uses_of(whole.sends) + pieces.uses_of(whole.receives)) * sizeof(message_program::block_use);
    if (held >= limit) return std::nullopt;
    auto const most = (limit - held) / sizeof(message_program::message);
    auto const longest =
        whole.windows.longest_elements > 0 ? whole.windows.longest_elements : detail::without_limit;
    auto sends = detail::cut_side(whole.sends, pieces, longest, most);
    if (!sends) return std::nullopt;
    auto receives = detail::cut_side(whole.receives, pieces, longest, most - sends->messages.size());
    if (!receives) return std::nullopt;

    message_program result{whole.kind, {}, {}, std::move(*sends), std::move(*receives), whole.windows};
    result.scratch = whole.scratch;
    result.blocks.reserve(pieces.total());
    result.owned.reserve(pieces.total());
    for (int b = 0; b < static_cast<int>(whole.blocks.size()); ++b)
        for (int i = 0; i < pieces.of(b).blocks; ++i) {
            result.blocks.push_back({whole.offset(b) + pieces.of(b).offset(i), pieces.of(b).size(i)});
            result.owned.push_back(whole.is_owned(b));
        }
    return result;
}

namespace detail {

/// Messages are cut as the windows say; blocks stay whole.
[[nodiscard]] inline auto with_cut_messages(message_program whole) -> message_program {
    if (whole.windows.longest_elements == 0) return whole;
    return std::move(*cut(whole, without_limit));
}

} // namespace detail

/// What is executed of a program that a plan keeps: itself, or where it is kept uncut its cut form.
[[nodiscard]] inline auto executable(std::shared_ptr<message_program const> kept)
    -> std::shared_ptr<message_program const> {
    if (kept->piece_elements == 0) return kept;
    return std::make_shared<message_program const>(*cut(*kept, kept->piece_elements));
}

} // namespace papcoll::inline v0
