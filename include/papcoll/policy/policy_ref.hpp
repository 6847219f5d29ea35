// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/context/link_model.hpp>
#include <papcoll/detail/hash.hpp>
#include <papcoll/policy/automatic_choice.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/program.hpp>

#include <any>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Whether policies of a type make equal plans where they are equal, which they then say by a member
/// `equality_tells`; others are told from each other by their fingerprints.
template <class P>
concept equality_tells = std::equality_comparable<P> && requires {
    requires P::equality_tells;
};

/// What a call does with a policy.
struct policy_functions {
    bool reduces_and_broadcasts;
    void (*check)(void const* policy, call_shape const& shape);
    auto(*plan)(void const* policy, call_shape const& shape, link_model const& link) -> program;
    /// What a call might take, the best first, where there is a choice to learn; else none.
    auto(*candidates)(void const* policy, call_shape const& shape, link_model const& link)
        -> std::vector<automatic_choice>;
    std::int64_t (*hash)(void const* policy);
    /// What tells a policy from others; empty: it cannot be told.
    std::any (*key)(void const* policy);
    bool (*has_key)(void const* policy, std::any const& key);
    /// What `equals` compares with, as long as the key stays; null: nothing.
    void const* (*known_by)(std::any const& key);
    bool (*equals)(void const* policy, void const* known);
    std::shared_ptr<void const> (*copy)(void const* policy);
    /// What is behind the arrivals that it has been told; null: nothing.
    auto(*arrivals)(void const* policy) -> std::shared_ptr<arrival_answer>;
};

template <block_policy P>
struct functions_of_policy {
    static auto get(void const* policy) -> P const& { return *static_cast<P const*>(policy); }

    static void check(void const* policy, call_shape const& shape) { get(policy).check(shape); }
    static auto plan(void const* policy, call_shape const& shape, link_model const& link) -> program {
        return get(policy).plan(shape, link);
    }
    static auto candidates([[maybe_unused]] void const* policy, [[maybe_unused]] call_shape const& shape,
                           [[maybe_unused]] link_model const& link) -> std::vector<automatic_choice> {
        if constexpr (requires { get(policy).candidates(shape, link); })
            return get(policy).candidates(shape, link);
        else
            return {};
    }
    static auto hash(void const* policy) -> std::int64_t {
        auto const& p = get(policy);
        std::vector<std::int64_t> key;
        if constexpr (requires { p.agreement_key(); })
            key = p.agreement_key();
        else
            key = p.fingerprint().value_or(key);
        return static_cast<std::int64_t>(
            hash_bytes(std::as_bytes(std::span<std::int64_t const>(key)), hash_text(p.name())));
    }
    static auto key(void const* policy) -> std::any {
        if constexpr (equality_tells<P>) {
            return get(policy);
        } else {
            auto numbers = get(policy).fingerprint();
            return numbers ? std::any(fingerprint{std::move(*numbers)}) : std::any();
        }
    }
    static auto has_key(void const* policy, std::any const& key) -> bool {
        auto const* const known = known_by(key);
        return known != nullptr && equals(policy, known);
    }
    static auto known_by(std::any const& key) -> void const* {
        if constexpr (equality_tells<P>)
            return std::any_cast<P>(&key);
        else
            return std::any_cast<fingerprint>(&key);
    }
    static auto equals(void const* policy, void const* known) -> bool {
        if constexpr (equality_tells<P>)
            return get(policy) == get(known);
        else
            return static_cast<fingerprint const*>(known)->numbers == get(policy).fingerprint();
    }
    static auto copy(void const* policy) -> std::shared_ptr<void const> {
        return std::make_shared<P const>(get(policy));
    }
    static auto arrivals([[maybe_unused]] void const* policy) -> std::shared_ptr<arrival_answer> {
        if constexpr (requires {
                          { get(policy).pending_arrivals() } -> std::convertible_to<arrival_source>;
                      })
            return arrival_source(get(policy).pending_arrivals()).answer();
        else if constexpr (requires {
                               { get(policy).arrivals } -> std::same_as<arrival_source const&>;
                           })
            return get(policy).arrivals.answer();
        else
            return nullptr;
    }

    static constexpr bool reduces_and_broadcasts =
        P::provides(collective_kind::reduce) && P::provides(collective_kind::broadcast);
    static constexpr policy_functions all{reduces_and_broadcasts,
                                          check,
                                          plan,
                                          candidates,
                                          hash,
                                          key,
                                          has_key,
                                          known_by,
                                          equals,
                                          copy,
                                          arrivals};

private:
    struct fingerprint { // of policies of this type
        std::vector<std::int64_t> numbers;
    };
};

/// A policy of any type, for the time of a call.
class policy_ref {
public:
    template <class P>
    [[nodiscard]] static auto to(P const& policy) -> policy_ref {
        if constexpr (std::same_as<P, native>)
            return {nullptr, nullptr};
        else
            return {&policy, &functions_of_policy<P>::all};
    }

    /// The MPI library's routine.
    [[nodiscard]] auto is_native() const -> bool { return m_functions == nullptr; }
    void check(call_shape const& shape) const {
        if (!is_native()) m_functions->check(m_policy, shape);
    }
    /// The program of a call. Values that travel serialized are all-reduced by way of rank 0, so that they
    /// move once along each edge of a tree and all ranks get the same bytes; by a policy that reduces and
    /// broadcasts, else by its own plan, which then goes to a root and back.
    [[nodiscard]] inline auto plan(call_shape const& shape, link_model const& link) const -> program;
    [[nodiscard]] auto candidates(call_shape const& shape, link_model const& link) const
        -> std::vector<automatic_choice> {
        return m_functions->candidates(m_policy, shape, link);
    }
    [[nodiscard]] auto hash() const -> std::int64_t { return is_native() ? 0 : m_functions->hash(m_policy); }
    [[nodiscard]] auto key() const -> std::any { return m_functions->key(m_policy); }
    [[nodiscard]] auto has_key(std::any const& key) const -> bool {
        return m_functions->has_key(m_policy, key);
    }

    /// By which a policy is known again while the key stays.
    struct known_policy {
        policy_functions const* functions = nullptr; // null: none
        void const* value = nullptr;
    };
    [[nodiscard]] auto known_by(std::any const& key) const -> known_policy {
        auto const* const value = is_native() ? nullptr : m_functions->known_by(key);
        return value != nullptr ? known_policy{m_functions, value} : known_policy{};
    }
    /// Not of `native`.
    [[nodiscard, gnu::always_inline]] auto is(known_policy const& known) const -> bool {
        return m_functions == known.functions && m_functions->equals(m_policy, known.value);
    }

    /// What it waits for before it can plan; null: nothing. `in_background`: the operation looks for it
    /// itself, else waits here.
    [[nodiscard]] auto arrivals(bool in_background) const -> std::shared_ptr<arrival_answer> {
        auto told = is_native() ? nullptr : m_functions->arrivals(m_policy);
        if (told == nullptr) return nullptr;
        if (in_background)
            told->stay_in_background();
        else
            (void)told->times();
        return told;
    }

    /// A copy, and a reference to it.
    [[nodiscard]] auto kept() const -> std::pair<std::shared_ptr<void const>, policy_ref> {
        if (is_native()) return {nullptr, *this};
        auto copy = m_functions->copy(m_policy);
        policy_ref const to_copy(copy.get(), m_functions);
        return {std::move(copy), to_copy};
    }

private:
    policy_ref(void const* policy, policy_functions const* functions)
        : m_policy(policy)
        , m_functions(functions) {}

    void const* m_policy;
    policy_functions const* m_functions;
};

} // namespace papcoll::inline v0::detail
