#include "deltascope/app/view/dashboard_json.h"

#include "service_fixture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <numeric>

// A look into one tensor: where it changed, its elements, the header of a file; and how all that is written.

namespace deltascope::app {
namespace {

using Json = nlohmann::json;

class TensorJobs : public ServiceFixture {
protected:
    TensorRequest tensor(const std::string& version, const std::string& against = {},
                         const std::string& name = BucketCopy::Tensor) const
    {
        return { { bucket.source(), version }, against, name };
    }
    std::shared_ptr<const BlocksView> blocks(const TensorRequest& request, std::uint32_t most = 128)
    {
        return viewOf<BlocksView>(service->blocks(request, most));
    }
    std::shared_ptr<const ElementsView> elements(const TensorRequest& request, std::uint64_t row, std::uint64_t col,
                                                 std::uint64_t rows, std::uint64_t cols)
    {
        return viewOf<ElementsView>(service->elements(request, row, col, rows, cols));
    }

    BucketCopy bucket { "trl-v2-gap" };
};

std::uint64_t sum(const std::vector<std::uint32_t>& counts)
{
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t { 0 });
}

// --- blocks ----------------------------------------------------------------------------------------------------------

TEST_F(TensorJobs, BlocksOfAllTensorsAddUpToTheStep)
{
    const auto detail = viewOf<StepDetailView>(service->showStep({ bucket.source(), "12" }, Depth::Replayed));
    std::uint64_t changed = 0;
    for (const TensorCountView& count : detail->tensors) {
        const auto view = blocks(tensor("12", {}, count.name), 4);
        EXPECT_EQ(view->changed, count.changedElements) << count.name;
        changed += view->changed;
    }
    EXPECT_EQ(changed, 724U);
}

TEST_F(TensorJobs, RowsColumnsAndBlocksCountTheSameElements)
{
    const auto view = blocks(tensor("12"), 8);
    ASSERT_GT(view->changed, 0U);
    EXPECT_EQ(view->rows * view->cols, view->total);
    EXPECT_EQ(view->blockRows, (view->rows + view->rowsPerBlock - 1) / view->rowsPerBlock);
    EXPECT_LE(view->blockRows, 8U);
    EXPECT_LE(view->blockCols, 8U);
    EXPECT_EQ(view->blocks.size(), std::size_t { view->blockRows } * view->blockCols);
    EXPECT_EQ(view->rowCounts.size(), view->rows);
    EXPECT_EQ(view->colCounts.size(), view->cols);
    EXPECT_EQ(sum(view->blocks), view->changed);
    EXPECT_EQ(sum(view->rowCounts), view->changed);
    EXPECT_EQ(sum(view->colCounts), view->changed);
    EXPECT_EQ(view->deadRows, std::count(view->rowCounts.begin(), view->rowCounts.end(), 0U));
    EXPECT_EQ(view->deadCols, std::count(view->colCounts.begin(), view->colCounts.end(), 0U));
}

TEST_F(TensorJobs, AnElementThatDiffersLiesInItsBlock)
{
    const auto view = blocks(tensor("12"), 1'000'000); // a block per element
    ASSERT_EQ(view->rowsPerBlock, 1U);
    std::uint64_t wrong = 0;
    for (std::uint64_t row = 0; row < view->rows; row += 16) {
        const auto window = elements(tensor("12"), row, 0, 16, std::min<std::uint64_t>(view->cols, 256));
        for (std::size_t i = 0; i < window->newBits.size(); ++i) {
            const std::uint64_t at = (row + i / window->cols) * view->cols + i % window->cols;
            wrong += (window->newBits[i] != window->oldBits[i]) != (view->blocks[at] == 1);
        }
    }
    EXPECT_EQ(wrong, 0U);
}

TEST_F(TensorJobs, ADeltaIsComparedWithWhatItBuildsOnAndAnAnchorWithTheStepBefore)
{
    EXPECT_EQ(blocks(tensor("12"))->a, 11);
    EXPECT_EQ(blocks(tensor("10"))->a, 9);
    EXPECT_EQ(blocks(tensor("12", "0:2"))->a, 2);
}

TEST_F(TensorJobs, TheFirstAnchorHasNoStateBefore)
{
    const auto view = blocks(tensor("1"));
    EXPECT_EQ(view->a, std::nullopt);
    EXPECT_EQ(view->changed, 0U);
    EXPECT_EQ(view->giniOfRows, std::nullopt);
    EXPECT_TRUE(view->topRows.empty());
    EXPECT_EQ(view->deadRows, view->rows);
}

TEST_F(TensorJobs, AStepComparedWithItselfDiffersNowhere)
{
    const auto view = blocks(tensor("12", "12"));
    EXPECT_EQ(view->a, 12);
    EXPECT_EQ(view->changed, 0U);
}

TEST_F(TensorJobs, TheFirstDeltaOnABaseOutsideIsComparedWithIt)
{
    const BucketCopy slime("slime-v2-xor");
    const auto detail = viewOf<StepDetailView>(service->showStep({ slime.source(), "1" }, Depth::Replayed));
    std::uint64_t changed = 0;
    for (const TensorCountView& count : detail->tensors) {
        const auto view = blocks({ { slime.source(), "1" }, {}, count.name }, 1);
        EXPECT_EQ(view->a, 0);
        changed += view->changed;
    }
    EXPECT_EQ(changed, detail->step.changedElements);
}

TEST_F(TensorJobs, TopRowsAreTheHighestFiveInOrder)
{
    const auto view = blocks(tensor("2"));
    ASSERT_EQ(view->topRows.size(), 5U);
    std::vector<std::uint32_t> sorted = view->rowCounts;
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(view->topRows[i].second, sorted[i]);
        EXPECT_EQ(view->rowCounts[view->topRows[i].first], sorted[i]);
    }
    EXPECT_GT(view->giniOfRows.value_or(-1), 0.0);
    EXPECT_LT(view->giniOfRows.value_or(2), 1.0);
}

