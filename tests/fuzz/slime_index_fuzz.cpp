// Index and data file of a slime-v2 version. Input: u16 length of the index, the index, and the data file
// "d.safetensors". Seeds: tests/fuzz/seeds/slime_index.

#include "format/slime_v2/slime_v2_layout.h"

#include "few_objects_store.h"
#include "patch_checks.h"

using namespace deltascope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const ByteSpan input = std::as_bytes(std::span(data, size));
    const ByteSpan rest = input.subspan(2);
    const std::size_t indexBytes = std::min<std::size_t>(loadLe<std::uint16_t>(input), rest.size());
    FewObjectsStore store;
    store.add("weight_v000002/d.safetensors", rest.subspan(indexBytes));
    store.add("weight_v000002/model.safetensors.index.json", rest.first(indexBytes));

    const SlimeV2Layout layout;
    TaskContext task;
    require(layout.recognizes(store, store.infos(), task).has_value());
    const std::vector<VersionObjects> versions = layout.group(store.infos());
    require(versions.size() == 1);
    const auto index = layout.index(store, versions[0], task);
    if (!index) {
        checkRefusal(index.error());
        return 0;
    }
    require(!index->declaredBase || *index->declaredBase < 2);
    for (const TensorEntry& entry : index->tensors) {
        require(index->find(entry.name()) == &entry);
        for (const Extent& extent : entry.extents)
            require(extent.object == 0 && extent.begin + extent.bytes <= store.infos()[0].sizeBytes);
    }
    return 0;
}
