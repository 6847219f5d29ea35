// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A picture that many ranks paint: each traces orbits that start in its share of the complex plane, and the
// images of all ranks are summed at rank 0. Shares of equal size take very different time, so ranks arrive
// late at the sum; but they are late in much the same way in every frame, and so the program tells papcoll
// when to expect whom. For comparison every frame is computed twice, and summed once by MPI_Reduce, once by
// papcoll.
//
//     mpirun -n 8 buddhabrot --output /tmp/picture
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "buddhabrot/arrivals.hpp"
#include "buddhabrot/options.hpp"
#include "buddhabrot/orbit.hpp"
#include "buddhabrot/picture.hpp"
#include "buddhabrot/report.hpp"
#include "buddhabrot/shared_clock.hpp"

namespace buddhabrot {

namespace {

constexpr int root = 0;
constexpr std::size_t memory = 3; // frames that predictions are made from

/// To be called before anything is computed, so that no work is lost where the files cannot be written.
void make_folder(std::filesystem::path const& folder) {
    std::filesystem::create_directories(folder);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw std::runtime_error("cannot write into the folder " + folder.string());
}

class painter {
public:
    painter(boost::mpi::communicator world, options const& o)
        : m_world(std::move(world))
        , m_options(o)
        , m_clock(m_world)
        , m_frames(static_cast<std::size_t>(o.frames))
        , m_image(o.width)
        , m_sum(is_root() ? o.width : 0)
        , m_native_sum(m_sum)
        , m_picture(m_sum) {
        papcoll::attach(m_world);
        if (is_root()) make_folder(m_options.output);
    }

    void paint() {
        if (is_root()) print_header(m_world.size(), m_image.counts.size() * sizeof(float));
        for (std::size_t i = 0; i < m_frames.size(); ++i) {
            paint_frame(i);
            if (is_root()) print_row(i, m_frames[i]);
        }
        if (is_root()) print_summary(m_frames, m_errors, !m_options.automatic);
    }

    /// To be called on the root.
    void write_files() const {
        auto const picture = m_options.output / "buddhabrot.png";
        auto const timeline = m_options.output / "buddhabrot.svg";
        write_png(picture, m_picture);
        write_timeline(timeline, m_frames);
        std::printf("\nPicture:  %s\nTimeline: %s\n", picture.c_str(), timeline.c_str());
    }

    /// Whether both methods gave the root the same sums in all frames. Where the sums are integers below 2^24
    /// no rounding excuses a difference. True on the other ranks.
    [[nodiscard]] auto sums_are_equal() const -> bool { return m_sums_are_equal; }
    /// Whether some sum was so large that floats round, and its frame was not compared.
    [[nodiscard]] auto was_rounded() const -> bool { return m_was_rounded; }
    [[nodiscard]] auto is_root() const -> bool { return m_world.rank() == root; }

private:
    void paint_frame(std::size_t number) {
        m_frames[number][mpi_reduce] = run(number, papcoll::native{});
        if (is_root()) keep_sum(number);

        auto const predicted = prediction(number);
        papcoll::automatic policy;
        if (!m_options.automatic) policy.arrivals = predicted;
        m_frames[number][by_papcoll] = run(number, policy);
        if (is_root()) compare_sum(number);
        if (predicted.given())
            m_errors.push_back(mean_error(predicted.times(), m_frames[number][by_papcoll]));
    }

    [[nodiscard]] auto prediction(std::size_t number) const -> papcoll::arrival_source {
        auto const known = std::min(number, memory);
        return predicted_arrivals(std::span(m_frames).subspan(number - known, known));
    }

    /// Computes and sums a frame. All ranks start together, so that both methods meet the same arrivals; a
    /// program that has nothing to compare would exchange the timing while it computes.
    template <class Policy>
    auto run(std::size_t number, Policy const& policy) -> run_timing {
        m_world.barrier();
        auto const started = m_clock.now();
        compute(number);
        auto const arrived = m_clock.now();
        papcoll::reduce(m_world, m_image.counts, m_sum.counts, std::plus<>{}, root, policy);
        return exchange(m_world, {started, arrived, m_clock.now()});
    }

    /// The limit grows from half of max_iterations to all of it.
    void compute(std::size_t number) {
        auto const growth = static_cast<double>(number + 1) / static_cast<double>(m_frames.size());
        auto const limit = std::lround(m_options.max_iterations * (1 + growth) / 2);
        frame const work{m_options.seed, number, m_options.samples, static_cast<int>(limit)};
        std::fill(m_image.counts.begin(), m_image.counts.end(), 0.F);
        trace(work, share_of(work, m_world.rank(), m_world.size()), m_image);
    }

    void keep_sum(std::size_t number) {
        show_progress(methods * number + 1, methods * m_frames.size());
        std::swap(m_native_sum, m_sum);
        std::transform(m_native_sum.counts.begin(), m_native_sum.counts.end(), m_picture.counts.begin(),
                       m_picture.counts.begin(), std::plus<>{});
    }

    void compare_sum(std::size_t number) {
        show_progress(methods * (number + 1), methods * m_frames.size());
        constexpr float exact = 1 << 24;
        bool const is_rounded = std::any_of(m_native_sum.counts.begin(), m_native_sum.counts.end(),
                                            [](float count) { return count >= exact; });
        if (is_rounded)
            m_was_rounded = true;
        else
            m_sums_are_equal = m_sums_are_equal && m_sum.counts == m_native_sum.counts;
    }

    boost::mpi::communicator m_world;
    options m_options;
    shared_clock m_clock;
    std::vector<frame_timing> m_frames;
    std::vector<papcoll::ticks> m_errors;
    density m_image;
    density m_sum; // this and the following have no pixels but on the root
    density m_native_sum;
    density m_picture;
    bool m_sums_are_equal = true;
    bool m_was_rounded = false;
};

/// Returns the exit code. Every rank ends alike: only the root can see that sums differ.
auto run(boost::mpi::communicator const& world, options const& o) -> int {
    painter p(world, o);
    p.paint();
    if (!p.is_root()) return 0;
    p.write_files();
    std::printf("Sums:     %s\n", !p.sums_are_equal() ? "THE METHODS GAVE DIFFERENT RESULTS"
                                  : p.was_rounded()
                                      ? "the same where all are below 2^24, above which floats round"
                                      : "both methods gave the same in every frame");
    return p.sums_are_equal() ? 0 : 1;
}

} // namespace

} // namespace buddhabrot

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;
    try {
        int exit_code = 0;
        auto const o = buddhabrot::parse(argc, argv, world.rank() == 0, exit_code);
        return o ? buddhabrot::run(world, *o) : exit_code;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "buddhabrot: %s\n", error.what());
        boost::mpi::environment::abort(1);
    }
}
