// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/context.hpp>
#include <papcoll/context/node_sharing.hpp>
#include <papcoll/context/progress_engine.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace papcoll::inline v0::detail {

/// What the buffers of a plan are made with: so many bytes for all ranks of the node, and the memory, null
/// where it could not be had on one rank.
struct own_memory {
    std::size_t bytes = 0;
    std::shared_ptr<std::byte> made = {};
};

/// The ranks, which are all on one node, make the memory of a plan.
template <transport Transport>
class own_memory_operation final : public operation {
public:
    own_memory_operation(std::shared_ptr<context<Transport>> c, std::shared_ptr<own_memory> to, int tag)
        : m_context(std::move(c))
        , m_to(std::move(to))
        , m_sharing(
              m_context->transport_layer(), m_context->nodes(), [this](std::size_t) { return m_to->bytes; },
              tag) {}

    auto advance(bool block) -> bool override {
        if (m_finished || !m_sharing.advance(m_context->transport_layer(), block)) return false;
        m_to->made = m_sharing.result();
        return m_finished = true;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_finished; }
    auto abandon() noexcept -> bool override { return m_sharing.abandon(m_context->transport_layer()); }

private:
    std::shared_ptr<context<Transport>> m_context;
    std::shared_ptr<own_memory> m_to;
    segment_sharing<Transport> m_sharing;
    bool m_finished = false;
};

} // namespace papcoll::inline v0::detail
