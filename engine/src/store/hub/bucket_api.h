#pragma once

#include "hub_api.h"
#include "hub_json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::hub {

/// One line of a batch of changes.
struct BatchOperation {
    enum class Kind : std::uint8_t { Add, Copy, Delete };
    Kind kind = Kind::Add;
    std::string path;
    std::string xetHash; ///< Add, Copy
    std::int64_t mtimeMs = 0; ///< Add, Copy: since 1970; "hf buckets sync" compares it with local files
};

/// The routes of one bucket, whose paths are those of the whole bucket (huggingface_hub 2.4.0: hf_api.py,
/// list_bucket_tree, get_bucket_paths_info, batch_bucket_files, bucket_info, create_bucket). Any thread.
class BucketApi {
public:
    BucketApi(std::shared_ptr<const HubApi> hub, std::string ns, std::string name);

    const HubApi& hub() const noexcept { return *m_hub; }
    const std::string& id() const noexcept { return m_id; }
    Subject subject(std::string where = {}) const { return { "bucket " + m_id, std::move(where) }; }
    /// "/api/buckets/NS/NAME".
    const std::string& route() const noexcept { return m_route; }

    /// All files whose paths begin with `prefix`, each once, in byte order. More than `mostFiles`, or pages that do not
    /// end, are Hostile; nothing of a listing that failed is kept.
    Result<std::vector<HubFile>> tree(const std::string& prefix, std::size_t mostFiles, TaskContext& task) const;

    /// What stands under these paths now; those where nothing does are left out. In any order.
    Result<std::vector<HubFile>> pathsInfo(const std::vector<std::string>& paths, TaskContext& task) const;

    Result<BucketInfo> info(TaskContext& task) const;
    Result<bool> create(bool isPrivate, TaskContext& task) const;

    /// Carries them out, 500 in a request; no path may occur twice. What the Hub says that it did not do is sent again,
    /// up to three times in all. Nothing here proves that it was done: see with pathsInfo().
    std::vector<Result<void>> apply(const std::vector<BatchOperation>& operations, TaskContext& task) const;

private:
    Result<std::vector<std::size_t>> send(const std::vector<BatchOperation>& operations,
                                          const std::vector<std::size_t>& which, std::vector<Result<void>>& outcomes,
                                          TaskContext& task) const;
    void applySome(const std::vector<BatchOperation>& operations, std::vector<std::size_t> which,
                   std::vector<Result<void>>& outcomes, TaskContext& task) const;

    std::shared_ptr<const HubApi> m_hub;
    std::string m_id;
    std::string m_route;
};

/// The folder or file name to ask for, so that all paths that begin with `prefix` are listed, and which a URL keeps as
/// it is; others are listed too.
std::string listedPrefix(std::string_view prefix);

/// A path that a bucket can hold: UTF-8 without a backslash, besides what checkKey wants. Errors: Usage.
Result<void> checkHubPath(std::string_view path);

} // namespace deltascope::hub
