#include "deltascope/engine/catalog.h"

#include "error_json.h"
#include "sqlite.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

class SqliteRecords final : public Records {
public:
    explicit SqliteRecords(sqlite::Database database)
        : m_database(std::move(database))
    {
    }

    Result<std::vector<Sight>> sights(const std::string& source, const std::string& key) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT identity,size,xxh3,seen_us,trusted FROM sight WHERE source=? AND key=? "
                                  "ORDER BY seen_us,rowid"));
        rows.bind(1, source).bind(2, key);
        std::vector<Sight> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return found;
            found.push_back(Sight { rows.text(0), static_cast<std::uint64_t>(rows.integer(1)), rows.text(2),
                                    rows.integer(3), rows.integer(4) != 0 });
        }
    }

    Result<void> add(const std::string& source, const std::vector<std::pair<std::string, Sight>>& sights) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        for (const auto& [key, sight] : sights) {
            DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO sight VALUES(?,?,?,?,?,?,?)"));
            DS_CHECK(insert.bind(1, source)
                         .bind(2, key)
                         .bind(3, sight.identity)
                         .bind(4, static_cast<std::int64_t>(sight.sizeBytes))
                         .bind(5, sight.xxh3)
                         .bind(6, sight.seenUs)
                         .bind(7, static_cast<std::int64_t>(sight.trusted))
                         .run());
        }
        return transaction.commit();
    }

    Result<std::vector<Event>> events(const std::string& source, std::size_t limit) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT seen_us,what FROM event WHERE source=? ORDER BY rowid DESC LIMIT ?"));
        rows.bind(1, source).bind(2, static_cast<std::int64_t>(limit));
        std::vector<Event> found;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                break;
            const nlohmann::json what = nlohmann::json::parse(rows.text(1), nullptr, false);
            found.push_back(Event { rows.integer(0), errorFromJson(what) });
        }
        std::reverse(found.begin(), found.end());
        return found;
    }

    Result<void> addEvents(const std::string& source, const std::vector<Event>& events) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(m_database));
        for (const Event& event : events) {
            DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO event VALUES(?,?,?)"));
            const std::string what =
                errorToJson(event.what).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
            DS_CHECK(insert.bind(1, source).bind(2, event.seenUs).bind(3, what).run());
        }
        return transaction.commit();
    }

    Result<std::optional<Continuity>> continuity(const std::string& source, const std::string& question) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Statement rows,
               m_database.prepare("SELECT continues,why,decided_us FROM continuity WHERE source=? AND question=? "
                                  "ORDER BY rowid DESC LIMIT 1"));
        rows.bind(1, source).bind(2, question);
        DS_TRY(const bool row, rows.step());
        if (!row)
            return std::optional<Continuity>();
        return std::optional<Continuity>(Continuity { rows.integer(0) != 0, rows.text(1), rows.integer(2) });
    }

    Result<void> addContinuity(const std::string& source, const std::string& question,
                               const Continuity& answer) override
    {
        const std::lock_guard lock(m_mutex);
        DS_TRY(sqlite::Statement insert, m_database.prepare("INSERT INTO continuity VALUES(?,?,?,?,?)"));
        return insert.bind(1, source)
            .bind(2, question)
            .bind(3, static_cast<std::int64_t>(answer.continues))
            .bind(4, answer.why)
            .bind(5, answer.decidedUs)
            .run();
    }

private:
    std::mutex m_mutex;
    sqlite::Database m_database;
};

}

Result<std::unique_ptr<Records>> Records::open(const std::string& path)
{
    DS_TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Database::Durability::Full));
    DS_CHECK(database.execute(
        "CREATE TABLE IF NOT EXISTS sight(source TEXT NOT NULL, key TEXT NOT NULL, identity TEXT NOT NULL, "
        "size INTEGER NOT NULL, xxh3 TEXT NOT NULL, seen_us INTEGER NOT NULL, trusted INTEGER NOT NULL)"));
    DS_CHECK(database.execute("CREATE INDEX IF NOT EXISTS sight_of ON sight(source, key)"));
    DS_CHECK(database.execute(
        "CREATE TABLE IF NOT EXISTS event(source TEXT NOT NULL, seen_us INTEGER NOT NULL, what TEXT NOT NULL)"));
    DS_CHECK(database.execute("CREATE INDEX IF NOT EXISTS event_of ON event(source)"));
    DS_CHECK(database.execute("CREATE TABLE IF NOT EXISTS continuity(source TEXT NOT NULL, question TEXT NOT NULL, "
                              "continues INTEGER NOT NULL, why TEXT NOT NULL, decided_us INTEGER NOT NULL)"));
    DS_CHECK(database.execute("CREATE INDEX IF NOT EXISTS continuity_of ON continuity(source, question)"));
    return std::unique_ptr<Records>(std::make_unique<SqliteRecords>(std::move(database)));
}

} // namespace deltascope
