#include "deltascope/engine/block_batches.h"

#include "deltascope/engine/hash_tree.h"
#include "support/device.h"
#include "support/fake_driver.h"
#include "support/sanitizer.h"
#include "support/slice.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>
#include <vector>

// What a backend does with many blocks is what the scalar one does with each of them.

namespace deltascope {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

Bytes randomBytes(std::size_t size, Random& random)
{
    Bytes bytes(size);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    return bytes;
}

/// Some bits of about one byte in `oneOf` change.
Bytes changed(Bytes bytes, std::size_t oneOf, Random& random)
{
    for (std::size_t at = random() % oneOf; at < bytes.size(); at += 1 + random() % (2 * oneOf))
        bytes[at] ^= static_cast<std::byte>(random());
    return bytes;
}

const Backend& scalar()
{
    static const Backends builtin = Backends::builtin();
    return *builtin.all().front();
}

/// A tensor of two states, in blocks as a walk reads them.
struct TwoStates {
    Bytes before;
    Bytes after;
    std::size_t blockBytes;

    template <class Use> void eachBlock(Use use) const
    {
        for (std::size_t at = 0; at < before.size(); at += blockBytes) {
            const std::size_t bytes = std::min(blockBytes, before.size() - at);
            use(ByteSpan(before).subspan(at, bytes), ByteSpan(after).subspan(at, bytes));
        }
    }

    static TwoStates of(std::size_t bytes, std::size_t blockBytes, Random& random)
    {
        TwoStates states { randomBytes(bytes, random), {}, blockBytes };
        states.after = changed(states.before, 50, random);
        return states;
    }
};

using AllMoments = std::vector<DiffMoments>;

AllMoments measured(const Backend& backend, const TwoStates& states, Dtype dtype)
{
    AllMoments all;
    const auto blocks = backend.measure(dtype, [&](const DiffMoments& moments) { all.push_back(moments); });
    states.eachBlock([&](ByteSpan before, ByteSpan after) { EXPECT_TRUE(blocks->add(before, after)); });
    EXPECT_TRUE(blocks->finish());
    return all;
}

struct Changes {
    std::vector<Bytes> before;
    std::vector<Bytes> after;
    std::vector<std::vector<std::uint32_t>> positions;
    std::vector<Bytes> values;
    bool operator==(const Changes&) const = default;

    Result<void> add(const ChangedBlock& block)
    {
        before.emplace_back(block.before.begin(), block.before.end());
        after.emplace_back(block.after.begin(), block.after.end());
        positions.emplace_back(block.positions.begin(), block.positions.end());
        values.emplace_back(block.values.begin(), block.values.end());
        return {};
    }
};

/// As extract() finds them, block by block.
Changes expectedChanges(const TwoStates& states, unsigned elementBytes)
{
    Changes all;
    states.eachBlock([&](ByteSpan before, ByteSpan after) {
        std::vector<std::uint32_t> positions(before.size() / elementBytes + Backend::SlackElements);
        Bytes values(positions.size() * elementBytes);
        const std::size_t found = scalar().extract(before, after, elementBytes, positions.data(), values.data());
        EXPECT_TRUE(all.add(
            { before, after, std::span(positions).first(found), ByteSpan(values).first(found * elementBytes) }));
    });
    return all;
}

Changes found(const Backend& backend, const TwoStates& states, unsigned elementBytes)
{
    Changes all;
    const auto blocks = backend.find(elementBytes, [&](const ChangedBlock& block) { return all.add(block); });
    Bytes before; // what was handed over may change after the call
    Bytes after;
    states.eachBlock([&](ByteSpan a, ByteSpan b) {
        before.assign(a.begin(), a.end());
        after.assign(b.begin(), b.end());
        EXPECT_TRUE(blocks->add(before, after));
        std::fill(before.begin(), before.end(), std::byte { 0x11 });
        std::fill(after.begin(), after.end(), std::byte { 0x22 });
    });
    EXPECT_TRUE(blocks->finish());
    return all;
}

/// Bytes of elements that occur again and again: both zeros of 8 bits, NaN of most types, and others.
constexpr std::byte Likely[] = { std::byte { 0 }, std::byte { 0x80 }, std::byte { 0xff }, std::byte { 0x7f } };

/// A piece with memory of its own.
struct OwnPiece {
    std::size_t kind = 0; ///< index in PatchPiece
    std::vector<std::uint32_t> elements;
    Bytes bits;
    bool operator==(const OwnPiece&) const = default;

