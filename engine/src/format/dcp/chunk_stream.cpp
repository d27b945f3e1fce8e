#include "format/dcp/chunk_stream.h"

#include "format/dcp/chunk_geometry.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace deltascope {

namespace {

/// What is read at once of a chunk whose elements lie in another order, and the part of the tensor that is made from
/// it: the larger, the longer the runs.
constexpr std::uint64_t ReorderBytes = 4U << 20;

struct Source {
    std::string key;
    Extent extent;
    ChunkGeometry geometry;
    bool isSequential;
};

void copyElements(const std::byte* from, std::uint64_t fromStep, std::byte* to, std::uint64_t toStep,
                  std::uint64_t count, std::uint64_t elementBytes) noexcept
{
    if (fromStep == 1 && toStep == 1) {
        std::memcpy(to, from, count * elementBytes);
        return;
    }
    const auto copyAll = [&](auto width) {
        for (std::uint64_t i = 0; i < count; ++i)
            std::memcpy(to + i * toStep * width, from + i * fromStep * width, width);
    };
    switch (elementBytes) {
    case 1:
        return copyAll(std::integral_constant<std::size_t, 1>());
    case 2:
        return copyAll(std::integral_constant<std::size_t, 2>());
    case 4:
        return copyAll(std::integral_constant<std::size_t, 4>());
    default:
        return copyAll(std::integral_constant<std::size_t, 8>());
    }
}

/// Makes a window of the tensor at a time and hands out pieces of it.
class ChunkStream final : public PatchStream {
public:
    ChunkStream(const ObjectStore& store, const VersionObjects& version, const PlacedTensor& tensor,
                const StreamOptions& options)
        : m_store(&store)
        , m_task(options.task)
        , m_elementBytes(bitsOf(tensor.info.dtype) / 8)
        , m_tensorBytes(tensor.info.bytes())
    {
        bool reorders = false;
        for (const PlacedChunk& chunk : tensor.chunks) {
            const ChunkGeometry geometry(tensor.info.shape, chunk);
            const bool isSequential = geometry.isSequential();
            reorders |= !isSequential;
            m_sources.push_back({ version.objects.at(chunk.extent.object).key, chunk.extent, geometry, isSequential });
        }
        m_spanBytes = reorders ? ReorderBytes : 0;
        m_windowBytes = std::max(options.bufferBytes, m_spanBytes) / m_elementBytes * m_elementBytes;
    }

    Result<std::uint64_t> workingBytes() override { return m_windowBytes + std::max(m_windowBytes, m_spanBytes); }
    bool seekable() const noexcept override { return true; }

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override
    {
        if (begin < m_at || end < begin || end > m_tensorBytes)
            return fail(Code::Internal, "blocks of a tensor were asked for out of order", m_sources.front().key);
        m_at = end;
        if (begin < m_windowBegin || end > m_windowBegin + m_window.size()) {
            m_windowBegin = begin;
            m_window.resize(std::min(std::max(m_windowBytes, end - begin), m_tensorBytes - begin));
            if (Result<void> filled = fillWindow(); !filled) {
                m_window.clear();
                return fail(std::move(filled.error()));
            }
        }
        return PatchPiece(FullBlock { ByteSpan(m_window).subspan(begin - m_windowBegin, end - begin) });
    }

    Result<void> finish() override
    {
        if (m_at != m_tensorBytes)
            return fail(Code::Internal, "a tensor was not read to its end", m_sources.front().key);
        return {};
    }

private:
    Result<void> fillWindow()
    {
        const std::uint64_t first = m_windowBegin / m_elementBytes;
        const std::uint64_t last = first + m_window.size() / m_elementBytes;
        for (const Source& source : m_sources) {
            const std::uint64_t from = source.geometry.elementsBefore(first);
            const std::uint64_t to = source.geometry.elementsBefore(last);
            if (from != to)
                DS_CHECK(paste(source, from, to));
        }
        return {};
    }

    /// Brings the elements with numbers [from, to) of a chunk into the window.
    Result<void> paste(const Source& source, std::uint64_t from, std::uint64_t to)
    {
        if (source.isSequential)
            return pasteSpan(source, from * m_elementBytes, (to - from) * m_elementBytes, from, to);
        if (source.extent.bytes <= m_spanBytes)
            return pasteSpan(source, 0, source.extent.bytes, from, to);
        return pasteRuns(source, from, to);
    }

    /// Reads bytes [begin, begin + bytes) of the extent, in which all of these elements lie.
    Result<void> pasteSpan(const Source& source, std::uint64_t begin, std::uint64_t bytes, std::uint64_t from,
                           std::uint64_t to)
    {
        m_scratch.resize(bytes);
        DS_CHECK(m_store->read(source.key, source.extent.begin + begin, m_scratch, *m_task));
        const std::uint64_t firstStored = begin / m_elementBytes;
        source.geometry.forEachRun(from, to, [&](const ChunkRun& run) {
            place(run, m_scratch.data() + (run.stored - firstStored) * m_elementBytes, run.storedStep);
            return true;
        });
        return {};
    }

    /// Reads run by run; where their elements have gaps between them, element by element.
    Result<void> pasteRuns(const Source& source, std::uint64_t from, std::uint64_t to)
    {
        m_scratch.resize(m_window.size());
        Result<void> outcome;
        source.geometry.forEachRun(from, to, [&](const ChunkRun& run) {
            const std::uint64_t pieces = run.storedStep == 1 ? 1 : run.count;
            const std::uint64_t pieceBytes = run.count / pieces * m_elementBytes;
            for (std::uint64_t i = 0; i < pieces && outcome; ++i)
                outcome =
                    m_store->read(source.key, source.extent.begin + (run.stored + i * run.storedStep) * m_elementBytes,
                                  MutableByteSpan(m_scratch).subspan(i * pieceBytes, pieceBytes), *m_task);
            if (outcome)
                place(run, m_scratch.data(), 1);
            return outcome.has_value();
        });
        return outcome;
    }

    void place(const ChunkRun& run, const std::byte* bytes, std::uint64_t step) noexcept
    {
        copyElements(bytes, step, m_window.data() + (run.placed * m_elementBytes - m_windowBegin), run.placedStep,
                     run.count, m_elementBytes);
    }

    const ObjectStore* m_store;
    TaskContext* m_task;
    std::uint64_t m_elementBytes;
    std::uint64_t m_tensorBytes;
    std::vector<Source> m_sources;
    std::uint64_t m_spanBytes; ///< a chunk in another order up to this size is read as a whole
    std::uint64_t m_windowBytes;
    std::vector<std::byte> m_window;
    std::uint64_t m_windowBegin = 0;
    std::vector<std::byte> m_scratch;
    std::uint64_t m_at = 0;
};

} // namespace

std::unique_ptr<PatchStream> openChunks(const ObjectStore& store, const VersionObjects& version,
                                        const PlacedTensor& tensor, const StreamOptions& options)
{
    return std::make_unique<ChunkStream>(store, version, tensor, options);
}

} // namespace deltascope
