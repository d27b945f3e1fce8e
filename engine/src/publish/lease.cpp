#include "publish/lease.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace deltascope {

namespace {

using nlohmann::json;

constexpr std::string_view Folder = ".deltascope/v1/lease/";
constexpr std::string_view Start = "publisher-";
constexpr std::int64_t LifeUs = 600'000'000;
constexpr std::uint64_t MostBytes = 64U << 10;

/// Who holds a lease. `started` tells a process from a later one with the same number.
struct Holder {
    std::string actor;
    std::string host;
    std::int64_t pid = 0;
    std::string started;
    std::int64_t renewedUs = 0;
    bool released = false;
};

/// What tells machines and containers apart: process numbers mean nothing elsewhere.
std::string hostName()
{
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    std::error_code ignored;
    const std::filesystem::path processes = std::filesystem::read_symlink("/proc/self/ns/pid", ignored);
    return fmt::format("{}/{}/{}", name, boot, processes.string());
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

std::optional<Holder> parseHolder(std::string_view text)
{
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    try {
        return Holder { object.at("actor"),   object.at("host"),       object.at("pid"),
                        object.at("started"), object.at("renewed_us"), object.at("released") };
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

std::string keyOf(std::int64_t number) { return fmt::format("{}{}{:08}.json", Folder, Start, number); }

/// The highest number so far, 0 without one.
Result<std::int64_t> newest(const ObjectStore& store, TaskContext& task)
{
    DS_TRY(const std::vector<ObjectInfo> listing, listAll(store, fmt::format("{}{}", Folder, Start), task));
    if (listing.empty())
        return 0;
    return parseNumber(std::string_view(listing.back().key).substr(Folder.size() + Start.size(), 8)).value_or(0);
}

bool isAlive(const Holder& holder, std::int64_t nowUs)
{
    if (holder.released)
        return false;
    if (holder.host == hostName() && !holder.started.empty())
        return startOf(holder.pid) == holder.started;
    return nowUs - holder.renewedUs < LifeUs;
}

tl::unexpected<Error> heldBy(const std::optional<Holder>& holder, const std::string& where)
{
    const std::string who = holder ? fmt::format("{} (process {} on {})", holder->actor, holder->pid,
                                                 holder->host.substr(0, holder->host.find('/')))
                                   : std::string("somebody else");
    return fail(Code::Exists, who + " publishes into this run", where,
                fmt::format("stop the other publisher; one that died on another machine is forgotten after {} minutes",
                            LifeUs / 60'000'000));
}

}

Lease::Lease(std::shared_ptr<ObjectStore> store, std::string actor, std::function<std::int64_t()> nowUs,
             std::int64_t number)
    : m_store(std::move(store))
    , m_actor(std::move(actor))
    , m_nowUs(std::move(nowUs))
    , m_number(number)
{
}

Lease::Lease(Lease&& other) noexcept
    : m_store(std::move(other.m_store))
    , m_actor(std::move(other.m_actor))
    , m_nowUs(std::move(other.m_nowUs))
    , m_number(std::exchange(other.m_number, 0))
    , m_renewedUs(other.m_renewedUs)
{
}

Lease::~Lease()
{
    TaskContext task;
    if (m_number > 0)
        static_cast<void>(write(true, false, task)); // what is not given back is found dead or expires
}

Result<Lease> Lease::acquire(std::shared_ptr<ObjectStore> store, std::string actor, std::function<std::int64_t()> nowUs,
                             TaskContext& task)
{
    DS_TRY(const std::int64_t last, newest(*store, task));
    if (last > 0) {
        Result<std::vector<std::byte>> bytes = readWhole(*store, keyOf(last), MostBytes);
        if (!bytes && bytes.error().code == Code::Transient) // it was renewed or given back at this moment
            bytes = readWhole(*store, keyOf(last), MostBytes);
        if (!bytes)
            return fail(std::move(bytes.error()));
        const std::optional<Holder> holder = parseHolder(asText(*bytes));
        if (holder && isAlive(*holder, nowUs()))
            return heldBy(holder, store->uri());
    }
    Lease lease(std::move(store), std::move(actor), std::move(nowUs), last + 1);
    if (Result<void> written = lease.write(false, true, task); !written) {
        lease.m_number = 0;
        if (written.error().code == Code::Exists)
            return heldBy(std::nullopt, lease.m_store->uri());
        return fail(std::move(written.error()));
    }
    return lease;
}

Result<void> Lease::check(TaskContext& task)
{
    DS_TRY(const std::int64_t last, newest(*m_store, task));
    if (last != m_number) {
        m_number = 0;
        return fail(Code::Exists, "somebody else has taken over this run; nothing more is published", m_store->uri(),
                    "find out who publishes; start again to go on behind them");
    }
    if (m_nowUs() - m_renewedUs > LifeUs / 3)
        return write(false, false, task);
    return {};
}

Result<void> Lease::write(bool released, bool first, TaskContext& task)
{
    m_renewedUs = m_nowUs();
    const std::int64_t pid = ::getpid();
    const std::string text =
        json {
            { "actor", m_actor },        { "host", hostName() },        { "pid", pid },
            { "started", startOf(pid) }, { "renewed_us", m_renewedUs }, { "released", released }
        }.dump()
        + "\n";
    MemorySource source(asBytes(text));
    DS_TRY([[maybe_unused]] const ObjectInfo put,
           m_store->put(keyOf(m_number), source, first ? PutMode::IfAbsent : PutMode::Replace, task));
    return {};
}

} // namespace deltascope
