#pragma once

#include "deltascope/engine/digest_state.h"
#include "deltascope/engine/file_system.h"

#include <cstdint>
#include <memory>
#include <string>

namespace deltascope::app {

/// Of a digest document: the digests of about 200,000 tensors.
inline constexpr std::uint64_t MostDigestDocumentBytes = 64ULL << 20;

/// Reads what `deltascope digest --json` wrote (digest_description.h). Its roots are not looked at: they cannot be
/// computed from digests of whole tensors. Errors: Malformed (not such a document; names the tensor), Hostile (too
/// large), those of readTextFile() and DigestState::of().
Result<std::unique_ptr<DigestState>> readDigestDocument(const FileSystem& disk, const std::string& path);

} // namespace deltascope::app
