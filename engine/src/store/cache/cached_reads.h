#pragma once

#include "caching_store.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace deltascope {

/// Reads of a caching store that are carried out together. One thread; run() makes it empty again.
class CachedReads {
public:
    CachedReads(const CachingStore& store, TaskContext& task)
        : m_store(store)
        , m_task(task)
        , m_ahead(*store.m_memory)
    {
    }

    /// One that may be cached (CachingStore::mayCache).
    void add(const RangeRead& wanted);
    std::uint64_t wantedBytes() const noexcept { return m_wantedBytes; }
    /// The outcomes, in the order of add().
    std::vector<Result<void>> run();

    /// For fetchAhead(): of leaves that nobody waits for, those that are neither there nor on their way, and what
    /// belongs to one request with them. False: there is no room (BlockMemory::askAhead).
    bool addAhead(const ObjectRef& object, const LeafRange& leaves);
    std::uint64_t aheadBytes() const noexcept { return m_aheadBytes; } ///< that fetchAhead() will ask for, at most
    /// False: something did not come.
    bool fetchAhead();

private:
    struct Leaf {
        BlockMemory::BlockPtr block;
        std::optional<Error> error;
        bool isDirect = false; ///< its readers ask the inner store themselves

        bool isSettled() const noexcept { return block || error || isDirect; }
    };
    struct Object {
        std::string name;
        ObjectRef ref;
        std::uint64_t sizeBytes = 0;
        std::map<std::uint64_t, Leaf> leaves; ///< that are wanted
        bool isWrong = false; ///< a read has shown it

        std::vector<std::uint64_t> unsettled() const;
    };
    struct Piece { ///< what this thread fetches in one request
        Object* object = nullptr;
        LeafRange leaves;
    };

    /// What this thread has claimed of the memory. Gives up what it has not published, whatever happens.
    class Claims {
    public:
        explicit Claims(BlockMemory& memory)
            : m_memory(memory)
        {
        }
        ~Claims();
        Claims(const Claims&) = delete;
        Claims& operator=(const Claims&) = delete;

        void add(Object& object, const std::vector<LeafRange>& ranges);
        const std::vector<Piece>& pieces() const noexcept { return m_pieces; }
        BlockMemory::BlockPtr publish(const Piece& piece, RawBytes bytes);
        void abandon(const Piece& piece);

    private:
        void release(const Piece& piece);

        BlockMemory& m_memory;
        std::vector<Piece> m_pieces; ///< as they were claimed
        std::map<Object*, std::set<std::uint64_t>> m_held;
    };

    Result<void> settle();
    bool isSettled() const;
    void ask(Claims& claims);
    std::vector<Piece> takeFromDisk(Claims& claims);
    bool fetch(const std::vector<Piece>& pieces, Claims& claims);
    Object& objectOf(const ObjectRef& object);
    BlockMemory::BlockPtr publish(const Piece& piece, RawBytes bytes, Claims& claims);
    void keepOnDisk(const Object& object, const BlockMemory::BlockPtr& block);
    void settleOnDisk(const Object& object);
    void dropIfWrong(Object& object, const Result<void>& outcome);
    Result<void> deliver(const RangeRead& wanted);

    const CachingStore& m_store;
    TaskContext& m_task;
    std::vector<RangeRead> m_reads;
    std::map<std::string, Object> m_objects; ///< by their names
    std::uint64_t m_wantedBytes = 0;
    Claims m_ahead; ///< refers to m_objects
    std::uint64_t m_aheadBytes = 0;
};

} // namespace deltascope
