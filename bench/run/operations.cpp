// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "operations.hpp"

#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/core.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/scheduler/arrival_broadcast.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "native_choice.hpp"
#include "reference_reductions.hpp"
#include "stragglar.hpp"

namespace bench {
namespace {

/// All values are small integers, so that every order of addition gives the same.
[[nodiscard]] auto value_of(int rank, std::size_t i) -> float {
    return static_cast<float>((i + 3 * static_cast<std::size_t>(rank)) % 17);
}
[[nodiscard]] auto sum_of(int ranks, std::size_t i) -> float {
    auto sum = static_cast<float>(ranks / 17 * 136); // 17 ranks in a row have all values from 0 to 16
    for (int rank = 0; rank < ranks % 17; ++rank) sum += value_of(rank, i);
    return sum;
}

/// What all operations share. A Derived has `shape()`, `call(policy)` which runs the collective once,
/// `expected(i)`, the elements of its result, and `reset()`, which spoils the last one.
template <class Derived>
class basic_operation : public operation {
public:
    basic_operation(MPI_Comm comm, call_options const& options)
        : m_comm(comm)
        , m_options(options) {
        MPI_Comm_rank(comm, &m_rank);
        MPI_Comm_size(comm, &m_ranks);
    }
    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "circulant"};
    }
    [[nodiscard]] auto algorithms() const -> std::vector<std::string> override {
        return native_algorithms(routine_of(derived().shape()), m_ranks);
    }
    /// "inative" is the library's nonblocking routine, what `automatic` runs when it chooses `native`.
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        m_begin = m_advance = [] {};
        if (policy == "native")
            run_with(papcoll::native{});
        else if (policy == "circulant")
            run_with(papcoll::circulant{.block_bytes = m_options.block_bytes});
        else if (policy.rfind("circulant:", 0) == 0)
            run_with(papcoll::circulant{.block_bytes = block_bytes(policy)});
        else if (policy == "automatic")
            run_with(papcoll::automatic{});
        else if (policy.rfind("two_level", 0) == 0)
            run_with(two_level(policy), is_not_predicted);
        else if (auto const algorithm = native_algorithm(policy); !algorithm.empty())
            run_natively(algorithm);
        else
            run_with(by_name(policy == "inative" ? "native" : policy, arrivals));
    }
    void prepare_open(std::string const& policy, papcoll::arrival_source const&) override {
        throw std::invalid_argument("all_gather alone can begin early, not by " + policy);
    }
    void spoil() override { derived().reset(); }
    void begin() override { m_begin(); }
    void advance() override { m_advance(); }
    void run() override { m_run(); }
    [[nodiscard]] auto correct() const -> bool override {
        auto const& result = derived().result();
        for (std::size_t i = 0; i < result.size(); ++i)
            if (!(result[i] == derived().expected(i))) return false;
        return true;
    }
    [[nodiscard]] auto facts(std::string const& policy, std::vector<ticks> const&) const
        -> std::optional<schedule_facts> override {
        if (policy.rfind("circulant", 0) != 0) return std::nullopt;
        auto const shape = derived().shape();
        auto bytes = m_options.block_bytes;
        if (policy != "circulant") bytes = block_bytes(policy);
        int const n =
            papcoll::circulant{.block_bytes = bytes}.blocks(shape, papcoll::context_of(m_comm)->link());
        papcoll::block_partition const partition{cut_elements(shape), n};
        return schedule_facts{n, ticks{0}, partition.largest() * sizeof(float),
                              is_rooted(shape) ? n - 1 + papcoll::circulant_skips(m_ranks).rounds() : 0};
    }
    [[nodiscard]] auto predict(std::vector<ticks> const& arrivals, papcoll::cost_model const& model) const
        -> std::optional<ticks> override {
        if (!m_plan) return std::nullopt;
        auto shape = derived().shape();
        shape.late = m_late;
        std::vector<papcoll::program> programs;
        for (shape.rank = 0; shape.rank < shape.ranks; ++shape.rank) programs.push_back(m_plan(shape));
        if (programs.front().native) return std::nullopt;
        return papcoll::last_delay(arrivals,
                                   papcoll::simulate(programs, arrivals, model, shape.element_bytes));
    }

