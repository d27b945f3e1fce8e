// All objects of a run of one layout (fuzzed_layout.h): detection, headers and manifests, checks of recorded
// digests, patches. Input: records of a key and content (records.h). Seeds: tests/fuzz/make_seeds.py.

#include "few_objects_store.h"
#include "fuzzed_layout.h"
#include "patch_checks.h"
#include "records.h"

using namespace deltascope;

namespace {

constexpr std::uint64_t MaxStateBytes = 1U << 18;
constexpr std::size_t MaxEntries = 6;
constexpr std::size_t MaxObjects = 24;

void checkVersion(const Layout& layout, const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    const auto index = layout.index(store, version, task);
    if (!index) {
        checkRefusal(index.error());
        return;
    }
    const auto sound = layout.checkPayload(store, version, *index, task);
    require(sound || sound.error().code == Code::Digest || sound.error().code == Code::Malformed
            || sound.error().code == Code::Hostile || sound.error().code == Code::Unsupported);
    for (std::size_t i = 0; i < std::min(index->tensors.size(), MaxEntries); ++i) {
        const TensorEntry& entry = index->tensors[i];
        require(index->find(entry.name()) == &entry);
        const TensorInfo target = entry.info() ? *entry.info() : TensorInfo { entry.name(), Dtype::BF16, { 4096 } };
        if (const auto bytes = checkedSize(target); bytes && *bytes <= MaxStateBytes)
            checkPatch(layout, store, version, *index, entry, target);
    }
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::shared_ptr<const Layout> layout = builtinLayouts().find(FuzzedLayout);
    FewObjectsStore store;
    for (const auto& [name, bytes] : readRecords(std::as_bytes(std::span(data, size)), MaxObjects)) {
        if (checkKey(name))
            store.add(name, bytes);
    }
    TaskContext task;
    require(layout->recognizes(store, store.infos(), task).has_value());
    for (const VersionObjects& version : layout->group(store.infos())) {
        checkVersion(*layout, store, version, task);
        for (const VersionObjects& form : version.otherForms)
            checkVersion(*layout, store, form, task);
    }
    return 0;
}
