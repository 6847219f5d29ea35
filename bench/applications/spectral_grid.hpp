// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/patterns.hpp>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <fftw3.h>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "transposition.hpp"

namespace bench {

using value = std::complex<double>;

/// The points of the grid; x is the index that changes fastest.
struct grid_size {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t z = 0;

    [[nodiscard]] auto points() const -> std::size_t { return x * y * z; }
};

/// The value at first of the point with this index: the same for every number of ranks.
[[nodiscard]] inline auto initial_value(std::size_t index) -> value {
    std::uint64_t state = index;
    auto const uniform = [&] {
        return static_cast<double>(papcoll::detail::next_random(state) >> 11U) * 0x1p-53;
    };
    double const real = uniform();
    return {real, uniform()};
}
/// By what one step of time multiplies the wave of these numbers: exp(−4 α π² |k|²), as for the heat equation
/// on the unit cube, each wave number counted from −n/2 on.
[[nodiscard]] inline auto evolution_factor(grid_size const& n, std::size_t x, std::size_t y, std::size_t z)
    -> double {
    constexpr double alpha = 1e-6;
    auto const square = [](std::size_t i, std::size_t size) {
        double const k = static_cast<double>(i) - (2 * i >= size ? static_cast<double>(size) : 0.0);
        return k * k;
    };
    double const k2 = square(x, n.x) + square(y, n.y) + square(z, n.z);
    return std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * k2);
}
/// Calls f(x, y, z) for the points whose values are summed up to check the grid.
template <class F>
void for_each_checked_point(grid_size const& n, F f) {
    for (std::size_t j = 1; j <= 1024; ++j) f(j % n.x, 3 * j % n.y, 5 * j % n.z);
}

namespace detail {

struct destroy_plan {
    void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
};
using plan_pointer = std::unique_ptr<std::remove_pointer_t<fftw_plan>, destroy_plan>;

inline auto for_fftw(value* data) -> fftw_complex* { return reinterpret_cast<fftw_complex*>(data); }

} // namespace detail

/// A complex grid over all ranks, in slabs: of z in space, of y in the spectrum, so that every transform is
/// along dimensions that a rank has whole. One all-to-all leads from one to the other.
class spectral_grid {
public:
    /// Throws std::invalid_argument unless the ranks divide y and z.
    spectral_grid(MPI_Comm comm, grid_size const& n)
        : m_comm(comm)
        , m_size(n) {
        int rank = 0;
        int ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        m_rank = static_cast<std::size_t>(rank);
        m_ranks = static_cast<std::size_t>(ranks);
        if (n.points() == 0 || n.y % m_ranks != 0 || n.z % m_ranks != 0)
            throw std::invalid_argument("the number of ranks (" + std::to_string(ranks) +
                                        ") must divide the grid's y and z (" + std::to_string(n.y) + ", " +
                                        std::to_string(n.z) + ")");
        m_ys = n.y / m_ranks;
        m_zs = n.z / m_ranks;
        for (auto* field : {&m_space, &m_packed, &m_spectrum, &m_evolved})
            field->resize(n.points() / m_ranks);
        make_plans();
        make_factors();
    }

    /// Values that one rank has for another in a transposition.
    [[nodiscard]] auto block() const -> std::size_t { return m_zs * m_ys * m_size.x; }

    void initialise() {
        std::size_t const first = m_rank * m_space.size();
        for (std::size_t i = 0; i < m_space.size(); ++i) m_space[i] = initial_value(first + i);
    }
    /// From space to spectrum.
    void forward(transposition& transpose) {
        fftw_execute(m_planes_forward.get());
        for_each_row([&](std::size_t at, std::size_t in_block) {
            std::copy_n(m_space.data() + at, m_size.x, m_packed.data() + in_block);
        });
        transpose(m_packed.data(), block(), m_spectrum.data());
        fftw_execute(m_columns_forward.get());
    }
    /// The spectrum after one more step of time.
    void evolve() {
        for (std::size_t i = 0; i < m_spectrum.size(); ++i) m_spectrum[i] *= m_factors[i];
    }
    /// From spectrum to space, without losing the spectrum. `before_transpose` is called when the rank is
    /// ready to exchange.
    template <class F>
    void inverse(transposition& transpose, F before_transpose) {
        std::copy(m_spectrum.begin(), m_spectrum.end(), m_evolved.begin());
        fftw_execute(m_columns_inverse.get());
        before_transpose();
        transpose(m_evolved.data(), block(), m_packed.data());
        for_each_row([&](std::size_t at, std::size_t in_block) {
            std::copy_n(m_packed.data() + in_block, m_size.x, m_space.data() + at);
        });
        fftw_execute(m_planes_inverse.get());
    }
    /// The sum of chosen points in space, on all ranks; collective.
    [[nodiscard]] auto checksum() const -> value {
        value sum = 0;
        for_each_checked_point(m_size, [&](std::size_t x, std::size_t y, std::size_t z) {
            if (z / m_zs == m_rank) sum += m_space[((z % m_zs) * m_size.y + y) * m_size.x + x];
        });
        MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, m_comm);
        return sum / static_cast<double>(m_size.points());
    }

