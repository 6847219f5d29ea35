// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0 {

/// How the ranks of an all-to-all exchange their blocks.
struct block_exchange {
    /// Which way the blocks of two ranks go to each other.
    enum class route {
        direct,            ///< every block goes to its rank itself, the nearest rank above first
        in_steps,          ///< the same; the next sends and receives begin when those before have all ended
        relayed            ///< blocks travel together by way of other ranks, in ⌈log2 P⌉ rounds
    } way = route::direct; ///< Which way they go.
    /// Sends, and receives, under way at once, at least 1; of no meaning to `relayed`.
    int window = 1;

    friend auto operator==(block_exchange const&, block_exchange const&) -> bool = default;
};

} // namespace papcoll::inline v0
