// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace papcoll::inline v0 {

/// By what a rank finds memory that another rank of its node has made; travels as bytes.
struct segment_key {
    /// The process that made it.
    std::uint64_t owner = 0;
    std::uint64_t name = 0;
};

namespace detail {

/// A file of the kernel's that is memory and has no name: it goes with the last process that uses it, however
/// that ends. Other processes of the user open it by way of the process that made it.
class shared_segment {
public:
    shared_segment() = default;
    shared_segment(shared_segment const&) = delete;
    auto operator=(shared_segment const&) -> shared_segment& = delete;
    ~shared_segment() { close(); }

    /// Makes one of zeros, with room for all of it: a page that cannot be had is found out now. Throws
    /// std::system_error.
    auto make(std::size_t bytes) -> std::shared_ptr<std::byte> {
        close();
        m_file = ::memfd_create("papcoll", MFD_CLOEXEC);
        if (m_file < 0) failed("memfd_create");
        int code = EINTR;
        while (code == EINTR) code = ::posix_fallocate(m_file, 0, static_cast<off_t>(bytes));
        if (code != 0) throw std::system_error(code, std::generic_category(), "posix_fallocate");
        return map(m_file, bytes);
    }
    /// For the others, as long as this object keeps the file open.
    [[nodiscard]] auto key() const -> segment_key {
        return {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(m_file)};
    }
    /// What another process has made. Throws std::system_error.
    static auto open(segment_key const& key, std::size_t bytes) -> std::shared_ptr<std::byte> {
        auto const path = "/proc/" + std::to_string(key.owner) + "/fd/" + std::to_string(key.name);
        // Where the other process is another one's of that number this may be any file.
        std::array<char, 16> name{};
        constexpr std::string_view ours = "/memfd:papcoll";
        if (::readlink(path.c_str(), name.data(), name.size()) < 0) failed(path.c_str());
        if (!std::string_view(name.data(), name.size()).starts_with(ours))
            throw std::system_error(ENOENT, std::generic_category(), path);
        shared_segment other;
        other.m_file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (other.m_file < 0) failed(path.c_str());
        return map(other.m_file, bytes);
    }
    /// Nobody can open it any more; who has it keeps it.
    void close() noexcept {
        if (m_file >= 0) ::close(m_file);
        m_file = -1;
    }

private:
    [[noreturn]] static void failed(char const* what) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    static auto map(int file, std::size_t bytes) -> std::shared_ptr<std::byte> {
        // Of another file, found by chance, nothing behind its end may be touched.
        if (auto const size = ::lseek(file, 0, SEEK_END); size < 0 || static_cast<std::size_t>(size) != bytes)
            throw std::system_error(EINVAL, std::generic_category(), "a segment of another size");
        // Its pages are there: all of them are mapped at once, not one by one in the first calls.
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
        if (at == MAP_FAILED) failed("mmap"); // NOLINT(performance-no-int-to-ptr)
        return {static_cast<std::byte*>(at), [bytes](std::byte* p) { ::munmap(p, bytes); }};
    }

    int m_file = -1;
};

} // namespace detail

} // namespace papcoll::inline v0
