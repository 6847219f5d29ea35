// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

/// What every model of the transport concept must do; called by all ranks of the group.
namespace transport_suite {

template <papcoll::transport T>
void wait_all(T& t, std::vector<typename T::pending>& pendings, bool block,
              std::vector<std::size_t>* bytes = nullptr) {
    std::vector<papcoll::completion> done;
    std::vector<bool> seen(pendings.size());
    std::size_t count = 0;
    while (count < pendings.size()) {
        done.clear();
        if (block)
            t.wait_some(pendings, done);
        else
            t.test_some(pendings, done);
        for (auto const& ended : done) {
            auto const i = static_cast<std::size_t>(ended.position);
            CHECK_FALSE(seen[i]); // each is reported once
            seen[i] = true;
            if (bytes != nullptr) (*bytes)[i] = ended.bytes;
        }
        count += done.size();
        if (!block && done.empty()) t.idle();
    }
    done.clear();
    t.test_some(pendings, done);
    CHECK(done.empty());
}

inline auto pattern(int from, int to, int k, std::size_t n) -> std::vector<std::byte> {
    std::vector<std::byte> bytes(n);
    for (std::size_t i = 0; i < n; ++i)
        bytes[i] =
            static_cast<std::byte>((static_cast<std::size_t>(from * 31 + to * 17 + k * 7) + i) & 0xffu);
    return bytes;
}

/// Everybody sends `per_pair` messages to everybody, itself apart; order per pair, channel and tag must hold.
template <papcoll::transport T>
void all_to_all(T& t, std::size_t bytes, int per_pair, bool block) {
    std::vector<std::vector<std::byte>> out, in;
    std::vector<typename T::pending> pendings;
    for (int peer = 0; peer < t.size(); ++peer)
        for (int k = 0; k < per_pair && peer != t.rank(); ++k) {
            in.emplace_back(bytes);
            out.push_back(pattern(t.rank(), peer, k, bytes));
        }
    std::size_t next = 0;
    for (int peer = 0; peer < t.size(); ++peer)
        for (int k = 0; k < per_pair && peer != t.rank(); ++k, ++next)
            pendings.push_back(t.irecv(papcoll::channel::data, std::span(in[next]), peer, 5));
    next = 0;
    for (int peer = 0; peer < t.size(); ++peer)
        for (int k = 0; k < per_pair && peer != t.rank(); ++k, ++next)
            pendings.push_back(t.isend(papcoll::channel::data, std::span(out[next]), peer, 5));
    wait_all(t, pendings, block);
    next = 0;
    for (int peer = 0; peer < t.size(); ++peer)
        for (int k = 0; k < per_pair && peer != t.rank(); ++k, ++next)
            CHECK(in[next] == pattern(peer, t.rank(), k, bytes));
}

/// Messages of one pair that differ in channel or tag match by these, whatever the order of the receives.
template <papcoll::transport T>
void matching(T& t) {
    int const size = t.size();
    int const to = (t.rank() + 1) % size;
    int const from = (t.rank() + size - 1) % size;
    if (size == 1) return;
    using papcoll::channel;
    std::vector<std::pair<channel, int>> const kinds = {{channel::data, 0},
                                                        {channel::control, 0},
                                                        {channel::data, 1},
                                                        {channel::control, papcoll::tag_count - 1}};
    std::vector<std::vector<std::byte>> out, in(kinds.size(), std::vector<std::byte>(64));
    std::vector<typename T::pending> pendings;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        out.push_back(pattern(t.rank(), to, static_cast<int>(k), 16 + k));
        pendings.push_back(t.isend(kinds[k].first, std::span(out.back()), to, kinds[k].second));
    }
    for (std::size_t k = kinds.size(); k-- > 0;)
        pendings.push_back(t.irecv(kinds[k].first, std::span(in[k]), from, kinds[k].second));
    wait_all(t, pendings, true);
    for (std::size_t k = 0; k < kinds.size(); ++k) // shorter than the receive
        CHECK(std::equal(in[k].begin(), in[k].begin() + 16 + static_cast<int>(k),
                         pattern(from, t.rank(), static_cast<int>(k), 16 + k).begin()));
}

/// Completions of receives tell how much came, also where that is nothing or too much.
template <papcoll::transport T>
void lengths(T& t) {
    int const size = t.size();
    if (size == 1) return; // Open MPI does not notice on the way to oneself
    int const to = (t.rank() + 1) % size;
    int const from = (t.rank() + size - 1) % size;
    std::vector<std::byte> const out(8);
    std::vector<std::byte> in(40);
    std::vector<typename T::pending> pendings;
    std::vector<std::size_t> const sent{8, 3, 0, 8};
    for (std::size_t k = 0; k < sent.size(); ++k) {
        auto const room = std::span(in).subspan(8 * k, k == 3 ? 4 : 8);
        pendings.push_back(t.irecv(papcoll::channel::data, room, from, 3));
    }
    for (auto const n : sent)
        pendings.push_back(t.isend(papcoll::channel::data, std::span(out).first(n), to, 3));
    std::vector<std::size_t> bytes(pendings.size());
    wait_all(t, pendings, true, &bytes);
    bytes.resize(sent.size());
    CHECK(bytes == std::vector<std::size_t>{8, 3, 0, papcoll::completion::too_long});
}

/// Receives that are given up are not written to, whatever is sent later.
template <papcoll::transport T>
void giving_up(T& t) {
    if (t.size() == 1) return;
    int const to = (t.rank() + 1) % t.size();
    int const from = (t.rank() + t.size() - 1) % t.size();
    std::vector<std::byte> const out(8, std::byte{1});
    std::vector<std::byte> given_up(8), in(8);
    std::vector<typename T::pending> receives, sends, rest;
    receives.push_back(t.irecv(papcoll::channel::data, std::span(given_up), from, 4));
    CHECK_FALSE(t.abandon(receives, sends));
    rest.push_back(t.irecv(papcoll::channel::data, std::span(in), from, 6));
    rest.push_back(t.isend(papcoll::channel::data, std::span(out), to, 6));
    wait_all(t, rest, false);
    CHECK(in == out);
    CHECK(given_up == std::vector<std::byte>(8));
}

template <papcoll::transport T>
void run(T& t) {
    CHECK(t.size() >= 1);
    CHECK(t.rank() >= 0);
    CHECK(t.rank() < t.size());
    CHECK(t.max_message_bytes() >= 1);
    std::vector<typename T::pending> none;
    std::vector<papcoll::completion> done;
    t.test_some(none, done);
    t.wait_some(none, done);
    CHECK(done.empty());
    for (std::size_t const bytes : {std::size_t(0), std::size_t(1), std::size_t(5000), std::size_t(200000)})
        for (bool const block : {false, true}) all_to_all(t, bytes, bytes > 5000 ? 1 : 3, block);
    matching(t);
    lengths(t);
    giving_up(t);
    auto copy = t;
    CHECK(copy.attachment() == t.attachment());
}

} // namespace transport_suite
