#pragma once

#include "../../base/file_handle.h"
#include "../../base/raw_bytes.h"
#include "../../base/serial_jobs.h"
#include "leaf_file.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace deltascope {

/// Leaves of objects in a folder, from one start of the program to the next; processes may share it. Neighbors that
/// came together are one file. What a store has not yet compared with its digest of the object is not settled and dies
/// with the process. The cache only saves time: a leaf that is damaged, gone or of another object is one that is not
/// there, and where the folder cannot be used nothing is kept. Files: docs/formats/cache.md. Any thread.
class DiskCache {
public:
    static constexpr std::uint64_t DefaultCapBytes = std::uint64_t { 8 } << 30;

    /// Makes the folder (mode 0700) if need be. One that others may write to is not used: who can write there could
    /// give wrong bytes. `capBytes`: what the files take at most; those that were not used for the longest time go
    /// first.
    explicit DiskCache(const std::string& folder, std::uint64_t capBytes = DefaultCapBytes);
    ~DiskCache();
    DiskCache(const DiskCache&) = delete;
    DiskCache& operator=(const DiskCache&) = delete;

    /// The bytes of a leaf as they were kept: `bytes` of them. `object`: a name that no other bytes have.
    std::optional<RawBytes> read(std::string_view object, std::uint64_t leaf, std::uint64_t bytes);
    /// Whether read() will probably find it.
    bool mayHave(std::string_view object, std::uint64_t leaf) const;
    // These three are carried out later, by a thread of the cache and in their order.

    /// Writes leaves of one window, which read() does not find before settle(). Those that wait for it take half of the
    /// cap at most. `bytes`: they never change again; 32 MiB of them wait to be written at most, then so does the
    /// caller.
    void keep(std::string_view object, const LeafRange& leaves, std::shared_ptr<const RawBytes> bytes);
    /// What was kept of an object is as good as the store can say.
    void settle(std::string_view object);
    /// What was kept of an object and not settled is not its bytes.
    void discard(std::string_view object);

    /// Removes all that is kept of an object of this size, settled or not, before it returns.
    void forget(std::string_view object, std::uint64_t objectBytes);
    /// Waits until what the three were asked for is done.
    void finish() { m_jobs.finish(); }

    /// Why nothing is kept, or was not lately.
    std::optional<Error> problem() const;

private:
    struct Written {
        LeafRange leaves;
        std::string path; ///< below the folder of the leaves
        std::uint64_t takenBytes = 0;
    };
    using Unsettled = std::vector<Written>;
    struct Found {
        FileHandle file;
        struct stat status = {};
        std::string path; ///< below the folder of the leaves
        std::uint64_t firstLeaf = 0;
        LeafFileShape shape;
    };

    Result<void> openFolder(const std::string& folder);
    std::optional<Found> find(std::string_view object, std::uint64_t leaf) const;
    std::optional<RawBytes> readSound(const Found& found, std::string_view object, std::uint64_t leaf,
                                      std::uint64_t bytes) const;
    void keepNow(const std::string& object, const LeafRange& leaves, ByteSpan bytes);
    void settleNow(const std::string& object);
    /// Returns the path of a file beside the place of the leaves.
    Result<std::string> write(std::string_view object, const LeafRange& leaves, ByteSpan bytes);
    bool addUnsettled(std::string_view object, Written written);
    Unsettled takeUnsettled(std::string_view object);
    void removeAll(const Unsettled& files);
    bool hasRoomFor(std::uint64_t bytes);
    bool trim();
    void note(Error error);

    const std::string m_folder;
    const std::uint64_t m_cap;
    FileHandle m_leaves; ///< the folder of the leaves; without: nothing is kept
    FileHandle m_lock;
    mutable std::mutex m_mutex; ///< guards what follows
    std::optional<Error> m_problem;
    std::chrono::steady_clock::time_point m_pausedUntil; ///< nothing is written before
    std::uint64_t m_sinceTrim = 0; ///< bytes that were written since the folder was last looked through
    bool m_isTrimmed = false; ///< it was, by this process
    std::map<std::string, Unsettled, std::less<>> m_unsettled; ///< by object
    std::uint64_t m_unsettledBytes = 0;
    SerialJobs m_jobs; ///< last: they use everything above
};

} // namespace deltascope
