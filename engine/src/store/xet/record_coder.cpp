#include "store/xet/bg4.h"
#include "store/xet/xorb_record.h"

#include <algorithm>
#include <lz4frame.h>

namespace deltascope::xet {

namespace {

/// Chunks become one block each, as the official client writes them.
LZ4F_preferences_t frameOfOneBlock()
{
    LZ4F_preferences_t preferences {};
    preferences.frameInfo.blockMode = LZ4F_blockIndependent;
    preferences.frameInfo.blockSizeID = LZ4F_max256KB;
    return preferences;
}

tl::unexpected<Error> notAFrame() { return fail(Code::Hostile, "the compressed bytes of a chunk are damaged"); }

}

struct RecordDecoder::State {
    State() { isReady = LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) == 0; }
    ~State() { LZ4F_freeDecompressionContext(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    LZ4F_dctx* context = nullptr;
    bool isReady = false;
};

RecordDecoder::RecordDecoder()
    : m_state(std::make_unique<State>())
{
}

RecordDecoder::~RecordDecoder() = default;

Result<void> RecordDecoder::decode(const Record& record, MutableByteSpan out)
{
    if (record.scheme == Scheme::None) {
        std::copy(record.data.begin(), record.data.end(), out.begin());
        return {};
    }
    if (record.scheme == Scheme::Lz4)
        return decompress(record.data, out);
    m_grouped.resize(out.size());
    DS_CHECK(decompress(record.data, m_grouped));
    ungroupBytes(m_grouped, out);
    return {};
}

Result<void> RecordDecoder::decompress(ByteSpan frame, MutableByteSpan out)
{
    if (!m_state->isReady)
        return fail(Code::Io, "there is no memory to decompress with");
    LZ4F_resetDecompressionContext(m_state->context);
    std::size_t taken = 0;
    std::size_t made = 0;
    while (taken < frame.size()) {
        std::size_t into = out.size() - made;
        std::size_t from = frame.size() - taken;
        const std::size_t hint =
            LZ4F_decompress(m_state->context, out.data() + made, &into, frame.data() + taken, &from, nullptr);
        if (LZ4F_isError(hint) != 0 || (into == 0 && from == 0))
            return notAFrame(); // or one that holds more than it should
        taken += from;
        made += into;
        if (hint == 0)
            break; // the end of the frame
        if (taken == frame.size())
            return notAFrame();
    }
    return taken == frame.size() && made == out.size() && made > 0 ? Result<void>() : notAFrame();
}

Record RecordEncoder::encode(ByteSpan chunk, Scheme scheme)
{
    const Record plain { Scheme::None, static_cast<std::uint32_t>(chunk.size()), chunk };
    ByteSpan input = chunk;
    if (scheme == Scheme::None)
        return plain;
    if (scheme == Scheme::GroupedLz4) {
        m_grouped.resize(chunk.size());
        groupBytes(chunk, m_grouped);
        input = m_grouped;
    }
    const auto frame = compress(input, m_frame);
    return frame ? Record { scheme, plain.bytes, *frame } : plain;
}

Record RecordEncoder::encodeSmallest(ByteSpan chunk)
{
    const Record grouped = encode(chunk, Scheme::GroupedLz4);
    const auto frame = compress(chunk, m_otherFrame);
    if (frame && frame->size() < grouped.data.size())
        return { Scheme::Lz4, grouped.bytes, *frame };
    return grouped;
}

std::optional<ByteSpan> RecordEncoder::compress(ByteSpan bytes, std::vector<std::byte>& frame)
{
    static const LZ4F_preferences_t preferences = frameOfOneBlock();
    frame.resize(std::max(frame.size(), LZ4F_compressFrameBound(bytes.size(), &preferences)));
    const std::size_t made = LZ4F_compressFrame(frame.data(), frame.size(), bytes.data(), bytes.size(), &preferences);
    if (LZ4F_isError(made) != 0 || made >= bytes.size())
        return std::nullopt;
    return ByteSpan(frame).first(made);
}

} // namespace deltascope::xet
