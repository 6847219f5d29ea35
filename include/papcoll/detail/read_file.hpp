// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <fstream>
#include <ios>
#include <optional>
#include <string>

namespace papcoll::inline v0::detail {

/// The content of a file; none when it cannot be read, such as that of a directory, which can be opened.
[[nodiscard]] inline auto read_file(std::string const& path) -> std::optional<std::string> {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text;
    std::array<char, 4096> piece{};
    // Stream buffers throw when reading fails; read() does not.
    while (file.read(piece.data(), piece.size()), file.gcount() > 0)
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (file.bad()) return std::nullopt;
    return text;
}

} // namespace papcoll::inline v0::detail
