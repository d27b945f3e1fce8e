#pragma once

#include "session.h"

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace deltascope::layout_test {

/// A writable copy of a case of tests/golden, with the times of its objects where they matter.
class GoldenCopy {
public:
    explicit GoldenCopy(const std::string& name)
        : expected(expectedOf(name))
    {
        namespace fs = std::filesystem;
        fs::copy(goldenPath(name) + "/bucket", bucket(), fs::copy_options::recursive);
        if (fs::exists(goldenPath(name) + "/base"))
            base = localStore(goldenPath(name) + "/base");
        if (std::ifstream times(goldenPath(name) + "/mtimes.json"); times) {
            const Json list = Json::parse(times);
            for (const auto& [key, seconds] : list.items()) {
                const timespec at[2] = { { seconds.get<time_t>(), 0 }, { seconds.get<time_t>(), 0 } };
                EXPECT_EQ(::utimensat(AT_FDCWD, file(key).c_str(), at, 0), 0);
            }
        }
        store = localStore(bucket());
    }

    std::string bucket() const { return m_folder.path("bucket"); }
    std::string file(std::string_view key) const { return bucket() + "/" + std::string(key); }
    std::string read(std::string_view key) const { return m_folder.read("bucket/" + std::string(key)); }
    void write(std::string_view key, std::string_view bytes) const
    {
        std::filesystem::remove(file(key)); // another inode, as writers that rename leave it
        m_folder.write("bucket/" + std::string(key), bytes);
    }
    void flip(std::string_view key, std::size_t at) const
    {
        std::string bytes = read(key);
        bytes.at(at) ^= 1;
        write(key, bytes);
    }
    /// Writes an object again in its place.
    void edit(const std::string& key, const std::function<void(std::string&)>& change) const
    {
        std::string bytes = read(key);
        change(bytes);
        m_folder.write("bucket/" + key, bytes);
    }

    Json expected;
    std::shared_ptr<ObjectStore> store;
    std::shared_ptr<ObjectStore> base; ///< null: none is needed

private:
    test::TempDir m_folder;
};

/// A copy, and who looks at it and remembers everything.
class GoldenRun : public GoldenCopy {
public:
    explicit GoldenRun(const std::string& name)
        : GoldenCopy(name)
    {
        session.openCatalog();
        session.openRecords();
        session.openDisk();
    }

    Result<deltascope::Run> open() { return session.open(localStore(bucket()), base); }
    /// Opened and analyzed.
    deltascope::Run analyzed() { return session.analyzed(localStore(bucket()), base); }
    Result<CheckpointDigest> digest(const deltascope::Run& run, std::int64_t step, StateChoice state)
    {
        DS_TRY(const Plan plan, planFor(run, *run.find(step), { .state = state }));
        DS_TRY(const PathPtr path, openPath(run, plan, { 2 }, session.task));
        return digestState(session.bench, *path, session.task);
    }
    Result<VerifyReport> verify(deltascope::Run& run, int level)
    {
        VerifyOptions options;
        options.level = level;
        return verifyRun(session.bench, run, options, session.task);
    }

    Session session;
};

} // namespace deltascope::layout_test
