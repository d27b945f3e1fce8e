#include "plain_reader.h"

#include "deltascope/engine/http_url.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>
#include <vector>

namespace deltascope::hub {

namespace {

constexpr int MostHops = 5; // of a renamed bucket or repository
constexpr int MostTurns = 2; // a signed address may have ended on the way
constexpr int MostWrong = 3; // that a file whose bytes come wrong is fetched again
constexpr std::uint64_t MostWholeBytes = std::uint64_t { 32 } << 20; // where ranges are not understood
constexpr std::uint64_t MostGitBytes = std::uint64_t { 16 } << 20; // larger files are not kept in git itself

struct FreeDigest {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

Result<std::string> digestText(const EVP_MD* algorithm, std::string_view front, ByteSpan bytes)
{
    const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
    std::array<std::byte, EVP_MAX_MD_SIZE> digest {};
    unsigned size = 0;
    if (!context || EVP_DigestInit_ex(context.get(), algorithm, nullptr) != 1
        || EVP_DigestUpdate(context.get(), front.data(), front.size()) != 1
        || EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1
        || EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size) != 1)
        return fail(Code::Internal, "the OpenSSL library of this machine cannot compute a digest");
    return toHex(ByteSpan(digest).first(size));
}

/// Without W/ in front and quotes around it.
std::string plainTag(std::string_view tag)
{
    if (tag.starts_with("W/"))
        tag.remove_prefix(2);
    if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"')
        tag = tag.substr(1, tag.size() - 2);
    return std::string(tag);
}

tl::unexpected<Error> otherBytes(const PlainFile& file)
{
    return fail(Code::Rewritten, "the object is not the one that was listed any more", file.subject.where);
}

/// Whether the headers of `resolve` name the bytes that are wanted.
Result<void> checkNamed(const http::Headers& headers, const PlainFile& file)
{
    const HubIdentity& wanted = file.identity;
    if (!file.commit.empty() && headers.find("X-Repo-Commit").value_or("") != file.commit)
        return fail(Code::Hostile, "the Hub answers about another commit than the one that was asked for",
                    file.subject.where);
    if (const auto size = headers.find("X-Linked-Size");
        size && parseNumber(*size) && static_cast<std::uint64_t>(*parseNumber(*size)) != wanted.sizeBytes)
        return otherBytes(file);
    const std::string xetHash(headers.find("X-Xet-Hash").value_or(""));
    const std::string tag = plainTag(headers.find("X-Linked-Etag").value_or(headers.find("ETag").value_or("")));
    std::string named = !wanted.xetHash.empty() ? xetHash : tag;
    std::transform(named.begin(), named.end(), named.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c | 0x20) : c; });
    if (named.empty())
        return fail(Code::Unsupported, "the Hub does not say which bytes it would send", file.subject.where,
                    "see that nothing between here and the Hub takes X-Xet-Hash or ETag out of its answers");
    if (named != wanted.xetHash + wanted.lfsSha256 + wanted.gitId)
        return otherBytes(file);
    return {};
}

/// The bytes of a whole file against the hash that git knows; Xet hashes need the chunks, which are not known here.
Result<void> checkWhole(const PlainFile& file, std::uint64_t offset, ByteSpan bytes)
{
    const HubIdentity& wanted = file.identity;
    if (offset != 0 || bytes.size() != wanted.sizeBytes || (wanted.lfsSha256.empty() && wanted.gitId.size() != 40))
        return {};
    DS_TRY(const std::string digest, wanted.lfsSha256.empty() ? gitBlobId(bytes) : sha256Text(bytes));
    if (digest != wanted.lfsSha256 + wanted.gitId)
        return fail(Code::Digest,
                    "the bytes that come are not those that the repository records, each time that they are fetched",
                    file.subject.where, "something on the way changes them, or the repository is damaged");
    return {};
}

Error wrongOnTheWay(const PlainFile& file)
{
    return { Code::Refetched, "bytes of it came wrong, as its hash proves, and were fetched again", file.subject.where,
             std::nullopt,
             "Nothing has to be done; if it happens often, check the network and the memory of this machine." };
}

bool isRedirect(const http::Response& answer)
{
    return answer.status >= 300 && answer.status < 400 && !answer.headers.find("Location").value_or("").empty();
}

} // namespace

Result<std::string> gitBlobId(ByteSpan bytes)
{
    std::string front = fmt::format("blob {}", bytes.size());
    front += '\0';
    return digestText(EVP_sha1(), front, bytes);
}

Result<std::string> sha256Text(ByteSpan bytes) { return digestText(EVP_sha256(), {}, bytes); }

/// Without a range where all of the file is wanted: not every server understands them.
void PlainReader::aim(http::Request& request, const PlainFile& file, const Part& part)
{
    request.destination = part.out;
    request.isRetry = part.isRetry;
    if (part.offset != 0 || part.out.size() != file.identity.sizeBytes)
        request.range = http::ByteRange { part.offset, part.out.size() };
}

