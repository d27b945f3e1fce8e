#include "format/trl/trl_dialect.h"

namespace deltascope {

namespace {

constexpr std::string_view SparsePatch = "sparse_weight_patch";

bool has(const SafetensorsHeader& header, std::string_view key)
{
    return header.metadata().find(key) != header.metadata().end();
}

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
    "trl-v1.0", { "anchors", "deltas" },
    ".indices", ".values",
    wroteV10,   [](const SafetensorsHeader& header) { return std::optional(isV10Anchor(header)); },
    false
};
const TrlDialect TrlV11 { "trl-v1.1", { "steps", "steps" }, ".indices", ".values", wroteV11, saysSparse, true };
const TrlDialect TrlV12 {
    "trl-v1.2", { "anchors", "deltas" }, ".indices", ".values", wroteV12, saysSparse, true, true
};
const TrlDialect TrlV2 { "trl-v2", { "anchors", "deltas" }, ".idx", ".val", wroteV2, saysSparse, true };

} // namespace deltascope
