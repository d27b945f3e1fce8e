#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace deltascope::test {

/// A fresh folder (below TMPDIR or /tmp) that is removed with everything in it at the end of the test.
class TempDir {
public:
    TempDir()
    {
        const char* base = std::getenv("TMPDIR");
        m_path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/deltascope-test-XXXXXX";
        if (::mkdtemp(m_path.data()) == nullptr)
            throw std::runtime_error("cannot create " + m_path);
        m_path = std::filesystem::canonical(m_path).string();
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    const std::string& path() const noexcept { return m_path; }
    std::string path(std::string_view name) const { return m_path + '/' + std::string(name); }

    /// Writes a file in place, with the folders that it needs; returns its path.
    std::string write(std::string_view name, std::string_view text) const
    {
        const std::string file = path(name);
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream stream(file, std::ios::binary | std::ios::trunc);
        stream.write(text.data(), static_cast<std::streamsize>(text.size()));
        stream.close();
        if (!stream)
            throw std::runtime_error("cannot write " + file);
        return file;
    }

    std::string read(std::string_view name) const
    {
        std::ifstream stream(path(name), std::ios::binary);
        if (!stream)
            throw std::runtime_error("cannot read " + path(name));
        return std::string(std::istreambuf_iterator<char>(stream), {});
    }

private:
    std::string m_path;
};

} // namespace deltascope::test
