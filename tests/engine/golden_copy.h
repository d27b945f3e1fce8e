#pragma once

#include "deltascope/engine/operations.h"

#include "layout_fixture.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <memory>

namespace deltascope::layout_test {

/// A writable copy of a case of tests/golden, with catalog and records of its own.
class GoldenCopy {
public:
    explicit GoldenCopy(const std::string& name)
        : expected(Golden(name).expected)
    {
        namespace fs = std::filesystem;
        fs::copy(goldenPath(name) + "/bucket", bucket(), fs::copy_options::recursive);
        if (fs::exists(goldenPath(name) + "/base"))
            fs::copy(goldenPath(name) + "/base", folder.path("base"), fs::copy_options::recursive);
        catalog = std::move(*Catalog::open(folder.path("catalog.sqlite")));
        records = std::move(*Records::open(folder.path("records.sqlite")));
        disk = makeFileSystem();
        bench.layouts = builtinLayouts();
        bench.catalog = catalog.get();
        bench.records = records.get();
        bench.disk = disk.get();
        bench.scratchFolder = folder.path();
        bench.nowUs = [] { return std::int64_t { 4'000'000'000'000'000 }; };
    }

    std::string bucket() const { return folder.path("bucket"); }
    std::string file(std::string_view key) const { return bucket() + "/" + std::string(key); }
    std::string read(std::string_view key) const
    {
        std::ifstream in(file(key), std::ios::binary);
        return { std::istreambuf_iterator<char>(in), {} };
    }
    void write(std::string_view key, std::string_view bytes) const
    {
        std::filesystem::remove(file(key)); // another inode, as writers that rename leave it
        std::ofstream(file(key), std::ios::binary) << bytes;
    }
    void flip(std::string_view key, std::size_t at) const
    {
        std::string bytes = read(key);
        bytes.at(at) ^= 1;
        write(key, bytes);
    }

    Result<deltascope::Run> open()
    {
        OpenOptions options;
        if (std::filesystem::exists(folder.path("base")))
            options.base = std::move(*openLocalStore(folder.path("base")));
        return openRun(bench, std::move(*openLocalStore(bucket())), options, task);
    }
    /// Opened and analyzed.
    deltascope::Run analyzed()
    {
        auto run = open();
        EXPECT_TRUE(run) << run.error().text;
        EXPECT_TRUE(analyzeRun(bench, *run, {}, task));
        return std::move(*run);
    }
    Result<CheckpointDigest> digest(const deltascope::Run& run, std::int64_t step, StateChoice state)
    {
        DS_TRY(const Plan plan, planFor(run, *run.find(step), { .state = state }));
        DS_TRY(const Chain chain, Chain::open(run, plan, task));
        return digestState(bench, chain, task);
    }

    test::TempDir folder;
    Json expected;
    std::unique_ptr<Catalog> catalog;
    std::unique_ptr<Records> records;
    std::unique_ptr<FileSystem> disk;
    Workbench bench;
    TaskContext task;
};

} // namespace deltascope::layout_test
