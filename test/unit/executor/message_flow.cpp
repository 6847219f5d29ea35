// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/message_flow.hpp>
#include <papcoll/executor/stretches.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

using papcoll::channel;
using papcoll::detail::arrival_of_message;
using papcoll::threads::endpoint;
using flow = papcoll::detail::message_flow<endpoint, int>;

namespace {

/// Memory in stretches of random sizes with gaps between them.
template <class Byte>
struct scattered {
    scattered(std::size_t bytes, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<std::size_t> sizes;
        while (bytes > 0) {
            sizes.push_back(std::min<std::size_t>(bytes, 1 + random() % 9));
            bytes -= sizes.back();
        }
        std::size_t end = 0;
        for (auto const n : sizes) end += n + 2;
        memory.resize(end, std::byte{7});
        end = 0;
        for (auto const n : sizes) {
            list.push_back(std::span(memory).subspan(end, n));
            end += n + 2;
        }
    }
    [[nodiscard]] auto parts() const -> papcoll::basic_message_parts<Byte> {
        return papcoll::basic_message_parts<Byte>(std::span<std::span<Byte> const>(list));
    }
    [[nodiscard]] auto joined() const -> std::vector<std::byte> {
        std::vector<std::byte> result;
        for (auto const& s : list) result.insert(result.end(), s.begin(), s.end());
        return result;
    }
    std::vector<std::byte> memory;
    std::vector<std::span<Byte>> list;
};

void number(std::vector<std::byte>& memory, int from) {
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<std::byte>((i * 5 + static_cast<std::size_t>(from) * 101) & 0xff);
}

} // namespace

TEST_CASE("messages in any parts arrive whole, in pieces of any length, and are reported once") {
    for (std::size_t const most : {1u, 7u, 64u, 1000u})
        for (std::uint64_t const seed : {0u, 3u}) {
            CAPTURE(most);
            CAPTURE(seed);
            papcoll::threads::options const o{.eager_limit = 5, .seed = seed, .max_message_bytes = most};
            papcoll::threads::run(3, o, [](endpoint& self) {
                int const to = (self.rank() + 1) % 3;
                int const from = (self.rank() + 2) % 3;
                std::vector<std::size_t> const lengths{0, 1, 20, 63, 64, 65, 200};
                std::vector<scattered<std::byte>> in;
                std::vector<scattered<std::byte const>> out;
                flow f(self, 4);
                CHECK(f.empty());
                CHECK_FALSE(f.poll(false, [](int, auto, std::size_t) {}));
                for (std::size_t k = 0; k < lengths.size(); ++k) { // cut differently at the two ends
                    in.emplace_back(lengths[k], 10 + static_cast<unsigned>(k));
                    out.emplace_back(lengths[k], 50 + static_cast<unsigned>(k));
                    number(out.back().memory, self.rank());
                }
                for (std::size_t k = 0; k < lengths.size(); ++k) {
                    f.receive(channel::data, in[k].parts(), from, static_cast<int>(k));
                    f.send(channel::data, out[k].parts(), to, 100 + static_cast<int>(k));
                    f.send(channel::data, out[k].parts(), to, 200, 1); // the companion does not meet them
                }
                for (std::size_t k = 0; k < lengths.size(); ++k) f.receive(channel::control, {}, from, 300);
                for (std::size_t k = 0; k < lengths.size(); ++k) f.send(channel::control, {}, to, 400);
                std::vector<scattered<std::byte>> again;
                for (std::size_t k = 0; k < lengths.size(); ++k) {
                    again.emplace_back(lengths[k], 90);
                    f.receive(channel::data, again.back().parts(), from, 500, 1);
                }
                std::vector<int> labels;
                while (!f.empty())
                    f.poll(true, [&](int label, arrival_of_message how, std::size_t) {
                        CHECK(how == arrival_of_message::whole);
                        labels.push_back(label);
                    });
                std::sort(labels.begin(), labels.end());
                std::vector<int> expected;
                for (int const first : {0, 100})
                    for (int k = 0; k < 7; ++k) expected.push_back(first + k);
                for (int const label : {200, 300, 400, 500}) expected.insert(expected.end(), 7, label);
                CHECK(labels == expected);
                for (std::size_t k = 0; k < lengths.size(); ++k) {
                    scattered<std::byte const> sent(lengths[k], 50 + static_cast<unsigned>(k));
                    number(sent.memory, from);
                    CHECK(in[k].joined() == sent.joined());
                    CHECK(again[k].joined() == sent.joined());
                }
            });
        }
}

