#pragma once

#include "store/s3/s3_store.h"

#include "support/any_task.h"
#include "support/scripted_server.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace deltascope::test {

using s3::S3Settings;
using Seen = ScriptedServer::Request;
using Connection = ScriptedServer::Connection;

inline S3Settings settingsFor(const ScriptedServer& server)
{
    S3Settings settings;
    settings.bucket = "bucket";
    settings.endpoint = "http://" + server.host();
    settings.region = "us-east-1";
    settings.addressing = s3::Addressing::Path;
    return settings;
}

inline s3::Credentials testKeys(std::string token = {})
{
    return { "AKIDEXAMPLEKEY00WXYZ", "secret/of/the/test", std::move(token) };
}

/// A store before a scripted server; nothing is retried but by the store itself.
inline std::shared_ptr<s3::S3Store> storeAt(const S3Settings& settings,
                                            std::shared_ptr<s3::CredentialSource> credentials = nullptr)
{
    return std::make_shared<s3::S3Store>(settings, std::make_shared<http::Client>(),
                                         credentials ? std::move(credentials) : s3::fixedCredentials(testKeys()));
}

inline std::string errorBody(std::string_view code, std::string_view more = {})
{
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + std::string(code)
        + "</Code><Message>A message.</Message>" + std::string(more) + "<RequestId>1</RequestId></Error>";
}

inline constexpr const char* ModifiedLine = "Last-Modified: Fri, 17 May 2024 08:11:02 GMT\r\n";
inline constexpr std::int64_t ModifiedUs = 1'715'933'462'000'000;

/// One object that a server keeps.
struct ServedObject {
    std::string bytes;
    std::string etag = "e1";
    std::string lines = {}; ///< further headers, each with its line end
};

/// The answer to a HEAD or a ranged GET.
inline std::string answerObject(const Seen& request, const ServedObject& object)
{
    const std::string lines = "ETag: \"" + object.etag + "\"\r\n" + ModifiedLine + object.lines;
    const std::string wanted = request.header("If-Match");
    if (!wanted.empty() && wanted != "\"" + object.etag + "\"")
        return answerText(412, request.method() == "HEAD" ? "" : errorBody("PreconditionFailed"));
    if (request.method() == "HEAD")
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(object.bytes.size()) + "\r\n" + lines + "\r\n";
    const std::string range = request.header("Range"); // bytes=a-b
    const std::size_t first = std::stoul(range.substr(6));
    const std::size_t last = std::min(std::stoul(range.substr(range.find('-') + 1)) + 1, object.bytes.size());
    if (first >= object.bytes.size())
        return answerText(416, errorBody("InvalidRange"),
                          "Content-Range: bytes */" + std::to_string(object.bytes.size()) + "\r\n");
    return answerText(206, object.bytes.substr(first, last - first),
                      lines + "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last - 1) + "/"
                          + std::to_string(object.bytes.size()) + "\r\n");
}

/// How many requests of a method came.
inline std::size_t countOf(const ScriptedServer& server, std::string_view method)
{
    std::size_t count = 0;
    for (const Seen& request : server.requests())
        count += request.method() == method ? 1 : 0;
    return count;
}

inline std::string textOf(ObjectStore& store, const ObjectRef& object, std::uint64_t offset, std::size_t bytes)
{
    std::string text(bytes, '?');
    const Result<void> outcome = store.read(object, offset, std::as_writable_bytes(std::span(text)), anyTask());
    return outcome ? text : std::string(word(outcome.error().code));
}

} // namespace deltascope::test
