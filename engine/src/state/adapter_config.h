#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/object_store.h"
#include "deltascope/engine/state.h"

#include <cstdint>
#include <string>

namespace deltascope {

/// Reads the config of an adapter. Errors: those of readWhole().
inline Result<AdapterConfig> readAdapterConfig(const ObjectStore& store, const std::string& key, TaskContext& task)
{
    constexpr std::uint64_t MostBytes = 16U << 20;
    DS_TRY(const std::vector<std::byte> text, readWhole(store, key, MostBytes, task));
    return AdapterConfig { key, std::string(asText(text)) };
}

} // namespace deltascope
