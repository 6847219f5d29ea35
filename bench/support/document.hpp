// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "program.hpp"
#include "statistics.hpp"

namespace bench {

/// Of a sample, in the unit that its key ends with. Without "low" and "high" there were too few values.
[[nodiscard]] inline auto in_json(statistics const& s) -> nlohmann::json {
    nlohmann::json j{{"n", s.n},       {"median", s.median},       {"min", s.min}, {"max", s.max},
                     {"mean", s.mean}, {"deviation", s.deviation}, {"p10", s.p10}, {"p90", s.p90}};
    if (std::isfinite(s.confidence.high)) {
        j["low"] = s.confidence.low;
        j["high"] = s.confidence.high;
    }
    return j;
}

/// What --json writes: under what conditions, and rows. Every subcommand's has this form.
class document {
public:
    /// `conditions` are added to those that all have. Without a file nothing is written.
    document(std::string file, std::string const& command, nlohmann::json const& conditions)
        : m_file(world_rank() == 0 ? std::move(file) : std::string()) {
        m_content = {{"papcoll_bench", 1}, {"command", command}, {"rows", nlohmann::json::array()}};
        m_content.update(conditions);
        if (conditions.contains("ranks")) m_content["mpi"] = library_version();
    }
    void add(nlohmann::json row) { m_content["rows"].push_back(std::move(row)); }
    void write() const {
        if (m_file.empty()) return;
        std::ofstream out(m_file);
        out << m_content.dump(1) << '\n';
        out.close();
        if (!out) throw std::runtime_error("cannot write " + m_file);
    }

private:
    std::string m_file;
    nlohmann::json m_content;
};

} // namespace bench
