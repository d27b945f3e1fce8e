#include "module/queue.h"

#include "kernels/compare.h"
#include "module/launch_shape.h"

#include <algorithm>
#include <cstring>
#include <utility>

// What Queue does with pairs of stretches: finds what differs, and sums blocks.

namespace deltascope::cuda {

namespace {

unsigned extractThreads(std::uint32_t elementBytes)
{
    switch (elementBytes) {
    case 1:
        return extractWarps<std::uint8_t>() * Lanes;
    case 2:
        return extractWarps<std::uint16_t>() * Lanes;
    case 4:
        return extractWarps<std::uint32_t>() * Lanes;
    default:
        return extractWarps<std::uint64_t>() * Lanes;
    }
}

} // namespace

Result<void> Queue::sums(std::span<const DevicePair> pairs, std::uint32_t elementBytes, std::uint32_t* sums)
{
    constexpr std::uint64_t MostBlocks = 1 << 18; // 1 MiB of sums
    const Current current(m_device);
    DS_CHECK(current.check());
    Launches launches(pairs, elementBytes, MostBlocks);
    for (std::vector<Piece> pieces = launches.next(); !pieces.empty(); pieces = launches.next()) {
        const std::uint64_t blocks = blocksOf(pieces);
        const std::uint64_t bytes = blocks * sizeof(std::uint32_t);
        DS_TRY(const Table jobs, table(pieces, bytes));
        DS_TRY(const Arena::Place made, results(bytes));
        SumArguments arguments { jobs.jobs, jobs.jobOfBlock, blocks, made.device };
        DS_CHECK(launch(widthName("sum", elementBytes), (blocks + TilesPerBlock - 1) / TilesPerBlock, TileThreads,
                        &arguments));
        DS_CHECK(bringDown(made, bytes));
        m_deliveries.push_back([made, bytes, to = sums]() -> Result<void> {
            std::memcpy(to, made.host, bytes);
            return {};
        });
        sums += blocks;
    }
    return {};
}

Result<void> Queue::find(std::span<const DevicePair> pairs, std::uint32_t elementBytes, const DeviceFound& found)
{
    constexpr std::uint64_t MostBlocks = 1 << 20; // 2^34 elements, 4 MiB of their jobs
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    DS_CHECK(m_device.check(m_device.driver().memsetD8Async(found.used, 0, sizeof(std::uint64_t), m_stream),
                            "cuMemsetD8Async"));
    Address places = found.blocks;
    Launches launches(pairs, elementBytes, MostBlocks);
    for (std::vector<Piece> pieces = launches.next(); !pieces.empty(); pieces = launches.next()) {
        const std::uint64_t blocks = blocksOf(pieces);
        DS_TRY(const Table jobs, table(pieces, 0));
        ExtractArguments arguments { jobs.jobs,       jobs.jobOfBlock, blocks,     places,
                                     found.positions, found.values,    found.room, found.used };
        DS_CHECK(launch(widthName("extract", elementBytes), blocks, extractThreads(elementBytes), &arguments));
        places += blocks * sizeof(BlockChanges);
    }
    return {};
}

Result<void> Queue::extract(std::span<const DevicePair> pairs, std::uint32_t elementBytes, DeviceChanges* changes)
{
    constexpr std::uint64_t MostBlocks = 1 << 16; // 2^30 elements, 1 MiB of places
    for (std::size_t i = 0; i < pairs.size(); ++i)
        changes[i].found = 0;
    const Current current(m_device);
    DS_CHECK(current.check());
    Launches launches(pairs, elementBytes, MostBlocks);
    for (std::vector<Piece> pieces = launches.next(); !pieces.empty(); pieces = launches.next())
        DS_CHECK(extractPieces(std::move(pieces), elementBytes, changes));
    return {};
}

/// One launch of extract(): where its results lie, and what it is launched with once more if they do not fit.
struct Queue::Extraction {
    std::vector<Piece> pieces;
    std::uint32_t elementBytes;
    DeviceChanges* changes;
    Arena::Place places;
    Arena::Place used;
    ExtractArguments arguments;
};

Result<void> Queue::extractPieces(std::vector<Piece> pieces, std::uint32_t elementBytes, DeviceChanges* changes)
{
    for (Piece& piece : pieces)
        piece.job.out = 0;
    if (std::exchange(m_isExtracting, true)) // what the one before found lies where this one's would
        DS_CHECK(wait());
    const std::uint64_t blocks = blocksOf(pieces);
    const std::uint64_t bytes = blocks * sizeof(BlockChanges);
    DS_TRY(const Table jobs, table(pieces, bytes + Arena::Alignment));
    DS_TRY(const Arena::Place places, results(bytes));
    DS_TRY(const Arena::Place used, results(sizeof(std::uint64_t)));
    constexpr std::uint64_t Expected = 16; // one element of so many changes, or less
    DS_CHECK(makeRoom(blocks * BlockElements / Expected, elementBytes));
    Extraction extraction { std::move(pieces),
                            elementBytes,
                            changes,
                            places,
                            used,
                            { jobs.jobs, jobs.jobOfBlock, blocks, places.device, 0, 0, 0, used.device } };
    DS_CHECK(launchExtraction(extraction));
    m_isExtracting = true;
    m_deliveries.push_back([this, extraction = std::move(extraction)]() mutable { return deliver(extraction); });
    return {};
}

Result<void> Queue::launchExtraction(Extraction& extraction)
{
    extraction.arguments.positions = m_found;
    extraction.arguments.values = m_found + m_foundRoom * sizeof(std::uint16_t);
    extraction.arguments.room = m_foundRoom;
    DS_CHECK(launch(widthName("extract", extraction.elementBytes), extraction.arguments.blocks,
                    extractThreads(extraction.elementBytes), &extraction.arguments));
    DS_CHECK(bringDown(extraction.places, extraction.arguments.blocks * sizeof(BlockChanges)));
    return bringDown(extraction.used, sizeof(std::uint64_t));
}

Result<void> Queue::deliver(Extraction& extraction)
{
    std::uint64_t used = *static_cast<const std::uint64_t*>(extraction.used.host);
    if (used > m_foundRoom) {
        DS_CHECK(makeRoom(used, extraction.elementBytes));
        DS_CHECK(
            m_device.check(m_device.driver().memsetD8Async(extraction.used.device, 0, sizeof(std::uint64_t), m_stream),
                           "cuMemsetD8Async"));
        DS_CHECK(launchExtraction(extraction));
        DS_CHECK(synchronize());
        used = *static_cast<const std::uint64_t*>(extraction.used.host);
    }
    const std::uint64_t valuesAt = m_foundRoom * sizeof(std::uint16_t);
    DS_CHECK(download(m_foundHost, m_found, used * sizeof(std::uint16_t)));
    DS_CHECK(download(m_foundHost + valuesAt, m_found + valuesAt, used * extraction.elementBytes));
    DS_CHECK(synchronize());
    const auto* const positions = reinterpret_cast<const std::uint16_t*>(m_foundHost);
    const std::byte* const values = m_foundHost + valuesAt;
    const auto* const places = static_cast<const BlockChanges*>(extraction.places.host);
    for (const Piece& piece : extraction.pieces) {
        DeviceChanges& to = extraction.changes[piece.pair];
        for (std::uint64_t block = 0; block < piece.blocks; ++block) {
            const BlockChanges& from = places[piece.job.firstBlock + block];
            const std::uint64_t at = std::exchange(to.found, to.found + from.count);
            if (to.found > to.room || from.count == 0)
                continue;
            const std::uint64_t first = piece.firstElement + block * BlockElements;
            std::transform(positions + from.first, positions + from.first + from.count, to.positions + at,
                           [&](std::uint16_t position) { return static_cast<std::uint32_t>(first + position); });
            std::memcpy(static_cast<std::byte*>(to.values) + at * extraction.elementBytes,
                        values + from.first * extraction.elementBytes,
                        from.count * std::size_t { extraction.elementBytes });
        }
    }
    return {};
}

Result<void> Queue::makeRoom(std::uint64_t elements, std::uint32_t elementBytes)
{
    // Values begin where their widest type is aligned.
    const std::uint64_t room = (elements + Arena::Alignment) / Arena::Alignment * Arena::Alignment;
    const std::uint64_t bytes = room * (sizeof(std::uint16_t) + elementBytes);
    if (bytes > m_foundBytes) {
        freeFound();
        const Driver& driver = m_device.driver();
        DS_CHECK(m_device.check(driver.memAlloc(&m_found, bytes), "cuMemAlloc"));
        void* host = nullptr;
        DS_CHECK(m_device.check(driver.memHostAlloc(&host, bytes, PortableHost), "cuMemHostAlloc"));
        m_foundHost = static_cast<std::byte*>(host);
        m_foundBytes = bytes;
    }
    m_foundRoom = m_foundBytes / (sizeof(std::uint16_t) + elementBytes) / Arena::Alignment * Arena::Alignment;
    return {};
}

void Queue::freeFound()
{
    const Driver& driver = m_device.driver();
    if (m_found)
        driver.memFree(std::exchange(m_found, 0));
    if (m_foundHost)
        driver.memFreeHost(std::exchange(m_foundHost, nullptr));
    m_foundBytes = 0;
}

} // namespace deltascope::cuda
