#include "module/queue.h"

#include "deltascope/engine/number_format.h"
#include "kernels/hash.h"
#include "kernels/list.h"
#include "module/launch_shape.h"
#include "module/xxh3_secret.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace deltascope::cuda {

namespace {

struct NumberKernel {
    const char* name;
    std::uint32_t elementBytes;
};

Result<NumberKernel> numberKernel(Dtype dtype)
{
    switch (dtype) {
#define KERNEL(type)                                                                                                   \
    case Dtype::type:                                                                                                  \
        return NumberKernel { "moments_" #type, sizeof(NumberFormatOf<Dtype::type>::Bits) };
        DELTASCOPE_KERNELS_OF_NUMBERS(KERNEL)
#undef KERNEL
    case Dtype::Bool:
        return numberKernel(Dtype::U8);
    default:
        return fail(Code::Internal, "a type without numbers is not measured");
    }
}

} // namespace

Result<std::unique_ptr<Queue>> Queue::open(const Device& device)
{
    const Current current(device);
    DS_CHECK(current.check());
    DS_CHECK(device.expectAlive());
    std::unique_ptr<Queue> queue(new Queue(device));
    int least = 0;
    int greatest = 0;
    DS_CHECK(device.check(device.driver().ctxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange"));
    if (const Status status = device.driver().streamCreateWithPriority(&queue->m_stream, NonBlockingStream, least);
        status != Success) {
        queue->m_stream = nullptr;
        DS_CHECK(device.check(status, "cuStreamCreateWithPriority"));
    }
    DS_CHECK(queue->m_arena.open());
    return queue;
}

Queue::~Queue()
{
    const Current current(m_device);
    const Driver& driver = m_device.driver();
    if (m_stream) {
        driver.streamSynchronize(m_stream);
        driver.streamDestroy(m_stream);
    }
    for (const Address address : m_allocated)
        driver.memFree(address);
    for (void* const host : m_allocatedHost)
        driver.memFreeHost(host);
    for (void* const host : m_pinned)
        driver.memHostUnregister(host);
    freeFound();
}

Result<Address> Queue::allocate(std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    Address address = 0;
    DS_CHECK(m_device.check(m_device.driver().memAlloc(&address, bytes), "cuMemAlloc"));
    m_allocated.insert(address);
    return address;
}

void Queue::release(Address address)
{
    if (m_allocated.erase(address) == 0)
        return;
    const Current current(m_device);
    m_device.driver().memFree(address);
}

Result<void*> Queue::allocateHost(std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    void* host = nullptr;
    DS_CHECK(m_device.check(m_device.driver().memHostAlloc(&host, bytes, PortableHost), "cuMemHostAlloc"));
    m_allocatedHost.insert(host);
    return host;
}

void Queue::releaseHost(void* host)
{
    if (m_allocatedHost.erase(host) == 0)
        return;
    const Current current(m_device);
    m_device.driver().memFreeHost(host);
}

Result<Address> Queue::pin(void* host, std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    const Driver& driver = m_device.driver();
    DS_CHECK(m_device.check(driver.memHostRegister(host, bytes, PortableHost | MappedHost), "cuMemHostRegister"));
    m_pinned.insert(host);
    Address address = 0;
    if (Result<void> mapped =
            m_device.check(driver.memHostGetDevicePointer(&address, host, 0), "cuMemHostGetDevicePointer");
        !mapped) {
        unpin(host);
        return fail(std::move(mapped.error()));
    }
    return address;
}

void Queue::unpin(void* host)
{
    if (m_pinned.erase(host) == 0)
        return;
    const Current current(m_device);
    m_device.driver().memHostUnregister(host);
}

Result<void> Queue::upload(Address to, const void* from, std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    return m_device.check(m_device.driver().memcpyHtoDAsync(to, from, bytes, m_stream), "cuMemcpyHtoDAsync");
}

Result<void> Queue::download(void* to, Address from, std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    return m_device.check(m_device.driver().memcpyDtoHAsync(to, from, bytes, m_stream), "cuMemcpyDtoHAsync");
}

Result<void> Queue::copy(Address to, Address from, std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    return m_device.check(m_device.driver().memcpyDtoDAsync(to, from, bytes, m_stream), "cuMemcpyDtoDAsync");
}

Result<void> Queue::follow(Handle stream)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    const Driver& driver = m_device.driver();
    Handle event = nullptr;
    DS_CHECK(m_device.check(driver.eventCreate(&event, EventWithoutTime), "cuEventCreate"));
    Result<void> done = m_device.check(driver.eventRecord(event, stream), "cuEventRecord");
    if (done)
        done = m_device.check(driver.streamWaitEvent(m_stream, event, 0), "cuStreamWaitEvent");
    driver.eventDestroy(event); // once it is past
    return done;
}

Result<void> Queue::expectOwn(Address address, std::uint64_t bytes)
{
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_CHECK(m_device.expectAlive());
    DS_CHECK(m_device.expectOwn(address));
    return bytes > 1 ? m_device.expectOwn(address + bytes - 1) : Result<void>();
}

Result<void> Queue::moments(std::span<const DevicePair> pairs, Dtype dtype, DiffMoments* moments)
{
    constexpr std::uint64_t MostBlocks = 1 << 14; // 1.4 MiB of moments
    const Current current(m_device);
    DS_CHECK(current.check());
    DS_TRY(const NumberKernel kernel, numberKernel(dtype));
    Launches launches(pairs, kernel.elementBytes, MostBlocks);
    for (std::vector<Piece> pieces = launches.next(); !pieces.empty(); pieces = launches.next()) {
        const std::uint64_t blocks = blocksOf(pieces);
        const std::uint64_t bytes = blocks * sizeof(DiffMoments);
        DS_TRY(const Table jobs, table(pieces, bytes));
        DS_TRY(const Arena::Place measured, results(bytes));
        MomentArguments arguments { jobs.jobs, jobs.jobOfBlock, blocks, measured.device };
        DS_CHECK(launch(kernel.name, (blocks + TilesPerBlock - 1) / TilesPerBlock, TileThreads, &arguments));
        DS_CHECK(bringDown(measured, bytes));
        m_deliveries.push_back([measured, bytes, to = moments]() -> Result<void> {
            std::memcpy(to, measured.host, bytes);
            return {};
        });
        moments += blocks;
    }
    return {};
}

Result<void> Queue::replay(std::span<const DeviceReplay> blocks, const DevicePiece* pieces, std::uint32_t elementBytes,
                           const DeviceBits& bits, DevicePatchCounts* counts)
{
    constexpr std::size_t MostRows = 1 << 16; // 7 MiB of tables and counts
    const Current current(m_device);
    DS_CHECK(current.check());
    std::vector<ReplayJob> jobs;
    std::vector<ReplayPiece> rows;
    for (const DeviceReplay& block : blocks) {
        jobs.push_back({ block.block, block.elements, rows.size(), 0 });
        for (std::uint64_t i = 0; i < block.pieces; ++i, ++pieces) {
            if (rows.size() == MostRows) { // the next launch goes on behind this one
                DS_CHECK(launchReplay(jobs, rows, elementBytes, bits, counts));
                jobs = { { block.block, block.elements, 0, 0 } };
                counts += rows.size();
                rows.clear();
            }
            rows.push_back(*pieces);
            ++jobs.back().pieces;
        }
        if (jobs.size() == MostRows) {
            DS_CHECK(launchReplay(jobs, rows, elementBytes, bits, counts));
            jobs.clear();
            counts += rows.size();
            rows.clear();
        }
    }
    return launchReplay(jobs, rows, elementBytes, bits, counts);
}

Result<void> Queue::launchReplay(const std::vector<ReplayJob>& jobs, const std::vector<ReplayPiece>& pieces,
                                 std::uint32_t elementBytes, const DeviceBits& bits, DevicePatchCounts* counts)
{
    if (pieces.empty())
        return {};
    const std::uint64_t bytes = pieces.size() * sizeof(DevicePatchCounts);
    DS_CHECK(makeRoomInArena(jobs.size() * sizeof(ReplayJob) + pieces.size() * sizeof(ReplayPiece) + bytes));
    ReplayArguments arguments {};
    arguments.jobCount = jobs.size();
    arguments.nan = { bits.nanFlip, bits.nanMask, bits.nanLimit };
    arguments.minusZero = bits.minusZero;
    DS_TRY(arguments.jobs, sendUp(jobs));
    DS_TRY(arguments.pieces, sendUp(pieces));
    DS_TRY(const Arena::Place counted, results(bytes));
    arguments.counts = counted.device;
    DS_CHECK(launch(widthName("replay", elementBytes), jobs.size(), TileThreads, &arguments));
    DS_CHECK(bringDown(counted, bytes));
    m_deliveries.push_back([counted, bytes, to = counts]() -> Result<void> {
        std::memcpy(to, counted.host, bytes);
        return {};
    });
    return {};
}

Result<void> Queue::hash(std::span<const DeviceLeaf> leaves, DeviceDigest* digests)
{
    constexpr std::size_t MostLeaves = 1 << 16;
    const Current current(m_device);
    DS_CHECK(current.check());
    for (; !leaves.empty(); leaves = leaves.subspan(std::min(leaves.size(), MostLeaves))) {
        std::vector<LeafJob> rows;
        for (const DeviceLeaf& leaf : leaves.first(std::min(leaves.size(), MostLeaves)))
            rows.push_back(LeafJob { leaf.bytes, leaf.size });
        const std::uint64_t bytes = rows.size() * sizeof(DeviceDigest);
        DS_CHECK(makeRoomInArena(rows.size() * sizeof(LeafJob) + bytes));
        DS_TRY(const Address table, sendUp(rows));
        DS_TRY(const Arena::Place made, results(bytes));
        HashArguments arguments { table, rows.size(), made.device, {} };
        copyXxh3Secret(arguments.secret);
        // Few warps a block, for there are few leaves: they spread over the whole device.
        DS_CHECK(launch("hash_leaves", (rows.size() + LeavesPerWarp - 1) / LeavesPerWarp, Lanes, &arguments));
        DS_CHECK(bringDown(made, bytes));
        m_deliveries.push_back([made, bytes, to = digests]() -> Result<void> {
            std::memcpy(to, made.host, bytes);
            return {};
        });
        digests += rows.size();
    }
    return {};
}

Result<void> Queue::makeRoomInArena(std::uint64_t bytes)
{
    constexpr std::uint64_t Places = 4; // that each launch takes at most, each aligned
    const std::uint64_t wanted = bytes + Places * Arena::Alignment;
    if (!m_arena.fits(wanted))
        DS_CHECK(wait());
    if (!m_arena.fits(wanted))
        return fail(Code::Internal, "a launch has more jobs than fit");
    return {};
}

template <class Value> Result<Address> Queue::sendUp(const std::vector<Value>& values)
{
    const std::uint64_t bytes = values.size() * sizeof(Value);
    const Arena::Place place = m_arena.take(bytes);
    if (values.empty())
        return place.device;
    std::memcpy(place.host, values.data(), bytes);
    DS_CHECK(upload(place.device, place.host, bytes));
    return place.device;
}

Result<Queue::Table> Queue::table(const std::vector<Piece>& pieces, std::uint64_t bytesBeside)
{
    std::vector<PairJob> jobs;
    std::vector<std::uint32_t> jobOfBlock;
    for (const Piece& piece : pieces) {
        jobOfBlock.resize(jobOfBlock.size() + piece.blocks, static_cast<std::uint32_t>(jobs.size()));
        jobs.push_back(piece.job);
    }
    DS_CHECK(makeRoomInArena(jobs.size() * sizeof(PairJob) + jobOfBlock.size() * sizeof(std::uint32_t) + bytesBeside));
    Table table {};
    DS_TRY(table.jobs, sendUp(jobs));
    DS_TRY(table.jobOfBlock, sendUp(jobOfBlock));
    return table;
}

Result<Arena::Place> Queue::results(std::uint64_t bytes)
{
    const Arena::Place place = m_arena.take(bytes);
    DS_CHECK(m_device.check(m_device.driver().memsetD8Async(place.device, 0, bytes, m_stream), "cuMemsetD8Async"));
    return place;
}

Result<void> Queue::bringDown(const Arena::Place& place, std::uint64_t bytes)
{
    return download(place.host, place.device, bytes);
}

Result<void> Queue::launch(const std::string& kernel, std::uint64_t blocks, unsigned threads, void* arguments)
{
    DS_CHECK(m_device.expectAlive());
    if (blocks == 0)
        return {};
    DS_TRY(const Handle function, m_device.kernel(kernel));
    const auto grid = static_cast<unsigned>(std::min<std::uint64_t>(blocks, std::numeric_limits<std::int32_t>::max()));
    std::array<void*, 1> parameters { arguments };
    return m_device.check(
        m_device.driver().launchKernel(function, grid, 1, 1, threads, 1, 1, 0, m_stream, parameters.data(), nullptr),
        "cuLaunchKernel");
}

Result<void> Queue::synchronize()
{
    return m_device.check(m_device.driver().streamSynchronize(m_stream), "cuStreamSynchronize");
}

Result<void> Queue::wait()
{
    const Current current(m_device);
    DS_CHECK(current.check());
    std::vector<Delivery> deliveries = std::exchange(m_deliveries, {});
    m_arena.clear();
    m_isExtracting = false;
    DS_CHECK(m_device.expectAlive());
    DS_CHECK(synchronize());
    for (const Delivery& delivery : deliveries)
        DS_CHECK(delivery());
    return {};
}

} // namespace deltascope::cuda
