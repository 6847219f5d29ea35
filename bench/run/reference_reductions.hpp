// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// Reductions of floats by addition that other work on arrival patterns compares with, in plain MPI, for any
/// number of ranks and any root: references, not policies. Data must be fewer than 2^31 elements.
namespace bench {

/// A range of elements.
struct part {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] auto size() const -> std::size_t { return end - begin; }
    /// The i-th of k pieces, whose sizes differ by at most one.
    [[nodiscard]] auto piece(int i, int k) const -> part {
        auto const at = [&](int j) {
            return begin + size() * static_cast<std::size_t>(j) / static_cast<std::size_t>(k);
        };
        return {at(i), at(i + 1)};
    }
};

/// One rank's view of a reduction: ranks are relative to the root, which is 0.
class reduction_group {
public:
    reduction_group(MPI_Comm comm, int root)
        : m_comm(comm)
        , m_root(root) {
        MPI_Comm_size(comm, &m_size);
        MPI_Comm_rank(comm, &m_rank);
        m_rank = (m_rank - root + m_size) % m_size;
    }
    [[nodiscard]] auto rank() const -> int { return m_rank; }
    [[nodiscard]] auto size() const -> int { return m_size; }

    void send(std::span<float const> data, int to) const {
        MPI_Send(data.data(), count(data), MPI_FLOAT, absolute(to), tag, m_comm);
    }
    void receive(std::span<float> data, int from) const {
        MPI_Recv(data.data(), count(data), MPI_FLOAT, absolute(from), tag, m_comm, MPI_STATUS_IGNORE);
    }
    void exchange(std::span<float const> out, int to, std::span<float> in, int from) const {
        MPI_Sendrecv(out.data(), count(out), MPI_FLOAT, absolute(to), tag, in.data(), count(in), MPI_FLOAT,
                     absolute(from), tag, m_comm, MPI_STATUS_IGNORE);
    }
    [[nodiscard]] auto start_send(std::span<float const> data, int to) const -> MPI_Request {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(data.data(), count(data), MPI_FLOAT, absolute(to), tag, m_comm, &request);
        return request;
    }
    [[nodiscard]] auto start_receive(std::span<float> data, int from) const -> MPI_Request {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(data.data(), count(data), MPI_FLOAT, absolute(from), tag, m_comm, &request);
        return request;
    }

    /// Every rank r ends with the part `of(r)` of the result in `values`; now the root gets them all. All
    /// receives are posted at once.
    template <class PartOf>
    void gather(std::span<float> values, PartOf of) const {
        if (m_rank != 0) return send(slice(values, of(m_rank)), 0);
        std::vector<MPI_Request> requests;
        for (int r = 1; r < m_size; ++r) requests.push_back(start_receive(slice(values, of(r)), r));
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
    [[nodiscard]] static auto slice(std::span<float> values, part p) -> std::span<float> {
        return values.subspan(p.begin, p.size());
    }

private:
    static constexpr int tag = 7;
    static auto count(std::span<float const> data) -> int { return static_cast<int>(data.size()); }
    [[nodiscard]] auto absolute(int rank) const -> int { return (rank + m_root) % m_size; }

    MPI_Comm m_comm;
    int m_root;
    int m_rank = 0;
    int m_size = 1;
};

inline void add(std::span<float> sum, std::span<float const> other) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
}

/// A binomial tree, whole messages: ⌈log2 P⌉ rounds.
inline void reduce_binomial(reduction_group const& group, std::vector<float>& values) {
    std::vector<float> received;
    for (int distance = 1; distance < group.size(); distance *= 2) {
        if ((group.rank() & distance) != 0) return group.send(values, group.rank() - distance);
        if (group.rank() + distance >= group.size()) continue;
        received.resize(values.size());
        group.receive(received, group.rank() + distance);
        add(values, received);
    }
}

/// Reduce-scatter around a ring of P parts, then the root gathers them: 2 (P − 1)/P of the data passes its
/// link. "Parallel ring" or "bucket" algorithm.
inline void reduce_ring(reduction_group const& group, std::vector<float>& values) {
    int const p = group.size(), rank = group.rank();
    auto const of = [&](int r) { return part{0, values.size()}.piece((r + 2 * p) % p, p); };
    std::vector<float> received(values.size() / static_cast<std::size_t>(p) + 1);
    for (int step = 1; step < p; ++step) {
        auto const mine = group.slice(values, of(rank - step - 1));
        std::span const in(received.data(), mine.size());
        group.exchange(group.slice(values, of(rank - step)), (rank + 1) % p, in, (rank + p - 1) % p);
        add(mine, in);
    }
    group.gather(values, of);
}

