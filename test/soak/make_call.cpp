// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <array>
#include <utility>

#include "call.hpp"

namespace soak {

auto make_call(call_site site) -> std::unique_ptr<call> {
    // By the values of operation_kind.
    static constexpr std::array makers{
        make_broadcast,  make_reduce,      make_all_reduce,     make_gather,
        make_all_gather, make_all_gatherv, make_reduce_scatter, make_all_to_all,
        make_scatter,    make_scatterv,    make_gatherv,        make_scan,
        make_exscan,     make_barrier,     make_all_to_allv,    make_reduce_scatter_block};
    static_assert(makers.size() == operation_names.size());
    return makers[static_cast<std::size_t>(site.what->operation)](std::move(site));
}

} // namespace soak
