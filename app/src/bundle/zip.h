#pragma once

#include "deltascope/base/result.h"

#include <deque>
#include <string>

struct zip;
struct zip_source;

namespace deltascope::bundle {

/// A zip archive in memory.
class ZipArchive {
public:
    static Result<ZipArchive> create();
    ZipArchive(ZipArchive&& other) noexcept;
    ~ZipArchive();

    /// `name`: with slashes, relative.
    Result<void> add(const std::string& name, std::string content);
    /// The bytes of the archive. Nothing can be added afterwards.
    Result<std::string> finish();

private:
    ZipArchive(zip* archive, zip_source* buffer);

    zip* m_archive;
    zip_source* m_buffer; ///< what the archive is written to
    std::deque<std::string> m_contents; ///< read when it is written
};

} // namespace deltascope::bundle
