#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

struct PublishOptions {
    std::string layout; ///< "trl-v2" or "slime-v2"
    std::string encoding; ///< "gap_delta", "raw"; "xor", "overwrite"; empty: the first of them
    std::string checksum; ///< slime-v2: "xxh3-128", "blake3", "adler32"; empty: the first
    std::string diffBackend; ///< force one; empty: the fastest of this machine
};

struct PublishedVersion {
    std::int64_t step = 0;
    std::uint64_t changedElements = 0; ///< all of an anchor
    std::vector<ObjectInfo> objects; ///< in the order of their puts; empty: nothing changed and the layout has no empty version
};

/// Publishes the step from one state to the next. An empty source gets `from` as its first anchor, unless the layout starts
/// from an external base, and `to` as the delta behind it. In a source that holds a run already, `from` must be its newest
/// state, bit for bit, and `to` becomes the next step. Each object is put with PutMode::IfAbsent, the committing one last, so
/// a second publisher is refused and readers never see half a version. Blocks are compared by bit patterns.
/// `options.base` of OpenOptions: the external base, for layouts that need one and a source that is not empty.
/// Errors: BaseMismatch (`from` is not the newest state; tensors of `from` and `to` differ in name, dtype or shape), Exists
/// (somebody else published), Unsupported (the layout cannot carry a change), Usage, those of stores and replay.
Result<std::vector<PublishedVersion>> publishStep(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                                  const Chain& from, const Chain& to, const PublishOptions& options,
                                                  TaskContext& task);

} // namespace deltascope
