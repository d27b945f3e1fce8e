#include "look/tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {
namespace {

double channel(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

double luminance(const QColor& color)
{
    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
}

/// WCAG 2.1.
double contrast(const QColor& a, const QColor& b)
{
    const auto [dark, light] = std::minmax({ luminance(a), luminance(b) });
    return (light + 0.05) / (dark + 0.05);
}

class Tokens : public ::testing::TestWithParam<Shade> {
protected:
    static double against(Token token, Token ground)
    {
        return contrast(color(token, GetParam()), color(ground, GetParam()));
    }
};

TEST_P(Tokens, TextIsReadableOnEveryGround)
{
    for (const Token ground : { Token::Window, Token::Surface, Token::Raised }) {
        EXPECT_GE(against(Token::Text, ground), 7) << static_cast<int>(ground);
        EXPECT_GE(against(Token::Muted, ground), 4.5) << static_cast<int>(ground);
        EXPECT_GE(against(Token::Accent, ground), 4.5) << static_cast<int>(ground);
        EXPECT_GE(against(Token::Error, ground), 4.5) << static_cast<int>(ground);
        EXPECT_GE(against(Token::Ok, ground), 4.5) << static_cast<int>(ground);
    }
    EXPECT_GE(against(Token::Text, Token::Selection), 7);
    EXPECT_GE(against(Token::Muted, Token::Selection), 4.5);
    EXPECT_GE(against(Token::OnAccent, Token::Accent), 4.5);
    EXPECT_GE(against(Token::Error, Token::ErrorGround), 4.5);
    EXPECT_GE(against(Token::Warn, Token::WarnGround), 4.5);
}

TEST_P(Tokens, PhasesStandOutFromTheGroundOfCharts)
{
    for (const Token phase : { Token::Pause, Token::Upload, Token::Fetch, Token::Verify, Token::Diff, Token::Resume,
                               Token::Waiting, Token::OtherSeries })
        EXPECT_GE(against(phase, Token::Surface), 3) << static_cast<int>(phase);
}

INSTANTIATE_TEST_SUITE_P(BothThemes, Tokens, ::testing::Values(Shade::Light, Shade::Dark),
                         [](const auto& shade) { return shade.param == Shade::Light ? "Light" : "Dark"; });

}
} // namespace deltascope::desktop
