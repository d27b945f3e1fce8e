#pragma once

#include "deltascope/engine/safetensors.h"
#include "format/common/unpacked_object.h"

namespace deltascope {

/// The header of a safetensors file that lies inside a zstd frame; offsets count in its content. Errors: those of
/// SafetensorsHeader::parse and UnpackedObject::front.
Result<SafetensorsHeader> readPackedHeader(const UnpackedObject& packed, TaskContext& task);

} // namespace deltascope
