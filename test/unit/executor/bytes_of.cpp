// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/archive/archive_exception.hpp>
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/skeleton_and_content.hpp>
#include <boost/serialization/access.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/bitset.hpp>
#include <boost/serialization/complex.hpp>
#include <boost/serialization/is_bitwise_serializable.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/serialization/utility.hpp>
#include <doctest/doctest.h>

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <list>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// What a type is for papcoll, whichever headers of Boost.Serialization are included.

namespace {

template <class T>
constexpr bool is_bytes = papcoll::transportable<T> && !papcoll::serializable<T>;
template <class T>
constexpr bool is_serialized = papcoll::serializable<T> && !papcoll::transportable<T>;
template <class T>
constexpr bool is_refused = !papcoll::transportable<T> && !papcoll::serializable<T>;

} // namespace

namespace bytes_test {

struct plain {
    int value;
    friend auto operator==(plain const&, plain const&) -> bool = default;
};
struct plain_final final {
    int value;
};
union either {
    int number;
    float fraction;
};
enum class letter : char { a };

struct member {
    int value;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& value;
    }
};
class private_member {
public:
    [[nodiscard]] auto value() const -> int { return m_value; }

private:
    friend class boost::serialization::access;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& m_value;
    }
    int m_value = 0;
};
struct inherited : private_member {};
struct of_one_archive {
    int value;
    void serialize(papcoll::value_oarchive& archive, unsigned) { archive << value; }
    void serialize(papcoll::value_iarchive& archive, unsigned) { archive >> value; }
};
struct public_final final {
    int value;
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& value;
    }
};
struct split_member {
    int value;
    template <class Archive>
    void save(Archive& archive, unsigned) const {
        archive << value;
    }
    template <class Archive>
    void load(Archive& archive, unsigned) {
        archive >> value;
    }
    BOOST_SERIALIZATION_SPLIT_MEMBER()
};

struct beside {
    int value;
};
template <class Archive>
void serialize(Archive& archive, beside& b, unsigned) {
    archive& b.value;
}
template <class Archive>
void serialize(Archive&, plain&) {} // another function of that name
struct constrained {
    int value;
};
template <class Archive, class T>
requires std::same_as<T, constrained>
void serialize(Archive& archive, T& c, unsigned) { archive& c.value; }

struct in_boost {
    int value;
};
struct split_free {
    int value;
};

struct no_default : member {
    explicit no_default(int v)
        : member{v} {}
};
struct declared_bitwise : member {};
struct declared_datatype : member {};
struct cursor : std::ranges::view_base {
    int* at;
};
struct bitwise_cursor : std::ranges::view_base {
    int at;
};

} // namespace bytes_test

namespace boost::serialization {
template <class Archive>
void serialize(Archive& archive, bytes_test::in_boost& value, unsigned const) {
    archive& value.value;
}
template <class Archive>
void save(Archive& archive, bytes_test::split_free const& value, unsigned) {
    archive << value.value;
}
template <class Archive>
void load(Archive& archive, bytes_test::split_free& value, unsigned) {
    archive >> value.value;
}
} // namespace boost::serialization
BOOST_SERIALIZATION_SPLIT_FREE(bytes_test::split_free)
BOOST_IS_BITWISE_SERIALIZABLE(bytes_test::declared_bitwise)
BOOST_IS_BITWISE_SERIALIZABLE(bytes_test::bitwise_cursor)
BOOST_IS_MPI_DATATYPE(bytes_test::declared_datatype)

using namespace bytes_test;

static_assert(is_bytes<int> && is_bytes<bool> && is_bytes<std::byte> && is_bytes<long double> &&
              is_bytes<letter>);
static_assert(is_bytes<plain> && is_bytes<plain_final> && is_bytes<either> && is_bytes<int[3]>);
static_assert(is_bytes<std::complex<float>> && is_bytes<std::array<plain, 4>> && is_bytes<std::bitset<70>> &&
              is_bytes<std::optional<plain>> && is_bytes<std::variant<int, plain>> && is_bytes<std::tuple<>>);
static_assert(is_bytes<std::chrono::nanoseconds> && is_bytes<std::chrono::steady_clock::time_point>);
static_assert(is_bytes<declared_bitwise> && is_bytes<declared_datatype> && is_bytes<bitwise_cursor> &&
              is_bytes<std::array<declared_bitwise, 2>>);

