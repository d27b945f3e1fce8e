#pragma once

#include "cli/cli.h"

#include "support/golden.h"
#include "support/temp_dir.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

// The program as it is called: arguments in, exit status and two streams out.

namespace deltascope::cli::cli_test {

using test::TempDir;

namespace fs = std::filesystem;

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

/// Sends a descriptor into a file as long as it lives.
class Redirected {
public:
    Redirected(int descriptor, const std::string& path)
        : m_descriptor(descriptor)
        , m_before(::dup(descriptor))
    {
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ::dup2(file, descriptor);
        ::close(file);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected()
    {
        ::dup2(m_before, m_descriptor);
        ::close(m_before);
    }

private:
    int m_descriptor;
    int m_before;
};

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;

    Json json() const { return Json::parse(out, nullptr, false); }
};

class CliTest : public testing::Test {
protected:
    CliTest()
    {
        const char* before = std::getenv("DELTASCOPE_HOME");
        m_homeBefore = before ? std::optional<std::string>(before) : std::nullopt;
        ::setenv("DELTASCOPE_HOME", folder.path("home").c_str(), 1);
    }
    ~CliTest() override
    {
        m_homeBefore ? ::setenv("DELTASCOPE_HOME", m_homeBefore->c_str(), 1) : ::unsetenv("DELTASCOPE_HOME");
    }

    Outcome call(const Arguments& arguments) const
    {
        Outcome outcome;
        {
            std::fflush(stdout);
            std::fflush(stderr);
            const Redirected out(STDOUT_FILENO, folder.path("stdout"));
            const Redirected err(STDERR_FILENO, folder.path("stderr"));
            outcome.status = run(arguments);
            std::fflush(stdout);
            std::fflush(stderr);
        }
        outcome.out = folder.read("stdout");
        outcome.err = folder.read("stderr");
        return outcome;
    }
    static std::string bucket(const std::string& name) { return test::goldenPath(name + "/bucket"); }
    /// Arguments for a slime bucket, which stands on a base.
    static Arguments onBase(Arguments arguments, const std::string& name)
    {
        arguments.insert(arguments.end(), { "--base", test::goldenPath(name + "/base") });
        return arguments;
    }

    TempDir folder;

private:
    std::optional<std::string> m_homeBefore;
};

/// Nothing that a terminal obeys: no control characters but line breaks, no direction changes.
inline void expectHarmless(const std::string& text, const std::string& what)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        EXPECT_TRUE(byte >= 0x20 || byte == '\n')
            << what << ": control " << int(byte) << " in " << text.substr(i > 20 ? i - 20 : 0, 40);
        EXPECT_NE(byte, 0x7f) << what;
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\xff');
        EXPECT_FALSE(byte == 0xc2 && next < 0xa0) << what << ": C1 control";
    }
    for (const char* bidi : { "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
                              "\u200e", "\u200f" })
        EXPECT_EQ(text.find(bidi), std::string::npos) << what;
}

} // namespace deltascope::cli::cli_test
