#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace deltascope::sqlite {

/// A prepared statement. Columns and parameters count from 0 and 1, as in SQLite.
class Statement {
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, std::string_view text);
    Statement& bindBlob(int parameter, ByteSpan bytes);
    Statement& bindOptional(int parameter, std::optional<std::int64_t> value);

    /// True for a row, false at the end. Errors: Catalog.
    Result<bool> step();
    /// Runs to the end and can be bound again. Errors: Catalog.
    Result<void> run();
    /// Leaves out what rows are left; can be bound again.
    void reset();

    std::int64_t integer(int column) const;
    std::optional<std::int64_t> optionalInteger(int column) const;
    std::string text(int column) const;
    ByteSpan blob(int column) const; ///< until the next step

private:
    friend class Database;
    Statement(sqlite3* database, sqlite3_stmt* statement)
        : m_database(database)
        , m_statement(statement)
    {
    }
    sqlite3* m_database;
    sqlite3_stmt* m_statement;
};

/// One database file, used by one thread at a time.
class Database {
public:
    enum class Durability { Normal, Full };
    /// Opens or creates in WAL mode. `patience`: with another process that has the file locked. Errors: Catalog,
    /// Transient.
    static Result<Database> open(const std::string& path, Durability durability,
                                 std::chrono::milliseconds patience = std::chrono::seconds(5));
    Database(Database&& other) noexcept;
    Database& operator=(Database&&) = delete;
    ~Database();

    Result<void> execute(const std::string& sql);
    Result<Statement> prepare(std::string_view sql);
    /// "ok" or what PRAGMA quick_check complains about.
    Result<void> check();
    /// As check(), and whether indices and tables agree: else a row may be there that no query finds.
    Result<void> checkIndices();

private:
    Result<void> runCheck(std::string_view pragma);
    explicit Database(sqlite3* handle)
        : m_handle(handle)
    {
    }
    sqlite3* m_handle;
};

/// Rolls back unless committed.
class Transaction {
public:
    static Result<Transaction> begin(Database& database);
    Transaction(Transaction&& other) noexcept
        : m_database(std::exchange(other.m_database, nullptr))
    {
    }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    explicit Transaction(Database& database)
        : m_database(&database)
    {
    }
    Database* m_database;
};

} // namespace deltascope::sqlite
