#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace deltascope {

/// A text that is nearly always empty, for structs that exist a million times: as large as a pointer.
class RareText {
public:
    RareText() = default;
    RareText(std::string text)
        : m_text(text.empty() ? nullptr : std::make_unique<const std::string>(std::move(text)))
    {
    }
    RareText(const RareText& other)
        : RareText(std::string(other.view()))
    {
    }
    RareText(RareText&&) noexcept = default;
    RareText& operator=(const RareText& other)
    {
        if (this != &other)
            *this = RareText(other);
        return *this;
    }
    RareText& operator=(RareText&&) noexcept = default;
    ~RareText() = default;

    std::string_view view() const noexcept { return m_text ? std::string_view(*m_text) : std::string_view(); }
    bool empty() const noexcept { return !m_text; }

private:
    std::unique_ptr<const std::string> m_text; ///< null: empty
};

} // namespace deltascope
