#include "beside/lease/lease_holder.h"
#include "deltascope/engine/beside_keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace deltascope {

namespace {

using nlohmann::json;

constexpr std::string_view LeaseStart = "publisher-";
constexpr std::string_view LeaseEnd = ".json";
constexpr std::size_t MostLeaseDigits = 15;

/// What tells machines and containers apart: process numbers mean nothing elsewhere.
std::string hostName()
{
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    char processes[256] = {};
    if (::readlink("/proc/self/ns/pid", processes, sizeof processes - 1) < 0)
        processes[0] = '\0';
    return fmt::format("{}/{}/{}", name, boot, processes);
}

/// Clock ticks since boot at which a process began; empty if it is not there, or has ended and only waits to be asked
/// how.
std::string startOf(std::int64_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::stringstream text;
    text << file.rdbuf();
    const std::string stat = text.str();
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string field;
    if (fields >> field && (field == "Z" || field == "X"))
        return {};
    for (int i = 4; i <= 22 && fields >> field; ++i) { } // proc(5): the 22nd field is starttime
    return field;
}

std::optional<LeaseHolder> parseHolder(std::string_view text)
{
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    try {
        return LeaseHolder { object.at("actor"),   object.at("host"),       object.at("pid"),
                             object.at("started"), object.at("renewed_us"), object.at("released") };
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

std::optional<std::int64_t> leaseNumberOf(std::string_view key)
{
    if (key.size() <= beside::Leases.size() + LeaseStart.size() + LeaseEnd.size())
        return std::nullopt;
    key.remove_prefix(beside::Leases.size() + LeaseStart.size());
    key.remove_suffix(LeaseEnd.size());
    return key.size() <= MostLeaseDigits ? parseNumber(key) : std::nullopt;
}

Result<std::vector<std::int64_t>> leases(const ObjectStore& store, TaskContext& task)
{
    DS_TRY(const std::vector<ObjectInfo> listing,
           listAll(store, fmt::format("{}{}", beside::Leases, LeaseStart), task));
    std::vector<std::int64_t> numbers;
    for (const ObjectInfo& object : listing) {
        const std::optional<std::int64_t> number = leaseNumberOf(object.key);
        if (number && leaseKey(*number) == object.key)
            numbers.push_back(*number);
    }
    return numbers;
}

}

LeaseHolder LeaseHolder::thisProcess(std::string actor)
{
    LeaseHolder holder;
    holder.actor = std::move(actor);
    holder.host = hostName();
    holder.pid = ::getpid();
    holder.started = startOf(holder.pid);
    return holder;
}

std::string LeaseHolder::text() const
{
    return fmt::format("{} (process {} on {})", actor, pid, host.substr(0, host.find('/')));
}

Liveness livenessOf(const LeaseHolder& holder)
{
    if (holder.host != hostName() || holder.started.empty())
        return Liveness::Unknown;
    return startOf(holder.pid) == holder.started ? Liveness::Lives : Liveness::Ended;
}

std::string leaseKey(std::int64_t number)
{
    return fmt::format("{}{}{:08}{}", beside::Leases, LeaseStart, number, LeaseEnd);
}

Result<std::int64_t> newestLease(const ObjectStore& store, TaskContext& task)
{
    DS_TRY(const std::vector<std::int64_t> numbers, leases(store, task));
    return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

Result<std::vector<std::int64_t>> leasesBelow(const ObjectStore& store, std::int64_t number, TaskContext& task)
{
    DS_TRY(std::vector<std::int64_t> numbers, leases(store, task));
    std::erase_if(numbers, [&](std::int64_t other) { return other >= number; });
    return numbers;
}

std::string leaseText(const LeaseHolder& holder, const std::string& nonce)
{
    return json {
        { "actor", holder.actor },
        { "host", holder.host },
        { "pid", holder.pid },
        { "started", holder.started },
        { "renewed_us", holder.renewedUs },
        { "released", holder.released },
        { "nonce", nonce }
    }.dump()
        + "\n";
}

Result<std::optional<LeaseHolder>> readLease(const ObjectStore& store, std::int64_t number, TaskContext& task)
{
    const std::string key = leaseKey(number);
    Result<std::vector<std::byte>> bytes = readWhole(store, key, MostLeaseBytes, task);
    if (!bytes && bytes.error().code == Code::Transient) // it was renewed or given back at this moment
        bytes = readWhole(store, key, MostLeaseBytes, task);
    if (!bytes)
        return fail(std::move(bytes.error()));
    return parseHolder(asText(*bytes));
}

} // namespace deltascope