TEST_CASE("the receiver is told of messages that say nothing, and of those of another length") {
    for (std::size_t const most : {4u, 1000u}) {
        CAPTURE(most);
        papcoll::threads::run(2, {.max_message_bytes = most}, [](endpoint& self) {
            std::vector<std::byte> in(60), out(10);
            flow f(self, 4);
            std::vector<arrival_of_message> seen(6, arrival_of_message::other);
            std::vector<std::size_t> received(6);
            for (int k = 0; k < 6; ++k)
                f.receive(channel::data, std::span(in).subspan(10 * static_cast<std::size_t>(k), 10),
                          1 - self.rank(), k);
            f.send(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 10);
            f.send_nothing(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 11);
            f.send(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 12);
            f.send(channel::data, std::span<std::byte const>(out).first(9), 1 - self.rank(), 13);
            f.send_nothing(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 14);
            f.send(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 15);
            while (!f.empty())
                f.poll(true, [&](int label, arrival_of_message how, std::size_t bytes) {
                    if (label >= 10) return;
                    seen[static_cast<std::size_t>(label)] = how;
                    received[static_cast<std::size_t>(label)] = bytes;
                });
            using enum arrival_of_message;
            CHECK(seen == std::vector{whole, nothing, whole, other, nothing, whole});
            CHECK(received == std::vector<std::size_t>{10, 0, 10, 9, 0, 10});

            // And one may take what it has no memory for, or what is empty, without keeping it.
            std::vector<arrival_of_message> taken(3, whole);
            for (std::size_t const bytes : {0u, 3u, 10u}) {
                f.receive_nothing(channel::data, bytes, 1 - self.rank(), 20 + static_cast<int>(bytes));
                f.send(channel::data, std::span<std::byte const>(out).first(bytes), 1 - self.rank(), 10);
            }
            f.receive(channel::data, std::span(in).first(10), 1 - self.rank(), 9);
            f.send(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 10);
            bool next_is_whole = false;
            while (!f.empty())
                f.poll(true, [&](int label, arrival_of_message how, std::size_t) {
                    if (label >= 20) CHECK(how == (label == 20 ? whole : other));
                    if (label == 9) next_is_whole = how == whole;
                });
            CHECK(next_is_whole);
        });
    }
}

TEST_CASE("a flow that is given up writes nothing any more") {
    papcoll::threads::run(2, [](endpoint& self) {
        std::vector<std::byte> in(10), out(10, std::byte{1}), later(10);
        {
            flow f(self, 4);
            f.receive(channel::data, std::span(in), 1 - self.rank(), 0);
            CHECK_FALSE(f.abandon());
            CHECK(f.empty());
        }
        flow f(self, 8);
        f.receive(channel::data, std::span(later), 1 - self.rank(), 0);
        f.send(channel::data, std::span<std::byte const>(out), 1 - self.rank(), 1);
        while (!f.empty()) f.poll(true, [](int, auto, std::size_t) {});
        CHECK(later == out);
        CHECK(in == std::vector<std::byte>(10));
    });
}

TEST_CASE("neighbouring stretches become one") {
    std::vector<std::byte> memory(20);
    papcoll::detail::stretch_list<std::byte> list;
    CHECK(list.parts().bytes() == 0);
    list.add(std::span(memory).first(4));
    list.add(std::span(memory).subspan(4, 6));
    CHECK(list.parts().contiguous());
    CHECK(list.parts().bytes() == 10);
    list.add(std::span(memory).subspan(12, 8));
    CHECK(list.parts().several().size() == 2);
    CHECK(list.parts().bytes() == 18);
}
