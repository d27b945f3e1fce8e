#pragma once

#include "deltascope/engine/operations.h"

#include "layout_fixture.h"
#include "support/temp_dir.h"
#include "support/times.h"

#include <memory>
#include <utility>

namespace deltascope::layout_test {

/// A workbench of a test's own. It remembers nothing and writes nothing until it has a catalog, records or a disk.
struct Session {
    Session()
    {
        bench.layouts = builtinLayouts();
        bench.threads = 2;
        bench.nowUs = [this] { return now; };
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void openCatalog()
    {
        auto opened = Catalog::open(folder.path("catalog.sqlite"));
        EXPECT_TRUE(opened);
        catalog = std::move(*opened);
        bench.catalog = catalog.get();
    }
    void openRecords()
    {
        auto opened = Records::open(folder.path("records.sqlite"));
        EXPECT_TRUE(opened);
        records = std::move(*opened);
        bench.records = records.get();
    }
    void openDisk()
    {
        disk = makeFileSystem();
        bench.disk = disk.get();
        bench.scratchFolder = folder.path();
    }

    Result<deltascope::Run> open(std::shared_ptr<ObjectStore> store, std::shared_ptr<ObjectStore> base = {})
    {
        OpenOptions options;
        options.base = std::move(base);
        return openRun(bench, std::move(store), options, task);
    }
    deltascope::Run analyzed(std::shared_ptr<ObjectStore> store, std::shared_ptr<ObjectStore> base = {})
    {
        auto run = open(std::move(store), std::move(base));
        EXPECT_TRUE(run) << run.error().text;
        const auto outcome = analyzeRun(bench, *run, {}, task);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return std::move(*run);
    }

    test::TempDir folder;
    std::unique_ptr<Catalog> catalog;
    std::unique_ptr<Records> records;
    std::unique_ptr<FileSystem> disk;
    Workbench bench;
    TaskContext task;
    std::int64_t now = test::LongAfter;
};

struct CatalogSession : Session {
    CatalogSession() { openCatalog(); }
};

} // namespace deltascope::layout_test