    static OwnPiece of(const PatchPiece& piece)
    {
        OwnPiece own { piece.index(), {}, {} };
        const auto take = [&](std::span<const std::uint32_t> elements, ByteSpan bits) {
            own.elements.assign(elements.begin(), elements.end());
            own.bits.assign(bits.begin(), bits.end());
        };
        if (const auto* assigned = std::get_if<AssignElements>(&piece))
            take(assigned->elements, assigned->bits);
        else if (const auto* bytes = std::get_if<AssignBytes>(&piece))
            take(bytes->positions, bytes->values);
        else if (const auto* masks = std::get_if<XorElements>(&piece))
            take(masks->elements, masks->bits);
        else if (const auto* full = std::get_if<FullBlock>(&piece))
            take({}, full->bytes);
        else if (const auto* mask = std::get_if<XorBlock>(&piece))
            take({}, mask->bytes);
        else if (const auto* added = std::get_if<AddElements>(&piece))
            take(added->elements, added->values);
        return own;
    }
    PatchPiece view() const
    {
        switch (kind) {
        case 1:
            return FullBlock { bits };
        case 2:
            return AssignElements { elements, bits };
        case 3:
            return AssignBytes { elements, bits };
        case 4:
            return XorElements { elements, bits };
        case 5:
            return XorBlock { bits };
        case 6:
            return AddElements { elements, bits };
        default:
            return {};
        }
    }
    void overwrite()
    {
        std::fill(elements.begin(), elements.end(), 0);
        std::fill(bits.begin(), bits.end(), std::byte { 0x33 });
    }
};

/// Pieces of several versions for one block, and what they refer to. `everyKind`: also values that are added, which no
/// device takes, where the type allows them.
class Pieces {
public:
    Pieces(std::size_t blockBytes, Dtype dtype, bool everyKind, Random& random)
    {
        const std::size_t width = std::max(1U, bitsOf(dtype) / 8);
        for (std::size_t version = random() % 5; version < 6; ++version) {
            std::vector<std::uint32_t>& positions = m_positions.emplace_back();
            for (std::size_t at = random() % 70; at < blockBytes / width; at += 1 + random() % 70)
                positions.push_back(static_cast<std::uint32_t>(at));
            Bytes& bits = m_bits.emplace_back(randomBytes(positions.size() * width + 1, random));
            for (std::size_t at = 1; at + width <= bits.size(); at += width * (1 + random() % 9))
                std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(at), width,
                            Likely[random() % std::size(Likely)]);
            const ByteSpan unaligned = ByteSpan(bits).subspan(1);
            const Bytes& whole = m_bits.emplace_back(randomBytes(blockBytes, random));
            const bool adds = everyKind && (dtype == Dtype::BF16 || dtype == Dtype::F16 || dtype == Dtype::F32);
            switch (random() % (adds ? 8 : 7)) {
            case 0:
                m_pieces.emplace_back(XorElements { positions, unaligned });
                break;
            case 1:
                m_pieces.emplace_back(std::monostate {});
                break;
            case 3:
                m_pieces.emplace_back(FullBlock { whole });
                break;
            case 4:
                m_pieces.emplace_back(XorBlock { whole });
                break;
            case 5:
                m_pieces.emplace_back(AssignBytes { positions, ByteSpan(bits).first(positions.size()) });
                break;
            case 7:
                m_pieces.emplace_back(
                    AddElements { positions, m_bits.emplace_back(randomBytes(positions.size() * 4, random)) });
                break;
            default:
                m_pieces.emplace_back(AssignElements { positions, unaligned });
            }
        }
    }

