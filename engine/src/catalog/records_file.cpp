#include "records_file.h"

#include "record_seals.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace deltascope {

namespace {

/// Raise when a table changes, and bring older files there in migrateRecords(). Version 0.1 wrote 0.
constexpr std::int64_t RecordsSchemaVersion = 4;

constexpr const char* SchemaOfFirstRecords = R"(
        CREATE TABLE IF NOT EXISTS sight(source TEXT NOT NULL, key TEXT NOT NULL, identity TEXT NOT NULL,
            size INTEGER NOT NULL, xxh3 TEXT NOT NULL, seen_us INTEGER NOT NULL, trusted INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS sight_of ON sight(source, key);
        CREATE TABLE IF NOT EXISTS event(source TEXT NOT NULL, seen_us INTEGER NOT NULL, what TEXT NOT NULL);
        CREATE INDEX IF NOT EXISTS event_of ON event(source);
    )";

Result<std::int64_t> recordsVersion(sqlite::Database& database)
{
    DS_TRY(sqlite::Statement row, database.prepare("PRAGMA user_version"));
    DS_TRY([[maybe_unused]] const bool found, row.step());
    return row.integer(0);
}

/// Seals what version 0.1 has written.
Result<void> sealRows(sqlite::Database& database)
{
    std::vector<std::pair<std::int64_t, std::string>> sights;
    {
        DS_TRY(sqlite::Statement rows,
               database.prepare("SELECT rowid,source,key,identity,size,xxh3,seen_us,trusted FROM sight"));
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                break;
            const Records::Sight sight { rows.text(3),         static_cast<std::uint64_t>(rows.integer(4)),
                                         rows.text(5),         rows.integer(6),
                                         rows.integer(7) != 0, {} };
            sights.emplace_back(rows.integer(0), sealOfSight(rows.text(1), rows.text(2), sight));
        }
    }
    std::vector<std::pair<std::int64_t, std::string>> events;
    {
        DS_TRY(sqlite::Statement rows, database.prepare("SELECT rowid,source,seen_us,what FROM event"));
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                break;
            events.emplace_back(rows.integer(0), sealOfEvent(rows.text(1), rows.integer(2), rows.text(3)));
        }
    }
    DS_TRY(sqlite::Statement sealSight, database.prepare("UPDATE sight SET seal=? WHERE rowid=?"));
    for (const auto& [place, seal] : sights)
        DS_CHECK(sealSight.bind(1, seal).bind(2, place).run());
    DS_TRY(sqlite::Statement sealEvent, database.prepare("UPDATE event SET seal=? WHERE rowid=?"));
    for (const auto& [place, seal] : events)
        DS_CHECK(sealEvent.bind(1, seal).bind(2, place).run());
    return {};
}

/// Version 0.1 knew neither leaves nor seals.
Result<void> migrateFirstRecords(sqlite::Database& database)
{
    DS_CHECK(database.execute(SchemaOfFirstRecords));
    DS_CHECK(database.execute("ALTER TABLE sight ADD COLUMN leaves BLOB NOT NULL DEFAULT x''"));
    DS_CHECK(database.execute("ALTER TABLE sight ADD COLUMN seal TEXT NOT NULL DEFAULT ''"));
    DS_CHECK(database.execute("ALTER TABLE event ADD COLUMN seal TEXT NOT NULL DEFAULT ''"));
    DS_CHECK(database.execute(
        "CREATE TABLE continuity(source TEXT NOT NULL, question TEXT NOT NULL, continues INTEGER NOT NULL, "
        "why TEXT NOT NULL, decided_us INTEGER NOT NULL, seal TEXT NOT NULL);"
        "CREATE INDEX continuity_of ON continuity(source, question)"));
    return sealRows(database);
}

/// Whether a file holds records of any version, be it none of a source. A file of no bytes does not.
Result<bool> holdsRecords(sqlite::Database& database)
{
    DS_TRY(sqlite::Statement row, database.prepare("SELECT 1 FROM sqlite_master WHERE type='table' AND name='sight'"));
    return row.step();
}

/// Brings a new file, or an older one, to the schema of today, whole or not at all.
Result<void> migrateRecords(sqlite::Database& database)
{
    DS_CHECK(database.checkIndices()); // damage must not get a seal
    DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    DS_TRY(const std::int64_t version, recordsVersion(database));
    if (version < RecordsSchemaVersion) { // else another process was faster
        DS_TRY(const bool isOlder, holdsRecords(database));
        if (version == 0)
            DS_CHECK(migrateFirstRecords(database));
        if (version < 2)
            DS_CHECK(database.execute("CREATE TABLE mirror(source TEXT NOT NULL, address TEXT NOT NULL, "
                                      "named_us INTEGER NOT NULL, seal TEXT NOT NULL);"
                                      "CREATE INDEX mirror_of ON mirror(source)"));
        if (version < 3)
            DS_CHECK(database.execute("CREATE TABLE covered(source TEXT PRIMARY KEY, since_us INTEGER NOT NULL);"
                                      "CREATE TABLE accepted(source TEXT NOT NULL, finding TEXT NOT NULL, "
                                      "accepted_us INTEGER NOT NULL, seal TEXT NOT NULL);"
                                      "CREATE INDEX accepted_of ON accepted(source)"));
        if (version < 3 && isOlder)
            DS_CHECK(database.execute(fmt::format("INSERT INTO covered VALUES('{}',0)", EverySource)));
        DS_CHECK(database.execute("CREATE TABLE number(source TEXT NOT NULL, version TEXT NOT NULL, "
                                  "number INTEGER NOT NULL, seal TEXT NOT NULL);"
                                  "CREATE INDEX number_of ON number(source)"));
    }
    DS_CHECK(database.execute(fmt::format("PRAGMA user_version={}", std::max(version, RecordsSchemaVersion))));
    return transaction.commit();
}

} // namespace

Result<sqlite::Database> openRecordsFile(const std::string& path, std::chrono::milliseconds patience)
{
    DS_TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Database::Durability::Full, patience));
    DS_TRY(const std::int64_t version, recordsVersion(database));
    if (version >= 0 && version < RecordsSchemaVersion)
        DS_CHECK(migrateRecords(database));
    else if (version != RecordsSchemaVersion)
        return fail(Code::Catalog,
                    fmt::format("the file has version {}, this program knows {} and older ones", version,
                                RecordsSchemaVersion));
    return database;
}

} // namespace deltascope
