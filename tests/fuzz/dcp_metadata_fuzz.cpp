// .metadata and one data file of layout dcp. Input: u16 length of .metadata, .metadata, and the file "__0_0.distcp".
// The data file is also read as a pickle and as an item of its own. Seeds: tests/fuzz/seeds/dcp_metadata.

#include "format/dcp/dcp_layout.h"
#include "format/dcp/pickle.h"
#include "format/dcp/tensor_item.h"

#include "few_objects_store.h"
#include "patch_checks.h"
#include "support/any_task.h"

using namespace deltascope;

namespace {

void checkPickle(ByteSpan bytes)
{
    const auto pickle = Pickle::parse({ bytes.begin(), bytes.end() });
    if (!pickle) {
        checkRefusal(pickle.error());
        return;
    }
    const Pickle::Value top = pickle->top();
    static_cast<void>(pickle->sizes(top));
    static_cast<void>(pickle->attribute(top, "size"));
    require(pickle->arguments(top).empty() || pickle->kind(top) == PickleKind::Record);
}

void checkItem(const ObjectStore& store, const ObjectInfo& object)
{
    NearbyReader reader(store, object, test::anyTask());
    const auto view = readTensorItem(reader, 0, object.sizeBytes);
    if (!view) {
        checkRefusal(view.error());
        return;
    }
    require(view->bytes > 0 && view->begin <= object.sizeBytes && view->bytes <= object.sizeBytes - view->begin);
    require(view->sizes.size() == view->strides.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::uint64_t MaxStateBytes = 1U << 16;
    constexpr std::size_t MaxEntries = 8;
    if (size < 2)
        return 0;
    const ByteSpan input = std::as_bytes(std::span(data, size));
    const ByteSpan rest = input.subspan(2);
    const std::size_t metadataBytes = std::min<std::size_t>(loadLe<std::uint16_t>(input), rest.size());
    FewObjectsStore store;
    store.add("step-1/.metadata", rest.first(metadataBytes));
    store.add("step-1/__0_0.distcp", rest.subspan(metadataBytes));
    checkPickle(rest.subspan(metadataBytes));
    checkItem(store, store.infos()[1]);

    const DcpLayout layout;
    TaskContext task;
    const auto recognized = layout.recognizes(store, store.infos(), task);
    require(recognized && *recognized);
    const std::vector<VersionObjects> versions = layout.group(store.infos());
    require(versions.size() == 1 && versions[0].step == 1);
    const auto index = layout.index(store, versions[0], task);
    if (!index) {
        checkRefusal(index.error());
        return 0;
    }
    for (std::size_t i = 0; i < std::min(index->tensors.size(), MaxEntries); ++i) {
        const TensorEntry& entry = index->tensors[i];
        require(index->find(entry.name()) == &entry);
        for (const Extent& extent : entry.extents)
            require(extent.begin + extent.bytes <= store.infos()[extent.object].sizeBytes);
        if (entry.info()->bytes() <= MaxStateBytes)
            checkPatch(layout, store, versions[0], *index, entry, *entry.info());
    }
    return 0;
}
