#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace deltascope {

/// A place in an object store, as an address names it. All parts are decoded.
struct RemotePlace {
    enum class Kind : std::uint8_t {
        S3, ///< s3://BUCKET[/PREFIX]
        HubBucket, ///< hf://buckets/OWNER/BUCKET[/PREFIX]
        HubModel, ///< hf://OWNER/MODEL[/PREFIX]
    };
    Kind kind = Kind::S3;
    std::string bucket; ///< "BUCKET", "OWNER/BUCKET" or "OWNER/MODEL"
    std::string prefix; ///< components between single '/', none at either end; empty: all of the bucket
    std::string endpoint; ///< URL of the server (?endpoint=); empty: as the environment says
    std::string revision; ///< of a model (?revision=); empty: its main branch

    bool operator==(const RemotePlace&) const = default;
    /// The address that names it, in its one spelling. '@', '?', '%' and what no URL may hold are encoded.
    std::string text() const;
};

/// Where a source, a base, a mirror or a destination is: the path of a folder, "file:///…", or a place in an object
/// store. Parsed once, when it is made; the opener reports errors. A value; made from text as a path is.
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
    /// relative and as full of links as it was given. Errors: Usage (also where it is remote), Unsupported (a scheme
    /// that nothing is known about).
    const Result<std::string>& path() const noexcept { return m_path; }
    /// The place in an object store; nothing where it is a path or wrong.
    const std::optional<RemotePlace>& remote() const noexcept { return m_remote; }
    bool isAbsolute() const; ///< means the same from every folder

    /// The same from everywhere, with a plain spelling ("/a/./b/" is "/a/b"), without a look at the disk. A wrong
    /// address stays as it is.
    Address absolute() const;
    /// One spelling of all that name this place: an absolute path without links. Looks at the disk. A wrong address
    /// stays as it is.
    Address canonical() const;
    /// What lies below it under a relative path: "s3://bucket/run/KEY?endpoint=…" of "s3://bucket/run?endpoint=…".
    Address below(const std::string& relative) const;
    /// Whether this is `folder` or lies below it, whatever links lead there. False where one of them is wrong, or only
    /// one is remote.
    bool isWithin(const Address& folder) const;

    /// The same text; addresses of one place may differ, canonical ones do not.
    bool operator==(const Address& other) const noexcept { return m_text == other.m_text; }

private:
    std::string m_text;
    std::optional<RemotePlace> m_remote;
    Result<std::string> m_path;
};

} // namespace deltascope
