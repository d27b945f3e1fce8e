#include "deltascope/engine/device_backend.h"

#include "deltascope/engine/hash_tree.h"
#include "device_module_fixture.h"
#include "random_pieces.h"
#include "support/sanitizer.h"

#include <memory>
#include <vector>

// What a device replays has the bits and the counts of every backend of the processor, and the leaves that it hashes
// have the digests of the library: of 10,000 small tensors of every type, and of 10,000 leaves.

namespace deltascope::device_module_test {
namespace {

using random_pieces::OwnPiece;

constexpr std::size_t TensorCount = test::UnderSanitizer ? 500 : 10'000;

std::vector<Dtype> dtypesOfWholeBytes()
{
    std::vector<Dtype> all;
    for (auto number = static_cast<std::uint8_t>(Dtype::Bool); number <= static_cast<std::uint8_t>(Dtype::U64);
         ++number) {
        if (bitsOf(static_cast<Dtype>(number)) % 8 == 0)
            all.push_back(static_cast<Dtype>(number));
    }
    return all;
}

/// A tensor that several pieces change, and what the scalar backend makes of it.
struct ReplayedTensor {
    std::vector<OwnPiece> own;
    std::vector<PatchPiece> pieces;
    std::vector<Bytes> states; ///< in front of the first piece, and behind each one
    std::vector<PatchCounts> counts;

    ReplayedTensor(Dtype dtype, std::mt19937_64& random)
    {
        const unsigned width = bitsOf(dtype) / 8;
        const std::size_t most = blockBytesOf(dtype) / width;
        const std::size_t few[] = { 1, 255, 256, 257, most - 1, most };
        const std::size_t elements = random() % 80 == 0 ? few[random() % std::size(few)] : 1 + random() % 120;
        states.push_back(random_pieces::crowded(elements * width, random));
        const auto scalar = Backends::builtin().all().front();
        for (std::size_t left = 1 + random() % 4; left > 0; --left) {
            own.push_back(random_pieces::randomPiece(states.back(), dtype, random));
            pieces.push_back(own.back().piece);
            Bytes state = states.back();
            counts.push_back(scalar->apply(pieces.back(), state, dtype));
            states.push_back(std::move(state));
        }
    }

    void expectOf(const Backend& backend, Dtype dtype) const
    {
        Bytes state = states.front();
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            ASSERT_EQ(backend.apply(pieces[i], state, dtype), counts[i]) << backend.name() << ", piece " << i;
            ASSERT_TRUE(state == states[i + 1]) << backend.name() << ", piece " << i;
        }
    }
    void expectIn(const PatchedBlock& made, PatchedStates wanted) const
    {
        ASSERT_TRUE(std::ranges::equal(made.counts, counts));
        ASSERT_TRUE(std::ranges::equal(made.bytes, states.back()));
        if (wanted == PatchedStates::Last)
            return;
        ASSERT_EQ(made.states.size(), states.size());
        for (std::size_t i = 0; i < states.size(); ++i)
            ASSERT_TRUE(std::ranges::equal(made.states[i], states[i])) << "state " << i;
    }
};

/// Replays all of them on a device, as many at a time as it takes.
void expectOfDevice(const std::vector<ReplayedTensor>& tensors, Dtype dtype, PatchedStates wanted)
{
    const auto device = test::deviceBackend();
    const std::unique_ptr<PatchBatches> batches = device->patch(dtype, wanted);
    ASSERT_TRUE(batches);
    std::size_t added = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        while (added < tensors.size() && batches->takesMore()
               && batches->add(tensors[added].states.front(), tensors[added].pieces))
            ++added;
        SCOPED_TRACE(testing::Message() << "tensor " << i);
        ASSERT_LT(i, added) << "the device does not take it";
        ASSERT_NO_FATAL_FAILURE(tensors[i].expectIn(batches->next(), wanted));
        bytes += tensors[i].states.front().size();
    }
    EXPECT_EQ(device->share()->byDevice, bytes);
    EXPECT_TRUE(device->notices().empty());
}

