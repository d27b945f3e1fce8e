#include "look/format.h"
#include "look/marks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deltascope::desktop {
namespace {

std::string text(const QString& shown) { return shown.toStdString(); }

TEST(Format, BytesHaveThreeDigitsAndDecimalUnits)
{
    EXPECT_EQ(text(bytesText(0)), "0 B");
    EXPECT_EQ(text(bytesText(999)), "999 B");
    EXPECT_EQ(text(bytesText(1000)), "1.00 kB");
    EXPECT_EQ(text(bytesText(182'000'000)), "182 MB");
    EXPECT_EQ(text(bytesText(15'200'000'000)), "15.2 GB");
    EXPECT_EQ(text(bytesText(999'600)), "1.00 MB");
    EXPECT_EQ(text(bytesText(std::nullopt)), "–");
}

TEST(Format, SharesBelowOnePercentHaveTwoDigits)
{
    EXPECT_EQ(text(percentText(0.0083)), "0.83 %");
    EXPECT_EQ(text(percentText(0.000021)), "0.0021 %");
    EXPECT_EQ(text(percentText(0.0123)), "1.2 %");
    EXPECT_EQ(text(percentText(0)), "0 %");
    EXPECT_EQ(text(percentText(1)), "100 %");
    EXPECT_EQ(text(percentText(0.99999)), "100.00 %") << "nearly all is not all";
    EXPECT_EQ(text(percentText(NAN)), "–");
}

TEST(Format, DurationsGoFromMillisecondsToDays)
{
    EXPECT_EQ(text(durationText(0)), "0.0 ms");
    EXPECT_EQ(text(durationText(0.00002)), "< 0.1 ms");
    EXPECT_EQ(text(durationText(0.84)), "840 ms");
    EXPECT_EQ(text(durationText(0.0012)), "1.2 ms");
    EXPECT_EQ(text(durationText(12.4)), "12.4 s");
    EXPECT_EQ(text(durationText(187)), "3:07");
    EXPECT_EQ(text(durationText(3725)), "1:02:05");
    EXPECT_EQ(text(durationText(2 * 86'400)), "2 days");
    EXPECT_EQ(text(ageText(7.4)), "7 s") << "ages are counted, not measured";
    EXPECT_EQ(text(ageText(-3)), "0 s");
}

TEST(Format, WhatIsNotKnownIsNeverZero)
{
    EXPECT_EQ(text(countText(std::nullopt)), "–");
    EXPECT_EQ(text(timesText(std::nullopt)), "–");
    EXPECT_EQ(text(agoText(0, 5'000'000)), "–");
    EXPECT_EQ(text(clockText(0, 5'000'000)), "–");
}

TEST(Format, NamesThatDeceiveAreWrittenOut)
{
    EXPECT_EQ(text(safeName("layers.0")), "layers.0");
    EXPECT_EQ(text(safeName("a\xe2\x80\xae"
                            "b")),
              "a\\u202eb");
    EXPECT_EQ(text(safeName("a\nb")), "a\\u000ab");
    EXPECT_EQ(text(safeName("a\xff")), "a\\xff") << "no UTF-8";
    EXPECT_EQ(text(safeName("層.重み")), "層.重み");
}

TEST(Format, LongWordsMayBeBroken)
{
    EXPECT_EQ(breakable(QStringLiteral("short words stay")), QStringLiteral("short words stay"));
    const QString digest(32, QLatin1Char('f'));
    QString broken = breakable(digest);
    EXPECT_EQ(broken.count(QChar(0x200b)), 1);
    EXPECT_EQ(broken.remove(QChar(0x200b)), digest);
    EXPECT_EQ(breakable(QStringLiteral("a/b")), QStringLiteral("a/\u200bb")) << "behind a part of a path";
}

TEST(Format, AFirstSightMayBeThisOne)
{
    EXPECT_EQ(text(verdictText("first_sight")), "as first read, which may be just now");
    EXPECT_EQ(text(verdictText("verified")), "verified as published");
}

TEST(Format, AnUnverifiedStepSaysWhatSpeaksAgainstIt)
{
    app::VerifiedView verified { 3, "unverified", 0 };
    EXPECT_EQ(text(verdictText(verified)), "nothing vouches for it");
    verified.problem.emplace().code = "DS-REWRITTEN";
    EXPECT_EQ(text(verdictText(verified)), "DS-REWRITTEN speaks against it");
    verified.result = "damaged";
    EXPECT_EQ(text(verdictText(verified)), "✕ damaged");
}

TEST(Format, LongNamesKeepBothEnds)
{
    const QString name = QStringLiteral("model.layers.0.") + QString(100, QLatin1Char('x')) + QStringLiteral(".weight");
    const QString shown = shortened(name, 40);
    EXPECT_EQ(shown.size(), 40);
    EXPECT_TRUE(shown.startsWith(QStringLiteral("model.layers.0.")));
    EXPECT_TRUE(shown.endsWith(QStringLiteral(".weight")));
}

}
} // namespace deltascope::desktop
