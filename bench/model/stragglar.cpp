// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model stragglar: the all-reduce that knows the last rank beside StragglAR, one rank late by
// twice the time of the data on a link: last delays in the one-ported model. Fails where a program is wrong
// or StragglAR is faster.
#include "../run/stragglar.hpp"

#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/circulant.hpp>

#include <cstdio>
#include <memory>

#include "../support/document.hpp"
#include "model.hpp"
#include "support/program_calls.hpp"

namespace bench {
namespace {

using papcoll::ticks;

struct stragglar_settings {
    std::vector<int> ranks = {4, 8, 16, 32, 64};
    std::vector<std::size_t> sizes = parse_sizes({"64Ki:16Mi:16"});
    double latency_us = 50;
    std::string rate = "100mbit";
    std::string json;
};

class comparison {
public:
    comparison(int ranks, std::size_t bytes, papcoll::link_model const& link)
        : m_link(link) {
        m_call.shape.operation = papcoll::collective_kind::all_reduce;
        m_call.shape.ranks = ranks;
        m_call.shape.count = bytes / sizeof(float);
        m_call.shape.element_bytes = sizeof(float);
        m_arrivals.assign(static_cast<std::size_t>(ranks), ticks(0));
        m_arrivals[static_cast<std::size_t>(ranks / 3)] = 2 * on_link();
    }
    /// β m, the least that the last rank needs to send its data.
    [[nodiscard]] auto on_link() const -> ticks {
        return m_link.transfer_time(m_call.shape.bytes()) - m_link.latency;
    }
    /// As a multiple of that.
    template <class Policy>
    [[nodiscard]] auto last_delay(Policy const& policy) const -> double {
        auto const programs = program_calls::programs_of(policy, m_call, m_link);
        papcoll::cost_model const model{.latency = m_link.latency, .per_byte = m_link.per_byte};
        auto const exits = papcoll::simulate(programs, m_arrivals, model, sizeof(float));
        return static_cast<double>(papcoll::last_delay(m_arrivals, exits).count()) /
               static_cast<double>(on_link().count());
    }
    template <class Policy>
    [[nodiscard]] auto is_right(Policy const& policy) const -> bool {
        auto const violation = program_calls::violation_of(policy, m_call, m_link);
        if (violation) std::printf("WRONG: %s\n", violation->c_str());
        return !violation;
    }
    [[nodiscard]] auto arrivals() const -> std::vector<ticks> const& { return m_arrivals; }

private:
    papcoll::link_model m_link;
    program_calls::call m_call;
    std::vector<ticks> m_arrivals;
};

auto run_stragglar(stragglar_settings const& s) -> int {
    papcoll::link_model const link{ticks(static_cast<std::int64_t>(1000 * s.latency_us)),
                                   parse_rate(s.rate).nanoseconds(1)};
    document all(s.json, "model stragglar", {{"latency_us", s.latency_us}, {"rate", s.rate}});
    bool good = true;
    std::printf("Last delay / time of the data on a link, one rank late.\n\n| ranks | bytes | circulant | "
                "StragglAR | "
                "arrival_all_reduce | StragglAR / arrival_all_reduce |\n|---|---|---|---|---|---|\n");
    for (int const ranks : s.ranks)
        for (auto const bytes : s.sizes) {
            comparison const one(ranks, bytes, link);
            stragglar const theirs{.arrivals = one.arrivals()};
            papcoll::arrival_all_reduce const ours{.arrivals = one.arrivals()};
            double const blind = one.last_delay(papcoll::circulant{}), them = one.last_delay(theirs),
                         us = one.last_delay(ours);
            std::printf("| %d | %zu | %.2f | %.2f | %.2f | %.2f |\n", ranks, bytes, blind, them, us,
                        them / us);
            all.add({{"ranks", ranks},
                     {"bytes", bytes},
                     {"circulant", blind},
                     {"stragglar", them},
                     {"arrival_all_reduce", us}});
            good = good && us <= them && (ranks > 16 || (one.is_right(theirs) && one.is_right(ours)));
        }
    all.write();
    return good ? 0 : 1;
}

} // namespace

void add_model_stragglar(program& all, CLI::App& group) {
    auto const s = std::make_shared<stragglar_settings>();
    auto& app = all.add_to(group, "stragglar", "The all-reduce that knows the last rank beside StragglAR",
                           [s] { return run_stragglar(*s); });
    add_option(app, "--ranks", s->ranks, "powers of two");
    add_sizes(app, s->sizes, "of the data");
    add_option(app, "--latency", s->latency_us, "of a message, in microseconds");
    add_option(app, "--rate", s->rate, "of a link");
    add_json(app, s->json);
}

} // namespace bench
