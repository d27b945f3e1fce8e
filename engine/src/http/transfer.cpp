#include "transfer.h"

#include "failure.h"
#include "header_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/socket.h>

namespace deltascope::http {

namespace {

constexpr long BufferBytes = 128L << 10;
constexpr long UploadBufferBytes = 512L << 10; ///< with libcurl's 64 KiB each buffer costs a round of polling
constexpr long MostRedirects = 5;
constexpr std::chrono::milliseconds ShortestPaceWait { 1 };
constexpr std::chrono::milliseconds LongestPaceWait { 100 }; ///< a pace may change its mind

/// Programs that are started meanwhile must not keep the connection open.
curl_socket_t openSocket(void*, curlsocktype, curl_sockaddr* address)
{
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}

Transfer::Transfer(Request request)
    : m_request(std::move(request))
    , m_parsed(Url::parse(m_request.url))
    , m_url(m_parsed.value_or(Url()))
{
}

bool Transfer::wait(std::chrono::milliseconds time) const
{
    std::unique_lock lock(m_mutex);
    return m_changed.wait_for(lock, time, [this] { return m_outcome.has_value(); });
}

void Transfer::cancel()
{
    const std::lock_guard lock(m_mutex);
    if (m_outcome) // what m_wake calls may be gone
        return;
    m_isCanceled = true;
    m_wake();
}

Result<Response> Transfer::take()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_outcome.has_value(); });
    return std::move(*m_outcome);
}

Result<void> Transfer::check() const
{
    if (!m_parsed)
        return fail(m_parsed.error());
    if (!m_url.isHttp() || m_url.host.empty())
        return fail(Code::Usage, "a URL of http or https is needed", m_url.publicText());
    const auto& lines = m_request.headers.lines();
    const bool isWellFormed = std::all_of(lines.begin(), lines.end(), isValid) && isValid({ m_request.method, {} })
        && (!m_request.range || m_request.range->bytes > 0);
    if (!isWellFormed)
        return fail(Code::Usage, "method, range or a header of the request is not well-formed", m_url.publicText());
    return {};
}

CURL* Transfer::prepare(const Environment& environment, Meter& meter, SteadyTime now)
{
    m_meter = &meter;
    m_mark = now;
    for (Meter* const counts : { &meter, m_request.meter.get() }) {
        if (!counts)
            continue;
        ++counts->requests;
        counts->retries += m_request.isRetry ? 1 : 0;
    }
    m_easy.reset(curl_easy_init());
    setConnection(environment);
    setRequest();
    setBody();
    return m_easy.get();
}

void Transfer::setConnection(const Environment& environment)
{
    CURL* const easy = m_easy.get();
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(m_request.connectWithin.count()));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // does not wait for a name to be resolved
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, openSocket);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, environment.noProxy.c_str());
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (!environment.caFile.empty())
        curl_easy_setopt(easy, CURLOPT_CAINFO, environment.caFile.c_str());
    if (!environment.caFolder.empty())
        curl_easy_setopt(easy, CURLOPT_CAPATH, environment.caFolder.c_str());
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BufferBytes);
    if (!m_request.pace) // which wants small steps
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UploadBufferBytes);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, m_detail.data());
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, onProgress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

void Transfer::setRequest()
{
    CURL* const easy = m_easy.get();
    curl_easy_setopt(easy, CURLOPT_URL, m_request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); // keys of objects, and signatures are over them
    for (const Header& header : m_request.headers.lines())
        addLine(header.name + (header.value.empty() ? ";" : ": " + header.value)); // a colon alone would remove it
    if (m_request.range) {
        const auto [offset, bytes] = *m_request.range;
        addLine(fmt::format("Range: bytes={}-{}", offset, offset + (bytes - 1)));
    }
    if (m_request.mayBeCompressed)
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    else
        addLine("Accept-Encoding: identity");
    addLine("Expect:");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, m_lines.get());
    if (followsRedirects(m_request)) {
        curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
        curl_easy_setopt(easy, CURLOPT_MAXREDIRS, MostRedirects);
        curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, m_url.scheme == "https" ? "https" : "http,https");
    }
}

