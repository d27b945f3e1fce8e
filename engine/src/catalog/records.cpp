#include "deltascope/engine/catalog.h"

#include "error_json.h"
#include "object_names.h"
#include "record_seals.h"
#include "records_file.h"
#include "sqlite.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace deltascope {

namespace {

/// Above this size only the pages are checked, not whether the indices lead to every row.
constexpr std::uintmax_t IndicesCheckedBytes = 256U << 20;

std::optional<std::vector<Digest128>> leavesFrom(ByteSpan bytes)
{
    if (bytes.size() % sizeof(Digest128) != 0)
        return std::nullopt;
    std::vector<Digest128> leaves(bytes.size() / sizeof(Digest128));
    if (!bytes.empty())
        std::memcpy(leaves.data(), bytes.data(), bytes.size());
    return leaves;
}

Error ofRecords(Error error, const std::string& path)
{
    error.where = path;
    if (error.code != Code::Catalog)
        return error;
    error.text = "the records of first sight cannot be used: " + error.text;
    error.action = "restore the file from a copy, or move it away: then what was seen first is forgotten, and verify "
                   "--accept-rewritten begins new records of each source";
    return error;
}

/// A row of the file, under one of the names of an object.
struct NamedSight {
    Records::Sight sight;
    std::int64_t place = 0; ///< in the file
    bool isFirst = false; ///< under its name
};

/// Sights of one object under all its names, oldest first. A first sight under one name is no acceptance of what
/// differs from the sights under another: versions that looked under one name alone trusted it.
std::vector<Records::Sight> inOrder(std::vector<NamedSight> rows)
{
    std::sort(rows.begin(), rows.end(), [](const NamedSight& a, const NamedSight& b) {
        return std::tie(a.sight.seenUs, a.place) < std::tie(b.sight.seenUs, b.place);
    });
    std::vector<Records::Sight> sights;
    std::optional<std::string> trusted;
    for (NamedSight& row : rows) {
        if (row.isFirst && trusted && row.sight.xxh3 != *trusted)
            row.sight.trusted = false;
        if (row.sight.trusted)
            trusted = row.sight.xxh3;
        sights.push_back(std::move(row.sight));
    }
    return sights;
}

class SqliteRecords final : public Records {
public:
    SqliteRecords(std::string path, sqlite::Database database)
        : m_path(std::move(path))
        , m_database(std::move(database))
    {
    }

    Result<void> check() override
    {
        const std::lock_guard lock(m_mutex);
        return told(checkOnce());
    }
    Result<std::vector<Sight>> sights(const std::string& source, const std::string& key) override
    {
        const std::lock_guard lock(m_mutex);
        DS_CHECK(told(checkOnce()));
        bool broken = false;
        Result<std::vector<Sight>> found = told(readSights(source, key, broken));
        if (found && broken)
            return fail(
                Code::Catalog,
                fmt::format("what is on record about the first sight of {} is damaged, so nothing tells whether "
                            "it holds the bytes that it held then",
                            key),
                m_path, "verify --accept-rewritten records it anew, as it is now");
        return found;
    }
    Result<void> add(const std::string& source, const std::vector<std::pair<std::string, Sight>>& sights) override
    {
        const std::lock_guard lock(m_mutex);
        DS_CHECK(told(checkOnce()));
        return told(writeSights(source, sights));
    }
    Result<std::vector<Event>> events(const std::string& source, std::size_t limit) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readEvents(source, limit));
    }
    Result<void> addEvents(const std::string& source, const std::vector<Event>& events) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeEvents(source, events));
    }
    Result<std::optional<Continuity>> continuity(const std::string& source, const std::string& question) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readContinuity(source, question));
    }
    Result<void> addContinuity(const std::string& source, const std::string& question,
                               const Continuity& answer) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeContinuity(source, question, answer));
    }
    Result<std::map<std::string, KnownObject>> objects(const std::string& source) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readObjects(source));
    }
    Result<bool> cover(const std::string& source) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readCover(source));
    }
    Result<void> begin(const std::string& source, std::int64_t nowUs) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeCover(source, nowUs));
    }
    Result<std::map<std::string, std::int64_t>> accepted(const std::string& source) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readAccepted(source));
    }
    Result<void> accept(const std::string& source, const std::vector<std::string>& findings,
                        std::int64_t nowUs) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeAccepted(source, findings, nowUs));
    }
    Result<std::map<std::string, std::int64_t>> numbers(const std::string& source) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readNumbers(source));
    }
    Result<void> addNumbers(const std::string& source, const std::map<std::string, std::int64_t>& numbers) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeNumbers(source, numbers));
    }
    Result<std::set<std::string>> mirrors(const std::string& source) override
    {
        const std::lock_guard lock(m_mutex);
        return told(readMirrors(source));
    }
    Result<void> addMirror(const std::string& source, const std::string& address, std::int64_t namedUs) override
    {
        const std::lock_guard lock(m_mutex);
        return told(writeMirror(source, address, namedUs));
    }