// --- elements --------------------------------------------------------------------------------------------------------

TEST_F(TensorJobs, AWindowIsClippedToTheMatrix)
{
    const auto all = blocks(tensor("12"), 1);
    const auto view = elements(tensor("12"), all->rows - 2, all->cols - 3, 16, 16);
    EXPECT_EQ(view->rows, 2U);
    EXPECT_EQ(view->cols, 3U);
    EXPECT_EQ(view->newBits.size(), 6U);
    EXPECT_EQ(view->oldBits.size(), 6U);
    EXPECT_EQ(view->newValues.size(), 6U);
    EXPECT_EQ(view->a, 11);
    EXPECT_EQ(view->step, 12);
}

TEST_F(TensorJobs, WithoutAStateBeforeThereAreNoOldElements)
{
    const auto view = elements(tensor("1"), 0, 0, 2, 2);
    EXPECT_EQ(view->a, std::nullopt);
    EXPECT_TRUE(view->oldBits.empty());
    EXPECT_EQ(view->newBits.size(), 4U);
    const Json json = Json::parse(toJson(*view));
    EXPECT_EQ(json["old_bits"], Json::parse("[null,null,null,null]"));
    EXPECT_EQ(json["old_values"], Json::parse("[null,null,null,null]"));
    EXPECT_TRUE(json["a"].is_null());
}

TEST_F(TensorJobs, BitsAndValuesAreThoseInTheFile)
{
    const auto header = viewOf<HeaderView>(service->readHeader(bucket.source(), "anchors/step_000001.safetensors"));
    std::ifstream file(bucket.file("anchors/step_000001.safetensors"), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(header->headerBytes));
    const HeaderView::Tensor& first = header->tensors.at(0);
    ASSERT_EQ(first.dtype, "BF16");
    const auto view = elements(tensor("1", {}, first.name), 0, 0, 1, 3);
    for (std::size_t i = 0; i < 3; ++i) {
        unsigned char bytes[2];
        file.read(reinterpret_cast<char*>(bytes), 2);
        const std::uint32_t bits =
            static_cast<std::uint32_t>(bytes[1]) << 24 | static_cast<std::uint32_t>(bytes[0]) << 16;
        EXPECT_EQ(view->newBits[i], fmt::format("{:02x}{:02x}", bytes[1], bytes[0]));
        EXPECT_EQ(view->newValues[i], static_cast<double>(std::bit_cast<float>(bits)));
    }
}

