// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

#include "drawn.hpp"

namespace soak {
namespace {

/// What an option takes and does.
struct option {
    char const* value; ///< its name in the usage; null: it takes none
    char const* meaning;
    std::function<void(options&, std::string const&)> set;
};

template <class Number>
auto number(std::string const& text) -> Number {
    Number result{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("'" + text + "' is not a number that fits");
    return result;
}
template <class Member>
auto into(Member member) {
    return [member](options& o, std::string const& text) {
        using type = std::remove_reference_t<decltype(o.*member)>;
        if constexpr (std::is_arithmetic_v<type>)
            o.*member = number<type>(text);
        else
            o.*member = number<typename type::value_type>(text);
    };
}
void set_threads(options& o, std::string const& text) {
    if (text != "single" && text != "multiple")
        throw std::invalid_argument("threads are single or multiple, not '" + text + "'");
    o.multiple = text == "multiple";
}
void set_only(options& o, std::string const& text) {
    if (std::find(operation_names.begin(), operation_names.end(), text) == operation_names.end())
        throw std::invalid_argument("there is no operation '" + text + "'");
    o.only = text;
}

auto known() -> std::map<std::string, option> const& {
    static std::map<std::string, option> const all{
        {"--calls", {"n", "how many calls are drawn (1000)", into(&options::calls)}},
        {"--seed", {"n", "of all draws (1)", into(&options::seed)}},
        {"--from",
         {"call", "draw the calls before this one's batch, but do not make them", into(&options::from)}},
        {"--threads", {"single|multiple", "the thread level of MPI (single)", set_threads}},
        {"--max-count", {"n", "elements of a call at most (300000)", into(&options::max_count)}},
        {"--only", {"operation", "as broadcast or all_gatherv", set_only}},
        {"--help", {nullptr, "print this", [](options& result, std::string const&) { result.help = true; }}},
        {"--list",
         {nullptr, "print what is drawn, make none of it",
          [](options& result, std::string const&) { result.list = true; }}},
        {"--under-way",
         {nullptr,
          "also while requests are under way construct monitors and, with --threads multiple, call MPI's "
          "blocking "
          "collectives",
          [](options& o, std::string const&) { o.under_way = true; }}},
        {"--patience", {"seconds", "end when nothing has moved for so long (60)", into(&options::patience)}},
        {"--memory-bound",
         {"MiB", "fail when memory grows by more after the first tenth (32); 0: never",
          into(&options::memory_bound)}},
        {"--wrong", {"call", "spoil this call's result: the program must fail", into(&options::wrong)}},
        {"--stall",
         {"call", "rank 0 stays away from this call: the program must fail", into(&options::stall)}},
        {"--leak", {"call", "lose memory from this call on: the program must fail", into(&options::leak)}}};
    return all;
}

} // namespace

auto parse(int argc, char const* const* argv) -> options {
    options result;
    for (int i = 1; i < argc; ++i) {
        std::string const name = argv[i];
        auto const found = known().find(name);
        if (found == known().end()) throw std::invalid_argument("there is no option '" + name + "'");
        bool const takes_value = found->second.value != nullptr;
        if (takes_value && ++i == argc) throw std::invalid_argument(name + " needs a value");
        try {
            found->second.set(result, takes_value ? argv[i] : "");
        } catch (std::invalid_argument const& bad) {
            throw std::invalid_argument(name + ": " + bad.what());
        }
    }
    if (result.calls == 0 || result.max_count == 0 || !(result.patience > 0))
        throw std::invalid_argument("--calls, --max-count and --patience must be positive");
    return result;
}

auto usage() -> std::string {
    std::string text = "usage: mpirun -n <ranks> soak [options]\n";
    for (auto const& [name, o] : known()) {
        std::string head = "  " + name + (o.value != nullptr ? ' ' + std::string(o.value) : std::string());
        head.resize(std::max<std::size_t>(head.size() + 1, 28), ' ');
        text += head + o.meaning + '\n';
    }
    return text;
}

} // namespace soak
