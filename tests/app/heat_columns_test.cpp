#include "service/heat_columns.h"

#include "engine/golden_copy.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

// The sums of a followed run's heatmap over its columns.

namespace deltascope::app {
namespace {

using layout_test::GoldenRun;

class HeatSums : public testing::Test {
protected:
    std::shared_ptr<const HeatView> look(const std::set<std::size_t>& miscounted = {})
    {
        const deltascope::Run run = m_golden.analyzed();
        auto heat = m_columns.view(m_golden.session.bench, run, miscounted, ++m_revision, m_golden.session.task);
        EXPECT_TRUE(heat) << heat.error().text;
        return heat ? *heat : std::make_shared<const HeatView>();
    }
    /// As one who sees the run for the first time.
    std::shared_ptr<const HeatView> fresh(const std::set<std::size_t>& miscounted = {})
    {
        StateTensors tensors;
        HeatColumns columns(tensors);
        const deltascope::Run run = m_golden.analyzed();
        auto heat = columns.view(m_golden.session.bench, run, miscounted, ++m_revision, m_golden.session.task);
        EXPECT_TRUE(heat) << heat.error().text;
        return heat ? *heat : std::make_shared<const HeatView>();
    }
    static std::uint64_t changedIn(const HeatView& heat)
    {
        std::uint64_t sum = 0;
        for (const TensorRowView& row : heat.rows)
            sum += row.changedElements;
        return sum;
    }
    static void expectEqual(const HeatView& a, const HeatView& b)
    {
        ASSERT_EQ(a.rows.size(), b.rows.size());
        for (std::size_t i = 0; i < a.rows.size(); ++i) {
            EXPECT_EQ(a.rows[i].changedElements, b.rows[i].changedElements) << a.rows[i].name;
            EXPECT_EQ(a.rows[i].lastChanged, b.rows[i].lastChanged) << a.rows[i].name;
        }
    }

    GoldenRun m_golden { "trl-v2-gap" };
    StateTensors m_tensors;
    HeatColumns m_columns { m_tensors };
    std::uint64_t m_revision = 0;
};

TEST_F(HeatSums, HoldNoStepThatIsGone)
{
    const std::uint64_t before = changedIn(*look());
    std::filesystem::remove(m_golden.file("deltas/step_000015.safetensors"));
    const auto now = look();
    EXPECT_LT(changedIn(*now), before);
    expectEqual(*now, *fresh());
}

TEST_F(HeatSums, HoldAStepThatWasWrittenAgainOnce)
{
    look();
    m_golden.edit("deltas/step_000015.safetensors", [](std::string& bytes) { bytes.back() ^= 1; });
    expectEqual(*look(), *fresh());
}

TEST_F(HeatSums, HoldNoCountsThatTheRecordsContradict)
{
    const std::uint64_t before = changedIn(*look());
    const auto without = look({ 3, 4 });
    EXPECT_FALSE(without->columns[3].codes);
    EXPECT_TRUE(without->columns[5].codes);
    EXPECT_LT(changedIn(*without), before);
    expectEqual(*without, *fresh({ 3, 4 }));
    EXPECT_EQ(changedIn(*look()), before) << "they were accepted";
}

} // namespace
} // namespace deltascope::app