protected:
    using base = basic_operation;

    static constexpr bool is_not_predicted = false;

    template <class Policy>
    void run_with(Policy const& policy, bool predicted = true) {
        m_run = [this, policy] { derived().call(policy); };
        plan_with(policy, predicted);
    }
    template <class Policy>
    void plan_with(Policy const& policy, bool predicted, bool late = false) {
        m_late = late;
        m_plan = nullptr;
        if constexpr (!std::is_same_v<Policy, papcoll::native>)
            if (predicted)
                m_plan = [policy, this](papcoll::call_shape const& shape) {
                    return policy.plan(shape, papcoll::context_of(m_comm)->measured_link());
                };
    }
    void run_by(std::function<void()> call) {
        m_run = std::move(call);
        m_plan = nullptr;
    }
    void run_natively(std::string const& algorithm) {
#ifdef SMPI_H
        auto const kind = derived().shape().operation;
        run_by([this, algorithm, kind] {
            choose_native(kind, algorithm);
            derived().call(papcoll::native{});
            choose_native(kind, "default");
        });
#elif defined(MPICH_VERSION)
        run_by([this, forced = std::make_shared<forced_algorithm>(routine_of(derived().shape()), algorithm)] {
            forced->begin();
            derived().call(papcoll::native{});
            forced->end();
        });
#else
        run_by([this, forced = forced_communicator(m_comm, routine_of(derived().shape()), algorithm)] {
            auto const own = std::exchange(m_comm, forced);
            derived().call(papcoll::native{});
            m_comm = own;
        });
#endif
    }
    /// Throws std::invalid_argument, when it runs, unless the operation knows the policy.
    [[nodiscard]] auto by_name(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> papcoll::automatic {
        auto const shape = derived().shape();
        papcoll::tuned_choice choice{policy};
        for (std::string const has_radix : {"dissemination:", "knomial_tree:"})
            if (policy.rfind(has_radix, 0) == 0)
                choice = {has_radix.substr(0, has_radix.size() - 1),
                          {},
                          std::stoi(policy.substr(has_radix.size()))};
        papcoll::tuning_table const table({{shape.operation, m_ranks, shape.bytes(), choice}});
        return {.arrivals = source_of(arrivals),
                .compute_per_element = 0,
                .table = std::make_shared<papcoll::tuning_table const>(table)};
    }
    [[nodiscard]] static auto is_rooted(papcoll::call_shape const& shape) -> bool {
        return shape.operation == papcoll::collective_kind::broadcast ||
               shape.operation == papcoll::collective_kind::reduce;
    }
    /// What is cut into blocks: everything, or the largest part of a rank.
    [[nodiscard]] static auto cut_elements(papcoll::call_shape const& shape) -> std::size_t {
        if (is_rooted(shape) || shape.operation == papcoll::collective_kind::all_reduce) return shape.count;
        if (!shape.sizes.empty()) return *std::max_element(shape.sizes.begin(), shape.sizes.end());
        return (shape.count + static_cast<std::size_t>(shape.ranks) - 1) /
               static_cast<std::size_t>(shape.ranks);
    }
    /// Of "circulant:BLOCKS", or of "circulant:paper", the rules of paper 3, section 3: blocks of
    /// F·√(m/⌈log2 P⌉) bytes where there is a root, √(m·⌈log2 P⌉)/G blocks elsewhere. "circulant:paper:C"
    /// has another constant than the paper's for Open MPI, F = 100 and, the only one that it names, G = 40.
    [[nodiscard]] auto block_bytes(std::string const& policy) const -> std::size_t {
        auto const shape = derived().shape();
        auto const word = policy.substr(policy.find(':') + 1);
        constexpr std::string_view rule = "paper";
        auto const elements = std::max<std::size_t>(cut_elements(shape), 1);
        double blocks = 1;
        if (word.rfind(rule, 0) == 0) {
            double const own = word.size() > rule.size() ? std::stod(word.substr(rule.size() + 1)) : 0;
            auto const m = static_cast<double>(shape.bytes());
            double const q = std::max(papcoll::circulant_skips(m_ranks).rounds(), 1);
            double const f = own > 0 ? own : 100, g = own > 0 ? own : 40;
            blocks = is_rooted(shape) ? std::ceil(m / (f * std::sqrt(m / q))) : std::sqrt(m * q) / g;
        } else {
            blocks = std::stod(word);
        }
        auto const n = static_cast<std::size_t>(std::clamp(blocks, 1.0, static_cast<double>(elements)));
        return (elements + n - 1) / n * sizeof(float);
    }
    [[nodiscard]] static auto source_of(std::vector<ticks> const& arrivals) -> papcoll::arrival_source {
        return arrivals.empty() ? papcoll::arrival_source() : papcoll::arrival_source(arrivals);
    }
    /// "two_level", or "two_level:<lanes>"
    [[nodiscard]] auto two_level(std::string const& policy) const -> papcoll::two_level {
        papcoll::two_level made{.ranks_per_node = {}, .lanes = {}, .block_bytes = m_options.block_bytes};
        if (auto const colon = policy.find(':'); colon != std::string::npos)
            made.lanes = std::stoi(policy.substr(colon + 1));
        return made;
    }
    [[nodiscard]] auto shape_of(papcoll::collective_kind kind, std::size_t count) const
        -> papcoll::call_shape {
        papcoll::call_shape shape{
            .operation = kind, .ranks = m_ranks, .rank = m_rank, .root = m_options.root};
        shape.count = count;
        shape.element_bytes = sizeof(float);
        return shape;
    }
    [[nodiscard]] static auto spoiled(std::size_t n) -> std::vector<float> {
        return std::vector<float>(n, std::numeric_limits<float>::quiet_NaN());
    }
    [[nodiscard]] auto own_values(std::size_t n) const -> std::vector<float> {
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = value_of(m_rank, i);
        return values;
    }

    MPI_Comm m_comm;
    int m_rank = 0;
    int m_ranks = 1;
    call_options m_options;

private:
    [[nodiscard]] auto derived() -> Derived& { return static_cast<Derived&>(*this); }
    [[nodiscard]] auto derived() const -> Derived const& { return static_cast<Derived const&>(*this); }

    std::function<void()> m_run;
    std::function<papcoll::program(papcoll::call_shape const&)> m_plan;
    bool m_late = false;

protected:
    std::function<void()> m_begin = [] {};
    std::function<void()> m_advance = [] {};
};