void Transfer::setBody()
{
    CURL* const easy = m_easy.get();
    const bool needsBody = m_request.method == "POST" || m_request.method == "PUT"; // be it an empty one
    if (m_request.body || needsBody) {
        const std::uint64_t bytes = m_request.body ? m_request.body->sizeBytes() : 0;
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(bytes));
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, onSend);
        curl_easy_setopt(easy, CURLOPT_READDATA, this);
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, onSeek);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, this);
    }
    if (m_request.method == "HEAD")
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, m_request.method.c_str());
    // libcurl sends once more what a kept connection did not answer. onSeek forbids that where there is a body.
    if (!isRepeatable(m_request) && (!m_request.body || m_request.body->sizeBytes() == 0))
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
}

void Transfer::addLine(const std::string& line) { m_lines.reset(curl_slist_append(m_lines.release(), line.c_str())); }

std::size_t Transfer::onHeader(char* bytes, std::size_t size, std::size_t count, void* self)
{
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(bytes, size * count);
    transfer.countIn(line.size());
    return transfer.m_answer.takeHeader(line) ? line.size() : 0;
}

std::size_t Transfer::onBody(char* bytes, std::size_t size, std::size_t count, void* self)
{
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view text(bytes, size * count);
    if (transfer.mustWait())
        return CURL_WRITEFUNC_PAUSE; // the same bytes come again
    if (transfer.m_request.pace)
        transfer.m_request.pace->charge(text.size());
    return transfer.m_answer.takeBody(asBytes(text)) ? text.size() : 0;
}

std::size_t Transfer::onSend(char* bytes, std::size_t size, std::size_t count, void* self)
{
    auto& transfer = *static_cast<Transfer*>(self);
    const Body* const body = transfer.m_request.body.get();
    const std::uint64_t left = body ? body->sizeBytes() - transfer.m_sent : 0;
    if (left == 0)
        return 0;
    if (transfer.mustWait())
        return CURL_READFUNC_PAUSE;
    const std::size_t most = std::min<std::uint64_t>(size * count, left);
    Result<std::size_t> read = body->read(transfer.m_sent, std::as_writable_bytes(std::span(bytes, most)));
    if (read && *read == 0)
        read = fail(Code::Truncated, "what is to be sent ends early", transfer.m_url.publicText());
    if (!read) {
        transfer.m_bodyError = read.error();
        return CURL_READFUNC_ABORT;
    }
    transfer.m_sent += *read;
    if (transfer.m_request.pace)
        transfer.m_request.pace->charge(*read);
    return *read;
}

int Transfer::onSeek(void* self, curl_off_t offset, int origin)
{
    auto& transfer = *static_cast<Transfer*>(self);
    if (origin != SEEK_SET || offset < 0 || !isRepeatable(transfer.m_request))
        return CURL_SEEKFUNC_FAIL;
    transfer.m_sent = static_cast<std::uint64_t>(offset);
    return CURL_SEEKFUNC_OK;
}

int Transfer::onProgress(void* self, curl_off_t, curl_off_t in, curl_off_t, curl_off_t out)
{
    auto& transfer = *static_cast<Transfer*>(self);
    // libcurl counts from 0 again after a redirect and when it sends the request once more.
    const auto moved = [](curl_off_t& seen, curl_off_t now) {
        const curl_off_t before = std::exchange(seen, now);
        return static_cast<std::uint64_t>(now >= before ? now - before : now);
    };
    transfer.countIn(moved(transfer.m_seenIn, in));
    transfer.countOut(moved(transfer.m_seenOut, out));
    return 0;
}

void Transfer::countRest()
{
    curl_off_t in = 0;
    curl_off_t out = 0;
    long headerBytes = 0;
    curl_easy_getinfo(m_easy.get(), CURLINFO_SIZE_DOWNLOAD_T, &in);
    curl_easy_getinfo(m_easy.get(), CURLINFO_SIZE_UPLOAD_T, &out);
    curl_easy_getinfo(m_easy.get(), CURLINFO_REQUEST_SIZE, &headerBytes);
    onProgress(this, 0, in, 0, out);
    countOut(static_cast<std::uint64_t>(headerBytes));
}

void Transfer::countIn(std::uint64_t bytes)
{
    m_in += bytes;
    m_meter->bytesIn += bytes;
    if (m_request.meter)
        m_request.meter->bytesIn += bytes;
}

