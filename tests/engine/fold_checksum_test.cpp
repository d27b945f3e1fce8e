#include "format/common/fold_checksum.h"

#include "layout_fixture.h"

namespace deltascope {
namespace {

using namespace layout_test;

std::uint64_t fold(Dtype dtype, std::string_view hex)
{
    const std::string bytes = fromHex(hex);
    return foldTensor(dtype, asBytes(bytes));
}

TEST(FoldChecksum, HasTheValuesOfTheWorkedExamples)
{
    EXPECT_EQ(fold(Dtype::BF16, "0140 e140"), 0x001c000000000000U); // 2.015625, 7.03125
    EXPECT_EQ(fold(Dtype::U8, "01000000 06000000"), 7U);
    EXPECT_EQ(fold(Dtype::I32, "01000000 04000000 07000000") ^ fold(Dtype::BF16, "01c0 813e c942"),
              13801597717425684482U); // docs/formats/prime-rl.md
}

TEST(FoldChecksum, WidensEveryTypeAsTorchDoes)
{
    EXPECT_EQ(fold(Dtype::I8, "ff"), ~std::uint64_t { 0 });
    EXPECT_EQ(fold(Dtype::U8, "ff"), 0xffU);
    EXPECT_EQ(fold(Dtype::I16, "feff"), ~std::uint64_t { 1 });
    EXPECT_EQ(fold(Dtype::U16, "feff"), 0xfffeU);
    EXPECT_EQ(fold(Dtype::I32, "ffffffff"), ~std::uint64_t { 0 });
    EXPECT_EQ(fold(Dtype::U32, "ffffffff"), 0xffffffffU);
    EXPECT_EQ(fold(Dtype::I64, "ffffffffffffffff"), ~std::uint64_t { 0 });
    EXPECT_EQ(fold(Dtype::F32, "0000803f"), 0x3ff0000000000000U);
    EXPECT_EQ(fold(Dtype::F16, "003c"), 0x3ff0000000000000U);
    EXPECT_EQ(fold(Dtype::F16, "0080"), 0x8000000000000000U);
    EXPECT_EQ(fold(Dtype::F64, "000000000000f03f"), 0x3ff0000000000000U);
}

TEST(FoldChecksum, DoesNotSeePairsOfEqualElements)
{
    EXPECT_EQ(fold(Dtype::BF16, "0140 0140"), fold(Dtype::BF16, "e140 e140"));
}

} // namespace
} // namespace deltascope
