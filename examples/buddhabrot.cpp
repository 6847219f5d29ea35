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
#include <functional>
#include <utility>

#include "buddhabrot/arrivals.hpp"
#include "buddhabrot/options.hpp"
#include "buddhabrot/orbit.hpp"
#include "buddhabrot/picture.hpp"
#include "buddhabrot/report.hpp"
#include "buddhabrot/shared_clock.hpp"

namespace buddhabrot {

namespace {

constexpr int root = 0;

/// Runs are numbered: two per frame, and who goes first alternates, so that drift of the machine hits both.
constexpr auto frame_of(std::size_t run) -> std::size_t { return run / methods; }
constexpr auto method_of(std::size_t run) -> method {
    return (run + frame_of(run)) % 2 == 0 ? mpi_reduce : clairvoyant;
}

class painter {
public:
    painter(boost::mpi::communicator world, options const& o)
        : m_world(std::move(world))
        , m_options(o)
        , m_clock(m_world)
        , m_exchange(m_world)
        , m_frames(static_cast<std::size_t>(o.frames))
        , m_image(o.width)
        , m_sum(is_root() ? o.width : 0)
        , m_first_sum(m_sum)
        , m_picture(m_sum) {
        papcoll::attach(m_world);
        m_left = m_clock.now();
    }

    void paint() {
        if (is_root()) print_header(m_world.size(), m_image.counts.size() * sizeof(float));
        for (std::size_t run = 0; run < methods * m_frames.size(); ++run) paint_once(run);
        learn_timing_of(methods * m_frames.size() - 1);
        if (is_root()) print_summary(m_frames);
    }

    /// To be called on the root.
    void write_files() const {
        std::filesystem::create_directories(m_options.output);
        auto const picture = m_options.output / "buddhabrot.png";
        auto const timeline = m_options.output / "buddhabrot.svg";
        write_png(picture, m_picture);
        write_timeline(timeline, m_frames);
        std::printf("\nPicture:  %s\nTimeline: %s\n", picture.c_str(), timeline.c_str());
    }

    /// Whether both methods gave the root the same sums in all frames. The terms are integers below 2^24, no
    /// rounding excuses a difference. True on the other ranks.
    [[nodiscard]] auto sums_are_equal() const -> bool { return m_sums_are_equal; }
    [[nodiscard]] auto is_root() const -> bool { return m_world.rank() == root; }

private:
    void paint_once(std::size_t run) {
        auto const started = m_left;
        compute(frame_of(run));
        if (run > 0) learn_timing_of(run - 1);
        auto const arrived = m_clock.now();
        if (method_of(run) == mpi_reduce)
            sum(papcoll::native{});
        else
            sum(papcoll::clairvoyant{.arrivals = expected_arrivals(run)});
        m_left = m_clock.now();
        m_exchange.start({started, arrived, m_left});
        if (is_root()) use_sum(run);
    }

    /// The limit grows from half of max_iterations to all of it.
    void compute(std::size_t number) {
        auto const growth = static_cast<double>(number + 1) / static_cast<double>(m_frames.size());
        auto const limit = std::lround(m_options.max_iterations * (1 + growth) / 2);
        frame const work{m_options.seed, number, m_options.samples, static_cast<int>(limit)};
        std::fill(m_image.counts.begin(), m_image.counts.end(), 0.F);
        trace(work, share_of(work, m_world.rank(), m_world.size()), m_image,
              [this] { m_exchange.progress(); });
    }

    /// Nothing is known in the first frame; then see predicted_arrivals.
    [[nodiscard]] auto expected_arrivals(std::size_t run) const -> papcoll::arrival_source {
        if (frame_of(run) == 0) return {};
        return predicted_arrivals(timing_of(run - 1), m_frames[frame_of(run) - 1][method_of(run)]);
    }

    template <class Policy>
    void sum(Policy const& policy) {
        papcoll::reduce(m_world, m_image.counts, m_sum.counts, std::plus<>{}, root, policy);
    }

    void learn_timing_of(std::size_t run) {
        m_frames[frame_of(run)][method_of(run)] = m_exchange.finish();
        auto const frame_is_complete = run % methods == methods - 1;
        if (is_root() && frame_is_complete) print_row(frame_of(run), m_frames[frame_of(run)]);
    }

    [[nodiscard]] auto timing_of(std::size_t run) const -> run_timing const& {
        return m_frames[frame_of(run)][method_of(run)];
    }

    /// The first sum of a frame goes into the picture, the second must be its equal.
    void use_sum(std::size_t run) {
        show_progress(run + 1, methods * m_frames.size());
        if (run % methods == 0) {
            std::swap(m_first_sum, m_sum);
            std::transform(m_first_sum.counts.begin(), m_first_sum.counts.end(), m_picture.counts.begin(),
                           m_picture.counts.begin(), std::plus<>{});
        } else {
            m_sums_are_equal = m_sums_are_equal && m_sum.counts == m_first_sum.counts;
        }
    }

    boost::mpi::communicator m_world;
    options m_options;
    shared_clock m_clock;
    timing_exchange m_exchange;
    std::vector<frame_timing> m_frames;
    density m_image;
    density m_sum; // this and the following have no pixels but on the root
    density m_first_sum;
    density m_picture;
    papcoll::ticks m_left{0};
    bool m_sums_are_equal = true;
};

/// Returns the exit code. Every rank ends alike: only the root can see that sums differ.
auto run(boost::mpi::communicator const& world, options const& o) -> int {
    painter p(world, o);
    p.paint();
    if (!p.is_root()) return 0;
    p.write_files();
    std::printf("Sums:     %s\n", p.sums_are_equal() ? "both methods gave the same in every frame"
                                                     : "THE METHODS GAVE DIFFERENT RESULTS");
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
