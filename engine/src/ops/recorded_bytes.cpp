#include "recorded_bytes.h"

#include "catalog/sights.h"
#include "format/common/read_chunks.h"

namespace deltascope {

namespace {

Result<std::string> hashOf(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    const std::unique_ptr<StreamingDigest> digest = makeXxh3();
    DS_CHECK(readChunks(store, object.key, 0, object.sizeBytes, task, [&](ByteSpan chunk) { digest->update(chunk); }));
    return digest->hex();
}

}

Result<RecordedBytes> compareWithRecord(Workbench& bench, const ObjectStore& store, const ObjectInfo& object,
                                        TaskContext& task, bool* touched)
{
    DS_TRY(const std::vector<Records::Sight> sights, bench.records->sights(store.uri(), object.key));
    const Records::Sight* const trusted = trustedSight(sights);
    if (!trusted)
        return RecordedBytes::Unknown;
    if (trusted->identity == object.identity)
        return RecordedBytes::Same;
    if (trusted->sizeBytes != object.sizeBytes)
        return RecordedBytes::Other;
    DS_TRY(const std::string hash, hashOf(store, object, task));
    if (hash != trusted->xxh3)
        return RecordedBytes::Other;
    if (touched)
        *touched = true;
    return RecordedBytes::Same;
}

} // namespace deltascope