TEST_F(DeviceModuleTest, ReplaysOfManyTensorsHaveTheBitsAndCountsOfEveryOtherBackend)
{
    std::mt19937_64 random(21);
    const std::vector<Dtype> dtypes = dtypesOfWholeBytes();
    for (const Dtype dtype : dtypes) {
        SCOPED_TRACE(word(dtype));
        std::vector<ReplayedTensor> tensors;
        while (tensors.size() <= TensorCount / dtypes.size())
            tensors.emplace_back(dtype, random);
        for (const auto& backend : processors()) {
            for (const ReplayedTensor& tensor : tensors)
                ASSERT_NO_FATAL_FAILURE(tensor.expectOf(*backend, dtype));
        }
        for (const PatchedStates wanted : { PatchedStates::Last, PatchedStates::Each })
            ASSERT_NO_FATAL_FAILURE(expectOfDevice(tensors, dtype, wanted));
    }
}

TEST_F(DeviceModuleTest, ValuesThatAreAddedAreLeftToTheProcessor)
{
    const auto device = test::deviceBackend();
    const std::unique_ptr<PatchBatches> batches = device->patch(Dtype::BF16, PatchedStates::Last);
    ASSERT_TRUE(batches);
    const Bytes block(2048);
    const std::vector<std::uint32_t> elements { 1, 5 };
    const Bytes values(8, std::byte { 0x3f });
    const PatchPiece pieces[] = { AssignElements { elements, ByteSpan(values).first(4) },
                                  AddElements { elements, values } };
    EXPECT_TRUE(batches->add(block, std::span(pieces).first(1)));
    EXPECT_FALSE(batches->add(block, pieces));
    EXPECT_EQ(batches->next().bytes.size(), block.size());
    EXPECT_TRUE(batches->next().bytes.empty());
    EXPECT_EQ(device->share()->byDevice, block.size());
    EXPECT_EQ(device->share()->byProcessor, block.size());
}

/// Hashes stretches of memory, each of more than 240 bytes; the first of a pair is where it begins.
void expectHashesOfTheLibrary(const Bytes& memory, const std::vector<std::pair<std::size_t, std::size_t>>& stretches)
{
    OpenModule module;
    const std::uint64_t address = module.upload(memory);
    std::vector<DeviceLeaf> leaves;
    for (const auto& [begin, size] : stretches)
        leaves.push_back({ address + begin, size });
    std::vector<DeviceDigest> digests(leaves.size());
    module.call(module->hash, leaves.data(), std::uint64_t { leaves.size() }, digests.data());
    module.call(module->wait);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const auto& [begin, size] = stretches[i];
        Digest128 digest;
        for (unsigned byte = 0; byte < 8; ++byte) {
            digest[byte] = static_cast<std::byte>(digests[i].high >> (56 - 8 * byte));
            digest[8 + byte] = static_cast<std::byte>(digests[i].low >> (56 - 8 * byte));
        }
        ASSERT_EQ(toHex(digest), toHex(xxh3(ByteSpan(memory).subspan(begin, size)))) << size << " bytes at " << begin;
    }
}

TEST_F(DeviceModuleTest, LeavesHaveTheHashOfTheLibrary)
{
    std::mt19937_64 random(3);
    std::vector<std::pair<std::size_t, std::size_t>> stretches;
    std::size_t end = 0;
    for (const std::size_t size : { 241, 256, 257, 1023, 1024, 1025, 2048, 2049, 4096, 65536, 65599, 1000, 1088, 1087,
                                    1089, 5000, 313, 1 << 20, (1 << 20) - 1 }) {
        stretches.emplace_back(end + random() % 9, size); // leaves need not be aligned
        end = stretches.back().first + size;
    }
    expectHashesOfTheLibrary(randomBytes(end, random), stretches);
}

TEST_F(DeviceModuleTest, ManyLeavesHaveTheHashOfTheLibrary)
{
    std::mt19937_64 random(22);
    std::vector<std::pair<std::size_t, std::size_t>> stretches;
    Bytes memory;
    while (stretches.size() < TensorCount) {
        const std::size_t around = 64 * (4 + random() % 40); // a stripe is 64 bytes, a block 1024
        const std::size_t size = random() % 2 == 0 ? around + random() % 3 - 1 : 241 + random() % 1000;
        memory.resize(memory.size() + random() % 9);
        stretches.emplace_back(memory.size(), size);
        const Bytes content = random() % 4 == 0 ? random_pieces::crowded(size, random) : randomBytes(size, random);
        memory.insert(memory.end(), content.begin(), content.end());
    }
    expectHashesOfTheLibrary(memory, stretches);
}

} // namespace
} // namespace deltascope::device_module_test