void Transfer::countOut(std::uint64_t bytes)
{
    m_out += bytes;
    m_meter->bytesOut += bytes;
    if (m_request.meter)
        m_request.meter->bytesOut += bytes;
}

std::optional<Error> Transfer::overdue(SteadyTime now)
{
    if (m_isCanceled)
        return Error { Code::Canceled, "stopped on request", {}, std::nullopt, {} };
    if (m_request.finishWithin.count() > 0 && now - m_begin >= m_request.finishWithin)
        return Error { Code::Transient,
                       fmt::format("{} did not finish its answer within {}", m_url.authority(),
                                   secondsText(m_request.finishWithin)),
                       {},
                       std::nullopt,
                       {} };
    if (m_mark == SteadyTime::max() || m_request.stallWithin.count() == 0)
        return std::nullopt;
    if (m_waitsSince || m_in + m_out - m_moved >= m_request.stallBytes) {
        m_mark = now;
        m_moved = m_in + m_out;
    }
    if (now - m_mark < m_request.stallWithin)
        return std::nullopt;
    return Error { Code::Transient,
                   fmt::format("the connection to {} stands still: {} bytes in {}", m_url.authority(),
                               m_in + m_out - m_moved, secondsText(m_request.stallWithin)),
                   {},
                   std::nullopt,
                   {} };
}

SteadyTime Transfer::nextLook() const
{
    SteadyTime next = SteadyTime::max();
    if (m_request.finishWithin.count() > 0)
        next = m_begin + m_request.finishWithin;
    if (m_mark != SteadyTime::max() && m_request.stallWithin.count() > 0)
        next = std::min(next, m_mark + m_request.stallWithin);
    if (m_waitsSince) {
        const auto wait = std::clamp(m_request.pace->wait(), ShortestPaceWait, LongestPaceWait);
        next = std::min(next, std::chrono::steady_clock::now() + wait);
    }
    return next;
}

bool Transfer::mustWait()
{
    if (!m_request.pace || m_request.pace->wait().count() <= 0)
        return false;
    m_waitsSince = std::chrono::steady_clock::now();
    return true;
}

void Transfer::goOn()
{
    if (!m_waitsSince || m_request.pace->wait().count() > 0)
        return;
    m_waitsSince.reset(); // before libcurl hands over what it holds, which may have to wait again
    curl_easy_pause(m_easy.get(), CURLPAUSE_CONT);
}

void Transfer::finish(CURLcode result) { end(outcomeOf(result)); }

void Transfer::finish(Error error)
{
    if (m_easy)
        countRest();
    end(fail(named(std::move(error))));
}

Result<Response> Transfer::outcomeOf(CURLcode result)
{
    countRest();
    if (m_bodyError)
        return fail(named(*m_bodyError));
    if (m_answer.refusal())
        return fail(named(*m_answer.refusal()));
    if (result == CURLE_OK && !m_answer.hasHead()) // to libcurl an answer may end within its headers
        result = CURLE_GOT_NOTHING;
    if (result != CURLE_OK && !m_answer.isCut()) {
        Failure failure { result,
                          m_url.authority(),
                          m_detail.data(),
                          0,
                          m_answer.status(),
                          m_answer.hasHead(),
                          m_request.connectWithin };
        curl_easy_getinfo(m_easy.get(), CURLINFO_OS_ERRNO, &failure.systemError);
        return fail(named(errorOfFailure(failure)));
    }
    Result<Response> response = m_answer.finish();
    if (!response)
        return fail(named(std::move(response.error())));
    response->bytesIn = m_in;
    response->bytesOut = m_out;
    return response;
}

Error Transfer::named(Error error) const
{
    if (error.where.empty())
        error.where = m_url.publicText();
    return error;
}

void Transfer::end(Result<Response> outcome)
{
    m_easy.reset(); // before the caller takes back what it lent
    if (Sink* const* const sink = std::get_if<Sink*>(&m_request.destination))
        (*sink)->end();
    const std::lock_guard lock(m_mutex);
    m_outcome = std::move(outcome);
    m_changed.notify_all();
}

} // namespace deltascope::http