class broadcast_operation final : public basic_operation<broadcast_operation> {
public:
    broadcast_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options) {}
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return m_ranks > 1 ? m_options.count * sizeof(float) : 0;
    }
    /// `arrival_broadcast`: the scheduler of that name, with as many blocks as circulant takes.
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        if (policy != "arrival_broadcast") return base::prepare(policy, arrivals);
        auto const link = papcoll::context_of(m_comm)->link();
        int const blocks = m_options.segments.value_or(papcoll::circulant{}.blocks(shape(), link));
        papcoll::block_partition const cut{m_options.count, blocks};
        auto const round = m_options.round.value_or(link.planned_time(cut.largest() * sizeof(float)));
        run_with(papcoll::scheduled{.algorithm = papcoll::arrival_broadcast_scheduler{round},
                                    .segments = blocks,
                                    .arrivals = source_of(arrivals)});
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        return shape_of(papcoll::collective_kind::broadcast, m_options.count);
    }
    template <class Policy>
    void call(Policy const& policy) {
        papcoll::broadcast(m_comm, m_values.data(), m_values.size(), m_options.root, policy);
    }
    void reset() {
        m_values = m_rank == m_options.root ? own_values(m_options.count) : spoiled(m_options.count);
    }
    [[nodiscard]] auto result() const -> std::vector<float> const& { return m_values; }
    [[nodiscard]] auto expected(std::size_t i) const -> float { return value_of(m_options.root, i); }

private:
    std::vector<float> m_values;
};

