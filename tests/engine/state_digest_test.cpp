#include "audit/state_hasher.h"

#include "worked_examples.h"

namespace deltascope {
namespace {

using namespace layout_test;
using Form = StateDigestForm;

bool matches(const std::string& hex, std::vector<Form> forms, const std::vector<FileTensor>& tensors)
{
    StateHasher hasher(StateDigest { hex, std::move(forms) });
    for (const FileTensor& tensor : tensors) {
        hasher.beginTensor(tensor.info);
        hasher.update(asBytes(tensor.data).first(tensor.data.size() / 2));
        hasher.update(asBytes(tensor.data).subspan(tensor.data.size() / 2));
    }
    return hasher.matches();
}

// Values of the worked example: docs/formats/grail.md, docs/formats/trl-v1.md.
TEST(StateHasher, HasTheValuesOfTheWorkedExamples)
{
    const std::vector<FileTensor> one { { tensor("layer.weight"), TrlAfter } };
    EXPECT_TRUE(matches("35301f3daa6550e30d64b4fa5eda4348", { Form::Xxh3OfData }, one));
    EXPECT_TRUE(
        matches("e65668727583afc2fba635562e18d32133aa00d4f5e02431e3b3229a3ac55e44", { Form::Sha256OfData }, one));
    EXPECT_TRUE(matches("b7c74c03f25805ea1252ee3b4324838618376d133740a5ad3e26ec8181653a03",
                        { Form::Sha256OfNameTypeShapeAndData, Form::Sha256OfNameAndData }, one));
    EXPECT_TRUE(matches("39c2548ce5872f5c4414fc7e8a5b6e944eab177ef0035c1b2fb69f5659ddb29c",
                        { Form::Sha256OfNameTypeShapeAndData, Form::Sha256OfNameAndData }, one));
    const std::vector<FileTensor> two { { tensor("a.bias", { 2 }), fromHex("803f 0040") },
                                        { tensor("layer.weight"), TrlAfter } };
    EXPECT_TRUE(matches("04fedb1758eaafa4068dd79e9012c7b2", { Form::Xxh3OfData }, two));
    EXPECT_TRUE(
        matches("faf16422c68c2e11e53f2732ee35ca9197ee44f413549a41b4784445fe168280", { Form::Sha256OfData }, two));
}

TEST(StateHasher, SeesOneBit)
{
    std::string other = TrlAfter;
    other[3] ^= 1;
    EXPECT_FALSE(
        matches("35301f3daa6550e30d64b4fa5eda4348", { Form::Xxh3OfData }, { { tensor("layer.weight"), other } }));
}

} // namespace
} // namespace deltascope
