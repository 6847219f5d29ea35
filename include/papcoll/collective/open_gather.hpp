// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/gather.hpp>
#include <papcoll/collective/open_request.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct open_gather_call {
    static constexpr auto operation = collective_kind::gather;
    using value_type = T;

    output<T> out; // counts at the root
    std::size_t n;
    int root;
    std::shared_ptr<contribution> own;
    std::shared_ptr<contribution_place<T>> place = std::make_shared<contribution_place<T>>();

    open_gather_call(output<T> where, std::size_t count, int root_rank)
        : out(std::move(where))
        , n(count)
        , root(root_rank)
        , own(std::make_shared<contribution>()) {}

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
    }
    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        auto s = gather_call<T>{nullptr, nullptr, false, n, root}.shape(ranks, rank);
        s.late = true;
        return s;
    }
    void check_shape(call_shape const& s) const {
        check_root(s);
        check_count(n, sizeof(T) * static_cast<std::size_t>(s.ranks));
    }
    void check_buffers(call_shape const& s) const {
        if (n > 0 && s.rank == s.root && out.is_null())
            reject("out must not be null at the root when there are elements");
    }
    void make_room(call_shape const& s) const {
        if (s.rank == s.root) out.make_room(s.count);
        bool const has_target = n > 0 && s.rank == s.root;
        *place = {has_target ? out.data() + n * static_cast<std::size_t>(s.rank) : nullptr, n};
    }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of_open<T>(out.data(), own); }
};

struct open_gather_function {
    /// n elements each; `out` counts at the root alone.
    template <communicator Comm, class T, split_phase_policy<collective_kind::gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, T* out, std::size_t n, int root,
                                  Policy const& policy = {}) const -> open_request<T> {
        return begin_open(comm, open_gather_call<T>{out, n, root}, policy);
    }
    /// `out` is resized at the root.
    template <communicator Comm, class T, split_phase_policy<collective_kind::gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm&& comm, std::vector<T>& out, std::size_t n, int root,
                                  Policy const& policy = {}) const -> open_request<T> {
        return begin_open(comm, open_gather_call<T>{out, n, root}, policy);
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
