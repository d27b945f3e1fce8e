#include "format/trl/trl_dialect.h"

namespace deltascope {

namespace {

constexpr std::string_view SparsePatch = "sparse_weight_patch";

bool has(const SafetensorsHeader& header, std::string_view key)
{
    return header.metadata().find(key) != header.metadata().end();
}

/// Full if it says that it is not sparse.
std::optional<bool> saysSparse(const SafetensorsHeader& header)
{
    const std::string_view sparse = header.meta("sparse");
    if (sparse == "False" || sparse == "false")
        return true;
    if (sparse == "True" || sparse == "true")
        return false;
    return std::nullopt;
}

bool isV10Anchor(const SafetensorsHeader& header) { return header.meta("format") == "anchor_checkpoint"; }

std::optional<bool> saysFullV10(const SafetensorsHeader& header) { return isV10Anchor(header); }

bool wroteV10(const SafetensorsHeader& header)
{
    return isV10Anchor(header)
        || (header.meta("format") == SparsePatch && !has(header, "encoding") && has(header, "checksum_sha256"));
}

bool wroteV11(const SafetensorsHeader& header)
{
    return header.metadata().size() == 2 && has(header, "num_params") && has(header, "sparse");
}

bool wroteV12(const SafetensorsHeader& header)
{
    return header.meta("format") == SparsePatch && !has(header, "encoding") && !has(header, "checksum_sha256")
        && has(header, "sparse");
}

bool wroteV2(const SafetensorsHeader& header)
{
    return header.meta("format") == SparsePatch && has(header, "encoding");
}

}

const TrlDialect TrlV10 {
    .word = "trl-v1.0",
    .folders = { "anchors", "deltas" },
    .indexEnd = ".indices",
    .valueEnd = ".values",
    .wrote = wroteV10,
    .saysFull = saysFullV10,
    .writersAreExact = true,
};
const TrlDialect TrlV11 {
    .word = "trl-v1.1",
    .folders = { "steps", "steps" },
    .indexEnd = ".indices",
    .valueEnd = ".values",
    .wrote = wroteV11,
    .saysFull = saysSparse,
    .anchorsMayBePartial = true,
    .writersAreExact = true,
};
const TrlDialect TrlV12 {
    .word = "trl-v1.2",
    .folders = { "anchors", "deltas" },
    .indexEnd = ".indices",
    .valueEnd = ".values",
    .wrote = wroteV12,
    .saysFull = saysSparse,
    .anchorsMayBePartial = true,
    .countsFilesOnly = true,
    .writersAreExact = true,
};
const TrlDialect TrlV2 {
    .word = "trl-v2",
    .folders = { "anchors", "deltas" },
    .indexEnd = ".idx",
    .valueEnd = ".val",
    .wrote = wroteV2,
    .saysFull = saysSparse,
    .anchorsMayBePartial = true,
    .mayCompareLowBytes = true,
};

} // namespace deltascope
