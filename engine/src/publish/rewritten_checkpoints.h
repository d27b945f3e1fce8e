#pragma once

#include "publish/checkpoint_queue.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace deltascope {

/// Finds published checkpoints that hold something else by now.
class RewrittenCheckpoints {
public:
    using Say = std::function<void(const std::string& name, const std::string& why)>;

    /// `queue` and `publisher` outlive it.
    RewrittenCheckpoints(CheckpointQueue& queue, const Publisher& publisher, Say say);

    /// A checkpoint as it was published. `root`: of its state; empty: not recorded.
    void add(const Version& checkpoint, const std::string& root);
    /// Those that acts before this one published, by name. Where files are younger than what was published from them,
    /// the next looks compare contents.
    void addPast(const std::map<std::string, PublishedCheckpoint>& published);
    /// Whether some of these are not compared yet.
    bool waits() const noexcept { return !m_unsure.empty(); }

    /// Compares each checkpoint whose weights are other files by now, once it is quiet, and names it where it holds
    /// something else. What is gone is not named: trainers remove old checkpoints, piece by piece. Errors: Canceled.
    Result<void> look(TaskContext& task);

private:
    struct Read {
        std::map<std::string, std::size_t, std::less<>> files; ///< hash of the identity of weights, by key
        std::string root;
    };
    struct Unsure {
        std::string name;
        std::string root;
    };

    Result<void> lookAtUnsure(TaskContext& task);
    void takeForCopies();
    bool hasOtherFiles(const Version& checkpoint) const;
    Result<bool> compare(const Version& checkpoint, const std::string& root, TaskContext& task);

    CheckpointQueue& m_queue;
    const Publisher& m_publisher;
    Say m_say;
    std::map<std::string, Read, std::less<>> m_read; ///< by name of the checkpoint
    std::vector<Unsure> m_unsure; ///< the newest first
};

} // namespace deltascope