    std::span<const PatchPiece> all() const { return m_pieces; }

private:
    std::deque<std::vector<std::uint32_t>> m_positions;
    std::deque<Bytes> m_bits;
    std::vector<PatchPiece> m_pieces;
};

struct Patched {
    Bytes state;
    std::deque<Pieces> pieces; ///< by block
    std::size_t blockBytes;

    static Patched of(std::size_t bytes, Dtype dtype, bool everyKind, Random& random)
    {
        Patched made { randomBytes(bytes, random), {}, blockBytesOf(dtype) };
        for (std::size_t at = 0; at + 16 < bytes; at += 8 * (1 + random() % 20))
            std::fill_n(made.state.begin() + static_cast<std::ptrdiff_t>(at), 8, Likely[random() % std::size(Likely)]);
        for (std::size_t at = 0; at < bytes; at += made.blockBytes)
            made.pieces.emplace_back(std::min(made.blockBytes, bytes - at), dtype, everyKind, random);
        return made;
    }
    ByteSpan block(std::size_t n) const
    {
        const std::size_t at = n * blockBytes;
        return ByteSpan(state).subspan(at, std::min(blockBytes, state.size() - at));
    }

    struct Result {
        Bytes bytes;
        std::vector<PatchCounts> counts; ///< by piece
        std::vector<Digest128> states; ///< if each is wanted: in front of the pieces of a block, and behind each
        std::vector<OwnPiece> pieces; ///< likewise
        std::size_t untaken = 0; ///< blocks
        bool operator==(const Result& other) const
        {
            return bytes == other.bytes && counts == other.counts && states == other.states && pieces == other.pieces;
        }

        void add(const PatchedBlock& block)
        {
            bytes.insert(bytes.end(), block.bytes.begin(), block.bytes.end());
            counts.insert(counts.end(), block.counts.begin(), block.counts.end());
            for (const ByteSpan state : block.states)
                states.push_back(xxh3(state));
            for (const PatchPiece& piece : block.pieces)
                pieces.push_back(OwnPiece::of(piece));
        }
        /// Step by step, by the reference.
        void addPatched(ByteSpan block, std::span<const PatchPiece> all, Dtype dtype, PatchedStates wanted)
        {
            const bool each = wanted == PatchedStates::Each;
            Bytes made(block.begin(), block.end());
            if (each)
                states.push_back(xxh3(made));
            for (const PatchPiece& piece : all) {
                counts.push_back(scalar().apply(piece, made, dtype));
                if (!each)
                    continue;
                states.push_back(xxh3(made));
                pieces.push_back(OwnPiece::of(piece));
            }
            bytes.insert(bytes.end(), made.begin(), made.end());
        }
    };

    Result expected(Dtype dtype, PatchedStates wanted = PatchedStates::Last) const
    {
        Result out;
        for (std::size_t n = 0; n < pieces.size(); ++n)
            out.addPatched(block(n), pieces[n].all(), dtype, wanted);
        return out;
    }
    /// As a replay reads it. What was handed over changes after the call.
    Result by(const Backend& backend, Dtype dtype, PatchedStates wanted = PatchedStates::Last) const
    {
        Result out;
        const std::unique_ptr<PatchBatches> blocks = backend.patch(dtype, wanted);
        if (!blocks) {
            ADD_FAILURE() << "no batches";
            return out;
        }
        std::optional<std::size_t> untaken;
        for (std::size_t n = 0;;) {
            for (; !untaken && n < pieces.size() && blocks->takesMore(); ++n) {
                if (!add(*blocks, n))
                    untaken = n;
            }
            const PatchedBlock made = blocks->next();
            if (!made.bytes.empty()) {
                out.add(made);
            } else if (untaken) {
                out.addPatched(block(*untaken), pieces[*untaken].all(), dtype, wanted);
                ++out.untaken;
                untaken.reset();
            } else {
                return out;
            }
        }
    }

private:
    bool add(PatchBatches& blocks, std::size_t n) const
    {
        Bytes read(block(n).begin(), block(n).end());
        std::vector<OwnPiece> own;
        std::vector<PatchPiece> views;
        for (const PatchPiece& piece : pieces[n].all())
            own.push_back(OwnPiece::of(piece));
        for (const OwnPiece& piece : own)
            views.push_back(piece.view());
        const bool taken = blocks.add(read, views);
        std::fill(read.begin(), read.end(), std::byte { 0x44 });
        for (OwnPiece& piece : own)
            piece.overwrite();
        return taken;
    }
};

