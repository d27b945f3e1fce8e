#include "format/fireworks/fireworks_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <map>

namespace deltascope {

Result<bool> FireworksLayout::recognizes(const ObjectStore&, const std::vector<ObjectInfo>&, TaskContext&) const
{
    return false;
}

std::vector<VersionObjects> FireworksLayout::group(const std::vector<ObjectInfo>& listing) const
{
    std::map<std::string_view, VersionObjects> folders;
    for (const ObjectInfo& object : listing) {
        const std::string_view folder = splitKey(object.key).folder;
        if (folder.empty() || beside::holds(object.key))
            continue;
        folders[folder].name = std::string(folder);
        folders[folder].objects.push_back(object);
    }
    std::vector<VersionObjects> out;
    for (auto& [folder, version] : folders) {
        const bool hasData = std::any_of(version.objects.begin(), version.objects.end(),
                                         [](const ObjectInfo& object) { return isDataFile(object.key); });
        if (!hasData)
            continue;
        sortByKey(version.objects);
        out.push_back(std::move(version));
    }
    // Identities say nothing about their order; the service knows which one comes before which, the bucket does not.
    std::stable_sort(out.begin(), out.end(), [](const VersionObjects& a, const VersionObjects& b) {
        return a.publishedUs() < b.publishedUs();
    });
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].step = static_cast<std::int64_t>(i);
    return out;
}

Result<VersionIndex> FireworksLayout::index(const ObjectStore&, const VersionObjects& version, TaskContext&) const
{
    return fail(Code::Unsupported,
                "unsupported encoding arc_v2: its bytes are not published, so names, times and sizes are all there is",
                version.name,
                "Ask who publishes the run for complete checkpoints; log shows what can be known of these.");
}

Result<std::unique_ptr<PatchStream>> FireworksLayout::open(const ObjectStore&, const VersionObjects& version,
                                                           const VersionIndex&, const TensorEntry&, const TensorInfo&,
                                                           const StreamOptions&) const
{
    return fail(Code::Unsupported, "unsupported encoding arc_v2", version.name);
}

} // namespace deltascope
