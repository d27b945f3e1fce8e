#include "format/dcp/sharding_info.h"

#include "deltascope/engine/tensor.h"
#include "format/common/quote_name.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

constexpr std::string_view OffsetsKey = "saved_offsets";

/// Takes the text event by event: duplicates are seen, and no tree is built.
class InfoHandler final : public nlohmann::json_sax<nlohmann::json> {
public:
    SavedOffsets offsets;
    std::string refusal;

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }

    bool number_unsigned(number_unsigned_t number) override
    {
        if (!m_inOffsets)
            return value();
        if (m_offsets->size() == MaxTensorRank)
            return refuse(fmt::format("has more than {} offsets", MaxTensorRank));
        m_offsets->push_back(number);
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (m_depth >= 2)
            return refuse("is nested deeper than it needs");
        ++m_depth;
        return true;
    }

    bool key(string_t& text) override
    {
        if (m_depth == 1) {
            const auto [at, isNew] = offsets.try_emplace(text);
            if (!isNew)
                return refuse(fmt::format("names {} twice", quoteName(text)));
            m_offsets = &at->second;
            m_hasOffsets = false;
            return true;
        }
        m_isOffsets = text == OffsetsKey;
        if (m_isOffsets && m_hasOffsets)
            return refuse("has saved_offsets twice");
        m_hasOffsets |= m_isOffsets;
        return true;
    }

    bool end_object() override
    {
        if (m_depth == 2 && !m_hasOffsets)
            return refuse("has a tensor without saved_offsets");
        --m_depth;
        return true;
    }

    bool start_array(std::size_t) override
    {
        if (m_depth != 2 || !m_isOffsets || m_inOffsets)
            return refuse("has a list where none belongs");
        m_inOffsets = true;
        return true;
    }

    bool end_array() override
    {
        m_inOffsets = false;
        m_isOffsets = false;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override
    {
        return refuse("is no JSON");
    }

private:
    bool refuse(std::string what)
    {
        if (refusal.empty())
            refusal = std::move(what);
        return false;
    }

    /// A scalar other than an offset.
    bool value()
    {
        if (m_depth < 2 || m_isOffsets)
            return refuse("has something else than lists of offsets");
        return true;
    }

    int m_depth = 0;
    std::vector<std::uint64_t>* m_offsets = nullptr; ///< of the tensor that is being read
    bool m_hasOffsets = false;
    bool m_isOffsets = false; ///< the value that comes next
    bool m_inOffsets = false;
};

} // namespace

Result<SavedOffsets> parseShardingInfo(std::string_view json)
{
    InfoHandler handler;
    if (!nlohmann::json::sax_parse(json.begin(), json.end(), &handler))
        return fail(Code::Malformed, fmt::format("its {} {}", ShardingInfoKey, handler.refusal));
    return std::move(handler.offsets);
}

} // namespace deltascope