std::vector<std::shared_ptr<const Backend>> backends()
{
    return { Backends::builtin().all().front(), *Backends::builtin().choose(""), test::deviceBackend() };
}

class BlockBatches : public testing::Test {
protected:
    void SetUp() override { test::plan({}); }
};

/// A slice tries half of the types, a search for races one of them: a device has the same threads for each.
template <class T> std::vector<T> someOf(const std::vector<T>& types)
{
    std::vector<T> some;
    for (const std::size_t at : test::chosenTrials(types.size(), test::UnderThreadSanitizer ? types.size() : 2))
        some.push_back(types[at]);
    return some;
}

// More than two slots of a device, which take 4 MiB of each side, and less than one.
constexpr std::size_t TensorSizes[] = { 2, 200, 128 * 1024, 11 * 1024 * 1024 + 26 };

TEST_F(BlockBatches, MeasureAsOneBlockAfterAnother)
{
    Random random(1);
    for (const Dtype dtype : someOf<Dtype>({ Dtype::BF16, Dtype::F32, Dtype::F8E4M3, Dtype::I64 })) {
        for (const std::size_t size : TensorSizes) {
            const std::size_t width = bitsOf(dtype) / 8;
            const TwoStates states =
                TwoStates::of(std::max(size / width, std::size_t { 1 }) * width, blockBytesOf(dtype), random);
            const AllMoments expected = measured(scalar(), states, dtype);
            ASSERT_EQ(expected.size(),
                      (states.before.size() / width + Backend::MomentElements - 1) / Backend::MomentElements);
            for (const auto& backend : backends())
                EXPECT_EQ(measured(*backend, states, dtype), expected)
                    << backend->name() << " " << word(dtype) << " " << size;
        }
    }
}

TEST_F(BlockBatches, FindAsOneBlockAfterAnother)
{
    Random random(2);
    for (const unsigned width : someOf<unsigned>({ 2, 1, 4, 8 })) {
        for (const std::size_t size : TensorSizes) {
            const TwoStates states = TwoStates::of(std::max<std::size_t>(size / width, 1) * width, 128 * 1024, random);
            const Changes expected = expectedChanges(states, width);
            for (const auto& backend : backends())
                EXPECT_EQ(found(*backend, states, width), expected) << backend->name() << " " << width << " " << size;
        }
    }
}

TEST_F(BlockBatches, PatchAsOneBlockAfterAnother)
{
    Random random(3);
    const auto device = test::deviceBackend();
    const std::vector<Dtype> dtypes = someOf<Dtype>({ Dtype::BF16, Dtype::F32, Dtype::F8E4M3, Dtype::F64 });
    for (const Dtype dtype : dtypes) {
        // More than two slots hold; under sanitizers of one type, for it takes them a minute.
        const std::size_t large = std::size_t { dtype == dtypes.front() || !test::UnderSanitizer ? 9U : 1U } << 20;
        for (const std::size_t size : { std::size_t { 8 }, large }) {
            for (const bool everyKind : { false, true }) {
                const Patched patched = Patched::of(size, dtype, everyKind, random);
                EXPECT_TRUE(patched.by(*device, dtype) == patched.expected(dtype))
                    << word(dtype) << " " << size << " " << everyKind;
            }
        }
    }
    EXPECT_GT(device->share()->byDevice, 0U);
    EXPECT_GT(device->share()->byProcessor, 0U) << "AddElements has no kernel";
    EXPECT_EQ(scalar().patch(Dtype::BF16, PatchedStates::Last), nullptr);
}