class reduce_operation final : public basic_operation<reduce_operation> {
public:
    reduce_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options)
        , m_in(own_values(options.count)) {}
    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "clairvoyant", "clairvoyant@blind", "circulant"};
    }
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return m_ranks > 1 ? m_options.count * sizeof(float) : 0;
    }
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        if (policy == "clairvoyant") {
            run_with(clairvoyant_policy(arrivals));
        } else if (policy.rfind("reference:", 0) == 0) {
            run_by([this, reduce = reference_reduction(policy.substr(10))] {
                auto sums = m_in;
                reduce(reduction_group(m_comm, m_options.root), sums);
                if (m_rank == m_options.root) m_out = std::move(sums);
            });
        } else {
            base::prepare(policy, arrivals);
        }
    }
    [[nodiscard]] auto facts(std::string const& policy, std::vector<ticks> const& arrivals) const
        -> std::optional<schedule_facts> override {
        if (policy != "clairvoyant") return base::facts(policy, arrivals);
        auto const chosen = clairvoyant_policy(arrivals).choose(shape(), papcoll::context_of(m_comm)->link());
        papcoll::block_partition const partition{m_options.count, chosen.segments};
        return schedule_facts{chosen.segments, chosen.round, partition.largest() * sizeof(float),
                              chosen.rounds_after_last_arrival};
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        return shape_of(papcoll::collective_kind::reduce, m_options.count);
    }
    template <class Policy>
    void call(Policy const& policy) {
        papcoll::reduce(m_comm, m_in.data(), m_in.size(), m_out.data(), std::plus<>(), m_options.root,
                        policy);
    }
    void reset() { m_out = spoiled(m_rank == m_options.root ? m_options.count : 0); }
    [[nodiscard]] auto result() const -> std::vector<float> const& { return m_out; }
    [[nodiscard]] auto expected(std::size_t i) const -> float { return sum_of(m_ranks, i); }

private:
    [[nodiscard]] auto clairvoyant_policy(std::vector<ticks> const& arrivals) const -> papcoll::clairvoyant {
        return {.arrivals = source_of(arrivals), .round = m_options.round, .segments = m_options.segments};
    }

    std::vector<float> m_in;
    std::vector<float> m_out;
};

/// One value of a user's type that cannot be cut, as many bytes as 65536 floats.
struct big_value {
    std::array<float, 65536> numbers;
};
struct add_values {
    auto operator()(big_value const& a, big_value const& b) const -> big_value {
        big_value sum;
        for (std::size_t i = 0; i < sum.numbers.size(); ++i) sum.numbers[i] = a.numbers[i] + b.numbers[i];
        return sum;
    }
};

/// Reduces one such value; `native` does it by a datatype of which there is one element.
class reduce_value_operation final : public basic_operation<reduce_value_operation> {
public:
    reduce_value_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options)
        , m_in(1)
        , m_out(1) {
        if (options.count != m_in[0].numbers.size())
            throw std::invalid_argument("reduce_value has one size: 65536 floats");
        for (std::size_t i = 0; i < options.count; ++i) m_in[0].numbers[i] = value_of(m_rank, i);
    }
    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "greedy_tree", "binomial_tree", "fibonacci_tree", "arrival_tree", "circulant"};
    }
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return m_ranks > 1 ? sizeof(big_value) : 0;
    }
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        if (policy == "greedy_tree")
            run_with(papcoll::greedy_tree{.compute_per_element = combine_cost()});
        else if (policy == "arrival_tree")
            run_with(papcoll::arrival_tree{.arrivals = source_of(arrivals),
                                           .compute_per_element = combine_cost()});
        else
            base::prepare(policy, arrivals);
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        auto shape = shape_of(papcoll::collective_kind::reduce, 1);
        shape.element_bytes = sizeof(big_value);
        return shape;
    }
    template <class Policy>
    void call(Policy const& policy) {
        papcoll::reduce(m_comm, m_in.data(), 1, m_out.data(), papcoll::commutative(add_values{}),
                        m_options.root, policy);
    }
    void reset() { m_out[0].numbers.fill(std::numeric_limits<float>::quiet_NaN()); }
    [[nodiscard]] auto result() const -> std::span<float const> {
        return m_rank == m_options.root ? std::span<float const>(m_out[0].numbers) : std::span<float const>();
    }
    [[nodiscard]] auto expected(std::size_t i) const -> float { return sum_of(m_ranks, i); }

