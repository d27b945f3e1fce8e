// All objects of a run of one layout (DELTASCOPE_FUZZ_LAYOUT): detection, headers and manifests, checks of recorded
// digests, patches. Input: records of a name (one byte of length in front) and content (three bytes). Seeds:
// tests/fuzz/make_seeds.py.

#include "few_objects_store.h"
#include "patch_checks.h"

#include <map>

using namespace deltascope;

namespace {

constexpr std::uint64_t MaxStateBytes = 1U << 18;
constexpr std::size_t MaxEntries = 6;
constexpr std::size_t MaxObjects = 24;

/// Keys in their order; of two equal ones the first counts.
std::map<std::string, ByteSpan> readObjects(ByteSpan input)
{
    std::map<std::string, ByteSpan> objects;
    while (!input.empty() && objects.size() < MaxObjects) {
        const std::size_t nameBytes = std::min<std::size_t>(std::to_integer<std::size_t>(input[0]), input.size() - 1);
        std::string name(asText(input.subspan(1, nameBytes)));
        input = input.subspan(1 + nameBytes);
        if (input.size() < 3)
            break;
        const std::size_t claimed = std::to_integer<std::size_t>(input[0]) | std::to_integer<std::size_t>(input[1]) << 8
            | std::to_integer<std::size_t>(input[2]) << 16;
        input = input.subspan(3);
        const std::size_t bytes = std::min(claimed, input.size());
        if (checkKey(name))
            objects.emplace(std::move(name), input.first(bytes));
        input = input.subspan(bytes);
    }
    return objects;
}

void checkVersion(const Layout& layout, const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    const auto index = layout.index(store, version, task);
    if (!index) {
        checkRefusal(index.error());
        return;
    }
    const auto sound = layout.checkPayload(store, version, *index, task);
    require(sound || sound.error().code == Code::Digest || sound.error().code == Code::Hostile
            || sound.error().code == Code::Unsupported);
    for (std::size_t i = 0; i < std::min(index->tensors.size(), MaxEntries); ++i) {
        const TensorEntry& entry = index->tensors[i];
        require(index->find(entry.name) == &entry);
        const TensorInfo target = entry.info.value_or(TensorInfo { entry.name, Dtype::BF16, { 4096 } });
        if (const auto bytes = checkedSize(target); bytes && *bytes <= MaxStateBytes)
            checkPatch(layout, store, version, *index, entry, target);
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::shared_ptr<const Layout> layout = builtinLayouts().find(DELTASCOPE_FUZZ_LAYOUT);
    FewObjectsStore store;
    for (const auto& [name, bytes] : readObjects(std::as_bytes(std::span(data, size))))
        store.add(name, bytes);
    TaskContext task;
    require(layout->recognizes(store, store.infos(), task).has_value());
    for (const VersionObjects& version : layout->group(store.infos())) {
        checkVersion(*layout, store, version, task);
        if (version.fullForm)
            checkVersion(*layout, store, *version.fullForm, task);
    }
    return 0;
}