Result<void> PlainReader::read(const PlainFile& file, std::uint64_t offset, MutableByteSpan out,
                               TaskContext& task) const
{
    const std::uint64_t size = file.identity.sizeBytes;
    if (out.empty())
        return {};
    if (file.identity.gitId.empty() || size > MostGitBytes || out.size() == size)
        return readPart(file, { offset, out, false }, task);
    std::vector<std::byte> whole(static_cast<std::size_t>(size));
    DS_CHECK(readPart(file, { 0, whole, false }, task));
    const ByteSpan part = ByteSpan(whole).subspan(static_cast<std::size_t>(offset), out.size());
    std::copy(part.begin(), part.end(), out.begin());
    return {};
}

Result<void> PlainReader::readPart(const PlainFile& file, Part part, TaskContext& task) const
{
    for (int turn = 1, wrong = 0;; ++turn) {
        DS_TRY(const http::Response answer, resolve(file, part, task));
        Result<void> outcome;
        if (isRedirect(answer))
            outcome = fetch(std::string(*answer.headers.find("Location")), file, part, task);
        if (!outcome && outcome.error().code == Code::Auth && turn < MostTurns)
            continue;
        DS_CHECK(outcome);
        outcome = checkWhole(file, part.offset, part.out);
        if (outcome && wrong > 0)
            task.addNotice(wrongOnTheWay(file));
        if (outcome || outcome.error().code != Code::Digest || ++wrong > MostWrong)
            return outcome;
        part.isRetry = true;
    }
}

/// The answer that names the file, with `out` filled unless it is a redirect.
Result<http::Response> PlainReader::resolve(const PlainFile& file, const Part& part, TaskContext& task) const
{
    http::Request request = m_hub->request("GET", file.route);
    for (int hop = 0; hop <= MostHops; ++hop) {
        aim(request, file, part);
        DS_TRY(http::Response answer, m_hub->retrying()->send(request, task));
        if (!answer.isGood() && !isRedirect(answer) && answer.status != 416)
            return fail(hubError(answer, file.subject, m_hub->hasToken()));
        const std::string next(answer.headers.find("Location").value_or(""));
        if (isRedirect(answer) && next.starts_with('/') && !next.starts_with("//")) { // it was renamed
            const Result<http::Url> own = http::Url::parse(m_hub->endpoint());
            DS_TRY(request,
                   m_hub->requestTo("GET", own ? own->scheme + "://" + own->authority() + next : std::string()));
            continue;
        }
        DS_CHECK(checkNamed(answer.headers, file));
        if (!isRedirect(answer))
            DS_CHECK(accept(answer, request, file, part, task));
        return answer;
    }
    return fail(Code::Hostile, "the Hub redirects too often", file.subject.where);
}

Result<void> PlainReader::fetch(const std::string& url, const PlainFile& file, const Part& part,
                                TaskContext& task) const
{
    http::Request request; // without the token, unless it is the Hub itself
    if (m_hub->isOwn(url)) {
        DS_TRY(request, m_hub->requestTo("GET", url));
    } else {
        request.url = url;
        const Result<http::Url> target = http::Url::parse(url);
        if (!target || !target->isHttp() || (target->scheme == "http" && m_hub->endpoint().starts_with("https:")))
            return fail(Code::Hostile, "the Hub redirects to where it must not be followed", file.subject.where);
    }
    aim(request, file, part);
    DS_TRY(const http::Response answer, m_hub->retrying()->send(request, task));
    return accept(answer, request, file, part, task);
}

Result<void> PlainReader::accept(const http::Response& answer, const http::Request& request, const PlainFile& file,
                                 const Part& part, TaskContext& task) const
{
    const auto tooShort = [&](std::uint64_t came) {
        return fail(Code::Truncated,
                    fmt::format("the object ends early: {} bytes came instead of {}", came, part.out.size()),
                    file.subject.where);
    };
    if (answer.status == 416)
        return tooShort(0);
    if (!answer.isGood()) {
        Error error = http::errorOfStatus(answer.status, request.url);
        error.where = file.subject.where;
        return fail(std::move(error));
    }
    if (request.range && (answer.status != 206 || !answer.isWhole))
        return readWhole(request, file, part, task);
    return answer.takenBytes == part.out.size() ? Result<void>() : tooShort(answer.takenBytes);
}

/// From a server that does not understand ranges.
Result<void> PlainReader::readWhole(http::Request request, const PlainFile& file, const Part& part,
                                    TaskContext& task) const
{
    if (file.identity.sizeBytes > MostWholeBytes)
        return fail(Code::Unsupported, "the server does not send parts of an object, and all of it is too large",
                    file.subject.where);
    std::vector<std::byte> whole(static_cast<std::size_t>(file.identity.sizeBytes));
    request.range.reset();
    request.destination = MutableByteSpan(whole);
    DS_TRY(const http::Response answer, m_hub->retrying()->send(request, task));
    DS_CHECK(accept(answer, request, file, { 0, whole, false }, task));
    DS_CHECK(checkWhole(file, 0, whole));
    const ByteSpan wanted = ByteSpan(whole).subspan(static_cast<std::size_t>(part.offset), part.out.size());
    std::copy(wanted.begin(), wanted.end(), part.out.begin());
    return {};
}

} // namespace deltascope::hub
