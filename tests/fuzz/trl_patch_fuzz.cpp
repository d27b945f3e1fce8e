// Files of layout trl-v2, header and payload: the input is a whole file. Seeds: tests/fuzz/seeds/trl_patch.

#include "format/trl/trl_layout.h"

#include "few_objects_store.h"
#include "patch_checks.h"

#include "format/common/pair_stream.h"

using namespace deltascope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::uint64_t MaxStateBytes = 1U << 18;
    constexpr std::size_t MaxEntries = 8;
    FewObjectsStore store;
    store.add("deltas/step_000002.safetensors", std::as_bytes(std::span(data, size)));
    const TrlLayout layout(TrlV2);
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
        if (entry.info()) {
            if (entry.info()->bytes() <= MaxStateBytes)
                checkPatch(layout, store, versions[0], *index, entry, *entry.info());
            continue;
        }
        const Dtype dtype = PairEncoding::unpack(entry.encoding).values;
        for (const std::uint64_t elements : { std::uint64_t { 0 }, *entry.storedElements(), std::uint64_t { 4800 } }) {
            const TensorInfo target { entry.name(), dtype, { elements } };
            if (const auto bytes = checkedSize(target); bytes && *bytes <= MaxStateBytes)
                checkPatch(layout, store, versions[0], *index, entry, target);
        }
    }
    return 0;
}
