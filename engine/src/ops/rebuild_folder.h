#pragma once

#include "deltascope/base/short_list.h"
#include "deltascope/engine/evidence.h"
#include "deltascope/engine/file_system.h"
#include "deltascope/engine/hash_tree.h"

#include "output_layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// In the private folder of an unfinished rebuild: the text that its name is the digest of.
inline constexpr std::string_view RebuildPlanName = "deltascope-plan.json";

/// What stands for the name of a destination in the names of private folders: the name itself where the whole fits into
/// the 255 bytes that file systems take, else its beginning and a digest.
std::string stemOf(const std::string& name);

/// What a rebuild has finished of one tensor. There may be a million of them: keep it small.
struct FinishedTensor {
    ShortList<Digest128, 1> leaves; ///< fast leaves of DSM1
    std::uint32_t digestsChecked = 0;
    bool noopsSeen = false;
    Compared compared = Compared::Nothing;
};

/// What an earlier attempt says it has finished of one tensor.
struct ClaimedTensor {
    FinishedTensor tensor;
    std::vector<std::uint64_t> sources; ///< the objects that it was read from (TensorSources); of several parts: none
};
using ClaimedTensors = std::map<std::string, ClaimedTensor>; ///< by name

/// The private folder beside the destination in which a checkpoint grows: `.<name>.ds-<plan>-<pid>-<random>`, or
/// `.<name>.ds-<plan>-shared` for several processes. It is locked as long as its process lives, so a leftover of the
/// same plan can be adopted and gone on with. Everything in it belongs to us; nothing outside of it is touched before
/// publish().
class RebuildFolder {
public:
    struct Request {
        std::string destination;
        std::string plan; ///< text that names everything the result depends on
        std::uint32_t part = 0; ///< of `parts` processes that share the rebuild
        std::uint32_t parts = 1;
        bool commit = false; ///< finish what parts have written, however many there are
    };

    /// Adopts a leftover or makes a folder. Errors: Exists (the destination is there, or another process works on this
    /// part), those of the disk.
    static Result<RebuildFolder> open(FileSystem& disk, const Request& request);

    const std::string& path() const noexcept { return m_path; }
    bool adopted() const noexcept { return m_adopted; }

    /// Removes files of an earlier attempt that the checkpoint does not consist of. Errors: those of the disk.
    Result<void> keepOnly(const OutputLayout& layout);
    /// The output file, created or found, at its full size. Errors: NoSpace and those of the disk.
    Result<std::unique_ptr<OutputFile>> openShard(const OutputShard& shard);

    /// What an earlier attempt says it has finished, by tensor name; to be verified before it is trusted.
    const ClaimedTensors& claimed() const noexcept { return m_claimed; }
    /// Notes a finished tensor. Any thread.
    Result<void> note(const std::string& tensor, const FinishedTensor& finished,
                      const std::vector<std::uint64_t>& sources);
    /// What to do where a file that a part has written is not as it must be.
    std::string howToRepeat(std::size_t shard) const;
    /// Lists what every part has noted. Errors: Unfinished if a part of `parts` has not noted its end.
    Result<ClaimedTensors> collectParts() const;
    /// Notes that this part is done.
    Result<void> notePartEnd();

    /// Writes a small file of the checkpoint, in place of one that an earlier attempt left. Errors: those of the disk.
    Result<void> writeText(std::string_view name, const std::string& text);
    /// Removes our own records, renames the folder to the destination without replacing, syncs the parent.
    Result<void> publish();
    /// At the end of a rebuild that failed: keeps what a later attempt can go on from, and lets the error say so; else
    /// removes it. `rewritten`: an object whose bytes are not those on record (TensorSources); what was read of it is
    /// never gone on from.
    void leave(Error& why, std::optional<std::uint64_t> rewritten) noexcept;
    /// Removes the folder and all in it.
    void discard() noexcept;

private:
    RebuildFolder(FileSystem& disk, Request request)
        : m_disk(&disk)
        , m_request(std::move(request))
        , m_mutex(std::make_unique<std::mutex>())
    {
    }

    Result<bool> adopt(const std::string& parent, const std::string& prefix);
    Result<void> holdNew();
    Result<void> begin(const std::string& parent, const std::string& prefix);
    Result<void> findParts();
    Result<void> openShared(const std::string& parent, const std::string& prefix);
    Result<void> openProgress();
    Result<void> appendProgress(const std::string& line);
    bool forget(std::uint64_t source) noexcept;
    std::string progressName(std::uint32_t part) const;
    Result<void> readProgress(std::uint32_t part, ClaimedTensors& into, bool& ended) const;

    FileSystem* m_disk;
    Request m_request;
    std::string m_path;
    bool m_adopted = false;
    std::unique_ptr<FolderLock> m_lock;
    ClaimedTensors m_claimed;
    std::unique_ptr<OutputFile> m_progress;
    std::uint64_t m_progressEnd = 0;
    std::unique_ptr<std::mutex> m_mutex;
};

/// Folder of `path`, "." if it names none; and its last component. A trailing slash does not count.
std::pair<std::string, std::string> splitPath(std::string path);

} // namespace deltascope