private:
    /// Calls f(place in m_space, place in m_packed) for each row along x. A block has the z of one side and
    /// the y of the other.
    template <class F>
    void for_each_row(F f) const {
        for (std::size_t z = 0; z < m_zs; ++z)
            for (std::size_t y = 0; y < m_size.y; ++y)
                f((z * m_size.y + y) * m_size.x, y / m_ys * block() + (z * m_ys + y % m_ys) * m_size.x);
    }
    void make_plans() {
        m_planes_forward = planes(FFTW_FORWARD);
        m_planes_inverse = planes(FFTW_BACKWARD);
        m_columns_forward = columns(m_spectrum, FFTW_FORWARD);
        m_columns_inverse = columns(m_evolved, FFTW_BACKWARD);
    }
    /// Along x and y, of every z of the slab.
    auto planes(int sign) -> detail::plan_pointer {
        int const n[] = {static_cast<int>(m_size.y), static_cast<int>(m_size.x)};
        int const distance = n[0] * n[1];
        auto* const data = detail::for_fftw(m_space.data());
        return detail::plan_pointer(fftw_plan_many_dft(2, n, static_cast<int>(m_zs), data, nullptr, 1,
                                                       distance, data, nullptr, 1, distance, sign,
                                                       FFTW_ESTIMATE));
    }
    /// Along z, for every y of the slab and every x.
    auto columns(std::vector<value>& field, int sign) -> detail::plan_pointer {
        int const n[] = {static_cast<int>(m_size.z)};
        int const stride = static_cast<int>(m_ys * m_size.x);
        auto* const data = detail::for_fftw(field.data());
        return detail::plan_pointer(fftw_plan_many_dft(1, n, stride, data, nullptr, stride, 1, data, nullptr,
                                                       stride, 1, sign, FFTW_ESTIMATE));
    }
    void make_factors() {
        m_factors.reserve(m_spectrum.size());
        for (std::size_t z = 0; z < m_size.z; ++z)
            for (std::size_t y = 0; y < m_ys; ++y)
                for (std::size_t x = 0; x < m_size.x; ++x)
                    m_factors.push_back(evolution_factor(m_size, x, m_rank * m_ys + y, z));
    }

    MPI_Comm m_comm;
    grid_size m_size;
    std::size_t m_rank = 0;
    std::size_t m_ranks = 1;
    std::size_t m_ys = 0, m_zs = 0; // of this rank's slabs
    std::vector<value> m_space, m_packed, m_spectrum, m_evolved;
    std::vector<double> m_factors;
    detail::plan_pointer m_planes_forward, m_planes_inverse, m_columns_forward, m_columns_inverse;
};

/// The checksums of the steps of time as one rank alone computes them, by FFTW's transform in three
/// dimensions.
[[nodiscard]] inline auto serial_checksums(grid_size const& n, int iterations) -> std::vector<value> {
    std::vector<value> spectrum(n.points()), space(n.points());
    for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] = initial_value(i);
    auto const transform = [&](std::vector<value>& data, int sign) {
        auto* const at = detail::for_fftw(data.data());
        detail::plan_pointer const plan(fftw_plan_dft_3d(static_cast<int>(n.z), static_cast<int>(n.y),
                                                         static_cast<int>(n.x), at, at, sign, FFTW_ESTIMATE));
        fftw_execute(plan.get());
    };
    transform(spectrum, FFTW_FORWARD);
    std::vector<value> sums;
    for (int t = 1; t <= iterations; ++t) {
        std::size_t i = 0;
        for (std::size_t z = 0; z < n.z; ++z)
            for (std::size_t y = 0; y < n.y; ++y)
                for (std::size_t x = 0; x < n.x; ++x, ++i)
                    space[i] = spectrum[i] * std::pow(evolution_factor(n, x, y, z), t);
        transform(space, FFTW_BACKWARD);
        value sum = 0;
        for_each_checked_point(
            n, [&](std::size_t x, std::size_t y, std::size_t z) { sum += space[(z * n.y + y) * n.x + x]; });
        sums.push_back(sum / static_cast<double>(n.points()));
    }
    return sums;
}

} // namespace bench