private:
    [[nodiscard]] auto combine_cost() -> double {
        if (!m_cost) m_cost = papcoll::agreed_combine_cost<big_value>(m_comm, add_values{}, m_in[0]);
        return *m_cost;
    }

    std::vector<big_value> m_in;
    std::vector<big_value> m_out;
    std::optional<double> m_cost;
};

/// Of floats, or of integers, whose sums are exact.
template <class T>
class all_reduce_operation final : public basic_operation<all_reduce_operation<T>> {
public:
    using base = basic_operation<all_reduce_operation<T>>;

    all_reduce_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options) {
        static_assert(sizeof(T) == sizeof(float));
        for (float const value : this->own_values(options.count)) m_in.push_back(static_cast<T>(value));
    }
    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "circulant", "arrival_all_reduce", "arrival_all_reduce@reversed"};
    }
    /// Everybody's elements but one part must come in and go out twice.
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return 2 * (this->m_options.count - this->m_options.count / static_cast<std::size_t>(this->m_ranks)) *
               sizeof(float);
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        auto shape = this->shape_of(papcoll::collective_kind::all_reduce, this->m_options.count);
        shape.exact = papcoll::is_exactly_associative<std::plus<>, T>::value;
        return shape;
    }
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        if (policy == "stragglar")
            this->run_with(stragglar{.arrivals = arrivals});
        else if (policy == "arrival_all_reduce")
            this->run_with(papcoll::arrival_all_reduce{.arrivals = this->source_of(arrivals),
                                                       .block_bytes = this->m_options.block_bytes});
        else
            base::prepare(policy, arrivals);
    }
    template <class Policy>
    void call(Policy const& policy) {
        papcoll::all_reduce(this->m_comm, m_in.data(), m_in.size(), m_out.data(), std::plus<>(), policy);
    }
    void reset() { m_out.assign(this->m_options.count, static_cast<T>(-1)); }
    [[nodiscard]] auto result() const -> std::vector<T> const& { return m_out; }
    [[nodiscard]] auto expected(std::size_t i) const -> T { return static_cast<T>(sum_of(this->m_ranks, i)); }

private:
    std::vector<T> m_in;
    std::vector<T> m_out;
};

/// How a total of elements is divided among the ranks.
enum class division { even, one_has_all, modulo_3 };

[[nodiscard]] auto divide(division how, std::size_t total, int ranks) -> std::vector<std::size_t> {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> sizes(p, 0);
    if (how == division::one_has_all) {
        sizes[p / 2] = total;
    } else if (how == division::even) {
        for (std::size_t r = 0; r < p; ++r) sizes[r] = total / p;
    } else {
        std::size_t units = 0;
        for (std::size_t r = 0; r < p; ++r) units += r % 3;
        for (std::size_t r = 0; r < p; ++r) sizes[r] = units > 0 ? r % 3 * (total / units) : 0;
    }
    return sizes;
}

template <class Policy>
using open_gathering = decltype(papcoll::open_all_gather(MPI_Comm(), static_cast<float*>(nullptr),
                                                         std::size_t(), std::declval<Policy>()));

/// `count` elements in all, of which each rank has some; even divisions by all_gather itself.
template <division How>
class all_gather_operation final : public basic_operation<all_gather_operation<How>> {
public:
    using base = basic_operation<all_gather_operation<How>>;

