#include "zip.h"

#include <utility>
#include <zip.h>

namespace deltascope::bundle {

namespace {

/// Of deflate. At 6, the usual one, the page of a run of 20,000 tensors becomes an eighth smaller and takes several
/// times as long.
constexpr zip_uint32_t Level = 3;

tl::unexpected<Error> failed(const char* why)
{
    return fail(Code::Io, std::string("the archive cannot be made: ") + why);
}

}

Result<ZipArchive> ZipArchive::create()
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* buffer = zip_source_buffer_create(nullptr, 0, 0, &error);
    zip_t* archive = buffer ? zip_open_from_source(buffer, ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
    if (!archive) {
        auto failure = failed(zip_error_strerror(&error));
        zip_error_fini(&error);
        zip_source_free(buffer);
        return failure;
    }
    zip_source_keep(buffer); // closing the archive gives up a reference
    return ZipArchive(archive, buffer);
}

ZipArchive::ZipArchive(zip* archive, zip_source* buffer)
    : m_archive(archive)
    , m_buffer(buffer)
{
}

ZipArchive::ZipArchive(ZipArchive&& other) noexcept
    : m_archive(std::exchange(other.m_archive, nullptr))
    , m_buffer(std::exchange(other.m_buffer, nullptr))
    , m_contents(std::move(other.m_contents))
{
}

ZipArchive::~ZipArchive()
{
    if (m_archive)
        zip_discard(m_archive);
    zip_source_free(m_buffer);
}

Result<void> ZipArchive::add(const std::string& name, std::string content)
{
    const std::string& kept = m_contents.emplace_back(std::move(content));
    zip_source_t* source = zip_source_buffer(m_archive, kept.data(), kept.size(), 0);
    const zip_int64_t at = source ? zip_file_add(m_archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (at < 0) {
        zip_source_free(source);
        return failed(zip_strerror(m_archive));
    }
    if (zip_set_file_compression(m_archive, static_cast<zip_uint64_t>(at), ZIP_CM_DEFLATE, Level) != 0)
        return failed(zip_strerror(m_archive));
    return {};
}

Result<std::string> ZipArchive::finish()
{
    if (zip_close(m_archive) != 0)
        return failed(zip_strerror(m_archive));
    m_archive = nullptr;
    zip_stat_t size;
    if (zip_source_open(m_buffer) != 0 || zip_source_stat(m_buffer, &size) != 0)
        return failed(zip_error_strerror(zip_source_error(m_buffer)));
    std::string bytes(size.size, '\0');
    const zip_int64_t read = zip_source_read(m_buffer, bytes.data(), bytes.size());
    zip_source_close(m_buffer);
    if (read != static_cast<zip_int64_t>(bytes.size()))
        return failed("it cannot be read back");
    return bytes;
}

} // namespace deltascope::bundle
