#include "format/common/packed_header.h"

namespace deltascope {

Result<SafetensorsHeader> readPackedHeader(const UnpackedObject& packed, TaskContext& task)
{
    if (packed.sizeBytes() < 8)
        return fail(Code::Malformed, "its content is too short for a safetensors file", packed.key());
    DS_TRY(const std::vector<std::byte> length, packed.front(8, task));
    const auto bytes = loadLe<std::uint64_t>(length);
    if (bytes > SafetensorsHeader::MaxHeaderBytes || bytes > packed.sizeBytes() - 8)
        return fail(Code::Hostile, "its content promises a header that is longer than allowed or than itself",
                    packed.key());
    DS_TRY(const std::vector<std::byte> front, packed.front(8 + bytes, task));
    Result<SafetensorsHeader> header = SafetensorsHeader::parse(ByteSpan(front).subspan(8), packed.sizeBytes());
    if (!header && header.error().where.empty())
        header.error().where = packed.key();
    return header;
}

} // namespace deltascope
