#pragma once

#include "store/xet/file_record.h"
#include "store/xet/known_chunks.h"
#include "store/xet/xorb_record.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace deltascope::xet {

/// A xorb on its way: its chunks have places before their records are there.
struct FilledXorb {
    std::shared_ptr<KnownXorb> content; ///< without a hash until it is closed
    std::uint64_t bytes = 0; ///< before compression
    std::vector<std::byte> body; ///< records so far
    std::size_t records = 0; ///< in body
    bool isClosed = false;

    bool isWhole() const noexcept { return isClosed && records == content->chunks.size(); }
};

/// Bytes of a file, shared by what still works on parts of them.
struct FileBlock {
    static constexpr std::size_t RoomBytes = std::size_t { 8 } << 20;

    MutableByteSpan room() const noexcept { return { memory.get(), RoomBytes }; }

    std::unique_ptr<std::byte[]> memory = std::make_unique_for_overwrite<std::byte[]>(RoomBytes);
    std::size_t filled = 0;
};

/// A chunk and where its bytes are.
struct CutChunk {
    std::shared_ptr<const FileBlock> block;
    std::size_t offset = 0;
    Chunk chunk; ///< without a hash at first

    ByteSpan span() const noexcept { return block->room().subspan(offset, chunk.bytes); }
};

/// A chunk that must be sent.
struct FreshChunk {
    CutChunk cut;
    std::shared_ptr<FilledXorb> xorb;
};

/// Finds for each chunk of a file where it lies already, or gives it a place in a xorb. Chunks that are there already
/// are used again only in runs of at least eight, or if they are the whole file: shorter ones would cost readers more
/// requests than they save bytes.
class XorbFiller {
public:
    XorbFiller(std::shared_ptr<KnownChunks> known, std::uint32_t xorbBytes)
        : m_known(std::move(known))
        , m_xorbBytes(xorbBytes)
    {
    }

    /// The next chunk of the current file. Appends to `fresh` what must be sent, in order.
    void take(CutChunk chunk, std::vector<FreshChunk>& fresh);
    /// The current file ends.
    FileRecord finishFile(std::vector<FreshChunk>& fresh);

    /// No chunk joins the open xorb any more. Null: there is none.
    void closeXorb();
    /// Xorbs that were begun since forgetXorbs(), in order.
    const std::vector<std::shared_ptr<FilledXorb>>& xorbs() const noexcept { return m_xorbs; }
    std::size_t shardRows() const noexcept { return m_shardRows; }
    /// Whether terms point to what earlier sessions left in the store.
    bool usesKnown() const noexcept { return m_usesKnown; }
    /// The first `count` xorbs, closed ones, are registered: from now on they are found as known ones.
    void forgetXorbs(std::size_t count);

private:
    struct Place {
        std::shared_ptr<const KnownXorb> xorb;
        std::uint32_t index = 0;
        bool isKnown = false; ///< an earlier session sent it
    };
    /// Chunks of the file that lie in a row in a xorb that is there already.
    struct Run {
        Place place; ///< of the first
        std::uint32_t count = 0;
        std::vector<CutChunk> held; ///< all of them, while the run is too short to be used
    };

    std::optional<Place> find(const Hash& chunk) const;
    bool extendRun(CutChunk& chunk);
    void useRun();
    void endRun(std::vector<FreshChunk>& fresh);
    void place(CutChunk chunk, std::vector<FreshChunk>& fresh);

    const std::shared_ptr<KnownChunks> m_known;
    const std::uint32_t m_xorbBytes;
    FileRecord m_file;
    std::uint64_t m_fileChunks = 0; ///< in m_file
    std::optional<Run> m_run;
    std::vector<std::shared_ptr<FilledXorb>> m_xorbs; ///< the last one may be open
    std::size_t m_shardRows = 0; ///< of m_xorbs
    std::unordered_map<Hash, Place, HashOfHash> m_places; ///< of chunks in m_xorbs
    bool m_usesKnown = false;
};

} // namespace deltascope::xet
