#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// How errors call the step of what lies beside a version of a run (CheckedFiles::File).
inline std::optional<std::int64_t> stepToTell(const Run& run, const Version& version)
{
    return run.isNamedByAddress(version) ? std::nullopt : std::optional(version.step());
}

/// Reads files that lie beside a state, compared with the records as the state is (openChecked).
class CheckedFiles {
public:
    CheckedFiles(const Workbench& bench, bool acceptRewritten)
        : m_bench(bench)
        , m_acceptRewritten(acceptRewritten)
    {
    }

    struct File {
        std::shared_ptr<const ObjectStore> store;
        ObjectInfo object;
        std::optional<std::int64_t> step; ///< nothing: errors tell the address
        std::string mirror; ///< VersionObjects::mirror of whose object it is
    };
    /// `use`: takes each piece, in order. Errors: Digest, Rewritten (its bytes are not those on record, or it changed
    /// while it was read), those of the store and of `use`.
    Result<void> read(const File& file, const std::function<Result<void>(std::uint64_t at, ByteSpan bytes)>& use,
                      TaskContext& task);

    /// Files that were rewritten and accepted: keys, and addresses of those outside of the source.
    const std::vector<std::string>& rewritten() const noexcept { return m_rewritten; }

private:
    const Workbench& m_bench;
    bool m_acceptRewritten;
    std::vector<std::string> m_rewritten;
};

} // namespace deltascope
