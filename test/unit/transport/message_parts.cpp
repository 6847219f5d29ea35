// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/message_parts.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using papcoll::const_message_parts;
using papcoll::message_parts;
using bytes = std::vector<std::byte>;
using stretches = std::vector<std::span<std::byte const>>;

namespace {

auto numbered(std::size_t n) -> bytes {
    bytes data(n);
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<std::byte>(i);
    return data;
}
auto joined(const_message_parts const& parts) -> bytes {
    bytes result(parts.one().begin(), parts.one().end());
    for (auto const& s : parts.several()) result.insert(result.end(), s.begin(), s.end());
    return result;
}

} // namespace

TEST_CASE("one stretch is contiguous, whatever it is made from") {
    auto data = numbered(5);
    const_message_parts const parts = std::span(data);
    CHECK(parts.contiguous());
    CHECK(parts.bytes() == 5);
    CHECK(parts.one().data() == data.data());
    stretches const list{std::span(data)};
    const_message_parts const from_list(list);
    CHECK(from_list.contiguous());
    CHECK(from_list.one().data() == data.data());
    CHECK(const_message_parts().bytes() == 0);
    CHECK(const_message_parts().contiguous());
    CHECK(const_message_parts(std::span<std::span<std::byte const> const>()).contiguous());
    CHECK(std::convertible_to<std::span<std::byte>, message_parts>);
    CHECK(std::convertible_to<std::span<std::byte>, const_message_parts>);
    CHECK_FALSE(std::convertible_to<std::span<std::byte const>, message_parts>);
    CHECK_FALSE(std::convertible_to<std::span<int>, message_parts>);
}

TEST_CASE("every slice of every list of stretches has the bytes in order") {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        auto const data = numbered(60);
        stretches list;
        bytes all;
        std::size_t const count = seed % 6;
        for (std::size_t k = 0; k < count; ++k) {
            auto const piece = std::span(data).subspan(random() % 50, random() % 10);
            list.push_back(piece);
            all.insert(all.end(), piece.begin(), piece.end());
        }
        const_message_parts const parts(list);
        CHECK(parts.bytes() == all.size());
        CHECK(joined(parts) == all);
        bool right = true;
        stretches room;
        for (std::size_t begin = 0; begin <= all.size(); ++begin)
            for (std::size_t n = 0; begin + n <= all.size(); ++n) {
                auto const slice = parts.slice(begin, n, room);
                auto const first = all.begin() + static_cast<std::ptrdiff_t>(begin);
                right = right && slice.bytes() == n &&
                        joined(slice) == bytes(first, first + static_cast<std::ptrdiff_t>(n));
                for (auto const& s : slice.several()) right = right && !s.empty();
            }
        CHECK(right);
    }
}

TEST_CASE("a slice within one stretch is contiguous and refers to the memory itself") {
    auto data = numbered(30);
    std::vector<std::span<std::byte>> const list{std::span(data).first(10), std::span(data).subspan(20, 10)};
    std::vector<std::span<std::byte>> room;
    message_parts const parts(list);
    auto const slice = parts.slice(12, 5, room);
    CHECK(slice.contiguous());
    CHECK(slice.one().data() == data.data() + 22);
    slice.one()[0] = std::byte{99};
    CHECK(data[22] == std::byte{99});
    CHECK(parts.slice(9, 2, room).several().size() == 2);
}
