#include "desktop_fixture.h"
#include "spawned.h"

#include "integration/watched_application.h"
#include "pages/tensors/tensors_page.h"
#include "widgets/filter_field.h"

#include <cstdio>

namespace deltascope::desktop {
namespace {

/// Large runs from the writers of the tests, read by the real engine and shown on every page.
class Scale : public DesktopFixture {
protected:
    app::SourceRequest write(int tensors, int elements, int steps, int anchorEvery)
    {
        app::SourceRequest source;
        source.source = home.path("large");
        Spawned writer({ DELTASCOPE_MAKE_RUN, "--layout", "trl-v2", "--out", source.source.text(), "--tensors",
                         std::to_string(tensors), "--elements", std::to_string(elements), "--steps",
                         std::to_string(steps), "--anchor-every", std::to_string(anchorEvery) });
        EXPECT_TRUE(writer.wait());
        return source;
    }

    /// Shows each page and moves B on it; prints the longest task of the GUI thread.
    void visitAllPages(std::int64_t lastStep)
    {
        for (const char* page : { "live", "heatmap", "timeline", "lineage", "bucket", "tensors", "diff", "alerts" }) {
            auto* application = qobject_cast<WatchedApplication*>(qApp);
            application->watch(8);
            window->showPage(QString::fromLatin1(page));
            QTest::qWait(300);
            const double shown = application->longestMs();
            application->watch(8);
            for (std::int64_t back = 1; back <= 5; ++back) {
                window->cursor().setB({ 0, lastStep - back });
                QTest::qWait(60);
            }
            std::printf("%-9s longest task %.1f ms while it is shown first, %.1f ms while B moves\n", page, shown,
                        application->longestMs());
            application->watch(0);
            EXPECT_TRUE(window->page()) << page;
        }
    }
};

TEST_F(Scale, FortyThousandTensors)
{
    static constexpr int Tensors = 40'000;
    window->openSource(write(Tensors, 16, 4, 0));
    ASSERT_TRUE(waitFor([this] {
        const RunPointer& run = window->focus().run();
        return run && run->run && run->run->settled && run->heat;
    }));
    EXPECT_EQ(window->focus().run()->heat->rows.size(), static_cast<std::size_t>(Tensors));
    visitAllPages(4);
    auto* page = show<TensorsPage>("tensors");
    page->filterField()->setText(QStringLiteral("39999"));
    EXPECT_TRUE(waitFor([page] { return page->exportText().count('\n') == 2; })) << "a head and one tensor";
}

TEST_F(Scale, TenThousandSteps)
{
    static constexpr int Steps = 10'000;
    window->openSource(write(4, 64, Steps, 10));
    ASSERT_TRUE(waitFor([this] {
        const RunPointer& run = window->focus().run();
        return run && run->run && run->run->latest == Steps;
    }));
    EXPECT_EQ(window->focus().run()->run->epochs.front().steps.size(), static_cast<std::size_t>(Steps));
    visitAllPages(Steps);
    window->cursor().setB({ 0, 7'777 });
    ASSERT_TRUE(window->focus().b());
    EXPECT_TRUE(window->focus().b()->restorable);
}

} // namespace
} // namespace deltascope::desktop
