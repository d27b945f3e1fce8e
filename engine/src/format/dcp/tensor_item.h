#pragma once

#include "deltascope/engine/tensor.h"
#include "format/dcp/nearby_reader.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// A tensor as torch.save stored it: a view on the bytes of a storage.
struct StoredView {
    Dtype dtype = Dtype::BF16;
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> strides; ///< in elements, one per dimension
    std::uint64_t begin = 0; ///< where in the object the first element lies
    std::uint64_t bytes = 0; ///< from there to the end of the element that lies last
    std::uint64_t storageBegin = 0; ///< where in the object the whole storage lies
    std::uint64_t storageBytes = 0;
    std::uint32_t crc = 0; ///< of the storage, as its archive records it
};

/// Reads the headers of the torch.save archive at bytes [begin, begin + bytes) of the reader's object. It must hold
/// one tensor with at least one element; every element is known to lie inside the archive then.
/// Errors: Malformed, Hostile, Unsupported (another element type, big-endian, a lazily conjugated view), Truncated,
/// those of the store.
Result<StoredView> readTensorItem(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes);

} // namespace deltascope