TEST_F(TensorJobs, AWindowOutsideOrTooLargeOrEmptyIsRefused)
{
    const std::uint64_t far = std::uint64_t { 1 } << 40;
    for (const auto& [row, col, rows, cols] :
         std::vector<std::array<std::uint64_t, 4>> { { far, 0, 1, 1 },
                                                     { 0, far, 1, 1 },
                                                     { 0, 0, 0, 1 },
                                                     { 0, 0, 1, 0 },
                                                     { 0, 0, far, far },
                                                     { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX } })
        EXPECT_EQ(errorOf(service->elements(tensor("12", {}, "model.embed_tokens.weight"), row, col, rows, cols)).code,
                  Code::Usage)
            << row << " " << col << " " << rows << " " << cols;
}

// --- what was read ---------------------------------------------------------------------------------------------------

TEST_F(TensorJobs, EveryViewNamesRewrittenObjectsOnce)
{
    const std::string key = "deltas/step_000012.safetensors";
    const auto readsOf = [&](bool accepts) {
        TensorRequest request = tensor("12");
        request.version.acceptRewritten = accepts;
        return std::vector<ReadsView> {
            viewOf<BlocksView>(service->blocks(request, 8))->reads,
            viewOf<ElementsView>(service->elements(request, 0, 0, 2, 2))->reads,
            viewOf<StatisticsView>(service->statistics(request))->reads,
            viewOf<StatisticsHistoryView>(service->statisticsHistory(request, 3))->reads,
            viewOf<TensorFirstsView>(service->tensorFirsts(request))->reads,
        };
    };
    viewOf<VerifyView>(service->verify({ bucket.source(), {}, 3 }));
    for (const ReadsView& reads : readsOf(false))
        EXPECT_TRUE(reads.rewritten.empty() && reads.notices.empty());
    bucket.damage(key, std::filesystem::file_size(bucket.file(key)) - 1); // of a value
    for (const ReadsView& reads : readsOf(true))
        EXPECT_EQ(reads.rewritten, std::vector<std::string> { key });
}

class BesideRewritten : public TensorJobs {
protected:
    /// Anchors at steps 1 and 2, the first one rewritten since it was verified.
    BesideRewritten()
    {
        viewOf<VerifyView>(service->verify({ trl.source(), {}, 3 }));
        const std::string key = "anchors/step_000001.safetensors";
        trl.damage(key, std::filesystem::file_size(trl.file(key)) - 1);
    }
    TensorRequest at(const std::string& version, const std::string& against = {}) const
    {
        return { { trl.source(), version }, against, BucketCopy::Tensor };
    }

    BucketCopy trl { "trl-v1.2" };
};

TEST_F(BesideRewritten, ValuesAreTold)
{
    const auto view = viewOf<StatisticsView>(service->statistics(at("2")));
    EXPECT_FALSE(view->a || view->moved);
    ASSERT_EQ(view->reads.notices.size(), 1U);
    EXPECT_EQ(view->reads.notices[0].code, "DS-REWRITTEN");
    EXPECT_EQ(view->reads.notices[0].text.find("not compared with step 1: "), 0U) << view->reads.notices[0].text;
    EXPECT_TRUE(viewOf<StatisticsView>(service->statistics(at("3")))->moved);
    EXPECT_EQ(errorOf(service->statistics(at("1"))).code, Code::Rewritten);
    EXPECT_EQ(errorOf(service->statistics(at("2", "1"))).code, Code::Rewritten) << "what was asked for";
}

TEST_F(BesideRewritten, HistoriesListTheStep)
{
    const auto history = viewOf<StatisticsHistoryView>(service->statisticsHistory(at("3"), 5));
    EXPECT_EQ(history->steps.size(), 2U);
    const auto firsts = viewOf<TensorFirstsView>(service->tensorFirsts(at("3")));
    EXPECT_FALSE(firsts->changed.certain);
    for (const auto& unread : { history->unread, firsts->unread }) {
        ASSERT_EQ(unread.size(), 1U);
        EXPECT_EQ(unread[0].first, 1);
        EXPECT_EQ(unread[0].last, 1);
    }
    EXPECT_EQ(errorOf(service->statisticsHistory(at("1"), 5)).code, Code::Rewritten);
    EXPECT_EQ(errorOf(service->tensorFirsts(at("1"))).code, Code::Rewritten);
}

// --- errors ----------------------------------------------------------------------------------------------------------

