#include "store/xet/shard_answer.h"

#include <nlohmann/json.hpp>

namespace deltascope::xet {

namespace {

/// For a message: at most 200 bytes, and nothing that a terminal would obey.
std::string plainText(std::string_view text)
{
    constexpr std::size_t MostBytes = 200;
    std::string plain(text.substr(0, MostBytes));
    for (char& c : plain) {
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~')
            c = '?';
    }
    return plain;
}

}

void ShardAnswer::begin(const http::Response&)
{
    m_line.clear();
    m_complaint.clear();
    m_isDone = false;
    m_isRetryable = true;
}

Result<void> ShardAnswer::take(ByteSpan bytes)
{
    constexpr std::size_t MostLineBytes = std::size_t { 1 } << 20;
    for (const char c : asText(bytes)) {
        if (c == '\n') {
            takeLine();
            continue;
        }
        if (m_line.size() == MostLineBytes)
            return fail(Code::Hostile, "the store answers a shard with a line that does not end");
        m_line += c;
    }
    return {};
}

void ShardAnswer::takeLine()
{
    const nlohmann::json line = nlohmann::json::parse(m_line, nullptr, false);
    m_line.clear();
    if (!line.is_object())
        return;
    const auto type = line.find("type");
    if (type == line.end() || !type->is_string())
        return;
    if (*type == "result") {
        m_isDone = true;
    } else if (*type == "error") {
        m_isDone = false;
        const auto message = line.find("message");
        const auto retryable = line.find("retryable");
        if (message != line.end() && message->is_string())
            m_complaint = plainText(message->get_ref<const std::string&>());
        m_isRetryable = retryable != line.end() && retryable->is_boolean() && retryable->get<bool>();
    }
}

} // namespace deltascope::xet