/// Full blocks, so that each type is tried over several of them and a rest, and more than two slots hold.
TEST_F(BlockBatches, PatchWithEachStateAsOnePieceAfterAnother)
{
    Random random(9);
    for (auto number = static_cast<std::uint8_t>(Dtype::Bool); number <= static_cast<std::uint8_t>(Dtype::C64);
         ++number) {
        const auto dtype = static_cast<Dtype>(number);
        if (bitsOf(dtype) % 8 != 0 || (test::UnderThreadSanitizer && dtype != Dtype::BF16))
            continue;
        for (const std::size_t size :
             { std::size_t { 8 }, std::size_t { 3 * 128 * 1024 + 88 }, std::size_t { 9 } << 20 }) {
            if (size > 1 << 20 && dtype != Dtype::BF16)
                continue;
            for (const bool everyKind : { false, true }) {
                SCOPED_TRACE(testing::Message() << word(dtype) << " " << size << " " << everyKind);
                const auto device = test::deviceBackend();
                const Patched patched = Patched::of(size, dtype, everyKind, random);
                const Patched::Result made = patched.by(*device, dtype, PatchedStates::Each);
                EXPECT_TRUE(made == patched.expected(dtype, PatchedStates::Each));
                const DeviceShare share = *device->share();
                EXPECT_EQ(share.byDevice + share.byProcessor, size);
                EXPECT_EQ(share.byProcessor > 0, made.untaken > 0);
                const bool isFull = size > 1 << 20; // what both slots have no room left for is not taken
                EXPECT_TRUE(everyKind || isFull || made.untaken == 0) << "the device has a kernel for each";
                EXPECT_TRUE(size == 8 || share.byDevice > 0);
                EXPECT_TRUE(device->notices().empty());
            }
        }
    }
    EXPECT_EQ(scalar().patch(Dtype::BF16, PatchedStates::Each), nullptr);
}

TEST_F(BlockBatches, MoreStatesThanASlotHoldsAreNotTaken)
{
    Random random(10);
    const Bytes block = randomBytes(128 * 1024, random);
    const std::vector<std::uint32_t> elements { 3, 5 };
    const Bytes bits = randomBytes(4, random);
    const auto device = test::deviceBackend();
    for (const std::size_t count : { 32, 33 }) {
        const std::vector<PatchPiece> pieces(count, AssignElements { elements, bits });
        EXPECT_TRUE(device->patch(Dtype::BF16, PatchedStates::Last)->add(block, pieces)) << "one state comes back";
        const auto each = device->patch(Dtype::BF16, PatchedStates::Each);
        EXPECT_EQ(each->add(block, pieces), count == 32);
        EXPECT_EQ(each->next().states.size(), count == 32 ? 33U : 0U);
        EXPECT_TRUE(each->next().bytes.empty());
    }
    std::vector<PatchPiece> nothing(200);
    nothing[100] = XorElements { elements, bits };
    const auto each = device->patch(Dtype::BF16, PatchedStates::Each);
    ASSERT_TRUE(each->add(block, nothing)) << "where nothing changes, no state comes back";
    const PatchedBlock made = each->next();
    ASSERT_EQ(made.states.size(), 201U);
    EXPECT_TRUE(std::equal(block.begin(), block.end(), made.states[100].begin()));
    EXPECT_FALSE(std::equal(block.begin(), block.end(), made.states[101].begin()));
    EXPECT_EQ(made.states[200].data(), made.states[101].data());
}

