#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace deltascope::xet {

/// Memory for bodies, which many threads share. At most `bytes` are lent at once, or one buffer of any size. Buffers
/// that come back are lent again. Any thread.
class ByteBudget {
public:
    /// Its end gives the memory back. One thread.
    class Buffer {
    public:
        Buffer(ByteBudget& budget, std::unique_ptr<std::byte[]> memory, std::size_t roomBytes)
            : m_budget(&budget)
            , m_memory(std::move(memory))
            , m_roomBytes(roomBytes)
        {
        }
        ~Buffer()
        {
            if (m_memory)
                m_budget->giveBack(std::move(m_memory), m_roomBytes);
        }
        Buffer(Buffer&&) noexcept = default;
        Buffer& operator=(Buffer&&) = delete;

        std::byte* data() const noexcept { return m_memory.get(); }

    private:
        ByteBudget* m_budget;
        std::unique_ptr<std::byte[]> m_memory;
        std::size_t m_roomBytes;
    };

    explicit ByteBudget(std::uint64_t bytes)
        : m_mostBytes(bytes)
    {
    }

    /// Waits for room. The content is undefined. Errors: Canceled.
    Result<Buffer> lend(std::size_t bytes, TaskContext& task);

private:
    struct Spare {
        std::unique_ptr<std::byte[]> memory;
        std::size_t roomBytes = 0;
    };

    void giveBack(std::unique_ptr<std::byte[]> memory, std::size_t roomBytes);
    /// The smallest spare buffer that is large enough, or a new one. Called with the lock.
    Spare takeSpare(std::size_t bytes);

    const std::uint64_t m_mostBytes;
    std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_changed;
    std::uint64_t m_lentBytes = 0;
    std::uint64_t m_spareBytes = 0; ///< with what is lent never more than m_mostBytes
    std::vector<Spare> m_spares;
};

} // namespace deltascope::xet
