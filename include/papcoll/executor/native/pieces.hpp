// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/datatype.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The most elements that MPI can count in one call.
inline constexpr std::size_t native_most = std::numeric_limits<int>::max();

/// Calls piece(begin, n) for consecutive parts of `count` elements, at least once, n at most `most`.
template <class Piece>
void for_each_part(std::size_t count, Piece piece, std::size_t most = native_most) {
    std::size_t begin = 0;
    do {
        auto const n = std::min(most, count - begin);
        piece(begin, static_cast<int>(n));
        begin += n;
    } while (begin < count);
}

/// p blocks of n elements, one after another, each with the same number of elements in one call of MPI. Where
/// p n is more than `most`, a call has a stripe of every block: k elements at the distance of n.
class native_blocks {
public:
    /// Elements of `size` bytes.
    native_blocks(MPI_Datatype element, std::size_t size, std::size_t n, int ranks, std::size_t most)
        : m_element(element)
        , m_size(size)
        , m_n(n) {
        // Stripes of nearly equal widths: a narrow one could make the library choose an algorithm for short
        // messages, whose temporary buffers then have the extent of long ones.
        auto const widest = std::max<std::size_t>(1, most / static_cast<std::size_t>(ranks));
        auto const stripes = n == 0 ? 1 : (n - 1) / widest + 1;
        m_width = n == 0 ? 0 : (n - 1) / stripes + 1;
    }

    /// Calls stripe(begin, k, count, type): k elements from `begin` of every block, which are `count` of
    /// `type` at begin, n + begin, 2 n + begin, ... The types live as long as this object.
    template <class Stripe>
    void for_each(Stripe stripe) {
        for_each_part(
            m_n,
            [&](std::size_t begin, int k) {
                if (m_width == m_n)
                    stripe(begin, k, k, element());
                else
                    stripe(begin, k, 1, striped(k));
            },
            m_width);
    }
    [[nodiscard]] auto element() const -> MPI_Datatype { return m_element; }

private:
    auto striped(int k) -> MPI_Datatype {
        if (k != m_k) {
            auto const row = native_handle::contiguous(k, element());
            m_stripes.push_back(native_handle::resized(row.get(), m_n * m_size).committed());
            m_k = k;
        }
        return m_stripes.back().get();
    }

    MPI_Datatype m_element;
    std::size_t m_size;
    std::size_t m_n;
    std::size_t m_width = 0;
    int m_k = -1;
    std::vector<native_handle> m_stripes; // the last stripe may be narrower than the others
};

/// Whether blocks of these sizes are at most `most` elements together.
[[nodiscard]] inline auto native_fits(std::span<std::size_t const> sizes, std::size_t most) -> bool {
    std::size_t left = most;
    return std::all_of(sizes.begin(), sizes.end(), [&](std::size_t size) {
        bool const fits = size <= left;
        left -= fits ? size : 0;
        return fits;
    });
}
/// The same of blocks at `displs`; where an empty block lies does not matter.
[[nodiscard]] inline auto native_fits(std::span<std::size_t const> sizes, std::span<std::size_t const> displs,
                                      std::size_t most) -> bool {
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] > 0 && (sizes[i] > most || displs[i] > most - sizes[i])) return false;
    return native_fits(sizes, most);
}

/// Numbers that fit, as MPI takes them.
[[nodiscard]] inline auto native_ints(std::span<std::size_t const> numbers) -> std::vector<int> {
    std::vector<int> result(numbers.size());
    std::transform(numbers.begin(), numbers.end(), result.begin(),
                   [](std::size_t n) { return static_cast<int>(n); });
    return result;
}

} // namespace detail

} // namespace papcoll::inline v0
