#include "compression.h"

#include <new>
#include <zlib.h>
#include <zstd.h>

namespace deltascope::server {

std::string gzipOf(std::string_view plain)
{
    constexpr int kLevel = 4;
    constexpr int kGzip = 15 + 16; // largest window; 16 asks for gzip's frame
    z_stream stream {};
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    std::string out(deflateBound(&stream, plain.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = uInt(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = uInt(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string zstdOf(std::string_view plain)
{
    constexpr int kLevel = 3;
    std::string out(ZSTD_compressBound(plain.size()), '\0');
    const std::size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), kLevel);
    if (ZSTD_isError(size))
        throw std::bad_alloc();
    out.resize(size);
    return out;
}

} // namespace deltascope::server
