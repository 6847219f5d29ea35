// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/attach.hpp>
#include <papcoll/context/attach_operation.hpp>

#include <memory>
#include <utility>

namespace papcoll::inline v0::detail {

template <transport Transport>
void attach_transport(Transport& t, attach_options const& options) {
    auto const known = context_in(t);
    auto const engine = engine_in(t);
    auto const op = std::make_shared<attach_operation<Transport>>(t, options);
    run_to_end(*engine, op, t);
    if (known) return known->accept(op->result());
    auto made = std::make_shared<context<Transport>>(t.borrowed(), engine);
    made->accept(op->result());
    made->observed_by() = first_observer(t);
    t.attachment() = std::move(made);
}

} // namespace papcoll::inline v0::detail
