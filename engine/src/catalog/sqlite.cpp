#include "sqlite.h"

#include "../base/errno_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>

namespace deltascope::sqlite {

namespace {
/// Catalog means that the file is damaged; everything else is about the machine and may pass.
Code codeOf(int sqliteCode)
{
    switch (sqliteCode & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // a table or column that should be there is not
        return Code::Catalog;
    case SQLITE_FULL:
        return Code::NoSpace;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return Code::Transient;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return Code::Auth;
    default:
        return Code::Io;
    }
}

tl::unexpected<Error> failure(sqlite3* handle, std::string_view what)
{
    const int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
    const char* file = handle ? sqlite3_db_filename(handle, "main") : nullptr;
    int system = (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(handle) : 0;
    if (handle && sqlite3_extended_errcode(handle) == SQLITE_IOERR_SHMSIZE) // which keeps no errno
        system = ENOSPC;
    if (codeOfErrno(system) == Code::NoSpace) // which not all of its writes tell as SQLITE_FULL
        return failErrno(what, system, file ? file : "");
    return fail(codeOf(code), fmt::format("{}: {}", what, handle ? sqlite3_errmsg(handle) : "out of memory"),
                file ? file : "");
}
}

Statement::Statement(Statement&& other) noexcept
    : m_database(other.m_database)
    , m_statement(std::exchange(other.m_statement, nullptr))
{
}

Statement::~Statement() { sqlite3_finalize(m_statement); }

Statement& Statement::bind(int parameter, std::int64_t value)
{
    sqlite3_bind_int64(m_statement, parameter, value);
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view text)
{
    sqlite3_bind_text64(m_statement, parameter, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return *this;
}

Statement& Statement::bindBlob(int parameter, ByteSpan bytes)
{
    if (bytes.empty()) // a null pointer would bind NULL
        sqlite3_bind_zeroblob(m_statement, parameter, 0);
    else
        sqlite3_bind_blob64(m_statement, parameter, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::bindOptional(int parameter, std::optional<std::int64_t> value)
{
    if (value)
        return bind(parameter, *value);
    sqlite3_bind_null(m_statement, parameter);
    return *this;
}

Result<bool> Statement::step()
{
    const int code = sqlite3_step(m_statement);
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return failure(m_database, "reading the database");
}

Result<void> Statement::run()
{
    Result<bool> row = step();
    while (row && *row)
        row = step();
    sqlite3_reset(m_statement);
    sqlite3_clear_bindings(m_statement);
    if (!row)
        return fail(std::move(row.error()));
    return {};
}

void Statement::reset() { sqlite3_reset(m_statement); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_statement, column); }

std::optional<std::int64_t> Statement::optionalInteger(int column) const
{
    if (sqlite3_column_type(m_statement, column) == SQLITE_NULL)
        return std::nullopt;
    return integer(column);
}

std::string Statement::text(int column) const
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
    return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column)))
                : std::string();
}

ByteSpan Statement::blob(int column) const
{
    const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(m_statement, column));
    return { bytes, bytes ? static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column)) : 0 };
}

Result<Database> Database::open(const std::string& path, Durability durability, std::chrono::milliseconds patience)
{
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
    Database database(handle);
    if (code != SQLITE_OK)
        return failure(handle, "opening the database");
    sqlite3_busy_timeout(handle, static_cast<int>(patience.count()));
    DS_CHECK(database.execute("PRAGMA journal_mode=WAL"));
    DS_CHECK(
        database.execute(durability == Durability::Full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
    DS_CHECK(database.execute("PRAGMA foreign_keys=ON"));
    return database;
}

Database::Database(Database&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr))
{
}

Database::~Database() { sqlite3_close_v2(m_handle); }

Result<void> Database::execute(const std::string& sql)
{
    if (sqlite3_exec(m_handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure(m_handle, "changing the database");
    return {};
}

Result<Statement> Database::prepare(std::string_view sql)
{
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(m_handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
        return failure(m_handle, "querying the database");
    return Statement(m_handle, statement);
}

Result<void> Database::check() { return runCheck("PRAGMA quick_check(1)"); }

Result<void> Database::checkIndices() { return runCheck("PRAGMA integrity_check(1)"); }

Result<void> Database::runCheck(std::string_view pragma)
{
    DS_TRY(Statement statement, prepare(pragma));
    DS_TRY(const bool row, statement.step());
    if (!row || statement.text(0) != "ok")
        return fail(Code::Catalog, "the database file is damaged" + (row ? ": " + statement.text(0) : std::string()));
    return {};
}

Result<Transaction> Transaction::begin(Database& database)
{
    DS_CHECK(database.execute("BEGIN IMMEDIATE"));
    return Transaction(database);
}

Transaction::~Transaction()
{
    if (m_database)
        static_cast<void>(m_database->execute("ROLLBACK"));
}

Result<void> Transaction::commit() { return std::exchange(m_database, nullptr)->execute("COMMIT"); }

} // namespace deltascope::sqlite