private:
    template <class T> Result<T> told(Result<T> outcome) const
    {
        if (outcome)
            return outcome;
        return fail(ofRecords(std::move(outcome.error()), m_path));
    }

    /// Nothing where its row is damaged: the question is asked again.
    Result<std::optional<Continuity>> readContinuity(const std::string& source, const std::string& question)
    {
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT continues,why,decided_us,seal FROM continuity WHERE source=? AND question=? "
                                  "ORDER BY rowid DESC LIMIT 1"));
        rows.bind(1, source).bind(2, question);
        DS_TRY(const bool row, rows.step());
        if (!row)
            return std::optional<Continuity>();
        Continuity answer { rows.integer(0) != 0, rows.text(1), rows.integer(2) };
        if (rows.text(3) != sealOfContinuity(source, question, answer))
            return std::optional<Continuity>();
        return std::optional(std::move(answer));
    }

    Result<void> writeContinuity(const std::string& source, const std::string& question, const Continuity& answer)
    {
        DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO continuity VALUES(?,?,?,?,?,?)"));
        return insert.bind(1, source)
            .bind(2, question)
            .bind(3, static_cast<std::int64_t>(answer.continues))
            .bind(4, answer.why)
            .bind(5, answer.decidedUs)
            .bind(6, sealOfContinuity(source, question, answer))
            .run();
    }

    Result<std::map<std::string, KnownObject>> readObjects(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows,
               m_database.prepare(
                   "SELECT key,identity,xxh3,seen_us,trusted FROM sight WHERE source=? ORDER BY key,rowid"));
        rows.bind(1, source);
        std::map<std::string, KnownObject> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return found;
            KnownObject& last = found[rows.text(0)];
            last = { rows.text(1), rows.text(2), std::max(last.seenUs, rows.integer(3)), rows.integer(4) != 0 };
        }
    }

    Result<bool> readCover(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows, m_database.prepare("SELECT 1 FROM covered WHERE source IN (?,?) LIMIT 1"));
        rows.bind(1, source).bind(2, std::string_view(EverySource));
        return rows.step();
    }

    Result<void> writeCover(const std::string& source, std::int64_t nowUs)
    {
        DS_TRY(const bool covered, readCover(source));
        if (covered)
            return {};
        DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO covered(source,since_us) VALUES(?,?)"));
        return insert.bind(1, source).bind(2, nowUs).run();
    }

    Result<std::map<std::string, std::int64_t>> readAccepted(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT finding,accepted_us,seal FROM accepted WHERE source=?"));
        rows.bind(1, source);
        std::map<std::string, std::int64_t> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return found;
            const std::string finding = rows.text(0);
            if (rows.text(2) == sealOfAccepted(source, finding, rows.integer(1)))
                found[finding] = std::max(found[finding], rows.integer(1));
        }
    }

    Result<void> writeAccepted(const std::string& source, const std::vector<std::string>& findings, std::int64_t nowUs)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        DS_TRY(sqlite::Statement insert,
               m_database.prepare("INSERT INTO accepted(source,finding,accepted_us,seal) VALUES(?,?,?,?)"));
        for (const std::string& finding : findings) {
            insert.bind(1, source).bind(2, finding).bind(3, nowUs);
            DS_CHECK(insert.bind(4, sealOfAccepted(source, finding, nowUs)).run());
        }
        return transaction.commit();
    }

    Result<std::map<std::string, std::int64_t>> readNumbers(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT version,number,seal FROM number WHERE source=? ORDER BY rowid"));
        rows.bind(1, source);
        std::map<std::string, std::int64_t> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return found;
            std::string version = rows.text(0);
            if (rows.text(2) == sealOfNumber(source, version, rows.integer(1)))
                found[std::move(version)] = rows.integer(1);
        }
    }

    Result<void> writeNumbers(const std::string& source, const std::map<std::string, std::int64_t>& numbers)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO number VALUES(?,?,?,?)"));
        for (const auto& [version, number] : numbers) {
            insert.bind(1, source).bind(2, version).bind(3, number);
            DS_CHECK(insert.bind(4, sealOfNumber(source, version, number)).run());
        }
        return transaction.commit();
    }

    Result<std::set<std::string>> readMirrors(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows, m_database.prepare("SELECT address,named_us,seal FROM mirror WHERE source=?"));
        rows.bind(1, source);
        std::set<std::string> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return found;
            std::string address = rows.text(0);
            if (rows.text(2) == sealOfMirror(source, address, rows.integer(1)))
                found.insert(std::move(address));
        }
    }

    Result<void> writeMirror(const std::string& source, const std::string& address, std::int64_t namedUs)
    {
        DS_TRY(const std::set<std::string> known, readMirrors(source));
        if (known.contains(address))
            return {};
        DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO mirror VALUES(?,?,?,?)"));
        return insert.bind(1, source)
            .bind(2, address)
            .bind(3, namedUs)
            .bind(4, sealOfMirror(source, address, namedUs))
            .run();
    }

    Result<void> checkOnce()
    {
        if (m_sound)
            return {};
        std::error_code ignored;
        const bool small = std::filesystem::file_size(m_path, ignored) <= IndicesCheckedBytes;
        DS_CHECK(small ? m_database.checkIndices() : m_database.check());
        m_sound = true;
        return {};
    }

    static constexpr std::string_view SightsOfName =
        "SELECT identity,size,xxh3,seen_us,trusted,leaves,seal,rowid FROM sight WHERE source=? AND key=? "
        "ORDER BY seen_us,rowid";

    /// Adds the sights under one name. Returns whether a row is damaged, and no sight that a user trusted later stands
    /// behind it. `rows`: of SightsOfName.
    static Result<bool> readNamed(sqlite::Statement& rows, const ObjectName& name, std::vector<NamedSight>& found)
    {
        rows.reset();
        rows.bind(1, name.source).bind(2, name.key);
        std::int64_t lastBroken = 0;
        std::int64_t lastTrusted = 0;
        for (bool isFirst = true;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return lastBroken > lastTrusted;
            Sight sight { rows.text(0),         static_cast<std::uint64_t>(rows.integer(1)),
                          rows.text(2),         rows.integer(3),
                          rows.integer(4) != 0, {} };
            std::optional<std::vector<Digest128>> leaves = leavesFrom(rows.blob(5));
            sight.leaves = leaves ? std::move(*leaves) : std::vector<Digest128>();
            const std::int64_t place = rows.integer(7);
            if (!leaves || rows.text(6) != sealOfSight(name.source, name.key, sight)) {
                lastBroken = std::max(lastBroken, place);
                continue;
            }
            if (sight.trusted)
                lastTrusted = std::max(lastTrusted, place);
            found.push_back({ std::move(sight), place, std::exchange(isFirst, false) });
        }
    }

    /// `broken`: what is on record under one of the names is damaged.
    Result<std::vector<Sight>> readSights(const std::string& source, const std::string& key, bool& broken)
    {
        DS_TRY(sqlite::Statement rows, m_database.prepare(SightsOfName));
        std::vector<NamedSight> found;
        for (const ObjectName& name : namesOf(source, key)) {
            DS_TRY(const bool isBroken, readNamed(rows, name, found));
            broken = broken || isBroken;
        }
        return inOrder(std::move(found));
    }

    /// The name that a sight is given, and all others whose record says otherwise: what a user trusts is trusted
    /// whichever folder is opened.
    Result<std::vector<ObjectName>> namesToWrite(const std::string& source, const std::string& key, const Sight& sight)
    {
        std::vector<ObjectName> names = namesOf(source, key);
        std::vector<ObjectName> chosen { names.front() };
        if (!sight.trusted)
            return chosen;
        DS_TRY(sqlite::Statement rows, m_database.prepare(SightsOfName));
        for (std::size_t other = 1; other < names.size(); ++other) {
            std::vector<NamedSight> found;
            DS_TRY(const bool isBroken, readNamed(rows, names[other], found));
            const auto trusted =
                std::find_if(found.rbegin(), found.rend(), [](const NamedSight& row) { return row.sight.trusted; });
            if (isBroken || (trusted != found.rend() && trusted->sight.xxh3 != sight.xxh3))
                chosen.push_back(std::move(names[other]));
        }
        return chosen;
    }

    Result<void> writeSights(const std::string& source, const std::vector<std::pair<std::string, Sight>>& sights)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        DS_TRY(sqlite::Statement insert,
               m_database.prepare("INSERT INTO sight(source,key,identity,size,xxh3,seen_us,trusted,leaves,seal) "
                                  "VALUES(?,?,?,?,?,?,?,?,?)"));
        for (const auto& [key, sight] : sights) {
            DS_TRY(const std::vector<ObjectName> names, namesToWrite(source, key, sight));
            for (const ObjectName& name : names) {
                insert.bind(1, name.source).bind(2, name.key).bind(3, sight.identity);
                insert.bind(4, static_cast<std::int64_t>(sight.sizeBytes)).bind(5, sight.xxh3).bind(6, sight.seenUs);
                insert.bind(7, static_cast<std::int64_t>(sight.trusted))
                    .bindBlob(8, std::as_bytes(std::span(sight.leaves)));
                DS_CHECK(insert.bind(9, sealOfSight(name.source, name.key, sight)).run());
            }
        }
        return transaction.commit();
    }

    Result<std::vector<Event>> readEvents(const std::string& source, std::size_t limit)
    {
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT seen_us,what,seal FROM event WHERE source=? ORDER BY rowid DESC LIMIT ?"));
        rows.bind(1, source).bind(2, static_cast<std::int64_t>(limit));
        std::vector<Event> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                break;
            const std::int64_t seenUs = rows.integer(0);
            const std::string what = rows.text(1);
            if (rows.text(2) == sealOfEvent(source, seenUs, what))
                found.push_back(Event { seenUs, errorFromJson(nlohmann::json::parse(what, nullptr, false)) });
            else
                found.push_back(
                    Event { 0,
                            Error { Code::Catalog, "an entry of the journal of this source is damaged", m_path,
                                    std::nullopt, "look at the journal in a copy of the file, if there is one" } });
        }
        std::reverse(found.begin(), found.end());
        return found;
    }

    Result<void> writeEvents(const std::string& source, const std::vector<Event>& events)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        DS_TRY(sqlite::Statement insert,
               m_database.prepare("INSERT INTO event(source,seen_us,what,seal) VALUES(?,?,?,?)"));
        for (const Event& event : events) {
            const std::string what =
                errorToJson(event.what).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
            insert.bind(1, source).bind(2, event.seenUs).bind(3, what);
            DS_CHECK(insert.bind(4, sealOfEvent(source, event.seenUs, what)).run());
        }
        return transaction.commit();
    }

    std::string m_path;
    std::mutex m_mutex;
    sqlite::Database m_database;
    bool m_sound = false; ///< checkOnce() has found nothing
};

