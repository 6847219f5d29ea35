// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace papcoll::inline v0::detail {

/// A file that is open for reading, for the time of its scope.
class open_file {
public:
    /// Does not wait for the other end of a pipe.
    explicit open_file(char const* path)
        : m_file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    open_file(open_file const&) = delete;
    auto operator=(open_file const&) -> open_file& = delete;
    ~open_file() {
        if (m_file >= 0) ::close(m_file);
    }

    /// Whether it is a file that ends: no folder, no device, no pipe.
    [[nodiscard]] auto is_regular() const -> bool {
        struct ::stat status {};
        return m_file >= 0 && ::fstat(m_file, &status) == 0 && S_ISREG(status.st_mode);
    }
    /// The next bytes, 0 at the end of the file; negative: they cannot be read.
    [[nodiscard]] auto read(void* to, std::size_t bytes) const -> ::ssize_t {
        for (;;) {
            auto const n = ::read(m_file, to, bytes);
            if (n >= 0 || errno != EINTR) return n;
        }
    }

private:
    int m_file;
};

/// The content of a regular file of at most `most` bytes; none when it cannot be read, is longer or something
/// else.
[[nodiscard]] inline auto read_file(std::string const& path, std::size_t most = std::size_t(16) << 20)
    -> std::optional<std::string> {
    open_file const file(path.c_str());
    if (!file.is_regular()) return std::nullopt;
    std::string text;
    std::array<char, 16384> piece{};
    for (;;) {
        auto const n = file.read(piece.data(), piece.size());
        if (n < 0 || static_cast<std::size_t>(n) > most - text.size()) return std::nullopt;
        if (n == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(n));
    }
}

} // namespace papcoll::inline v0::detail