    all_gather_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options)
        , m_sizes(divide(How, options.count, this->m_ranks))
        , m_in(this->own_values(m_sizes[static_cast<std::size_t>(this->m_rank)])) {
        for (auto const size : m_sizes) m_total += size;
    }
    /// What the rank with the fewest elements must receive, or the one with the most send.
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        if (this->m_ranks == 1) return 0;
        auto const [least, most] = std::minmax_element(m_sizes.begin(), m_sizes.end());
        return std::max(m_total - *least, *most) * sizeof(float);
    }
    /// "open:POLICY" begins before the computation, in which a thread takes part for the rank; simulated
    /// ranks have none and look now and then.
    void prepare(std::string const& policy, std::vector<ticks> const& arrivals) override {
        if (How != division::even || policy.rfind("open:", 0) != 0) return base::prepare(policy, arrivals);
        prepare_open(policy, this->source_of(arrivals));
    }
    void prepare_open(std::string const& policy, papcoll::arrival_source const& told) override {
        if (How != division::even) return base::prepare_open(policy, told);
        auto const name = policy.substr(5);
        if (name == "circulant")
            open_with(papcoll::circulant{.block_bytes = this->m_options.block_bytes});
        else if (name == "ring")
            open_with(papcoll::ring{});
        else if (name == "sorted_linear")
            open_with(papcoll::sorted_linear{.arrivals = told});
        else if (name == "background_ring")
            open_with(papcoll::background_ring{.arrivals = told});
        else if (name == "background_circulant")
            open_with(papcoll::background_circulant{.arrivals = told, .segments = this->m_options.segments});
        else
            throw std::invalid_argument("all_gather cannot begin early by " + name);
    }
    template <class Policy>
    void open_with(Policy const& policy) {
        auto const gathering = std::make_shared<std::optional<open_gathering<Policy>>>();
        this->run_by([this, gathering] {
            (*gathering)->contribute(m_in.data());
            (*gathering)->wait();
            gathering->reset();
        });
        this->m_begin = [this, gathering, policy] {
            gathering->emplace(papcoll::open_all_gather(this->m_comm, m_out.data(), m_in.size(), policy));
        };
        this->m_advance = [gathering] { (void)(*gathering)->test(); };
        this->plan_with(policy, true, true);
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        auto shape = this->shape_of(papcoll::collective_kind::all_gather, m_total);
        if (How != division::even) shape.sizes = m_sizes;
        return shape;
    }
    template <class Policy>
    void call(Policy const& policy) {
        if constexpr (How == division::even)
            papcoll::all_gather(this->m_comm, m_in.data(), m_in.size(), m_out.data(), policy);
        else
            papcoll::all_gatherv(this->m_comm, m_in.data(), m_out.data(), m_sizes, policy);
    }
    void reset() { m_out = this->spoiled(m_total); }
    [[nodiscard]] auto result() const -> std::vector<float> const& { return m_out; }
    [[nodiscard]] auto expected(std::size_t i) const -> float {
        int rank = 0;
        for (; i >= m_sizes[static_cast<std::size_t>(rank)]; ++rank)
            i -= m_sizes[static_cast<std::size_t>(rank)];
        return value_of(rank, i);
    }

private:
    std::vector<std::size_t> m_sizes;
    std::size_t m_total = 0;
    std::vector<float> m_in;
    std::vector<float> m_out;
};

/// `count` elements in all, divided among the ranks.
template <division How>
class reduce_scatter_operation final : public basic_operation<reduce_scatter_operation<How>> {
public:
    using base = basic_operation<reduce_scatter_operation<How>>;

    reduce_scatter_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options)
        , m_sizes(divide(How, options.count, this->m_ranks)) {
        for (auto const size : m_sizes) m_total += size;
        for (int r = 0; r < this->m_rank; ++r) m_begin += m_sizes[static_cast<std::size_t>(r)];
        m_in = this->own_values(m_total);
    }
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        if (this->m_ranks == 1) return 0;
        auto const [least, most] = std::minmax_element(m_sizes.begin(), m_sizes.end());
        return std::max(m_total - *least, *most) * sizeof(float);
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        auto shape = this->shape_of(papcoll::collective_kind::reduce_scatter, m_total);
        shape.sizes = m_sizes;
        return shape;
    }
    template <class Policy>
    void call(Policy const& policy) {
        papcoll::reduce_scatter(this->m_comm, m_in.data(), m_sizes, m_out.data(), std::plus<>(), policy);
    }
    void reset() { m_out = this->spoiled(m_sizes[static_cast<std::size_t>(this->m_rank)]); }
    [[nodiscard]] auto result() const -> std::vector<float> const& { return m_out; }
    [[nodiscard]] auto expected(std::size_t i) const -> float { return sum_of(this->m_ranks, m_begin + i); }

