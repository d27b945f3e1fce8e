#include "deltascope/engine/catalog.h"

#include "catalog_texts.h"
#include "packed_counts.h"
#include "row_seals.h"
#include "sqlite.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace deltascope {

namespace {

/// Raise when a table changes, or what facts mean; a file of another version stays, and ours is beside it.
constexpr std::int64_t SchemaVersion = 13;

/// Up to this size the whole file is checked whenever it is opened (tens of milliseconds).
constexpr std::uintmax_t CheckedAtOpenBytes = 64U << 20;

constexpr const char* Schema = R"(
        CREATE TABLE IF NOT EXISTS layout(source TEXT PRIMARY KEY, probe TEXT NOT NULL, word TEXT NOT NULL, seal TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS version(
            source TEXT NOT NULL, name TEXT NOT NULL, identity TEXT NOT NULL, full INTEGER NOT NULL, base INTEGER,
            encoding TEXT NOT NULL, digests INTEGER NOT NULL, tensors INTEGER NOT NULL, elements INTEGER NOT NULL,
            counted INTEGER NOT NULL, names BLOB NOT NULL, notes TEXT NOT NULL, own TEXT NOT NULL, seal TEXT NOT NULL,
            PRIMARY KEY(source, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS facts(
            source TEXT NOT NULL, name TEXT NOT NULL, chain TEXT NOT NULL, changed INTEGER NOT NULL, vs_previous INTEGER,
            assigned INTEGER NOT NULL, noops INTEGER NOT NULL, checked INTEGER NOT NULL, failed INTEGER NOT NULL,
            detail TEXT NOT NULL, counts BLOB NOT NULL, seal TEXT NOT NULL, counts_seal TEXT NOT NULL,
            PRIMARY KEY(source, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS seen(
            source TEXT NOT NULL, name TEXT NOT NULL, identity TEXT NOT NULL, seen_us INTEGER NOT NULL, seal TEXT NOT NULL,
            PRIMARY KEY(source, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tensor(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    )";

Result<sqlite::Database> openFile(const std::string& path, std::chrono::milliseconds patience);
void moveAside(const std::string& path);

class SqliteCatalog final : public Catalog {
public:
    SqliteCatalog(std::string path, std::chrono::milliseconds patience, sqlite::Database database)
        : m_path(std::move(path))
        , m_patience(patience)
        , m_database(std::move(database))
    {
    }

    Result<std::map<std::string, KnownVersion>> summaries(const std::string& source) override
    {
        return healed([&] { return readSummaries(source); });
    }
    Result<void> putSummaries(const std::string& source,
                              const std::vector<std::pair<std::string, KnownVersion>>& versions) override
    {
        return healed([&] { return writeSummaries(source, versions); });
    }
    Result<void> forget(const std::string& source, const std::vector<std::string>& versions) override
    {
        return healed([&] { return deleteVersions(source, versions); });
    }
    Result<std::map<std::string, KnownFacts>> facts(const std::string& source) override
    {
        return healed([&] { return readFacts(source); });
    }
    Result<void> putFacts(const std::string& source, const std::string& version, const KnownFacts& known,
                          const std::vector<TensorCount>& counts) override
    {
        return healed([&] { return writeFacts(source, version, known, counts); });
    }
    Result<std::vector<TensorCount>> counts(const std::string& source, const std::string& version,
                                            const std::string& chain) override
    {
        return healed([&] { return readCounts(source, version, chain); });
    }
    Result<std::optional<std::string>> layoutOf(const std::string& source, const std::string& probe) override
    {
        return healed([&] { return readLayout(source, probe); });
    }
    Result<void> putLayout(const std::string& source, const std::string& probe, const std::string& layout) override
    {
        return healed([&] { return writeLayout(source, probe, layout); });
    }
    Result<std::int64_t> seenSince(const std::string& source, const std::string& version, const std::string& identity,
                                   std::int64_t nowUs) override
    {
        DS_TRY(const std::optional<std::int64_t> since,
               healed([&] { return readOrWriteSeen(source, version, identity, nowUs); }));
        return since.value_or(nowUs);
    }
    Result<void> check() override
    {
        const std::lock_guard lock(m_mutex);
        return m_database ? m_database->check() : fail(Code::Catalog, "the catalog cannot be opened again", m_path);
    }

private:
    /// Runs one access. A damaged file is moved aside and begun again; then nothing is known, which is always right.
    template <class Access> auto healed(const Access& access) -> decltype(access())
    {
        const std::lock_guard lock(m_mutex);
        if (!m_database)
            return decltype(access())();
        auto outcome = access();
        if (outcome)
            return outcome;
        m_tensorIds.clear();
        m_tensorNames.clear();
        if (outcome.error().code != Code::Catalog)
            return outcome;
        m_database.reset();
        moveAside(m_path);
        if (Result<sqlite::Database> fresh = openFile(m_path, m_patience))
            m_database.emplace(std::move(*fresh));
        return decltype(access())();
    }

    Result<std::map<std::string, KnownVersion>> readSummaries(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows,
               m_database->prepare("SELECT name,identity,full,base,encoding,digests,tensors,elements,counted,"
                                   "names,notes,own,seal FROM version WHERE source=?"));
        rows.bind(1, source);
        std::map<std::string, KnownVersion> known;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return known;
            KnownVersion version;
            version.identity = rows.text(1);
            VersionSummary& summary = version.summary;
            summary.full = rows.integer(2) != 0;
            summary.declaredBase = rows.optionalInteger(3);
            summary.encoding = rows.text(4);
            summary.digests = static_cast<DigestAlgorithm>(rows.integer(5));
            summary.tensors = static_cast<std::uint32_t>(rows.integer(6));
            summary.storedElements = static_cast<std::uint64_t>(rows.integer(7));
            summary.countsKnown = rows.integer(8) != 0;
            if (const ByteSpan names = rows.blob(9); names.size() == summary.nameSet.size())
                std::memcpy(summary.nameSet.data(), names.data(), names.size());
            summary.notes = notesFromText(rows.text(10));
            addExtras(summary, rows.text(11));
            std::string name = rows.text(0);
            if (rows.text(12) == sealOf(source, name, version))
                known.emplace_hint(known.end(), std::move(name), std::move(version));
        }
    }

    Result<void> writeSummaries(const std::string& source,
                                const std::vector<std::pair<std::string, KnownVersion>>& versions)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(*m_database));
        DS_TRY(sqlite::Statement insert,
               m_database->prepare("INSERT OR REPLACE INTO version VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
        for (const auto& [name, version] : versions) {
            const VersionSummary& summary = version.summary;
            insert.bind(1, source).bind(2, name).bind(3, version.identity).bind(4, std::int64_t(summary.full));
            insert.bindOptional(5, summary.declaredBase).bind(6, summary.encoding);
            insert.bind(7, static_cast<std::int64_t>(summary.digests)).bind(8, std::int64_t(summary.tensors));
            insert.bind(9, static_cast<std::int64_t>(summary.storedElements))
                .bind(10, std::int64_t(summary.countsKnown));
            insert.bindBlob(11, summary.nameSet).bind(12, notesToText(summary.notes));
            insert.bind(13, extrasOf(summary)).bind(14, sealOf(source, name, version));
            DS_CHECK(insert.run());
        }
        return transaction.commit();
    }

    Result<void> deleteVersions(const std::string& source, const std::vector<std::string>& versions)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(*m_database));
        DS_TRY(sqlite::Statement summary, m_database->prepare("DELETE FROM version WHERE source=? AND name=?"));
        DS_TRY(sqlite::Statement seen, m_database->prepare("DELETE FROM seen WHERE source=? AND name=?"));
        // facts are kept by source or by source|base
        DS_TRY(sqlite::Statement facts,
               m_database->prepare(
                   "DELETE FROM facts WHERE (source=?1 OR substr(source,1,length(?1)+1)=?1||'|') AND name=?2"));
        for (const std::string& name : versions) {
            DS_CHECK(summary.bind(1, source).bind(2, name).run());
            DS_CHECK(seen.bind(1, source).bind(2, name).run());
            DS_CHECK(facts.bind(1, source).bind(2, name).run());
        }
        return transaction.commit();
    }

    Result<std::map<std::string, KnownFacts>> readFacts(const std::string& source)
    {
        DS_TRY(sqlite::Statement rows,
               m_database->prepare("SELECT name,chain,changed,vs_previous,assigned,noops,checked,failed,detail,seal "
                                   "FROM facts WHERE source=?"));
        rows.bind(1, source);
        std::map<std::string, KnownFacts> known;
        for (;;) {
            DS_TRY(const bool row, rows.step());
            if (!row)
                return known;
            KnownFacts entry;
            entry.chain = rows.text(1);
            VersionFacts& facts = entry.facts;
            facts.changedElements = static_cast<std::uint64_t>(rows.integer(2));
            if (const auto previous = rows.optionalInteger(3))
                facts.changedVsPrevious = static_cast<std::uint64_t>(*previous);
            facts.assigned = static_cast<std::uint64_t>(rows.integer(4));
            facts.noops = static_cast<std::uint64_t>(rows.integer(5));
            facts.digestsChecked = static_cast<std::uint32_t>(rows.integer(6));
            facts.digestsFailed = static_cast<std::uint32_t>(rows.integer(7));
            addDetail(facts, rows.text(8));
            std::string name = rows.text(0);
            if (rows.text(9) == sealOf(source, name, entry))
                known.emplace_hint(known.end(), std::move(name), std::move(entry));
        }
    }

    Result<void> writeFacts(const std::string& source, const std::string& version, const KnownFacts& known,
                            const std::vector<TensorCount>& counts)
    {
        DS_TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(*m_database));
        std::vector<std::pair<std::uint64_t, std::uint64_t>> packed;
        DS_TRY(NameStatements names, NameStatements::prepare(*m_database));
        for (const TensorCount& count : counts) {
            DS_TRY(const std::uint64_t id, tensorId(count.name, names));
            packed.emplace_back(id, count.changed);
        }
        const VersionFacts& facts = known.facts;
        DS_TRY(sqlite::Statement insert,
               m_database->prepare("INSERT OR REPLACE INTO facts VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"));
        insert.bind(1, source).bind(2, version).bind(3, known.chain);
        insert.bind(4, static_cast<std::int64_t>(facts.changedElements));
        insert.bindOptional(5,
                            facts.changedVsPrevious ? std::optional(static_cast<std::int64_t>(*facts.changedVsPrevious))
                                                    : std::nullopt);
        insert.bind(6, static_cast<std::int64_t>(facts.assigned)).bind(7, static_cast<std::int64_t>(facts.noops));
        insert.bind(8, std::int64_t(facts.digestsChecked)).bind(9, std::int64_t(facts.digestsFailed));
        insert.bind(10, detailOf(facts)).bindBlob(11, packCounts(std::move(packed)));
        insert.bind(12, sealOf(source, version, known)).bind(13, sealOf(known.chain, counts));
        DS_CHECK(insert.run());
        return transaction.commit();
    }

    Result<std::vector<TensorCount>> readCounts(const std::string& source, const std::string& version,
                                                const std::string& chain)
    {
        DS_TRY(sqlite::Statement row,
               m_database->prepare("SELECT counts,counts_seal FROM facts WHERE source=? AND name=? AND chain=?"));
        row.bind(1, source).bind(2, version).bind(3, chain);
        DS_TRY(const bool found, row.step());
        std::vector<TensorCount> result;
        if (!found)
            return result;
        const auto packed = unpackCounts(row.blob(0));
        DS_TRY(sqlite::Statement name, m_database->prepare("SELECT name FROM tensor WHERE id=?"));
        for (const auto& [id, changed] : packed.value_or(std::vector<std::pair<std::uint64_t, std::uint64_t>>())) {
            DS_TRY(const std::string* const known, tensorName(id, name));
            if (known)
                result.push_back(TensorCount { *known, changed });
        }
        if (packed && row.text(1) == sealOf(chain, result))
            return result;
        DS_CHECK(row.run()); // it would keep the row from being removed
        if (Result<void> dropped = dropFacts(source, version); !dropped && dropped.error().code == Code::Catalog)
            return fail(std::move(dropped.error()));
        return std::vector<TensorCount>();
    }

    /// A row that is damaged, or that another program has written, is no more than one that is not there: what it says
    /// is read again.
    Result<void> dropFacts(const std::string& source, const std::string& version)
    {
        m_tensorIds.clear(); // names that the row was read with may be what is damaged
        m_tensorNames.clear();
        DS_TRY(sqlite::Statement row, m_database->prepare("DELETE FROM facts WHERE source=? AND name=?"));
        return row.bind(1, source).bind(2, version).run();
    }

    Result<std::optional<std::string>> readLayout(const std::string& source, const std::string& probe)
    {
        DS_TRY(sqlite::Statement row, m_database->prepare("SELECT word,seal FROM layout WHERE source=? AND probe=?"));
        row.bind(1, source).bind(2, probe);
        DS_TRY(const bool found, row.step());
        if (!found || row.text(1) != seal(source + probe + row.text(0)))
            return std::optional<std::string>();
        return std::optional(row.text(0));
    }

    Result<void> writeLayout(const std::string& source, const std::string& probe, const std::string& layout)
    {
        DS_TRY(sqlite::Statement insert, m_database->prepare("INSERT OR REPLACE INTO layout VALUES(?,?,?,?)"));
        return insert.bind(1, source).bind(2, probe).bind(3, layout).bind(4, seal(source + probe + layout)).run();
    }

    Result<std::optional<std::int64_t>> readOrWriteSeen(const std::string& source, const std::string& version,
                                                        const std::string& identity, std::int64_t nowUs)
    {
        const auto sealAt = [&](std::int64_t seenUs) {
            return seal(fmt::format("{}\n{}\n{}\n{}", source, version, identity, seenUs));
        };
        DS_TRY(sqlite::Statement row,
               m_database->prepare("SELECT seen_us,seal FROM seen WHERE source=? AND name=? AND identity=?"));
        row.bind(1, source).bind(2, version).bind(3, identity);
        DS_TRY(const bool found, row.step());
        if (found && row.integer(0) <= nowUs && row.text(1) == sealAt(row.integer(0)))
            return std::optional(row.integer(0));
        DS_TRY(sqlite::Statement insert, m_database->prepare("INSERT OR REPLACE INTO seen VALUES(?,?,?,?,?)"));
        insert.bind(1, source).bind(2, version).bind(3, identity).bind(4, nowUs).bind(5, sealAt(nowUs));
        DS_CHECK(insert.run());
        return std::optional(nowUs);
    }

    /// Used for each of thousands of names.
    struct NameStatements {
        sqlite::Statement insert, find;

        static Result<NameStatements> prepare(sqlite::Database& database)
        {
            DS_TRY(sqlite::Statement insert, database.prepare("INSERT OR IGNORE INTO tensor(name) VALUES(?)"));
            DS_TRY(sqlite::Statement find, database.prepare("SELECT id FROM tensor WHERE name=?"));
            return NameStatements { std::move(insert), std::move(find) };
        }
    };

    Result<std::uint64_t> tensorId(const std::string& name, NameStatements& names)
    {
        if (const auto at = m_tensorIds.find(name); at != m_tensorIds.end())
            return at->second;
        DS_CHECK(names.insert.bind(1, name).run());
        DS_TRY([[maybe_unused]] const bool found, names.find.bind(1, name).step());
        const auto id = static_cast<std::uint64_t>(names.find.integer(0));
        DS_CHECK(names.find.run());
        keepTensor(name, id);
        return id;
    }

    /// Null if there is none. `find`: a name by its id.
    Result<const std::string*> tensorName(std::uint64_t id, sqlite::Statement& find)
    {
        if (const auto at = m_tensorNames.find(id); at != m_tensorNames.end())
            return at->second;
        DS_TRY(const bool known, find.bind(1, static_cast<std::int64_t>(id)).step());
        const std::string* const name = known ? keepTensor(find.text(0), id) : nullptr;
        DS_CHECK(find.run());
        return name;
    }

    const std::string* keepTensor(std::string name, std::uint64_t id)
    {
        const auto at = m_tensorIds.emplace(std::move(name), id).first;
        return m_tensorNames[id] = &at->first;
    }

    std::string m_path;
    std::chrono::milliseconds m_patience;
    std::mutex m_mutex;
    std::optional<sqlite::Database> m_database; ///< nothing after a damaged file that could not be begun again
    std::unordered_map<std::string, std::uint64_t> m_tensorIds; ///< only ids of committed or own rows
    std::unordered_map<std::uint64_t, const std::string*> m_tensorNames; ///< the same, by id
};

Result<sqlite::Database> openFile(const std::string& path, std::chrono::milliseconds patience)
{
    DS_TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Database::Durability::Normal, patience));
    std::error_code ignored;
    if (std::filesystem::file_size(path, ignored) <= CheckedAtOpenBytes)
        DS_CHECK(database.check());
    std::int64_t version = 0;
    {
        DS_TRY(sqlite::Statement row, database.prepare("PRAGMA user_version"));
        DS_TRY([[maybe_unused]] const bool found, row.step());
        version = row.integer(0);
    }
    if (version != 0 && version != SchemaVersion)
        return fail(Code::Unsupported,
                    fmt::format("the catalog has version {}, this program needs {}", version, SchemaVersion), path);
    DS_CHECK(database.execute(Schema));
    if (version == 0) // a write: not while another process may be writing
        DS_CHECK(database.execute(fmt::format("PRAGMA user_version={}", SchemaVersion)));
    return database;
}

void moveAside(const std::string& path)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    std::rename(path.c_str(), fmt::format("{}.corrupt-{}", path, now).c_str());
    for (const char* suffix : { "-wal", "-shm" })
        std::remove((path + suffix).c_str());
}

}

Result<std::unique_ptr<Catalog>> Catalog::open(const std::string& path, std::chrono::milliseconds patience)
{
    const auto attempt = [patience](const std::string& file) -> Result<std::unique_ptr<Catalog>> {
        DS_TRY(sqlite::Database database, openFile(file, patience));
        return std::unique_ptr<Catalog>(std::make_unique<SqliteCatalog>(file, patience, std::move(database)));
    };
    const auto mended = [&attempt](const std::string& file) {
        Result<std::unique_ptr<Catalog>> opened = attempt(file);
        if (opened || opened.error().code != Code::Catalog)
            return opened;
        moveAside(file); // damaged; it is a cache
        return attempt(file);
    };
    Result<std::unique_ptr<Catalog>> opened = mended(path);
    if (!opened && opened.error().code == Code::Unsupported) // both programs may run at once
        opened = mended(fmt::format("{}.v{}", path, SchemaVersion));
    return opened;
}

} // namespace deltascope
