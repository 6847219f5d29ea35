// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/core.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace {

/// The archetype: exactly what the concept asks for, for a group of one.
struct alone {
    struct pending {};

    [[nodiscard]] auto rank() const -> int { return 0; }
    [[nodiscard]] auto size() const -> int { return 1; }
    [[nodiscard]] auto concurrent() const -> bool { return false; }
    [[nodiscard]] auto max_message_bytes() const -> std::size_t { return 1; }
    [[nodiscard]] auto attachment() -> std::shared_ptr<void>& { return *m_attachment; }
    [[nodiscard]] auto borrowed() const -> alone { return *this; }
    auto isend(papcoll::channel, papcoll::const_message_parts, int, int) -> pending { return {}; }
    auto irecv(papcoll::channel, papcoll::message_parts, int, int) -> pending { return {}; }
    void test_some(std::span<pending>, std::vector<papcoll::completion>&) {}
    void wait_some(std::span<pending>, std::vector<papcoll::completion>&) {}
    void idle() {}
    auto abandon(std::span<pending>, std::span<pending>) noexcept -> bool { return false; }

    std::shared_ptr<std::shared_ptr<void>> m_attachment = std::make_shared<std::shared_ptr<void>>();
};

struct without_abandon : alone {
    void abandon(std::span<pending>, std::span<pending>) = delete;
};
struct completions_without_bytes : alone {
    void test_some(std::span<pending>, std::vector<int>&) {}
};
struct rank_of_wrong_type : alone {
    [[nodiscard]] auto rank() const -> long { return 0; }
};
struct without_attachment : alone {
    void attachment() = delete;
};
struct send_returns_nothing : alone {
    void isend(papcoll::channel, papcoll::const_message_parts, int, int) {}
};
struct sends_one_stretch_only : alone {
    auto isend(papcoll::channel, std::span<std::byte const>, int, int) -> pending { return {}; }
};
struct not_copyable : alone {
    not_copyable() = default;
    not_copyable(not_copyable const&) = delete;
};

} // namespace

TEST_CASE("the concept takes its archetype and refuses near misses") {
    CHECK(papcoll::transport<alone>);
    CHECK(papcoll::transport<papcoll::threads::endpoint>);
    CHECK(papcoll::transport<papcoll::mpi_transport>);
    CHECK_FALSE(papcoll::transport<without_abandon>);
    CHECK_FALSE(papcoll::transport<completions_without_bytes>);
    CHECK_FALSE(papcoll::transport<rank_of_wrong_type>);
    CHECK_FALSE(papcoll::transport<without_attachment>);
    CHECK_FALSE(papcoll::transport<send_returns_nothing>);
    CHECK_FALSE(papcoll::transport<sends_one_stretch_only>);
    CHECK_FALSE(papcoll::transport<not_copyable>);
    CHECK_FALSE(papcoll::transport<MPI_Comm>);
}

TEST_CASE("collectives run on a foreign transport") {
    alone self;
    std::vector<int> const in{1, 2, 3};
    std::vector<int> out;
    papcoll::reduce(self, in, out, std::plus<>(), 0, papcoll::clairvoyant{.segments = 2});
    CHECK(out == in);
    *self.m_attachment = nullptr;
}