TEST_F(TensorJobs, ATensorThatIsNotThereIsNotFound)
{
    EXPECT_EQ(errorOf(service->blocks(tensor("12", {}, "no.such.tensor"), 8)).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->elements(tensor("12", {}, ""), 0, 0, 1, 1)).code, Code::NotFound);
}

TEST_F(TensorJobs, AStepThatIsNotThereIsNotFound)
{
    EXPECT_EQ(errorOf(service->blocks(tensor("99"), 8)).code, Code::NotFound);
    EXPECT_EQ(errorOf(service->blocks(tensor("12", "99"), 8)).code, Code::NotFound);
}

TEST_F(TensorJobs, AStepThatCannotBeRebuiltSaysWhy)
{
    const BucketCopy broken("slime-v2-gap-in-chain");
    const Error error = errorOf(service->blocks({ { broken.source(), "5" }, {}, BucketCopy::Tensor }, 8));
    EXPECT_EQ(error.code, Code::ChainGap);
    EXPECT_NE(error.text.find("step 4"), std::string::npos) << error.text;
}

TEST_F(TensorJobs, AKeyThatClimbsOutIsRefused)
{
    home.write("secret.safetensors", "secret");
    for (const char* key : { "../x", "../../secret.safetensors", "/etc/passwd", "anchors/../../x", "", "a//b", "." })
        EXPECT_EQ(errorOf(service->readHeader(bucket.source(), key)).code, Code::Usage) << key;
}

TEST_F(TensorJobs, AHeaderThatIsNotThereOrNoneIsAnError)
{
    EXPECT_EQ(errorOf(service->readHeader(bucket.source(), "anchors/no")).code, Code::NotFound);
    std::ofstream(bucket.file("notes.txt")) << "these are notes, and no header of anything";
    EXPECT_EQ(errorOf(service->readHeader(bucket.source(), "notes.txt")).code, Code::Malformed);
}

TEST_F(TensorJobs, AHeaderTellsWhatTheFileHolds)
{
    const auto view = viewOf<HeaderView>(service->readHeader(bucket.source(), "anchors/step_000010.safetensors"));
    std::uint64_t bytes = 0;
    for (const HeaderView::Tensor& tensor : view->tensors)
        bytes += tensor.bytes;
    EXPECT_EQ(view->tensorsTotal, view->tensors.size());
    EXPECT_EQ(bytes, 92'352U * 2);
    EXPECT_EQ(view->headerBytes + bytes, 187'384U) << "the whole file";
}

// --- JSON ------------------------------------------------------------------------------------------------------------

TEST(TensorJson, NoNumberIsNull)
{
    ElementsView view;
    view.a = 1;
    view.newBits = { "7fc0", "3f80" };
    view.oldBits = { "0000", "8000" };
    view.newValues = { std::nullopt, 1.0 };
    view.oldValues = { 0.0, -0.0 };
    const Json json = Json::parse(toJson(view));
    EXPECT_EQ(json["new_values"], Json::parse("[null,1.0]"));
    EXPECT_EQ(json["old_bits"], Json::parse(R"(["0000","8000"])"));
}

TEST(TensorJson, AHostileNameStaysText)
{
    HeaderView view;
    view.key = "a\"b\\c</script>\n\xff";
    view.metadata["\xe2\x80\xae"] = "\x01";
    view.tensors.push_back({ std::string(300, 'x') + "\xc3", "BF16", {}, 0 });
    const Json json = Json::parse(toJson(view));
    EXPECT_EQ(json["key"], "a\"b\\c</script>\n\xef\xbf\xbd") << "what is no UTF-8 is replaced";
    EXPECT_EQ(json["metadata"]["\xe2\x80\xae"], "\x01");
    EXPECT_EQ(json["tensors"][0]["name"], std::string(300, 'x') + "\xef\xbf\xbd");
    EXPECT_EQ(json["tensors"][0]["shape"], Json::array());
}

TEST(TensorJson, BlocksWithoutAStateBeforeAreNull)
{
    const Json json = Json::parse(blocksToJson(BlocksView()));
    EXPECT_TRUE(json["a"].is_null());
    EXPECT_TRUE(json["gini_rows"].is_null());
    EXPECT_EQ(json["top_rows"], Json::array());
}

} // namespace
} // namespace deltascope::app
