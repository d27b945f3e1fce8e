#pragma once

#include "deltascope/base/result.h"

#include <string>

namespace deltascope {

/// Where a source, a base, a mirror or a destination is: the path of a folder, or "file:///…". It is understood once,
/// when it is made; what is wrong with it is told by who opens it. A value; made from text as a path is.
class Address {
public:
    Address() ///< names nothing
        : Address(std::string())
    {
    }
    Address(std::string text); // NOLINT(google-explicit-constructor)
    Address(const char* text) // NOLINT(google-explicit-constructor)
        : Address(std::string(text))
    {
    }

    bool isEmpty() const noexcept { return m_text.empty(); }
    const std::string& text() const noexcept { return m_text; } ///< as it was given
    /// The path on this machine: the text itself, or what a file address says, decoded. It need not exist, and is as
    /// relative and as full of links as it was given. Errors: Usage, Unsupported (a scheme of another build).
    const Result<std::string>& path() const noexcept { return m_path; }
    bool isAbsolute() const; ///< means the same from every folder

    /// The same from everywhere, with a plain spelling ("/a/./b/" is "/a/b"), without a look at the disk. An address
    /// that is no path here stays as it is.
    Address absolute() const;
    /// One spelling of all that name this place: an absolute path without links. Looks at the disk. An address that is
    /// no path here stays as it is.
    Address canonical() const;
    /// Whether this is `folder` or lies below it, whatever links lead there. False where either is no path here.
    bool isWithin(const Address& folder) const;

    /// The same text; addresses of one place may differ, canonical ones do not.
    bool operator==(const Address& other) const noexcept { return m_text == other.m_text; }

private:
    std::string m_text;
    Result<std::string> m_path;
};

} // namespace deltascope
