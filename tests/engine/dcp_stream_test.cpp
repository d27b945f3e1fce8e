#include "dcp_fixture.h"
#include "support/faulty_store.h"

#include <algorithm>
#include <numeric>
#include <random>

// Tensors of torch.distributed.checkpoint are read in any blocks, however they were cut and stored.

namespace deltascope {
namespace {

using namespace layout_test;

TEST(DcpStream, IsSeekableAndChecksItsTarget)
{
    TensorSpec spec { "v", TorchU8, { 2, 2 }, { { { 0, 0 }, { 2, 2 }, "" } } };
    spec.chunks[0].item = tensorItem(TorchU8, { { 2, 2 }, { 1, 2 }, 0, "acbd" });
    Source source;
    putCheckpoint(source, { spec });
    const DcpLayout layout;
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(source.store(), version, source.task);
    ASSERT_TRUE(index);
    const auto stream = layout.open(source.store(), version, *index, index->tensors[0], *index->tensors[0].info(),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE(stream && (*stream)->seekable());
    EXPECT_GT(*(*stream)->workingBytes(), 0U);
    EXPECT_EQ(toHex(std::get<FullBlock>(*(*stream)->next(3, 4)).bytes), hexOf("d"));
    EXPECT_TRUE((*stream)->finish());
    EXPECT_EQ(errorOf((*stream)->next(0, 1)).code, Code::Internal);
    EXPECT_EQ(errorOf((*stream)->next(4, 5)).code, Code::Internal);
    for (const TensorInfo& other : { tensor("v", { 4 }, Dtype::U8), tensor("v", { 2, 2 }, Dtype::I8) }) {
        const auto refused =
            layout.open(source.store(), version, *index, index->tensors[0], other, { &test::anyTask(), 64 * 1024, {} });
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::BaseMismatch);
    }
}

// --- any tiling, any order of the stored elements, any block size ---

struct Box {
    Sizes offsets;
    Sizes sizes;
};

void cut(const Box& box, std::mt19937& random, std::vector<Box>& out)
{
    const std::size_t along = box.sizes.empty() ? 0 : random() % box.sizes.size();
    if (box.sizes.empty() || random() % 3 == 0 || box.sizes[along] < 2) {
        out.push_back(box);
        return;
    }
    Box low = box;
    Box high = box;
    low.sizes[along] = 1 + random() % (box.sizes[along] - 1);
    high.offsets[along] += low.sizes[along];
    high.sizes[along] -= low.sizes[along];
    cut(low, random, out);
    cut(high, random, out);
}

/// A view of these sizes with its dimensions in random order, gaps and an offset, that holds what `valueAt` says.
template <class ValueAt>
View storedView(const Sizes& sizes, std::size_t elementBytes, bool shuffled, std::mt19937& random, ValueAt valueAt)
{
    View view { sizes, Sizes(sizes.size()), shuffled ? random() % 5 : 0, {} };
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.rbegin(), order.rend(), 0U);
    if (shuffled)
        std::shuffle(order.begin(), order.end(), random);
    std::uint64_t stride = shuffled && random() % 4 == 0 ? 2 : 1;
    for (const std::size_t dimension : order) {
        view.strides[dimension] = stride;
        stride *= sizes[dimension] + (shuffled ? random() % 2 : 0);
    }
    view.storage.assign((view.offset + stride) * elementBytes, '#');
    Sizes at(sizes.size());
    for (;;) {
        std::uint64_t stored = view.offset;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            stored += at[i] * view.strides[i];
        view.storage.replace(stored * elementBytes, elementBytes, valueAt(at));
        std::size_t i = sizes.size();
        while (i > 0 && ++at[i - 1] == sizes[i - 1])
            at[--i] = 0;
        if (i == 0)
            return view;
    }
}

/// A tensor cut at random, and its bytes.
std::pair<TensorSpec, std::string> cutTensor(const Sizes& shape, const TorchType& type, bool shuffled,
                                             std::mt19937& random)
{
    const TensorInfo info = tensor("w", shape, type.dtype);
    const std::size_t elementBytes = bitsOf(type.dtype) / 8;
    std::string bytes(info.bytes(), '\0');
    for (char& c : bytes)
        c = static_cast<char>(random());
    std::vector<Box> boxes;
    cut({ Sizes(shape.size()), shape }, random, boxes);
    std::shuffle(boxes.begin(), boxes.end(), random);
    TensorSpec spec { "w", type, shape, {} };
    for (const Box& box : boxes) {
        const View view = storedView(box.sizes, elementBytes, shuffled, random, [&](const Sizes& at) {
            std::uint64_t element = 0;
            for (std::size_t i = 0; i < shape.size(); ++i)
                element = element * shape[i] + box.offsets[i] + at[i];
            return bytes.substr(element * elementBytes, elementBytes);
        });
        spec.chunks.push_back(
            { box.offsets, box.sizes, tensorItem(type, view), fmt::format("__{}_0.distcp", random() % 3) });
    }
    return { spec, bytes };
}

TEST(DcpStream, PastesAnyTilingInAnyBlocks)
{
    std::mt19937 random(7);
    const std::vector<TorchType> types = { TorchU8, TorchBF16, TorchF32, TorchI64 };
    for (int round = 0; round < 300; ++round) {
        Sizes shape(random() % 5);
        for (std::uint64_t& size : shape)
            size = 1 + random() % 7;
        const TorchType& type = types[random() % types.size()];
        const auto [spec, bytes] = cutTensor(shape, type, random() % 2 == 0, random);
        Source source;
        putCheckpoint(source, { spec });
        const std::uint64_t elementBytes = bitsOf(type.dtype) / 8;
        const TensorInfo info = tensor("w", shape, type.dtype);
        const std::uint64_t blockBytes = elementBytes * (1 + random() % 40);
        ASSERT_EQ(hexOf(bytesOf(source, info, blockBytes, { &test::anyTask(), 1 + random() % 100, {} })), hexOf(bytes))
            << "round " << round;
    }
}

TEST(DcpStream, ReadsLargeChunksInAnotherOrderRunByRun)
{
    std::mt19937 random(8);
    for (const auto& [shape, strides] :
         std::vector<std::pair<Sizes, Sizes>> { { { 1500, 1000 }, { 1, 1500 } },
                                                { { 4, 1100, 350 }, { 1100 * 350, 1, 1100 } },
                                                { { 40, 260, 150 }, { 1, 40 * 150, 40 } },
                                                { { 1, 600'000 }, { 1, 2 } } }) {
        TensorSpec spec { "w", TorchF32, shape, { { Sizes(shape.size()), shape, "" } } };
        const TensorInfo info = tensor("w", shape, Dtype::F32);
        View view { shape, strides, 0, std::string(shape.back() == 600'000 ? 4'800'000 : info.bytes(), '\0') };
        std::string expected(info.bytes(), '\0');
        for (std::uint64_t i = 0; i < info.elements(); ++i) {
            std::uint64_t stored = 0;
            for (std::uint64_t rest = i, d = shape.size(); d-- > 0; rest /= shape[d])
                stored += rest % shape[d] * strides[d];
            const std::string value = littleEndian(static_cast<std::uint32_t>(random()));
            expected.replace(i * 4, 4, value);
            view.storage.replace(stored * 4, 4, value);
        }
        spec.chunks[0].item = tensorItem(TorchF32, view);
        Source source;
        putCheckpoint(source, { spec });
        EXPECT_TRUE(bytesOf(source, info) == expected) << fmt::format("{}", shape.size());
    }
}

TEST(DcpStream, PassesOnWhatTheStoreSays)
{
    const auto [spec, bytes] = [] {
        std::mt19937 random(9);
        return cutTensor({ 30, 20 }, TorchF32, true, random);
    }();
    Source source;
    putCheckpoint(source, { spec });
    test::FaultyStore faulty(source.store());
    const DcpLayout layout;
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(faulty, version, source.task);
    ASSERT_TRUE(index);
    const auto stream = layout.open(faulty, version, *index, index->tensors[0], *index->tensors[0].info(),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE(stream);
    faulty.failNth(test::StoreOperation::Read, 1, Error { Code::Transient, "try again", {}, {}, {} });
    EXPECT_EQ(errorOf((*stream)->next(0, 400)).code, Code::Transient);
}

} // namespace
} // namespace deltascope
