#include "logs/log_tail.h"

#include "logs/log_parser.h"
#include "support/temp_dir.h"

#include "deltascope/engine/logs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

// Files that others write: growing, cut, renamed, gone.

namespace deltascope {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class LogTailTest : public testing::Test {
protected:
    void append(const std::string& name, std::string_view text) const
    {
        std::ofstream(m_dir.path(name), std::ios::binary | std::ios::app) << text;
    }

    /// What is new, read to the end.
    static Lines read(LogTail& tail)
    {
        Lines lines;
        for (bool more = true; more;) {
            const Result<bool> polled =
                tail.poll(1 << 20, [&](std::string_view line, bool) { lines.emplace_back(line); });
            EXPECT_TRUE(polled) << polled.error().text;
            more = polled && *polled;
        }
        return lines;
    }

    static Code failure(LogTail& tail)
    {
        const Result<bool> polled = tail.poll(1 << 20, [](std::string_view, bool) {});
        EXPECT_FALSE(polled);
        return polled ? Code::Internal : polled.error().code;
    }

    test::TempDir m_dir;
};

TEST_F(LogTailTest, ReadsFromTheFrontAndThenWhatIsAppended)
{
    LogTail tail(m_dir.write("a.log", "one\ntwo\n"));
    EXPECT_EQ(read(tail), (Lines { "one", "two" }));
    EXPECT_EQ(read(tail), Lines());
    append("a.log", "three\n");
    EXPECT_EQ(read(tail), Lines { "three" });
}

TEST_F(LogTailTest, KeepsHalfALineUntilItIsWhole)
{
    LogTail tail(m_dir.write("a.log", "one\ntw"));
    EXPECT_EQ(read(tail), Lines { "one" });
    append("a.log", "o, and");
    EXPECT_EQ(read(tail), Lines());
    append("a.log", " more\n");
    EXPECT_EQ(read(tail), Lines { "two, and more" });
}

TEST_F(LogTailTest, AnyBreakEndsALine)
{
    LogTail tail(m_dir.write("a.log", "one\r\n\n\n 10%|#\r 20%|##\rtwo\n"));
    EXPECT_EQ(read(tail), (Lines { "one", " 10%|#", " 20%|##", "two" }));
}

TEST_F(LogTailTest, TellsWhatWasWrittenWhileItLooked)
{
    LogTail tail(m_dir.write("a.log", "old\n"));
    std::vector<bool> news;
    const auto note = [&](std::string_view, bool justWritten) { news.push_back(justWritten); };
    ASSERT_TRUE(tail.poll(1 << 20, note));
    append("a.log", "new\n");
    ASSERT_TRUE(tail.poll(1 << 20, note));
    EXPECT_EQ(news, (std::vector<bool> { false, true }));
}

TEST_F(LogTailTest, ReadsABoundedAmountAtATime)
{
    std::string text;
    for (int i = 0; i < 1000; ++i)
        text += fmt::format("line {:04}\n", i);
    LogTail tail(m_dir.write("a.log", text));
    std::size_t lines = 0;
    std::size_t polls = 0;
    for (bool more = true; more; ++polls) {
        const std::size_t before = lines;
        const Result<bool> polled = tail.poll(100, [&](std::string_view, bool) { ++lines; });
        ASSERT_TRUE(polled);
        EXPECT_LE(lines - before, 11U);
        more = *polled;
    }
    EXPECT_EQ(lines, 1000U);
    EXPECT_EQ(polls, 100U);
}

TEST_F(LogTailTest, CutsLinesThatAreTooLong)
{
    LogTail tail(m_dir.write("a.log", std::string(1 << 20, 'x')));
    EXPECT_EQ(read(tail), Lines());
    append("a.log", "y\nnext\n");
    EXPECT_EQ(read(tail), (Lines { std::string(MostLogLineBytes, 'x'), "next" }));
}

TEST_F(LogTailTest, GoesOnBehindATruncation)
{
    LogTail tail(m_dir.write("a.log", "one\ntwo\nhal"));
    EXPECT_EQ(read(tail), (Lines { "one", "two" }));
    m_dir.write("a.log", "new\n"); // in place, the same inode
    EXPECT_EQ(read(tail), Lines { "new" });
}

TEST_F(LogTailTest, GoesOnBehindARotation)
{
    LogTail tail(m_dir.write("a.log", "one\n"));
    EXPECT_EQ(read(tail), Lines { "one" });
    append("a.log", "two\nlast words");
    fs::rename(m_dir.path("a.log"), m_dir.path("a.log.1"));
    m_dir.write("a.log", "three\n");
    EXPECT_EQ(read(tail), (Lines { "two", "last words", "three" }));
    append("a.log", "four\n");
    EXPECT_EQ(read(tail), Lines { "four" });
}

TEST_F(LogTailTest, AFileThatIsGoneIsAProblemUntilItIsBack)
{
    LogTail tail(m_dir.path("a.log"));
    EXPECT_EQ(failure(tail), Code::NotFound);
    m_dir.write("a.log", "one\n");
    EXPECT_EQ(read(tail), Lines { "one" });
    append("a.log", "two\n");
    fs::rename(m_dir.path("a.log"), m_dir.path("a.log.1"));
    Lines lines;
    const Result<bool> polled = tail.poll(1 << 20, [&](std::string_view line, bool) { lines.emplace_back(line); });
    ASSERT_FALSE(polled);
    EXPECT_EQ(polled.error().code, Code::NotFound);
    EXPECT_EQ(polled.error().where, m_dir.path("a.log"));
    EXPECT_EQ(lines, Lines { "two" }); // it is still read
    append("a.log.1", "three\n");
    m_dir.write("a.log", "four\n");
    EXPECT_EQ(read(tail), (Lines { "three", "four" }));
}

TEST_F(LogTailTest, WhatIsNoFileIsRefusedWithoutWaiting)
{
    fs::create_directory(m_dir.path("folder.log"));
    LogTail folder(m_dir.path("folder.log"));
    EXPECT_EQ(failure(folder), Code::Usage);
    ASSERT_EQ(::mkfifo(m_dir.path("fifo.log").c_str(), 0600), 0);
    LogTail fifo(m_dir.path("fifo.log"));
    EXPECT_EQ(failure(fifo), Code::Usage);
}

TEST_F(LogTailTest, AFileThatMayNotBeReadIsAProblem)
{
    if (::geteuid() == 0)
        GTEST_SKIP() << "root may read everything";
    LogTail tail(m_dir.write("a.log", "one\n"));
    fs::permissions(m_dir.path("a.log"), fs::perms::none);
    EXPECT_EQ(failure(tail), Code::Auth);
    fs::permissions(m_dir.path("a.log"), fs::perms::owner_read);
    EXPECT_EQ(read(tail), Lines { "one" });
}

// --- many files ------------------------------------------------------------------------------------------------------

class LogReaderTest : public LogTailTest {
protected:
    static std::string applied(int step, double seconds)
    {
        return fmt::format(
            "2026-08-21T12:34:{:02}Z Applied delta (step {}, 1 params) | download {:.2f}s decode+apply 0.00s\n", step,
            step, seconds);
    }
    /// Reads all that is there.
    void read(LogReader& reader)
    {
        for (bool more = true; more;) {
            const Result<bool> got = reader.read(m_task);
            ASSERT_TRUE(got);
            more = *got;
        }
    }
    static std::vector<std::string> actorsOf(const LogReader& reader)
    {
        std::set<std::string> actors;
        for (const Span& span : reader.spans())
            actors.insert(span.actor);
        return { actors.begin(), actors.end() };
    }

