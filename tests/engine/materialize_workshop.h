#pragma once

#include "deltascope/engine/operations.h"

#include "layout_fixture.h"
#include "read_hook_store.h"
#include "support/temp_dir.h"
#include "support/times.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

// A folder in which tests of materialize() rebuild steps.

namespace deltascope::materialize_test {

using namespace layout_test;
using test::LongAfter;
using test::TempDir;

namespace fs = std::filesystem;

using EngineRun = deltascope::Run;
using Names = std::set<std::string>;

inline const Error DiskError { Code::Io, "input/output error", "some file", {}, {} };

inline Names namesIn(const std::string& folder)
{
    Names names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

inline std::string textOf(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

/// Names and bytes of everything in a folder.
inline std::map<std::string, std::string> contentOf(const std::string& folder)
{
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file())
            content[entry.path().string()] = textOf(entry.path().string());
    }
    return content;
}

/// Rebuilds steps of one source into a folder of its own.
class Workshop {
public:
    explicit Workshop(std::shared_ptr<ObjectStore> source, std::shared_ptr<ObjectStore> base = {})
        : store(std::make_shared<ReadHookStore>(std::move(source)))
        , m_base(std::move(base))
        , m_real(makeFileSystem())
    {
        bench.layouts = builtinLayouts();
        bench.disk = m_real.get();
        bench.threads = 1;
        bench.nowUs = [] { return LongAfter; };
        options.destination = out();
        options.toolVersion = "test";
        reopen();
    }
    explicit Workshop(const std::string& golden)
        : Workshop(localStore(goldenPath(golden + "/bucket")),
                   fs::exists(goldenPath(golden + "/base")) ? localStore(goldenPath(golden + "/base")) : nullptr)
    {
        expected = expectedOf(golden);
    }

    void reopen()
    {
        OpenOptions open;
        open.base = m_base;
        TaskContext task;
        auto opened = openRun(bench, store, open, task);
        ASSERT_TRUE(opened) << opened.error().text;
        run = std::move(*opened);
    }

    /// The same bucket and base, found elsewhere.
    void moveTo(const std::string& golden)
    {
        store = std::make_shared<ReadHookStore>(localStore(golden + "/bucket"));
        m_base = localStore(golden + "/base");
        reopen();
    }

    std::string out() const { return m_folder.path("out"); }
    std::string folder() const { return m_folder.path(); }
    bool exists() const { return fs::exists(out()); }
    /// Private folders beside the destination.
    Names leftovers() const
    {
        Names names = namesIn(folder());
        names.erase("out");
        return names;
    }
    void reset() const
    {
        for (const auto& entry : fs::directory_iterator(folder()))
            fs::remove_all(entry.path());
    }

    Result<MaterializeReport> rebuild(std::int64_t step, TaskContext& task)
    {
        const Version* version = run.find(step);
        EXPECT_NE(version, nullptr);
        DS_TRY(const Plan plan, planFor(run, *version, { .acrossGap = options.acrossGap }));
        return materialize(bench, run, *version, plan, options, task);
    }
    Result<MaterializeReport> rebuild(std::int64_t step)
    {
        TaskContext task;
        return rebuild(step, task);
    }
    /// Stops at the `nth` read of the source.
    Result<MaterializeReport> rebuildUntil(std::int64_t step, std::uint64_t nth)
    {
        TaskContext task;
        std::uint64_t reads = 0;
        store->onRead = [&](auto&&...) {
            if (++reads == nth)
                task.requestStop();
        };
        auto report = rebuild(step, task);
        store->onRead = {};
        return report;
    }

    /// The checkpoint in the destination, as a reader sees it.
    Result<CheckpointDigest> written() const
    {
        Workbench reader;
        reader.layouts = builtinLayouts();
        reader.threads = 1;
        reader.nowUs = [] { return LongAfter; };
        TaskContext task;
        DS_TRY(const auto opened, openRun(reader, localStore(out()), {}, task));
        DS_TRY(const Plan plan, planFor(opened, opened.versions.at(0)));
        DS_TRY(const PathPtr path, openPath(opened, plan, { 2 }, task));
        return digestState(reader, *path, task);
    }
    void expectWritten(const Json& tensors) const
    {
        const auto digest = written();
        ASSERT_TRUE(digest) << digest.error().text;
        ASSERT_EQ(digest->tensors.size(), tensors.size());
        for (const TensorDigest& tensor : digest->tensors) {
            ASSERT_TRUE(tensors.contains(tensor.tensor.name)) << tensor.tensor.name;
            const Json& truth = tensors[tensor.tensor.name];
            EXPECT_EQ(toHex(tensor.sha256.value()), truth["sha256"].get<std::string>()) << tensor.tensor.name;
            EXPECT_EQ(toHex(tensor.xxh3), truth["xxh3_128"].get<std::string>()) << tensor.tensor.name;
            EXPECT_EQ(word(tensor.tensor.dtype), truth["dtype"].get<std::string>());
            EXPECT_EQ(tensor.tensor.shape, truth["shape"].get<std::vector<std::uint64_t>>());
        }
    }
    Json provenance() const { return Json::parse(textOf(out() + "/deltascope.provenance.json")); }
    void expectStep(std::int64_t step) const
    {
        for (const Json& truth : expected["steps"]) {
            if (truth["step"] == step)
                return expectWritten(truth["tensors"]);
        }
        ADD_FAILURE() << "no step " << step;
    }

    std::shared_ptr<ReadHookStore> store;
    Workbench bench;
    MaterializeOptions options;
    EngineRun run;
    Json expected;

private:
    std::shared_ptr<ObjectStore> m_base;
    std::unique_ptr<FileSystem> m_real;
    TempDir m_folder;
};

} // namespace deltascope::materialize_test
