#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <string>

struct zip;

namespace deltascope::app {

/// A bundle as the zip archive that it is.
class BundleArchive {
public:
    /// Errors: NotFound, Io, Hostile (no zip archive, or damaged).
    static Result<BundleArchive> open(const std::string& path);
    BundleArchive(BundleArchive&& other) noexcept;
    ~BundleArchive();

    bool has(const std::string& name) const;
    /// Unpacks one file, never more than `limit` bytes of it. Errors: Hostile (missing, damaged, larger).
    Result<std::string> read(const std::string& name, std::uint64_t limit) const;

private:
    BundleArchive(zip* archive, std::string path);

    zip* m_archive;
    std::string m_path;
};

} // namespace deltascope::app
