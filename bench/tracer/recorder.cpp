// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "recorder.hpp"

#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <link.h>
#include <stdexcept>
#include <unistd.h>

namespace tracer {

namespace {

template <std::integral Integer>
void append(std::string& text, Integer number, int base = 10) {
    char digits[24];
    auto const end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
    text.append(digits, end);
}

template <class... Integers>
void append_all(std::string& text, Integers... numbers) {
    ((text += ' ', append(text, numbers)), ...);
}

/// "<offset, hexadecimal> <symbol or -> <module>" of the instruction before a return address. The offset is
/// the address that the module's file gives to the instruction, as debuggers and addr2line want it.
auto describe_site(void const* address) -> std::string {
    std::string text;
    auto const place = reinterpret_cast<std::uintptr_t>(address);
    Dl_info info{};
    link_map* module = nullptr;
    if (place == 0 ||
        dladdr1(reinterpret_cast<void const*>(place - 1), &info, reinterpret_cast<void**>(&module),
                RTLD_DL_LINKMAP) == 0 ||
        info.dli_fname == nullptr || module == nullptr) {
        append(text, place, 16);
        return text + " - ?";
    }
    append(text, place - 1 - module->l_addr, 16);
    text += ' ';
    text += info.dli_sname != nullptr ? info.dli_sname : "-";
    text += ' ';
    text += *info.dli_fname != '\0' ? info.dli_fname : "?";
    for (auto& character : text)
        if (character == '\n') character = '?';
    return text;
}

} // namespace

auto recorder::instance() -> recorder& {
    static auto& the_one = *new recorder;
    return the_one;
}

void recorder::open(settings const& wanted, int rank, int ranks, std::uint64_t run) {
    if (!wanted.records) return;
    try {
        m_calls.reserve(wanted.buffer);
    } catch (std::exception const&) {
        throw std::runtime_error("PAPCOLL_TRACE_BUFFER=" + std::to_string(wanted.buffer) +
                                 ": there is no memory for so many calls");
    }
    m_path = wanted.prefix + '.' + std::to_string(rank) + ".trace";
    m_file = std::fopen(m_path.c_str(), "we");
    if (m_file == nullptr) throw std::runtime_error(m_path + ": " + std::strerror(errno));
    m_every = wanted.every;
    m_capacity = wanted.buffer;
    m_process = ::getpid();
    m_text = "papcoll-trace 2 ";
    append(m_text, run, 16);
    m_text += "\nrank";
    append_all(m_text, rank, ranks);
    m_text += "\nevery";
    append_all(m_text, m_every);
    m_text += '\n';
    write_text();
    std::atexit([] { instance().flush(); });
    m_active = true;
}

void recorder::add(communicator& comm, call_record const& call) {
    std::lock_guard const lock(m_mutex);
    if (!is_active()) return;
    auto number = comm.number_in_file.load(std::memory_order_relaxed);
    if (number == 0) {
        number = ++m_communicators;
        comm.number_in_file = number;
        append_communicator(comm, number);
        write_text(); // so that the reader knows of this rank, should the program be killed
        if (!is_active()) return;
    }
    m_calls.push_back({call, number});
    if (m_calls.size() == m_capacity) write_calls();
}

void recorder::add(clock_reading const& reading) {
    std::lock_guard const lock(m_mutex);
    if (!is_active()) return;
    write_calls();
    if (!is_active()) return;
    m_text += "clock";
    append_all(m_text, reading.local, reading.offset, reading.round_trip);
    m_text += '\n';
    write_text();
}

auto recorder::kept(std::string_view operation) -> char const* {
    std::lock_guard const lock(m_mutex);
    auto found = m_operations.find(operation);
    if (found == m_operations.end()) found = m_operations.emplace(operation).first;
    return found->c_str();
}

void recorder::flush() {
    std::lock_guard const lock(m_mutex);
    if (is_active() && m_process == ::getpid()) write_calls();
}

void recorder::close() {
    std::lock_guard const lock(m_mutex);
    if (!is_active()) return;
    write_calls();
    if (is_active()) {
        m_text += "end";
        append_all(m_text, m_written);
        m_text += '\n';
        write_text();
    }
    m_active = false;
    if (m_file != nullptr && std::fclose(m_file) != 0)
        std::fprintf(stderr, "papcoll tracer: %s cannot be written\n", m_path.c_str());
    m_file = nullptr;
}

void recorder::write_calls() {
    for (auto const& call : m_calls) append_call(call);
    m_written += m_calls.size();
    m_calls.clear();
    write_text();
}

void recorder::write_text() {
    auto const written = std::fwrite(m_text.data(), 1, m_text.size(), m_file);
    if (written != m_text.size() || std::fflush(m_file) != 0) {
        std::fprintf(stderr, "papcoll tracer: %s: %s; the trace ends here\n", m_path.c_str(),
                     std::strerror(errno));
        m_active = false;
    }
    m_text.clear();
}

void recorder::append_communicator(communicator const& comm, std::uint32_t number) {
    m_text += "comm";
    append_all(m_text, number);
    m_text += ' ';
    append(m_text, comm.id, 16);
    append_all(m_text, comm.rank, comm.size);
    m_text += '\n';
}

void recorder::append_call(entry const& from) {
    auto const site = site_number(from.call.site);
    m_text += "call";
    append_all(m_text, from.communicator, from.call.sequence);
    m_text += ' ';
    m_text += from.call.operation;
    append_all(m_text, from.call.bytes, from.call.entry, from.call.exit, site);
    m_text += '\n';
}

auto recorder::site_number(void const* address) -> std::uint32_t {
    auto const known = m_site_of_address.find(address);
    if (known != m_site_of_address.end()) return known->second;
    // Two addresses can be one place: a module may have been unloaded and loaded again.
    auto const next = static_cast<std::uint32_t>(m_sites.size() + 1);
    auto const [place, is_new] = m_sites.try_emplace(describe_site(address), next);
    if (is_new) {
        m_text += "site";
        append_all(m_text, place->second);
        m_text += ' ' + place->first + '\n';
    }
    m_site_of_address.emplace(address, place->second);
    return place->second;
}

} // namespace tracer
