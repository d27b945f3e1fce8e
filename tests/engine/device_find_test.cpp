#include "device_module_fixture.h"

#include "deltascope/engine/backend.h"

#include <numeric>
#include <optional>
#include <string>

// What DeviceModule::find() leaves on a device is compared with what the scalar backend extracts, and a copy that it
// brings up to date with its original.

namespace deltascope::device_module_test {
namespace {

class DeviceFind : public DeviceModuleTest { };

/// Where find() puts what it finds in some pairs, and what that was.
class Found {
public:
    Found(OpenModule& module, const std::vector<DevicePair>& pairs, unsigned width, std::uint64_t room)
        : m_module(module)
        , m_pairs(pairs)
        , m_width(width)
    {
        for (const DevicePair& pair : pairs)
            m_blocks += (pair.elements + BlockElements - 1) / BlockElements;
        places.blocks = allocate(m_blocks * sizeof(DeviceFoundBlock));
        places.positions = allocate(room * sizeof(std::uint16_t));
        places.values = allocate(room * width);
        places.used = allocate(sizeof(std::uint64_t));
        places.room = room;
    }

    /// One pass.
    void find()
    {
        m_module.call(m_module->find, m_pairs.data(), std::uint64_t { m_pairs.size() }, std::uint32_t { m_width },
                      static_cast<const DeviceFound*>(&places));
        blocks.resize(m_blocks);
        positions.resize(places.room);
        values.resize(places.room * m_width);
        download(blocks.data(), places.blocks, m_blocks * sizeof(DeviceFoundBlock));
        download(positions.data(), places.positions, places.room * sizeof(std::uint16_t));
        download(values.data(), places.values, values.size());
        download(&used, places.used, sizeof used);
        m_module.call(m_module->wait);
    }
    std::vector<std::uint32_t> sums()
    {
        std::vector<std::uint32_t> sums(m_blocks);
        m_module.call(m_module->sums, m_pairs.data(), std::uint64_t { m_pairs.size() }, std::uint32_t { m_width },
                      sums.data());
        m_module.call(m_module->wait);
        return sums;
    }
    Bytes bytesAt(std::uint64_t address, std::size_t size)
    {
        Bytes bytes(size);
        download(bytes.data(), address, size);
        m_module.call(m_module->wait);
        return bytes;
    }

    static constexpr std::uint64_t BlockElements = 16384;

    DeviceFound places {};
    std::vector<DeviceFoundBlock> blocks;
    std::vector<std::uint16_t> positions;
    Bytes values;
    std::uint64_t used = 0;

private:
    std::uint64_t allocate(std::uint64_t bytes)
    {
        std::uint64_t address = 0;
        m_module.call(m_module->allocate, std::max<std::uint64_t>(bytes, 1), &address);
        return address;
    }
    void download(void* to, std::uint64_t from, std::uint64_t bytes)
    {
        m_module.call(m_module->download, to, from, bytes);
    }

    OpenModule& m_module;
    std::vector<DevicePair> m_pairs;
    unsigned m_width;
    std::uint64_t m_blocks = 0;
};

/// What DeviceModule::sums() says of a block, word by word.
std::uint32_t sumOf(ByteSpan block)
{
    std::uint32_t sum = 0;
    for (std::size_t word = 0; word * 4 < block.size(); ++word) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 4 && word * 4 + i < block.size(); ++i)
            bits |= std::to_integer<std::uint32_t>(block[word * 4 + i]) << 8 * i;
        sum += bits * static_cast<std::uint32_t>(2 * word + 1);
    }
    return sum;
}

