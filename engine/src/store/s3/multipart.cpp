#include "../../hash/crc.h"
#include "deltascope/engine/http_retry.h"
#include "parallel_requests.h"
#include "s3_writing.h"
#include "xml.h"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>

namespace deltascope::s3 {

namespace {

constexpr std::uint64_t OneMiB = std::uint64_t { 1 } << 20;
constexpr std::uint64_t LeastPartBytes = 8 * OneMiB;
constexpr std::uint64_t MostParts = 10'000;
constexpr unsigned MostPartsAtOnce = 8;
constexpr int MostCompletions = 4;
constexpr auto PauseToComplete = std::chrono::milliseconds(300);
constexpr auto AbortWithin = std::chrono::milliseconds(3000); ///< a canceled put must end soon

/// All folders that hold the key, from the store itself on.
bool entersAll(const std::function<bool(std::string_view)>& enters, const std::string& key)
{
    if (!enters(""))
        return false;
    for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
        if (!enters(std::string_view(key).substr(0, slash)))
            return false;
    }
    return true;
}

std::uint64_t wholeCrc(const std::vector<BodyDigests>& parts)
{
    std::uint64_t crc = 0;
    for (const BodyDigests& part : parts)
        crc = combineCrc64Nvme(crc, part.crc64, part.sizeBytes);
    return crc;
}

std::string completionOf(const std::vector<std::string>& etags, const std::vector<BodyDigests>& digests,
                         bool hasChecksums)
{
    std::string document = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < etags.size(); ++i) {
        document +=
            fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag>", i + 1, xmlEscaped(etags[i]));
        if (hasChecksums)
            document += "<ChecksumCRC64NVME>" + digests[i].crc64Text() + "</ChecksumCRC64NVME>";
        document += "</Part>";
    }
    document += "</CompleteMultipartUpload>";
    return document;
}

} // namespace

std::uint64_t partBytesFor(std::uint64_t sizeBytes) noexcept
{
    const std::uint64_t least = sizeBytes / MostParts + (sizeBytes % MostParts != 0 ? 1 : 0);
    return std::max(LeastPartBytes, (least + OneMiB - 1) / OneMiB * OneMiB);
}

Result<ObjectInfo> ObjectWriter::putInParts(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    if (mode == PutMode::IfAbsent)
        DS_CHECK(refuseExisting(key, task));
    DS_TRY(Upload upload, begin(key, bytes.sizeBytes(), task));
    Result<UploadJournal::Note> note = m_journal.note({ canonicalUri(m_client.settings()), upload.key, { upload.id } });
    Result<void> sent;
    if (note)
        sent = sendParts(upload, bytes, task);
    else
        sent = fail(note.error());
    Result<ObjectInfo> outcome = fail(Code::Internal, "nothing was sent");
    if (sent)
        outcome = complete(upload, bytes, mode, task);
    else
        outcome = fail(std::move(sent.error()));
    if (outcome) {
        note->done();
        return outcome;
    }
    TaskContext ending; // ours may have been asked to stop
    if (abort(key, upload.id, ending) && note)
        note->done();
    return outcome;
}

Result<ObjectWriter::Upload> ObjectWriter::begin(std::string_view key, std::uint64_t sizeBytes, TaskContext& task)
{
    Upload upload;
    upload.key = key;
    upload.sizeBytes = sizeBytes;
    upload.partBytes = partBytesFor(sizeBytes);
    for (;;) {
        upload.hasChecksums = m_takesChecksums;
        Call call = callOf("s3:PutObject", "POST", key);
        call.query = { { "uploads", "" } };
        call.headers.add("Content-Type", "application/octet-stream");
        if (upload.hasChecksums) {
            call.headers.add("x-amz-checksum-algorithm", "CRC64NVME");
            call.headers.add("x-amz-checksum-type", "FULL_OBJECT");
        }
        DS_TRY(const http::Response response, m_client.send(call, task));
        if (response.isGood()) {
            DS_TRY(std::string id, parseUploadId(response.body));
            upload.id = std::move(id);
            break;
        }
        const Code code = m_client.errorOf(call, response).code;
        if (!upload.hasChecksums || (response.status != 400 && code != Code::Unsupported))
            return fail(m_client.errorOf(call, response));
        m_takesChecksums = false;
    }
    const std::size_t parts = static_cast<std::size_t>((sizeBytes + upload.partBytes - 1) / upload.partBytes);
    upload.digests.resize(parts);
    upload.etags.resize(parts);
    return upload;
}

Result<void> ObjectWriter::sendParts(Upload& upload, const Payload& bytes, TaskContext& task)
{
    std::mutex mutex;
    std::optional<Error> first;
    std::atomic<bool> hasFailed = false;
    runRequests(MostPartsAtOnce, upload.etags.size(), [&](std::size_t index) {
        if (hasFailed)
            return;
        Result<void> outcome = caught([&] { return sendPart(upload, bytes, index, task); });
        if (outcome)
            return;
        const std::lock_guard lock(mutex);
        if (!first)
            first = std::move(outcome.error());
        hasFailed = true;
    });
    return first ? Result<void>(fail(std::move(*first))) : Result<void>();
}

PayloadSlice ObjectWriter::partOf(const Upload& upload, const Payload& bytes, std::size_t index)
{
    const std::uint64_t offset = index * upload.partBytes;
    return { bytes, offset, std::min(upload.partBytes, upload.sizeBytes - offset) };
}

