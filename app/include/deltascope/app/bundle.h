#pragma once

#include "deltascope/app/monitor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

/// What a bundle says of itself.
struct BundleAbout {
    std::string path; ///< of the file
    std::string run; ///< name of the run
    std::string toolVersion; ///< of the program that wrote it
    std::int64_t createdUs = 0; ///< when the run was asked; microseconds since 1970
    std::vector<std::string> leftOut; ///< what it does not hold, as parts of sentences
};

/// A run that was recorded (docs/formats/dscope.md), behind the same interfaces as those that are followed. Its state
/// is "recorded" and nothing in it ever moves. Everything is read when it is opened; the file is not needed afterwards.
class OpenedBundle {
public:
    virtual ~OpenedBundle() = default;

    /// Takes as long as the file is large. Errors: NotFound, Io; Hostile (damaged, or larger than bundles are), Layout
    /// (no bundle), Unsupported (of another version).
    static Result<std::unique_ptr<OpenedBundle>> open(const std::string& path);

    virtual const BundleAbout& about() const noexcept = 0;
    /// Jobs that need weights end with Unsupported.
    virtual Service& service() noexcept = 0;
    /// Has the one run, and refuses acts with Unsupported.
    virtual Monitor& monitor() noexcept = 0;
};

} // namespace deltascope::app
