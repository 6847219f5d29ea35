// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_request.hpp>

#include <cstddef>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

struct open_gather_function {
    /// n elements each; `out`, a pointer or a std::vector that is resized, counts at the root alone.
    template <communicator Comm, class Out, split_phase_policy<collective_kind::gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, Out&& out, std::size_t n, int root,
                                  Policy const& policy = {}) const -> open_request<elements_of_output<Out>> {
        using element = elements_of_output<Out>;
        auto call = describe_open<element>(collective_kind::gather, out);
        call.n = n;
        call.root = root;
        return begin_open<element>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Joins a gather of n elements per rank before this rank has its own; see open_all_gather for what that
/// means, what must agree, and who moves the data. With `sorted_linear` the root takes in the parts of early
/// ranks while it computes, and on its arrival only what came late is left.
///
///     auto gathering = papcoll::open_gather(world, all, n, 0, papcoll::sorted_linear{.arrivals = times});
///     compute(mine);
///     gathering.contribute(mine.data());
///     gathering.wait();
///
/// `out` (a pointer, or a std::vector) counts at the root alone, where the elements of rank r come to
/// out + r n. The root may write its own there and call contribute() without argument; on other ranks the
/// elements given to contribute must stay until the end. Throws as gather does.
inline constexpr detail::open_gather_function open_gather{};

} // namespace papcoll::inline v0