class UnusableRecords final : public Records {
public:
    explicit UnusableRecords(Error why)
        : m_why(std::move(why))
    {
    }
    Result<void> check() override { return fail(m_why); }
    Result<std::vector<Sight>> sights(const std::string&, const std::string&) override { return fail(m_why); }
    Result<void> add(const std::string&, const std::vector<std::pair<std::string, Sight>>&) override
    {
        return fail(m_why);
    }
    Result<std::vector<Event>> events(const std::string&, std::size_t) override { return fail(m_why); }
    Result<void> addEvents(const std::string&, const std::vector<Event>&) override { return fail(m_why); }
    Result<std::optional<Continuity>> continuity(const std::string&, const std::string&) override
    {
        return fail(m_why);
    }
    Result<void> addContinuity(const std::string&, const std::string&, const Continuity&) override
    {
        return fail(m_why);
    }
    Result<std::map<std::string, KnownObject>> objects(const std::string&) override { return fail(m_why); }
    Result<bool> cover(const std::string&) override { return fail(m_why); }
    Result<void> begin(const std::string&, std::int64_t) override { return fail(m_why); }
    Result<std::map<std::string, std::int64_t>> accepted(const std::string&) override { return fail(m_why); }
    Result<void> accept(const std::string&, const std::vector<std::string>&, std::int64_t) override
    {
        return fail(m_why);
    }
    Result<std::map<std::string, std::int64_t>> numbers(const std::string&) override { return fail(m_why); }
    Result<void> addNumbers(const std::string&, const std::map<std::string, std::int64_t>&) override
    {
        return fail(m_why);
    }
    Result<std::set<std::string>> mirrors(const std::string&) override { return fail(m_why); }
    Result<void> addMirror(const std::string&, const std::string&, std::int64_t) override { return fail(m_why); }

private:
    Error m_why;
};

}

Result<std::unique_ptr<Records>> Records::open(const std::string& path, std::chrono::milliseconds patience)
{
    Result<sqlite::Database> database = openRecordsFile(path, patience);
    if (!database)
        return fail(ofRecords(std::move(database.error()), path));
    return std::unique_ptr<Records>(std::make_unique<SqliteRecords>(path, std::move(*database)));
}

std::unique_ptr<Records> unusableRecords(Error why) { return std::make_unique<UnusableRecords>(std::move(why)); }

} // namespace deltascope
