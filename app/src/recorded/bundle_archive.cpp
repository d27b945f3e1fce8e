#include "bundle_archive.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <utility>
#include <zip.h>

namespace deltascope::app {

namespace {

struct CloseFile {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

tl::unexpected<Error> damaged(const std::string& path, std::string text)
{
    return fail(Code::Hostile, std::move(text), path, "fetch or export the bundle again");
}

}

Result<BundleArchive> BundleArchive::open(const std::string& path)
{
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        return fail(Code::NotFound, "there is no such bundle", path);
    int why = 0;
    if (zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &why))
        return BundleArchive(archive, path);
    if (why != ZIP_ER_OPEN && why != ZIP_ER_READ)
        return damaged(path, "this is no bundle, or only a part of one");
    zip_error_t error;
    zip_error_init_with_code(&error, why);
    auto failure = fail(Code::Io, fmt::format("the bundle cannot be read: {}", zip_error_strerror(&error)), path);
    zip_error_fini(&error);
    return failure;
}

BundleArchive::BundleArchive(zip* archive, std::string path)
    : m_archive(archive)
    , m_path(std::move(path))
{
}

BundleArchive::BundleArchive(BundleArchive&& other) noexcept
    : m_archive(std::exchange(other.m_archive, nullptr))
    , m_path(std::move(other.m_path))
{
}

BundleArchive::~BundleArchive()
{
    if (m_archive)
        zip_discard(m_archive);
}

bool BundleArchive::has(const std::string& name) const { return zip_name_locate(m_archive, name.c_str(), 0) >= 0; }

Result<std::string> BundleArchive::read(const std::string& name, std::uint64_t limit) const
{
    const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen(m_archive, name.c_str(), 0));
    if (!file)
        return damaged(m_path, fmt::format("{} is missing in the bundle, or damaged", name));
    std::string bytes;
    std::array<char, 65'536> part;
    for (;;) {
        const zip_int64_t got = zip_fread(file.get(), part.data(), part.size());
        if (got < 0)
            return damaged(m_path, fmt::format("{} in the bundle is damaged", name));
        if (got == 0)
            return bytes;
        if (bytes.size() + static_cast<std::uint64_t>(got) > limit)
            return damaged(m_path, fmt::format("{} in the bundle unpacks to more than {} bytes", name, limit));
        bytes.append(part.data(), static_cast<std::size_t>(got));
    }
}

} // namespace deltascope::app
