#pragma once

#include "format/common/buffered_extent.h"

#include <memory>
#include <string>

struct ZSTD_DCtx_s;

namespace deltascope {

/// Decompresses the one zstd frame that fills an extent, from front to back, with bounded memory: windows above 8 MiB
/// are refused. The decompressor comes with the first read; a small one is kept for the next frame of the thread that
/// destroys this.
class ZstdStream {
public:
    static constexpr int MaxWindowLog = 23;

    /// `tensor`: for error texts.
    ZstdStream(BufferedExtent input, std::string tensor);
    ~ZstdStream();
    ZstdStream(ZstdStream&&) noexcept;

    /// Memory that decompressing will take, from the window that the frame's header asks for. Before the first read;
    /// reads the header. Errors: Malformed (no frame), those of the store.
    Result<std::uint64_t> workingBytes();

    /// Fills all of `out`. Errors: Malformed (no frame, damaged, shorter than that), Unsupported (window), those of the
    /// store.
    Result<void> read(MutableByteSpan out);
    /// Decompresses `bytes` and drops them.
    Result<void> skip(std::uint64_t bytes);
    /// Errors: Malformed (more content, or more than one frame).
    Result<void> expectEnd();

    Error refusal(const std::string& text, Code code = Code::Malformed) const;

private:
    struct GiveBack {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };

    Result<void> expectMagic();
    Result<void> start();
    /// One step of decompression; `filled` grows up to out.size().
    Result<void> step(MutableByteSpan out, std::size_t& filled);

    BufferedExtent m_input;
    std::string m_tensor;
    std::unique_ptr<ZSTD_DCtx_s, GiveBack> m_context;
    bool m_ended = false;
};

} // namespace deltascope
