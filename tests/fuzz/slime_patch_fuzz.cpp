// Payload of one tensor of a slime-v2 delta. Input: one byte that chooses the encoding, u16 bytes of the tensor, the
// zstd frame. Seeds: tests/fuzz/seeds/slime_patch.

#include "format/slime_v2/slime_v2_layout.h"

#include "few_objects_store.h"
#include "patch_checks.h"

#include "format/slime_v2/slime_v2_index.h"

using namespace deltascope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 3)
        return 0;
    const ByteSpan input = std::as_bytes(std::span(data, size));
    const std::uint64_t tensorBytes = loadLe<std::uint16_t>(input, 1);
    FewObjectsStore store;
    store.add("weight_v000001/d.safetensors", input);

    const SlimeV2Layout layout;
    VersionObjects version;
    version.objects = store.infos();
    VersionIndex index;
    TensorEntry entry;
    entry.setName("w");
    entry.extents = { Extent { 0, 3, size - 3 } };
    entry.encoding = static_cast<std::uint8_t>((data[0] & 1) == 0 ? SlimeEncoding::Xor : SlimeEncoding::Overwrite);
    checkPatch(layout, store, version, index, entry, TensorInfo { "w", Dtype::U8, { tensorBytes } });
    return 0;
}