    TaskContext m_task;
    std::function<std::int64_t()> m_now = [] { return 1'787'400'000'000'000; };
};

TEST_F(LogReaderTest, AFileIsAnActor)
{
    const std::string trainer = m_dir.write("trainer.log", applied(1, 1));
    const std::string engine = m_dir.write("host1/vllm-0.txt", applied(2, 1));
    LogReader reader({ trainer, engine, trainer }, m_now);
    read(reader);
    EXPECT_EQ(actorsOf(reader), (std::vector<std::string> { "trainer", "vllm-0" }));
    const std::string other = m_dir.write("host2/vllm-0.txt", applied(3, 1));
    LogReader both({ engine, other }, m_now);
    read(both);
    EXPECT_EQ(actorsOf(both), (std::vector<std::string> { engine, other }));
}

TEST_F(LogReaderTest, SpansOfAllFilesAreSortedByTheirEnd)
{
    const std::string a = m_dir.write("a.log", applied(5, 1) + applied(9, 1));
    const std::string b = m_dir.write("b.log", applied(3, 1) + applied(7, 1));
    LogReader reader({ a, b }, m_now);
    read(reader);
    const std::vector<Span> spans = reader.spans();
    EXPECT_EQ(spans.size(), 12U);
    EXPECT_TRUE(
        std::is_sorted(spans.begin(), spans.end(), [](const Span& x, const Span& y) { return x.t1Us < y.t1Us; }));
}

TEST_F(LogReaderTest, FollowsAndCountsWhatIsNew)
{
    const std::string path = m_dir.write("a.log", applied(1, 1));
    LogReader reader({ path }, m_now);
    read(reader);
    const std::uint64_t before = reader.revision();
    append("a.log", "something else\n");
    read(reader);
    EXPECT_EQ(reader.revision(), before);
    append("a.log", applied(2, 1));
    read(reader);
    EXPECT_GT(reader.revision(), before);
    EXPECT_EQ(reader.spans().back().step, 2);
}

TEST_F(LogReaderTest, DatesLinesWithoutATimeAsTheyAreWritten)
{
    const std::string path =
        m_dir.write("a.log", "Applied delta (step 1, 1 params) | download 1.00s decode+apply 0.00s\n");
    LogReader reader({ path }, m_now);
    read(reader);
    append("a.log", "Applied delta (step 2, 1 params) | download 1.00s decode+apply 0.00s\n");
    read(reader);
    EXPECT_FALSE(reader.spans().front().hasPlace());
    EXPECT_EQ(reader.spans().back().t1Us, m_now());
}

TEST_F(LogReaderTest, AFileThatCannotBeReadIsAProblemAndTheOthersAreRead)
{
    const std::string there = m_dir.write("there.log", applied(1, 1));
    LogReader reader({ m_dir.path("missing.log"), there }, m_now);
    read(reader);
    ASSERT_EQ(reader.problems().size(), 1U);
    EXPECT_EQ(reader.problems().front().code, Code::NotFound);
    EXPECT_EQ(reader.problems().front().where, m_dir.path("missing.log"));
    EXPECT_EQ(reader.problems().front().text, "this log cannot be read: open: No such file or directory");
    EXPECT_EQ(actorsOf(reader), Lines { "there" });
    const std::uint64_t before = reader.revision();
    m_dir.write("missing.log", applied(2, 1));
    read(reader);
    EXPECT_TRUE(reader.problems().empty());
    EXPECT_GT(reader.revision(), before);
}

TEST_F(LogReaderTest, APackedFileIsAProblemAndABinaryTailOfALogIsNone)
{
    using namespace std::string_literals;
    const std::string packed = m_dir.write("a.log.gz", "\x1f\x8b\x08\x00\x00" + applied(1, 1));
    const std::string wide = m_dir.write("b.log",
                                         "\xff\xfe"
                                         "A\0\n\0"s);
    const std::string text = m_dir.write("c.log", "\0\0\0\n"s + applied(2, 1) + "\x1f\x8b\n");
    LogReader reader({ packed, wide, text, m_dir.write("empty.log", "") }, m_now);
    read(reader);
    ASSERT_EQ(reader.problems().size(), 2U);
    EXPECT_EQ(reader.problems()[0].where, packed);
    EXPECT_EQ(reader.problems()[0].text, "this log cannot be read: it is packed with gzip, and logs are lines of text");
    EXPECT_EQ(reader.problems()[1].text, "this log cannot be read: it is text in UTF-16, and logs are lines of text");
    EXPECT_EQ(actorsOf(reader), Lines { "c" });
}

TEST_F(LogReaderTest, StopsWhenItIsTold)
{
    LogReader reader({ m_dir.write("a.log", applied(1, 1)) }, m_now);
    m_task.requestStop();
    const Result<bool> got = reader.read(m_task);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::Canceled);
}

} // namespace
} // namespace deltascope
