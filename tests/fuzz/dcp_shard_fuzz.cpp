// Safetensors files with rectangles of tensors (layout dcp). Input: u16 length of the first file, the first file and
// the second one. Seeds: tests/fuzz/seeds/dcp_shard.

#include "format/dcp/dcp_layout.h"

#include "few_objects_store.h"
#include "patch_checks.h"

using namespace deltascope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::uint64_t MaxStateBytes = 1U << 16;
    constexpr std::size_t MaxEntries = 8;
    if (size < 2)
        return 0;
    const ByteSpan input = std::as_bytes(std::span(data, size));
    const ByteSpan rest = input.subspan(2);
    const std::size_t firstBytes = std::min<std::size_t>(loadLe<std::uint16_t>(input), rest.size());
    FewObjectsStore store;
    store.add("shard-00001-model-00001-of-00001.safetensors", rest.first(firstBytes));
    if (firstBytes < rest.size())
        store.add("shard-00002-model-00001-of-00001.safetensors", rest.subspan(firstBytes));

    const DcpLayout layout;
    TaskContext task;
    require(layout.recognizes(store, store.infos(), task).has_value());
    const std::vector<VersionObjects> versions = layout.group(store.infos());
    require(versions.size() == 1);
    const auto index = layout.index(store, versions[0], task);
    if (!index) {
        checkRefusal(index.error());
        return 0;
    }
    for (std::size_t i = 0; i < std::min(index->tensors.size(), MaxEntries); ++i) {
        const TensorEntry& entry = index->tensors[i];
        require(index->find(entry.name()) == &entry);
        if (entry.info()->bytes() <= MaxStateBytes)
            checkPatch(layout, store, versions[0], *index, entry, *entry.info());
    }
    return 0;
}