TEST_F(DeviceFind, FindsWhatTheScalarBackendExtractsAndUpdatesTheCopyIfAsked)
{
    std::mt19937_64 random(11);
    const auto scalar = Backends::builtin().all().front();
    for (const unsigned width : { 1U, 2U, 4U, 8U }) {
        for (const bool updates : { false, true }) {
            SCOPED_TRACE(testing::Message() << width << (updates ? ", with an update" : ""));
            OpenModule module;
            const Tensors tensors(1250, width, random); // of 10,000
            const std::uint64_t before = module.upload(tensors.before);
            const std::uint64_t after = module.upload(tensors.after);
            std::vector<DevicePair> pairs;
            for (std::size_t i = 0; i + 1 < tensors.begins.size(); ++i) {
                const std::uint64_t at = tensors.begins[i] * width;
                pairs.push_back(
                    { before + at, after + at, updates ? before + at : 0, tensors.begins[i + 1] - tensors.begins[i] });
            }
            Found found(module, pairs, width, tensors.begins.back());
            found.find();
            std::uint64_t total = 0;
            std::size_t block = 0;
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                for (std::uint64_t at = 0; at < pairs[i].elements; at += Found::BlockElements, ++block) {
                    const std::uint64_t elements = std::min(Found::BlockElements, pairs[i].elements - at);
                    const std::size_t begin = (tensors.begins[i] + at) * width;
                    const ByteSpan a = ByteSpan(tensors.before).subspan(begin, elements * width);
                    const ByteSpan b = ByteSpan(tensors.after).subspan(begin, elements * width);
                    std::vector<std::uint32_t> positions(elements + Backend::SlackElements);
                    Bytes values(positions.size() * width);
                    const std::size_t count = scalar->extract(a, b, width, positions.data(), values.data());
                    const DeviceFoundBlock& place = found.blocks[block];
                    ASSERT_EQ(place.count, count);
                    ASSERT_EQ(place.sum, sumOf(b)) << "tensor " << i << " from element " << at;
                    ASSERT_LE(place.first + count, found.places.room);
                    ASSERT_TRUE(std::equal(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count),
                                           found.positions.begin() + static_cast<std::ptrdiff_t>(place.first)));
                    ASSERT_TRUE(std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count * width),
                                           found.values.begin() + static_cast<std::ptrdiff_t>(place.first * width)));
                    total += count;
                }
            }
            EXPECT_EQ(found.used, total);
            EXPECT_EQ(found.bytesAt(before, tensors.before.size()), updates ? tensors.after : tensors.before);
            EXPECT_EQ(found.bytesAt(after, tensors.after.size()), tensors.after);
            const std::vector<std::uint32_t> sums = found.sums(); // of `before`
            std::size_t different = 0;
            for (std::size_t i = 0; i < sums.size(); ++i) {
                EXPECT_TRUE(updates || found.blocks[i].count > 0 || sums[i] == found.blocks[i].sum);
                different += sums[i] == found.blocks[i].sum ? 0 : 1;
            }
            EXPECT_EQ(different == 0, updates);
        }
    }
}

TEST_F(DeviceFind, WhatDoesNotFitIsFoundByTheNextPass)
{
    std::mt19937_64 random(12);
    OpenModule module;
    constexpr std::size_t Elements = 5 * Found::BlockElements + 100;
    const Bytes before = randomBytes(Elements * 2, random);
    Bytes after = before;
    for (std::size_t i = 0; i < after.size(); i += 2 + random() % 4)
        after[i] ^= std::byte { 0x10 };
    const std::uint64_t copy = module.upload(before);
    const DevicePair pair { copy, module.upload(after), copy, Elements };
    Found found(module, { pair }, 2, Found::BlockElements);
    Bytes rebuilt = before;
    std::uint64_t changes = 0;
    int passes = 0;
    for (found.find(); passes < 10; found.find()) {
        ++passes;
        for (std::size_t block = 0; block < found.blocks.size(); ++block) {
            const DeviceFoundBlock& place = found.blocks[block];
            if (place.first == DeviceFoundBlock::NoRoom)
                continue;
            for (std::uint64_t i = place.first; i < place.first + place.count; ++i) {
                const std::size_t at = (block * Found::BlockElements + found.positions[i]) * 2;
                std::copy_n(found.values.begin() + static_cast<std::ptrdiff_t>(i * 2), 2,
                            rebuilt.begin() + static_cast<std::ptrdiff_t>(at));
                ++changes;
            }
        }
        if (found.used <= found.places.room)
            break;
        EXPECT_NE(found.bytesAt(copy, before.size()), after);
    }
    EXPECT_GT(passes, 1);
    EXPECT_LT(passes, 10);
    EXPECT_TRUE(rebuilt == after);
    EXPECT_TRUE(found.bytesAt(copy, before.size()) == after);
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < before.size(); i += 2)
        different += before[i] != after[i] || before[i + 1] != after[i + 1] ? 1 : 0;
    EXPECT_EQ(changes, different) << "each is found once";
}

TEST_F(DeviceFind, EveryBitOfABlockIsInItsSum)
{
    std::mt19937_64 random(13);
    OpenModule module;
    const Bytes bytes = randomBytes(1003, random);
    const std::uint64_t address = module.upload(bytes);
    Found of(module, { { address, address, 0, bytes.size() } }, 1, 1);
    const std::uint32_t sum = of.sums().front();
    EXPECT_EQ(sum, sumOf(bytes));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        Bytes turned = bytes;
        turned[bit / 8] ^= std::byte { 1 } << bit % 8;
        ASSERT_NE(sumOf(turned), sum) << bit;
    }
}

} // namespace
} // namespace deltascope::device_module_test