private:
    std::vector<std::size_t> m_sizes;
    std::size_t m_total = 0;
    std::size_t m_begin = 0;
    std::vector<float> m_in;
    std::vector<float> m_out;
};

/// `count` elements on every rank, divided evenly among the ranks that they go to.
class all_to_all_operation final : public basic_operation<all_to_all_operation> {
public:
    all_to_all_operation(MPI_Comm comm, call_options const& options)
        : base(comm, options)
        , m_block(options.count / static_cast<std::size_t>(m_ranks))
        , m_in(own_values(m_block * static_cast<std::size_t>(m_ranks))) {}
    [[nodiscard]] auto policies() const -> std::vector<std::string> override {
        return {"native", "linear", "pairwise", "bruck", "linear_sync"};
    }
    [[nodiscard]] auto least_bytes() const -> std::size_t override {
        return (m_in.size() - m_block) * sizeof(float);
    }
    [[nodiscard]] auto shape() const -> papcoll::call_shape {
        return shape_of(papcoll::collective_kind::all_to_all, m_in.size());
    }
    template <class Policy>
    void call(Policy const& policy) {
        if constexpr (papcoll::collective_policy<Policy, papcoll::collective_kind::all_to_all>)
            papcoll::all_to_all(m_comm, m_in.data(), m_block, m_out.data(), policy);
        else
            throw std::invalid_argument("all_to_all cannot be " + std::string(policy.name()));
    }
    void reset() { m_out = spoiled(m_in.size()); }
    [[nodiscard]] auto result() const -> std::vector<float> const& { return m_out; }
    [[nodiscard]] auto expected(std::size_t i) const -> float {
        return value_of(static_cast<int>(i / m_block),
                        static_cast<std::size_t>(m_rank) * m_block + i % m_block);
    }

private:
    std::size_t m_block;
    std::vector<float> m_in;
    std::vector<float> m_out;
};

using operation_maker = std::unique_ptr<operation> (*)(MPI_Comm, call_options const&);

template <class Operation>
auto maker_of() -> operation_maker {
    return [](MPI_Comm comm, call_options const& options) -> std::unique_ptr<operation> {
        return std::make_unique<Operation>(comm, options);
    };
}

[[nodiscard]] auto operation_makers() -> std::map<std::string, operation_maker> const& {
    static std::map<std::string, operation_maker> const makers{
        {"broadcast", maker_of<broadcast_operation>()},
        {"reduce", maker_of<reduce_operation>()},
        {"reduce_value", maker_of<reduce_value_operation>()},
        {"all_reduce", maker_of<all_reduce_operation<float>>()},
        {"all_reduce_integers", maker_of<all_reduce_operation<int>>()},
        {"all_gather", maker_of<all_gather_operation<division::even>>()},
        {"all_gatherv_one", maker_of<all_gather_operation<division::one_has_all>>()},
        {"all_gatherv_mod3", maker_of<all_gather_operation<division::modulo_3>>()},
        {"reduce_scatter", maker_of<reduce_scatter_operation<division::even>>()},
        {"all_to_all", maker_of<all_to_all_operation>()},
        {"reduce_scatter_mod3", maker_of<reduce_scatter_operation<division::modulo_3>>()},
    };
    return makers;
}

} // namespace

auto operation_names() -> std::vector<std::string> {
    std::vector<std::string> names;
    for (auto const& [name, maker] : operation_makers()) names.push_back(name);
    return names;
}

auto make_operation(std::string const& name, MPI_Comm comm, call_options const& options)
    -> std::unique_ptr<operation> {
    auto const found = operation_makers().find(name);
    if (found == operation_makers().end()) throw std::invalid_argument("no operation " + name);
    return found->second(comm, options);
}

} // namespace bench
