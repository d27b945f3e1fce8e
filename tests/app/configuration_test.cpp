#include "service/configuration.h"

#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>

// The user's file: prices, and what is wrong with it.

namespace deltascope::app {
namespace {

Configuration parsed(std::string_view text)
{
    Result<Configuration> configuration = parseConfiguration(text, "config.toml");
    EXPECT_TRUE(configuration) << (configuration ? "" : configuration.error().text);
    return configuration.value_or(Configuration());
}

Error refused(std::string_view text)
{
    const Result<Configuration> configuration = parseConfiguration(text, "config.toml");
    EXPECT_FALSE(configuration) << text;
    return configuration ? Error() : configuration.error();
}

TEST(Configuration, PricesAreThoseOfTheKindOfStore)
{
    const Configuration configuration = parsed("[prices]\nper_gb = 0.02\nper_1000_requests = 1\n"
                                               "[prices.s3]\nper_gb = 0.09\n"
                                               "[prices.file]\nper_gb = 0\nper_1000_requests = 0\n");
    EXPECT_EQ(configuration.pricesOf("s3://bucket/run"), (StorePrices { 0.09, 1.0 }));
    EXPECT_EQ(configuration.pricesOf("file:///runs/one"), (StorePrices { 0.0, 0.0 }));
    EXPECT_EQ(configuration.pricesOf("hf://buckets/a/b"), (StorePrices { 0.02, 1.0 }));
    EXPECT_TRUE(configuration.warnings.empty());
    EXPECT_EQ(parsed("").pricesOf("s3://bucket"), StorePrices());
    EXPECT_EQ(parsed("[prices.s3]\nper_gb = 1\n").pricesOf("file:///x"), StorePrices());
}

TEST(Configuration, WhatIsWrongIsSaidWithItsLine)
{
    for (const auto& [text, line] :
         { std::pair("[prices\nper_gb = 1\n", "line 1"), std::pair("\n\nper_gb = = 1\n", "line 3"),
           std::pair("[prices]\nper_gb = \"much\"\n", "line 2"), std::pair("[prices]\n\nper_gb = -1\n", "line 3"),
           std::pair("[prices.s3]\nper_gb = 1\nper_1000_requests = nan\n", "line 3"),
           std::pair("[prices]\nper_gb = inf\n", "line 2"), std::pair("\nprices = 3\n", "line 2"),
           std::pair("[prices]\nper_gb = 1\nper_gb = 2\n", "line 3"), std::pair("a = \"\xff\"\n", "line 1") }) {
        const Error error = refused(text);
        EXPECT_EQ(error.code, Code::Usage) << text;
        EXPECT_EQ(error.where, "config.toml") << text;
        EXPECT_NE(error.text.find(line), std::string::npos) << text << ": " << error.text;
    }
}

TEST(Configuration, KeysThatMeanNothingAreNamedWithTheirLines)
{
    const Configuration configuration =
        parsed("future = 1\n[prices]\nper_tb = 3\n[prices.s3]\nper_gb = 1\nper_gib = 2\n");
    EXPECT_EQ(configuration.warnings,
              (std::vector<std::string> { "line 1: future means nothing to this version",
                                          "line 3: prices.per_tb means nothing to this version",
                                          "line 6: prices.s3.per_gib means nothing to this version" }));
    EXPECT_EQ(configuration.pricesOf("s3://bucket").perGb, 1.0);
}

TEST(Configuration, AFileThatIsNotThereSaysNothing)
{
    const test::TempDir folder;
    const Result<Configuration> none = readConfiguration(folder.path("config.toml"));
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->prices.empty() && none->warnings.empty());
    EXPECT_TRUE(readConfiguration(""));
    const Result<Configuration> read = readConfiguration(folder.write("config.toml", "[prices.s3]\nper_gb = 0.5\n"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pricesOf("s3://x").perGb, 0.5);
}

TEST(Configuration, AFileThatIsNoneIsAnError)
{
    const test::TempDir folder;
    std::filesystem::create_directory(folder.path("config.toml"));
    EXPECT_EQ(readConfiguration(folder.path("config.toml")).error().code, Code::Usage);
    const std::string large(2 << 20, '#');
    EXPECT_EQ(readConfiguration(folder.write("large.toml", large)).error().code, Code::Usage);
}

} // namespace
} // namespace deltascope::app
