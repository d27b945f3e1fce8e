#include "format/common/zstd_stream.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <new>
#include <vector>
#include <zstd.h>
#include <zstd_errors.h>

namespace deltascope {

namespace {

constexpr std::size_t MagicBytes = 4;

/// RFC 8878, 3.1.1.1: behind the magic number stands a descriptor; without the single-segment flag a window byte
/// follows it, with an exponent in the upper five bits and eighths of it in the lower three.
std::uint64_t windowBytes(ByteSpan header) noexcept
{
    constexpr unsigned SingleSegment = 1U << 5;
    if (header.size() < MagicBytes + 2)
        return 0; // cut short: reading it tells
    if ((std::to_integer<unsigned>(header[MagicBytes]) & SingleSegment) != 0)
        return ZSTD_getFrameContentSize(header.data(), header.size()); // errors are huge numbers
    const unsigned window = std::to_integer<unsigned>(header[MagicBytes + 1]);
    const std::uint64_t base = std::uint64_t { 1 } << (10 + (window >> 3));
    return base + base / 8 * (window & 7U);
}

/// Decompressors that wait for the next frame of this thread: to make one takes longer than to read a small frame.
class SpareContexts {
public:
    SpareContexts() = default;
    SpareContexts(const SpareContexts&) = delete;
    SpareContexts& operator=(const SpareContexts&) = delete;
    ~SpareContexts()
    {
        while (ZSTD_DCtx* const context = take())
            ZSTD_freeDCtx(context);
    }

    /// As after ZSTD_createDCtx(); null if there is none.
    ZSTD_DCtx* take() noexcept
    {
        if (m_count == 0)
            return nullptr;
        ZSTD_DCtx* const context = m_contexts[--m_count];
        ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters); // fails for contexts in use only, by their owner
        return context;
    }
    void give(ZSTD_DCtx* context) noexcept
    {
        constexpr std::size_t LargestBytes = std::size_t { 512 } << 10; // without the buffers of large windows
        if (m_count < m_contexts.size() && ZSTD_sizeof_DCtx(context) <= LargestBytes)
            m_contexts[m_count++] = context;
        else
            ZSTD_freeDCtx(context);
    }

private:
    std::array<ZSTD_DCtx*, 16> m_contexts {};
    std::size_t m_count = 0;
};

SpareContexts& spareContexts()
{
    thread_local SpareContexts spares;
    return spares;
}

}

void ZstdStream::GiveBack::operator()(ZSTD_DCtx_s* context) const noexcept { spareContexts().give(context); }

ZstdStream::ZstdStream(BufferedExtent input, std::string tensor)
    : m_input(std::move(input))
    , m_tensor(std::move(tensor))
{
}
ZstdStream::~ZstdStream() = default;
ZstdStream::ZstdStream(ZstdStream&&) noexcept = default;

Result<void> ZstdStream::read(MutableByteSpan out)
{
    for (std::size_t filled = 0; filled < out.size();) {
        if (m_ended)
            return fail(refusal("is shorter than the tensor or its own count asks for"));
        DS_CHECK(step(out, filled));
    }
    return {};
}

Result<void> ZstdStream::skip(std::uint64_t bytes)
{
    std::vector<std::byte> dropped(std::min<std::uint64_t>(bytes, 64 * 1024));
    while (bytes > 0) {
        const std::size_t now = std::min<std::uint64_t>(bytes, dropped.size());
        DS_CHECK(read(MutableByteSpan(dropped).first(now)));
        bytes -= now;
    }
    return {};
}

Result<void> ZstdStream::expectEnd()
{
    std::byte extra {};
    for (std::size_t filled = 0; !m_ended;) {
        DS_CHECK(step(MutableByteSpan(&extra, 1), filled));
        if (filled != 0)
            return fail(refusal("is longer than the tensor or its own count asks for"));
    }
    if (m_input.left() != 0)
        return fail(refusal(fmt::format("goes on for {} bytes behind its frame", m_input.left())));
    return {};
}

Error ZstdStream::refusal(const std::string& text, Code code) const
{
    return Error { code, fmt::format("the patch of {} {}", quoteName(m_tensor), text), m_input.key(), {}, {} };
}

Result<void> ZstdStream::expectMagic()
{
    if (m_input.left() < MagicBytes)
        return fail(refusal("is no zstd frame"));
    DS_CHECK(m_input.fill(MagicBytes));
    if (loadLe<std::uint32_t>(m_input.buffered()) != ZSTD_MAGICNUMBER)
        return fail(refusal("is no zstd frame"));
    return {};
}

Result<std::uint64_t> ZstdStream::workingBytes()
{
    DS_CHECK(expectMagic());
    constexpr std::uint64_t LargestHeader = 18;
    DS_CHECK(m_input.fill(std::min(m_input.left(), LargestHeader)));
    const ByteSpan header = m_input.buffered();
    const std::uint64_t window = windowBytes(header);
    constexpr std::uint64_t ContextAndBlocks = 512U << 10; // tables, one block of input and one of output
    return std::min(window, std::uint64_t { 1 } << MaxWindowLog) + ContextAndBlocks;
}

Result<void> ZstdStream::start()
{
    DS_CHECK(expectMagic());
    ZSTD_DCtx* const spare = spareContexts().take();
    m_context.reset(spare ? spare : ZSTD_createDCtx());
    if (!m_context)
        throw std::bad_alloc();
    if (ZSTD_isError(ZSTD_DCtx_setParameter(m_context.get(), ZSTD_d_windowLogMax, MaxWindowLog)) != 0)
        return fail(Code::Internal, "zstd refuses its window limit", m_input.key());
    return {};
}

Result<void> ZstdStream::step(MutableByteSpan out, std::size_t& filled)
{
    if (!m_context)
        DS_CHECK(start());
    if (m_input.buffered().empty() && m_input.left() > 0)
        DS_CHECK(m_input.fill(1));
    const ByteSpan available = m_input.buffered();
    ZSTD_inBuffer in { available.data(), available.size(), 0 };
    ZSTD_outBuffer to { out.data(), out.size(), filled };
    const std::size_t hint = ZSTD_decompressStream(m_context.get(), &to, &in);
    if (ZSTD_isError(hint) != 0) {
        if (ZSTD_getErrorCode(hint) == ZSTD_error_frameParameter_windowTooLarge) {
            return fail(Code::Unsupported,
                        fmt::format("the patch of {} needs more than 8 MiB of zstd window", quoteName(m_tensor)),
                        m_input.key());
        }
        return fail(refusal(fmt::format("is damaged: {}", ZSTD_getErrorName(hint))));
    }
    m_input.consume(in.pos);
    m_ended = hint == 0;
    if (!m_ended && in.pos == 0 && to.pos == filled && m_input.left() == 0)
        return fail(refusal("is cut short inside its zstd frame"));
    filled = to.pos;
    return {};
}

} // namespace deltascope
