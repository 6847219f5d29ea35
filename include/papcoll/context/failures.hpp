// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace papcoll::inline v0 {

/// Thrown on a rank that got nothing where it needs something, because the operator, or the saving or loading
/// of a value, threw on another rank on the way; that rank throws what went wrong. MPI's own
/// routines do not tell the other ranks. papcoll gives them operators that may throw where the user says so
/// (see native), and for a reduce_scatter between nodes whose operator does not commute.
struct missing_value_error : std::runtime_error {
    using std::runtime_error::runtime_error;
    /// `peer` sent nothing.
    explicit missing_value_error(int peer)
        : std::runtime_error("papcoll: rank " + std::to_string(peer) +
                             " had no value to send, because it or a rank behind it failed") {}
};

namespace detail {

/// Thrown on all ranks where they do not agree on a call, or one of them has a complaint of it.
struct refused_together : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
    void const* by = nullptr; ///< the context of the call
};

/// Which operation it was that failed, for the one who reads of it.
struct operation_name {
    std::string_view what = {};
    std::uint64_t number = 0; ///< on its communicator, as in collective_record
    int rank = 0;

    [[nodiscard]] auto text() const -> std::string {
        return " [" + std::string(what) + ", operation " + std::to_string(number) + ", rank " +
               std::to_string(rank) + "]";
    }
};

/// Null unless the failure is an E, not one derived from it, in words of papcoll's: then the same with the
/// name behind them.
template <class E>
[[nodiscard]] auto named_as(std::exception const& failure, operation_name const& name) -> std::exception_ptr {
    std::string_view const words = failure.what();
    if (typeid(failure) != typeid(E) || !words.starts_with("papcoll: ")) return nullptr;
    E result(std::string(words) + name.text());
    if constexpr (std::same_as<E, refused_together>)
        result.by = static_cast<refused_together const&>(failure).by;
    return std::make_exception_ptr(std::move(result));
}
/// A failure as it is thrown to the user: what papcoll found names the operation, what others threw stays
/// what it is.
[[nodiscard]] inline auto named(std::exception_ptr const& failure, operation_name const& name)
    -> std::exception_ptr {
    if (!failure || name.what.empty()) return failure;
    try {
        std::rethrow_exception(failure);
    } catch (std::exception const& e) {
        if (auto result = named_as<refused_together>(e, name)) return result;
        if (auto result = named_as<std::invalid_argument>(e, name)) return result;
        if (auto result = named_as<std::length_error>(e, name)) return result;
        if (auto result = named_as<std::logic_error>(e, name)) return result;
        if (auto result = named_as<missing_value_error>(e, name)) return result;
    } catch (...) { // nothing is known of it
    }
    return failure;
}

} // namespace detail

} // namespace papcoll::inline v0
