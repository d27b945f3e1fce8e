#pragma once

#include "deltascope/engine/http.h"

#include <string>

namespace deltascope::xet {

/// Takes the lines that POST /v2/shards answers with: objects with a "type", of which "result" and "error" are the
/// last. Lines of other types say that the store is at work. Holds one line, of at most 1 MiB.
class ShardAnswer final : public http::Sink {
public:
    void begin(const http::Response& head) override;
    /// Errors: Hostile (a line is too long).
    Result<void> take(ByteSpan bytes) override;
    void end() override { takeLine(); }

    bool isDone() const noexcept { return m_isDone; } ///< the shard is registered
    bool isRetryable() const noexcept { return m_isRetryable; } ///< worth sending again
    /// What the store complains of; empty if it ended without a word.
    const std::string& complaint() const noexcept { return m_complaint; }

private:
    void takeLine();

    std::string m_line;
    std::string m_complaint;
    bool m_isDone = false;
    bool m_isRetryable = true;
};

} // namespace deltascope::xet
