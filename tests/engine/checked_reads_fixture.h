#pragma once

#include "deltascope/engine/operations.h"

#include "read_hook_store.h"
#include "session.h"
#include "support/faulty_store.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// Who reads a source and compares with what is on record of it, for tests of checked reads.

namespace deltascope::checked_reads_test {

using namespace layout_test;
using test::FaultyStore;

namespace fs = std::filesystem;

using EngineRun = deltascope::Run;

/// Reads and rebuilds one source, with records.
class Reader {
public:
    explicit Reader(std::shared_ptr<ObjectStore> source, std::shared_ptr<ObjectStore> base = {})
        : faulty(std::make_shared<FaultyStore>(std::move(source)))
        , store(std::make_shared<ReadHookStore>(faulty))
        , m_base(std::move(base))
    {
        session.openCatalog(); // so that headers are read by the acts themselves
        session.openRecords();
        session.openDisk();
        session.bench.threads = 1;
    }

    EngineRun open()
    {
        auto run = session.open(store, m_base);
        EXPECT_TRUE(run) << run.error().text;
        return run ? std::move(*run) : EngineRun();
    }
    VerifyReport verify(bool acceptRewritten = false)
    {
        EngineRun run = open();
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        auto report = verifyRun(session.bench, run, options, session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }

    Result<MaterializeReport> rebuild(std::int64_t step)
    {
        const EngineRun run = open();
        fs::remove_all(out());
        const Version& version = *run.find(step);
        DS_TRY(const Plan plan, planFor(run, version));
        MaterializeOptions options;
        options.destination = out();
        options.acceptRewritten = acceptRewritten;
        TaskContext task;
        m_stop = [&] { task.requestStop(); };
        return materialize(session.bench, run, version, plan, options, task);
    }
    void stop() const { m_stop(); }
    Result<PathPtr> pathOf(const EngineRun& run, std::int64_t step)
    {
        DS_TRY(const Plan plan, planFor(run, *run.find(step)));
        return openChecked(session.bench, run, plan, acceptRewritten, session.task);
    }
    Result<std::string> digest(std::int64_t step)
    {
        const EngineRun run = open();
        DS_TRY(const PathPtr path, pathOf(run, step));
        DS_TRY(const CheckpointDigest digest, digestState(session.bench, *path, session.task));
        return toHex(digest.root.fast);
    }
    Result<DiffReport> diff(std::int64_t a, std::int64_t b)
    {
        const EngineRun run = open();
        DS_TRY(const PathPtr left, pathOf(run, a));
        DS_TRY(const PathPtr right, pathOf(run, b));
        return diffStates(session.bench, *left, *right, std::nullopt, session.task);
    }

    std::string out() const { return session.folder.path("out"); }
    Json provenance() const { return Json::parse(std::ifstream(out() + "/deltascope.provenance.json")); }

    Session session;
    std::shared_ptr<FaultyStore> faulty;
    std::shared_ptr<ReadHookStore> store;
    bool acceptRewritten = false;

private:
    std::shared_ptr<ObjectStore> m_base;
    std::function<void()> m_stop;
};

/// Every act that uses bytes refuses them with this word, and names the object.
inline void expectRefused(Reader& reader, std::int64_t step, std::int64_t other, Code code, const std::string& where)
{
    const auto rebuilt = reader.rebuild(step);
    ASSERT_FALSE(rebuilt) << where;
    EXPECT_EQ(rebuilt.error().code, code) << rebuilt.error().text;
    EXPECT_EQ(rebuilt.error().where, where);
    EXPECT_FALSE(rebuilt.error().action.empty());
    EXPECT_FALSE(fs::exists(reader.out()));
    const auto digest = reader.digest(step);
    ASSERT_FALSE(digest) << where;
    EXPECT_EQ(digest.error().code, code) << digest.error().text;
    EXPECT_EQ(digest.error().where, where);
    const auto diff = reader.diff(other, step);
    ASSERT_FALSE(diff) << where;
    EXPECT_EQ(diff.error().code, code) << diff.error().text;
}

/// Where a TRL file keeps the first of its values.
inline std::uint64_t placeOfValue(std::string_view file)
{
    const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(file));
    const Json header = Json::parse(file.substr(8, headerBytes));
    for (const auto& [name, entry] : header.items()) {
        if (name.ends_with(".val"))
            return 8 + headerBytes + entry["data_offsets"][0].get<std::size_t>();
    }
    ADD_FAILURE() << "no values";
    return 0;
}

inline void turnValue(std::string& bytes)
{
    const std::uint64_t at = placeOfValue(bytes);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
}

} // namespace deltascope::checked_reads_test