static_assert(is_serialized<member> && is_serialized<private_member> && is_serialized<inherited> &&
              is_serialized<of_one_archive> && is_serialized<public_final> && is_serialized<split_member>);
static_assert(is_serialized<beside> && is_serialized<constrained> && is_serialized<in_boost> &&
              is_serialized<split_free>);
static_assert(is_serialized<std::array<member, 3>> && is_serialized<std::optional<beside>>);
static_assert(is_serialized<std::string> && is_serialized<std::vector<int>> && is_refused<no_default>);

static_assert(is_refused<int*> && is_refused<void (*)()> && is_refused<int plain::*> &&
              is_refused<int const* const>);
static_assert(is_refused<std::span<int>> && is_refused<std::span<int const, 4>> &&
              is_refused<std::string_view> && is_refused<cursor>);
static_assert(is_refused<std::vector<int>::iterator> && is_refused<std::list<int>::const_iterator>);
static_assert(is_refused<std::reference_wrapper<int>> && is_refused<std::initializer_list<int>>);
static_assert(is_refused<std::array<int*, 2>> && is_refused<std::optional<std::span<int>>>);
static_assert(is_refused<boost::mpi::skeleton_proxy<std::vector<int>>> &&
              is_refused<boost::mpi::skeleton_proxy<int> const> && is_refused<boost::mpi::content> &&
              is_refused<boost::mpi::packed_skeleton_oarchive>);

namespace {

template <class T>
auto through_an_archive(T const& from) -> T {
    using format = papcoll::archive_format<T>;
    T to{};
    format::load(format::save(&from, 1), &to, 1);
    return to;
}

} // namespace

TEST_CASE("what a serialize says is what travels") {
    CHECK(through_an_archive(member{3}).value == 3);
    CHECK(through_an_archive(of_one_archive{4}).value == 4);
    CHECK(through_an_archive(split_member{5}).value == 5);
    CHECK(through_an_archive(beside{6}).value == 6);
    CHECK(through_an_archive(constrained{7}).value == 7);
    CHECK(through_an_archive(in_boost{8}).value == 8);
    CHECK(through_an_archive(split_free{9}).value == 9);
    CHECK(through_an_archive(std::array<member, 2>{{{1}, {2}}})[1].value == 2);
}

namespace {

int constructed = 0;
struct counted {
    counted() { ++constructed; }
    template <class Archive>
    void serialize(Archive&, unsigned) {}
};

} // namespace

TEST_CASE("elements that are serialized are constructed in buffers, also where they are trivially copyable") {
    static_assert(std::is_trivially_copyable_v<counted>);
    papcoll::detail::element_memory memory;
    memory.provide(papcoll::detail::element_type_of<counted>(), 5);
    CHECK(constructed == 5);
    memory.provide(papcoll::detail::element_type_of<counted>(), 3);
    CHECK(constructed == 8); // anew: not all members of the old ones are overwritten
    memory.provide(papcoll::detail::element_type_of<plain>(), 5);
    CHECK(memory.bytes() == 5 * sizeof(plain));
}

TEST_CASE("strings and vectors of numbers are saved as they are, one behind the other") {
    using format = papcoll::archive_format<std::vector<int>>;
    std::vector<std::vector<int>> const from{{1, 2, 3}, {}, {4}};
    auto const bytes = format::save(from.data(), from.size());
    CHECK(bytes.size() == 3 * sizeof(std::size_t) + 4 * sizeof(int));
    std::vector<std::vector<int>> to{{9, 9, 9, 9}, {9}, {}};
    format::load(bytes, to.data(), to.size());
    CHECK(to == from);
    CHECK_THROWS_AS(format::load(bytes, to.data(), 2), std::length_error);
    for (std::size_t shorter = 0; shorter < bytes.size(); ++shorter)
        CHECK_THROWS_AS(format::load(std::span(bytes).first(shorter), to.data(), 3),
                        boost::archive::archive_exception);
    auto behind = bytes;
    format::append(from.data(), 1, behind);
    CHECK(behind.size() == bytes.size() + sizeof(std::size_t) + 3 * sizeof(int));
    CHECK(through_an_archive(std::u16string(u"text")) == u"text");
}
