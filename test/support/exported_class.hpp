// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/papcoll.hpp>

#include <boost/serialization/base_object.hpp>
#include <boost/serialization/export.hpp>
#include <boost/serialization/shared_ptr.hpp>

/// A class that is serialized through pointers to its base.
namespace exported_class {

struct animal {
    animal() = default;
    animal(animal const&) = delete;
    auto operator=(animal const&) -> animal& = delete;
    virtual ~animal() = default;
    [[nodiscard]] virtual auto legs() const -> int { return 0; }
    template <class Archive>
    void serialize(Archive&, unsigned) {}
};
struct spider : animal {
    [[nodiscard]] auto legs() const -> int override { return left; }
    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        archive& boost::serialization::base_object<animal>(*this);
        archive& left;
    }
    int left = 8;
};

} // namespace exported_class

BOOST_CLASS_EXPORT(exported_class::spider)
