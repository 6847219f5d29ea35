// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/predictor.hpp>
#include <papcoll/schedule/problem.hpp>

#include <optional>
#include <utility>

namespace papcoll::inline v0 {

/// Two predictors that see the same observations; what the first does not know the second is asked.
/// `first_known<linear_extrapolation, exponential_average>` uses the reports of progress as they come, and
/// the iterations before until then.
template <arrival_predictor First, arrival_predictor Second>
class first_known {
public:
    first_known() = default;
    first_known(First first, Second second)
        : m_first(std::move(first))
        , m_second(std::move(second)) {}

    void begin(ticks t) {
        m_first.begin(t);
        m_second.begin(t);
    }
    void progress(ticks t, double fraction) {
        m_first.progress(t, fraction);
        m_second.progress(t, fraction);
    }
    void end(ticks t) {
        m_first.end(t);
        m_second.end(t);
    }
    [[nodiscard]] auto predict() const -> std::optional<ticks> {
        auto const known = m_first.predict();
        return known ? known : m_second.predict();
    }

private:
    First m_first;
    Second m_second;
};

} // namespace papcoll::inline v0
