#include "deltascope/engine/tensor_view.h"

#include "state_fixture.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

// Where the changes of one tensor lie, and its elements, against the plain meaning of both.

namespace deltascope {
namespace {

using namespace layout_test;

std::string randomText(std::size_t size, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::string text(size, '\0');
    for (char& byte : text)
        byte = static_cast<char>(random());
    return text;
}

struct BlockCase {
    Dtype dtype;
    std::vector<std::uint64_t> shape;
    std::uint32_t maxBlocks;
};

class TensorBlocksOf : public testing::TestWithParam<BlockCase> { };

TEST_P(TensorBlocksOf, CountEveryDifferentElementOnce)
{
    const auto& [dtype, shape, maxBlocks] = GetParam();
    const TensorInfo info = tensor("w", shape, dtype);
    const std::string before = randomText(info.bytes(), 1);
    std::string after = before;
    std::mt19937 random(2);
    for (std::size_t i = 0; i < info.bytes() / 50 + 1 && !after.empty(); ++i)
        after[random() % after.size()] ^= static_cast<char>(1U << (random() % 8));

    TaskContext task;
    const auto seen = compareInBlocks(bench(), stateOf(info, before), stateOf(info, after), "w", maxBlocks, task);
    ASSERT_TRUE(seen) << seen.error().text;

    const MatrixShape matrix = MatrixShape::of(info);
    EXPECT_LE(seen->blockRows, maxBlocks);
    EXPECT_LE(seen->blockCols, maxBlocks);
    const std::size_t width = bitsOf(dtype) / 8;
    std::vector<std::uint32_t> blocks(seen->blocks.size());
    std::vector<std::uint32_t> rows(matrix.rows);
    std::vector<std::uint32_t> cols(matrix.cols);
    for (std::uint64_t element = 0; element < info.elements(); ++element) {
        if (before.compare(element * width, width, after, element * width, width) == 0)
            continue;
        const std::uint64_t row = element / matrix.cols;
        const std::uint64_t col = element % matrix.cols;
        ++rows[row];
        ++cols[col];
        ++blocks[row / seen->rowsPerBlock * seen->blockCols + col / seen->colsPerBlock];
    }
    EXPECT_EQ(seen->rows, rows);
    EXPECT_EQ(seen->cols, cols);
    EXPECT_EQ(seen->blocks, blocks);
    EXPECT_EQ(seen->different, std::accumulate(rows.begin(), rows.end(), std::uint64_t { 0 }));
}

INSTANTIATE_TEST_SUITE_P(Shapes, TensorBlocksOf,
                         testing::Values(BlockCase { Dtype::BF16, { 37, 1001 }, 16 },
                                         BlockCase { Dtype::BF16, { 5, 300'000 }, 128 },
                                         BlockCase { Dtype::F32, { 3, 4, 50 }, 7 }, BlockCase { Dtype::U8, {}, 128 },
                                         BlockCase { Dtype::F64, { 129 }, 128 },
                                         BlockCase { Dtype::BF16, { 0, 4 }, 128 }));

TEST(TensorBlocks, AnotherTypeIsRefusedAndAnUnknownTensorIsNamed)
{
    const TensorInfo bf16 = tensor("w", { 2 }, Dtype::BF16);
    const TensorInfo f16 = tensor("w", { 2 }, Dtype::F16);
    TaskContext task;
    const auto other = compareInBlocks(bench(), stateOf(bf16, "1234"), stateOf(f16, "1234"), "w", 8, task);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::Unsupported);
    const auto unknown = compareInBlocks(bench(), stateOf(bf16, "1234"), stateOf(bf16, "1234"), "v", 8, task);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::NotFound);
    EXPECT_EQ(unknown.error().text, "the checkpoint has no tensor v");
}

TEST(ElementWindow, HoldsTheBitsOfItsRowsAcrossBlocks)
{
    const TensorInfo info = tensor("w", { 5, 400'001 }, Dtype::BF16); // rows begin inside of blocks
    const std::string bytes = randomText(info.bytes(), 3);
    const FileState state = stateOf(info, bytes);
    TaskContext task;
    for (const Window& wanted :
         { Window { 0, 0, 1, 1 }, Window { 1, 399'990, 4, 100 }, Window { 2, 131'000, 3, 300 } }) {
        const auto window = readWindow(bench(), state, "w", wanted, task);
        ASSERT_TRUE(window) << window.error().text;
        EXPECT_EQ(window->window.cols, std::min<std::uint64_t>(wanted.cols, 400'001 - wanted.col));
        for (std::uint64_t row = 0; row < window->window.rows; ++row) {
            const std::uint64_t begin = ((wanted.row + row) * 400'001 + wanted.col) * 2;
            const std::string_view read = asText(window->bits).substr(row * window->window.cols * 2);
            EXPECT_EQ(read.substr(0, window->window.cols * 2),
                      std::string_view(bytes).substr(begin, window->window.cols * 2));
        }
    }
}

TEST(ElementWindow, OutsideOfTheMatrixOrTooLargeIsRefused)
{
    const TensorInfo info = tensor("w", { 100, 100 }, Dtype::U8);
    const FileState state = stateOf(info, std::string(10'000, 'x'));
    TaskContext task;
    for (const Window& wanted :
         { Window { 100, 0, 1, 1 }, Window { 0, 100, 1, 1 }, Window { 0, 0, 0, 1 }, Window { 0, 0, 100, 100 },
           Window { 0, 0, std::numeric_limits<std::uint64_t>::max(), 50 } }) {
        const auto window = readWindow(bench(), state, "w", wanted, task);
        ASSERT_FALSE(window);
        EXPECT_EQ(window.error().code, Code::Usage);
    }
}

TEST(ElementValue, IsTheNumberOfTheBits)
{
    const auto value = [](std::string_view bits, Dtype dtype) { return elementValue(asBytes(bits), dtype); };
    using namespace std::string_view_literals;
    EXPECT_EQ(value("\x80\x3f"sv, Dtype::BF16), 1.0);
    EXPECT_EQ(value("\x00\xc0"sv, Dtype::F16), -2.0);
    EXPECT_EQ(value("\x00\x00\x00\x3f"sv, Dtype::F32), 0.5);
    EXPECT_EQ(value("\xff"sv, Dtype::I8), -1.0);
    EXPECT_EQ(value("\x80\x7f"sv, Dtype::BF16), std::nullopt); // infinite
    EXPECT_EQ(value("\xc0\x7f"sv, Dtype::BF16), std::nullopt); // NaN
    EXPECT_EQ(value("\x01"sv, Dtype::F8E8M0), std::nullopt);
}

}
} // namespace deltascope