/// A launch takes 65,536 pieces: the next one goes on behind it.
TEST_F(BlockBatches, ABlockOfMorePiecesThanALaunchTakesKeepsEachState)
{
    Random random(11);
    const Bytes block = randomBytes(16, random);
    const std::vector<std::uint32_t> elements { 0 };
    std::vector<Bytes> bits;
    std::vector<PatchPiece> pieces;
    for (std::size_t i = 0; i < 70'000; ++i)
        bits.push_back(randomBytes(2, random));
    for (const Bytes& value : bits)
        pieces.emplace_back(XorElements { elements, value });
    const auto device = test::deviceBackend();
    const auto batches = device->patch(Dtype::BF16, PatchedStates::Each);
    ASSERT_TRUE(batches->add(block, pieces));
    const PatchedBlock made = batches->next();
    Patched::Result out;
    Patched::Result expected;
    out.add(made);
    expected.addPatched(block, pieces, Dtype::BF16, PatchedStates::Each);
    EXPECT_TRUE(out == expected);
    EXPECT_EQ(device->share()->byDevice, block.size());
}

TEST_F(BlockBatches, TypesNarrowerThanAByteArePatchedByTheProcessor)
{
    const Bytes block(4096);
    for (const Dtype dtype : { Dtype::F8E4M3, Dtype::F4 }) {
        const auto device = test::deviceBackend();
        EXPECT_EQ(device->patch(dtype, PatchedStates::Each)->add(block, {}), dtype == Dtype::F8E4M3);
        EXPECT_EQ(device->share()->byProcessor, dtype == Dtype::F4 ? block.size() : 0U);
    }
}

TEST_F(BlockBatches, ABlockThatNoSlotHoldsComesInItsTurn)
{
    Random random(5);
    TwoStates states = TwoStates::of(std::size_t { 9 } << 20, std::size_t { 9 } << 20, random);
    const Changes large = expectedChanges(states, 2);
    TwoStates small = TwoStates::of(1000, 1000, random);
    const Changes few = expectedChanges(small, 2);
    const auto device = test::deviceBackend();
    Changes all;
    const auto blocks = device->find(2, [&](const ChangedBlock& block) { return all.add(block); });
    EXPECT_TRUE(blocks->add(small.before, small.after));
    EXPECT_TRUE(blocks->add(states.before, states.after));
    EXPECT_TRUE(blocks->add({}, {}));
    EXPECT_TRUE(blocks->add(small.before, small.after));
    EXPECT_TRUE(blocks->finish());
    ASSERT_EQ(all.positions.size(), 4U);
    EXPECT_EQ(all.positions[0], few.positions[0]);
    EXPECT_EQ(all.positions[1], large.positions[0]);
    EXPECT_TRUE(all.positions[2].empty());
    EXPECT_EQ(all.positions[3], few.positions[0]);
    EXPECT_EQ(device->share()->byProcessor, states.before.size() * 2);
    EXPECT_EQ(device->share()->byDevice, small.before.size() * 4);
}

TEST_F(BlockBatches, AnErrorOfTheReceiverEndsThem)
{
    Random random(6);
    const TwoStates states = TwoStates::of(std::size_t { 30 } << 20, 128 * 1024, random);
    for (const auto& backend : backends()) {
        std::size_t taken = 0;
        const auto blocks = backend->find(2, [&](const ChangedBlock&) -> Result<void> {
            if (++taken == 40)
                return fail(Code::NoSpace, "the disk is full");
            return {};
        });
        Result<void> outcome;
        states.eachBlock([&](ByteSpan before, ByteSpan after) {
            if (outcome)
                outcome = blocks->add(before, after);
        });
        ASSERT_FALSE(outcome) << backend->name();
        EXPECT_EQ(outcome.error().code, Code::NoSpace);
        EXPECT_EQ(taken, 40U);
    }
}

TEST_F(BlockBatches, WhatIsGivenUpInTheMiddleLeavesNothingForTheNext)
{
    Random random(7);
    const TwoStates states = TwoStates::of(std::size_t { 10 } << 20, 128 * 1024, random);
    const Patched patched = Patched::of(std::size_t { 9 } << 20, Dtype::BF16, false, random);
    const auto device = test::deviceBackend();
    for (unsigned blocksOf = 0; blocksOf < 80; blocksOf += 13) {
        const auto measure = device->measure(Dtype::BF16, [](const DiffMoments&) { FAIL(); });
        const auto patch = device->patch(Dtype::BF16, blocksOf % 2 == 0 ? PatchedStates::Last : PatchedStates::Each);
        for (std::size_t n = 0; n < std::min<std::size_t>(blocksOf, 30); ++n) // less than is handed over
            ASSERT_TRUE(measure->add(ByteSpan(states.before).subspan(n * 1000, 1000),
                                     ByteSpan(states.after).subspan(n * 1000, 1000)));
        for (std::size_t n = 0; n < blocksOf && n < patched.pieces.size() && patch->takesMore(); ++n)
            ASSERT_TRUE(patch->add(patched.block(n), patched.pieces[n].all()));
        if (blocksOf > 26) {
            EXPECT_FALSE(patch->next().bytes.empty());
        }
    }
    EXPECT_EQ(found(*device, states, 2), expectedChanges(states, 2));
    EXPECT_TRUE(patched.by(*device, Dtype::BF16) == patched.expected(Dtype::BF16));
    EXPECT_TRUE(device->notices().empty());
}

TEST_F(BlockBatches, TakeNoMoreMemoryOfTheDeviceThanIsAllowed)
{
    Random random(8);
    constexpr std::uint64_t OneSlot = std::uint64_t { 32 } << 20;
    const auto device = test::deviceBackend(OneSlot);
    const TwoStates states = TwoStates::of(std::size_t { 10 } << 20, 128 * 1024, random);
    const Changes expected = expectedChanges(states, 2);
    EXPECT_EQ(found(*device, states, 2), expected) << "one slot is enough";
    EXPECT_EQ(device->share()->byProcessor, 0U);
    {
        const auto holder = device->find(2, [](const ChangedBlock&) -> Result<void> { return {}; });
        ASSERT_TRUE(holder->add(ByteSpan(states.before).first(1000), ByteSpan(states.after).first(1000)));
        const std::uint64_t before = device->share()->byProcessor;
        EXPECT_EQ(found(*device, states, 2), expected) << "nothing waits for a slot";
        EXPECT_EQ(device->share()->byProcessor - before, states.before.size() * 2);
        const std::uint64_t all = device->share()->byProcessor;
        const Patched replayed = Patched::of(std::size_t { 1 } << 20, Dtype::BF16, false, random);
        EXPECT_TRUE(replayed.by(*device, Dtype::BF16) == replayed.expected(Dtype::BF16));
        EXPECT_EQ(device->share()->byProcessor - all, replayed.state.size()) << "what is replayed counts, too";
        ASSERT_TRUE(holder->finish());
    }
    const std::uint64_t before = device->share()->byProcessor;
    const Patched patched = Patched::of(std::size_t { 9 } << 20, Dtype::BF16, false, random);
    EXPECT_TRUE(patched.by(*device, Dtype::BF16) == patched.expected(Dtype::BF16));
    EXPECT_EQ(device->share()->byProcessor, before) << "one slot is enough";
    const auto none = test::deviceBackend(OneSlot - 1);
    EXPECT_FALSE(none->isSupportedHere());
    EXPECT_NE(none->obstacle()->text.find("31 MiB of the memory of"), std::string::npos);
    EXPECT_NE(none->obstacle()->text.find("a batch takes 32 MiB"), std::string::npos);
    EXPECT_EQ(found(*none, states, 2), expected);
    EXPECT_EQ(none->patch(Dtype::BF16, PatchedStates::Last), nullptr);
}

} // namespace
} // namespace deltascope
