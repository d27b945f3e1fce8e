#include "desktop_fixture.h"

#include "integration/link.h"

#include <QDialog>

namespace deltascope::desktop {
namespace {

TEST(ALink, NamesASourceAndAStep)
{
    const auto local = parseLink(QStringLiteral("deltascope:///data/my%20run@0:12"));
    ASSERT_TRUE(local);
    EXPECT_EQ(local->source, QStringLiteral("/data/my run"));
    EXPECT_EQ(local->epoch, 0);
    EXPECT_EQ(local->step, 12);
    const auto remote = parseLink(QStringLiteral("deltascope:hf://buckets/acme/wordle@1190"));
    ASSERT_TRUE(remote);
    EXPECT_EQ(remote->source, QStringLiteral("hf://buckets/acme/wordle"));
    EXPECT_FALSE(remote->epoch);
    EXPECT_EQ(remote->step, 1190);
    const auto plain = parseLink(QStringLiteral("Deltascope:/data/a@b"));
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->source, QStringLiteral("/data/a@b"));
    EXPECT_FALSE(plain->step);
}

TEST(ALink, IsNothingElse)
{
    for (const char* address : { "", "deltascope:", "deltascope", "https://a/b", "/data/run", "deltascope:@12" })
        EXPECT_FALSE(parseLink(QString::fromLatin1(address))) << address;
    const auto huge = parseLink(QStringLiteral("deltascope:/a@99999999999999999999"));
    ASSERT_TRUE(huge);
    EXPECT_FALSE(huge->step);
}

class LinksInAWindow : public DesktopFixture { };

TEST_F(LinksInAWindow, OfAnOpenRunGoToItsStep)
{
    const app::SourceRequest source = golden("trl-v2-gap");
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] { return window->focus().run() && window->focus().run()->run; }));
    window->showRun({});
    window->openLink({ QString::fromStdString(source.source.text()), std::nullopt, 11 });
    EXPECT_TRUE(waitFor([this] { return window->cursor().b() == std::optional(StepId { 0, 11 }); }));
    EXPECT_FALSE(window->findChild<QDialog*>());
}

TEST_F(LinksInAWindow, OfAnUnknownSourceAreAskedAboutAndGoToTheStepThen)
{
    const app::SourceRequest source = golden("trl-v2-gap");
    window->openLink({ QString::fromStdString(source.source.text()), 0, 11 });
    EXPECT_TRUE(session->monitor().runs().empty());
    EXPECT_TRUE(window->findChild<QDialog*>());
    window->openSource(source); // what the dialog does
    EXPECT_TRUE(waitFor([this] { return window->cursor().b() == std::optional(StepId { 0, 11 }); }));
}

} // namespace
} // namespace deltascope::desktop
