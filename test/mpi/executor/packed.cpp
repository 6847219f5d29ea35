// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1
#include <papcoll/executor/packed.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "../../support/padded.hpp"

namespace detail = papcoll::detail;
using format = papcoll::wire_format<padded>;

namespace {

/// Its last member does not travel.
struct labelled {
    labelled() = default;
    labelled(int n, int text)
        : value(n)
        , label(text) {}
    labelled(labelled const& other)
        : value(other.value)
        , label(other.label) {}
    auto operator=(labelled const& other) -> labelled& = default;
    ~labelled() {}

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& value;
    }

    int value = 0;
    int label = 0;
};

auto type() -> MPI_Datatype { return boost::mpi::get_mpi_datatype<padded>(); }

auto values(std::size_t n) -> std::vector<padded> {
    std::vector<padded> result;
    for (std::size_t i = 0; i < n; ++i)
        result.emplace_back(static_cast<int>(i), 0.5 * static_cast<double>(i));
    return result;
}

} // namespace

BOOST_IS_MPI_DATATYPE(labelled)

TEST_CASE("elements are packed in runs that MPI can count, whatever its limit") {
    auto const one = detail::pack_size(type(), 1);
    REQUIRE(one > 1);
    for (std::size_t const most :
         {std::size_t(1), one - 1, one, 2 * one - 1, 2 * one, 10 * one, detail::packed_most})
        for (std::size_t const n : {0U, 1U, 2U, 3U, 9U, 10U, 11U, 35U}) {
            auto const run = detail::pack_run(type(), most);
            CHECK(run >= 1);
            CHECK((run == 1 || detail::pack_size(type(), run) <= most));
            auto const sent = values(n);
            std::vector<std::byte> bytes(detail::packed_bytes(type(), n, run));
            auto const used = detail::pack(type(), sent.data(), n, std::span(bytes), run);
            CHECK(used <= bytes.size());
            std::vector<padded> received(n);
            auto const read =
                detail::unpack(type(), std::span<std::byte const>(bytes), received.data(), n, run);
            CHECK(read == used);
            CHECK(received == sent);
        }
}

TEST_CASE("what packed elements take beyond 2 GiB is counted") {
    auto const one = format::bytes(1);
    for (std::size_t const n : {std::size_t(1), std::size_t(300'000'000), std::size_t(400'000'000),
                                std::size_t(std::numeric_limits<int>::max()), std::size_t(1) << 33})
        CHECK(format::bytes(n) == n * one);
    CHECK(format::bytes(0) == 0);
}

TEST_CASE("elements whose last member does not travel are packed one by one") {
    using labels = papcoll::wire_format<labelled>;
    std::vector<labelled> sent;
    for (int i = 0; i < 5; ++i) sent.emplace_back(i + 1, 10 * i);
    std::vector<std::byte> bytes(labels::bytes(sent.size()));
    labels::pack(sent.data(), sent.size(), std::span(bytes));
    std::vector<labelled> received(sent.size(), labelled(0, 7));
    labels::unpack(std::span<std::byte const>(bytes), received.data(), received.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
        CHECK(received[i].value == sent[i].value);
        CHECK(received[i].label == 7);
    }
}