/// Rabenseifner's: reduce-scatter by recursive halving, then a binomial gather by which pieces double. Of P
/// ranks that are no power of two, the odd ones among the first ones give their data to their neighbours.
inline void reduce_rabenseifner(reduction_group const& group, std::vector<float>& values) {
    int const p = group.size(), rank = group.rank();
    int power = 1;
    while (power <= p / 2) power *= 2;
    int const surplus = p - power;
    std::vector<float> received(values.size());
    if (rank < 2 * surplus) {
        if (rank % 2 == 1) return group.send(values, rank - 1);
        group.receive(received, rank + 1);
        add(values, received);
    }
    int const number = rank < 2 * surplus ? rank / 2 : rank - surplus; // among the `power` that are left
    auto const rank_of = [&](int n) { return n < surplus ? 2 * n : n + surplus; };

    std::vector<part> halved{{0, values.size()}}; // what this rank is responsible for, before each step
    for (int distance = power / 2; distance > 0; distance /= 2) {
        int const side = (number & distance) != 0 ? 1 : 0, partner = rank_of(number ^ distance);
        auto const keep = halved.back().piece(side, 2);
        auto const mine = group.slice(values, keep);
        std::span const in(received.data(), mine.size());
        group.exchange(group.slice(values, halved.back().piece(1 - side, 2)), partner, in, partner);
        add(mine, in);
        halved.push_back(keep);
    }
    for (int distance = 1; distance < power; distance *= 2) {
        auto const mine = halved.back();
        if ((number & distance) != 0)
            return group.send(group.slice(values, mine), rank_of(number - distance));
        halved.pop_back();
        group.receive(group.slice(values, halved.back().piece(1, 2)), rank_of(number + distance));
    }
}

/// P as a product: of groups of 8, 4 and 2 ranks and of small primes as long as they divide it; what is left
/// is one group.
[[nodiscard]] inline auto radix_k_groups(int ranks) -> std::vector<int> {
    std::vector<int> groups;
    for (int const k : {8, 4, 2, 3, 5, 7})
        for (; ranks % k == 0; ranks /= k) groups.push_back(k);
    if (ranks > 1) groups.push_back(ranks);
    return groups;
}

/// Radix-k: a rank is a number of mixed radix k₁, k₂, …; in round i those k_i ranks that differ in digit i
/// alone divide what they have so far among themselves, all pieces at once. Then the root gathers.
inline void reduce_radix_k(reduction_group const& group, std::vector<float>& values) {
    auto const groups = radix_k_groups(group.size());
    part held{0, values.size()};
    int stride = 1;
    for (int const k : groups) {
        int const digit = group.rank() / stride % k;
        auto const member = [&](int i) { return group.rank() + (i - digit) * stride; };
        auto const mine = group.slice(values, held.piece(digit, k));
        std::vector<std::vector<float>> received(static_cast<std::size_t>(k));
        std::vector<MPI_Request> receives, sends;
        for (int i = 0; i < k; ++i) {
            if (i == digit) continue;
            auto& buffer = received[static_cast<std::size_t>(i)];
            buffer.resize(mine.size());
            receives.push_back(group.start_receive(buffer, member(i)));
        }
        for (int i = 1; i < k; ++i) {
            int const to = (digit + i) % k; // each begins with its next one: nobody is sent to by all
            sends.push_back(group.start_send(group.slice(values, held.piece(to, k)), member(to)));
        }
        MPI_Waitall(k - 1, receives.data(), MPI_STATUSES_IGNORE);
        for (auto const& buffer : received)
            if (!buffer.empty()) add(mine, buffer);
        MPI_Waitall(k - 1, sends.data(), MPI_STATUSES_IGNORE);
        held = held.piece(digit, k);
        stride *= k;
    }
    group.gather(values, [&](int rank) {
        part p{0, values.size()};
        for (int const k : groups) {
            p = p.piece(rank % k, k);
            rank /= k;
        }
        return p;
    });
}

using reduce_function = void (*)(reduction_group const&, std::vector<float>&);

/// Throws std::invalid_argument if there is none of the name.
[[nodiscard]] inline auto reference_reduction(std::string const& name) -> reduce_function {
    if (name == "binomial") return reduce_binomial;
    if (name == "rabenseifner") return reduce_rabenseifner;
    if (name == "radix_k") return reduce_radix_k;
    if (name == "ring") return reduce_ring;
    throw std::invalid_argument("no reference reduction " + name);
}

} // namespace bench
