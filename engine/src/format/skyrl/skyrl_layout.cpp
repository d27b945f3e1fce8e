#include "format/skyrl/skyrl_layout.h"

#include "format/common/full_tensor_stream.h"
#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/common/zstd_mask_stream.h"
#include "format/skyrl/skyrl_manifest.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr NumberedFolders Folders { "delta-", 8 };

}

Result<bool> SkyrlLayout::recognizes(const ObjectStore&, const std::vector<ObjectInfo>& listing, TaskContext&) const
{
    return std::any_of(listing.begin(), listing.end(), [](const ObjectInfo& object) {
        const std::optional<NumberedFolders::Key> key = Folders.parse(object.key);
        return key && key->file == SkyrlManifestName;
    });
}

std::vector<VersionObjects> SkyrlLayout::group(const std::vector<ObjectInfo>& listing) const
{
    return Folders.group(listing);
}

bool SkyrlLayout::indexReads(std::string_view key) const noexcept { return splitKey(key).file == SkyrlManifestName; }

Result<VersionIndex> SkyrlLayout::index(const ObjectStore& store, const VersionObjects& version,
                                        TaskContext& task) const
{
    return readSkyrlManifest(store, version, task);
}

Result<std::unique_ptr<PatchStream>> SkyrlLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                       const VersionIndex&, const TensorEntry& entry,
                                                       const TensorInfo& target, const StreamOptions& options) const
{
    const Extent& extent = entry.extents.at(0);
    const std::string& key = version.objects.at(extent.object).key;
    if (entry.info()->dtype != target.dtype || entry.info()->shape != target.shape) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} is {} in the manifest but {} in the state before", quoteName(entry.name()),
                                describe(*entry.info()), describe(target)),
                    key);
    }
    return std::unique_ptr<PatchStream>(std::make_unique<ZstdMaskStream>(
        BufferedExtent(store, key, extent.begin, extent.bytes, options.bufferBytes, *options.task), target));
}

} // namespace deltascope