Result<std::string> ObjectWriter::wholeEtag(const Upload& upload, const Payload& bytes, TaskContext& task)
{
    std::vector<std::optional<Md5Digest>> parts;
    for (std::size_t i = 0; i < upload.digests.size(); ++i) {
        BodyDigests digests = upload.digests[i];
        if (!digests.md5) {
            DS_TRY(digests, digestBody(partOf(upload, bytes, i), true, upload.key, task));
        }
        parts.push_back(digests.md5);
    }
    return multipartEtag(parts);
}

Result<void> ObjectWriter::sendPart(Upload& upload, const Payload& bytes, std::size_t index, TaskContext& task)
{
    const PayloadSlice slice = partOf(upload, bytes, index);
    DS_CHECK(bytes.await(index * upload.partBytes, slice.sizeBytes(), task));
    DS_TRY(const BodyDigests digests, digestBody(slice, !upload.hasChecksums, upload.key, task));
    upload.digests[index] = digests;
    Call call = callOf("s3:PutObject", "PUT", upload.key);
    call.query = { { "partNumber", std::to_string(index + 1) }, { "uploadId", upload.id } };
    call.body = std::shared_ptr<const Payload>(std::shared_ptr<void>(), &slice); // used until the answer is here
    DS_TRY(const http::Response response, sendBody(call, digests, m_client.sender(), upload.hasChecksums, task));
    if (!response.isGood())
        return fail(m_client.errorOf(call, response));
    upload.etags[index] = etagOf(response.headers.find("ETag").value_or(""));
    if (upload.etags[index].empty())
        return fail(Code::Unsupported, "the server gives no ETag for a part of the object", upload.key,
                    "See docs/stores/s3.md for what is needed of a server.");
    return {};
}

Result<ObjectInfo> ObjectWriter::complete(const Upload& upload, const Payload& bytes, PutMode mode, TaskContext& task)
{
    const std::string document = completionOf(upload.etags, upload.digests, upload.hasChecksums);
    Call call = callOf("s3:PutObject", "POST", upload.key);
    call.query = { { "uploadId", upload.id } };
    call.headers.add("Content-Type", "application/xml");
    if (upload.hasChecksums) {
        call.headers.add("x-amz-checksum-crc64nvme", crc64Text(wholeCrc(upload.digests)));
        call.headers.add("x-amz-checksum-type", "FULL_OBJECT");
    }
    if (mode == PutMode::IfAbsent && m_client.settings().hasConditionalPut)
        call.headers.add("If-None-Match", "*");
    call.payloadHash = sha256Hex(document);
    call.body = http::bodyOf(document);

    bool mayHaveHappened = false;
    for (int sends = 1;; ++sends) {
        Result<http::Response> response = m_client.send(call, task);
        if (!response && response.error().code != Code::Transient)
            return fail(std::move(response.error()));
        const bool isDone = response && response->isGood() && !isErrorBody(response->body);
        if (isDone) {
            const Result<XmlElement> reply = parseXml(response->body);
            return placed(upload.key, upload.sizeBytes, etagOf(reply ? reply->textOf("ETag") : ""), *response, task);
        }
        Error error = response ? m_client.errorOf(call, *response) : std::move(response.error());
        const bool isLost = !response || response->status >= 500;
        // Behind a lost answer, what stands there decides: "no such upload" and "exists already" may be our own doing.
        if (mayHaveHappened || isLost) {
            const auto etag = [&] { return wholeEtag(upload, bytes, task); };
            DS_TRY(const auto ours, findOurs(upload.key, upload.sizeBytes, etag, wholeCrc(upload.digests), task));
            if (ours)
                return *ours;
        }
        mayHaveHappened = mayHaveHappened || isLost;
        const bool isUnknown = response && response->status == 404;
        if (sends >= MostCompletions || error.code != Code::Transient || isUnknown)
            return fail(std::move(error));
        DS_CHECK(http::systemRetryClock()->pause(PauseToComplete * sends, task));
    }
}

Result<void> ObjectWriter::abort(std::string_view key, const std::string& uploadId, TaskContext& task)
{
    Call call = callOf("s3:AbortMultipartUpload", "DELETE", key);
    call.query = { { "uploadId", uploadId } };
    call.repeatable = false; // one attempt; what is left stays in the journal
    call.finishWithin = AbortWithin;
    DS_TRY(const http::Response response, m_client.send(call, task));
    if (response.isGood() || response.status == 404)
        return {};
    return fail(m_client.errorOf(call, response));
}

Result<std::size_t> ObjectWriter::abortOrphans(const std::function<bool(std::string_view folder)>& enters,
                                               TaskContext& task)
{
    std::size_t aborted = 0;
    const auto end = [&](const NotedUpload& upload) -> Result<std::vector<std::string>> {
        DS_CHECK(task.checkpoint());
        if (!entersAll(enters, upload.key))
            return upload.pieces;
        DS_CHECK(abort(upload.key, upload.pieces.front(), task));
        ++aborted;
        return std::vector<std::string>();
    };
    DS_CHECK(m_journal.forEachOrphan(canonicalUri(m_client.settings()), end));
    return aborted;
}

} // namespace deltascope::s3
