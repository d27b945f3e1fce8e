#include "format/common/strict_json.h"

#include "format/common/quote_name.h"

#include <fmt/format.h>
#include <unordered_set>
#include <vector>

namespace deltascope {

namespace {

constexpr std::uint64_t MaxBytes = 64U << 20;
constexpr std::size_t MaxDepth = 8;

/// Looks at the events of a parse before a tree is built.
class Guard final : public nlohmann::json_sax<nlohmann::json> {
public:
    const std::string& refusal() const noexcept { return m_refusal; }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return refuse("binary data"); }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override
    {
        if (!m_names.back().insert(name).second)
            return refuse(fmt::format("the key {} twice", quoteName(name)));
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    bool refuse(std::string what)
    {
        m_refusal = std::move(what);
        return false;
    }
    bool enter()
    {
        if (m_names.size() == MaxDepth)
            return refuse("deeper nesting than it needs");
        m_names.emplace_back();
        return true;
    }
    bool leave()
    {
        m_names.pop_back();
        return true;
    }

    std::string m_refusal;
    std::vector<std::unordered_set<std::string>> m_names; ///< keys of what is open
};

const nlohmann::json Null;

}

Result<nlohmann::json> parseStrictJson(ByteSpan text, std::string_view what, const std::string& key)
{
    const std::string_view view = asText(text);
    Guard guard;
    const bool whole = nlohmann::json::sax_parse(view.begin(), view.end(), &guard);
    if (!guard.refusal().empty())
        return fail(Code::Hostile, fmt::format("{} has {}", what, guard.refusal()), key);
    if (!whole)
        return fail(Code::Unfinished,
                    fmt::format("{} is not whole JSON; it may be in the middle of being written", what), key);
    return nlohmann::json::parse(view.begin(), view.end());
}

Result<nlohmann::json> readStrictJson(const ObjectStore& store, const ObjectInfo& object, std::string_view what)
{
    if (object.sizeBytes == 0)
        return fail(Code::Unfinished, fmt::format("{} is empty; it may be in the middle of being written", what),
                    object.key);
    DS_TRY(const std::vector<std::byte> text, readWhole(store, object.key, MaxBytes));
    return parseStrictJson(text, what, object.key);
}

const nlohmann::json& member(const nlohmann::json& json, const char* key)
{
    const auto at = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && at != json.end() ? *at : Null;
}

std::string memberText(const nlohmann::json& json, const char* key)
{
    const nlohmann::json& value = member(json, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::uint64_t> memberNumber(const nlohmann::json& json, const char* key)
{
    const nlohmann::json& value = member(json, key);
    if (!value.is_number_unsigned())
        return std::nullopt;
    return value.get<std::uint64_t>();
}

std::optional<std::vector<std::uint64_t>> memberShape(const nlohmann::json& json, const char* key)
{
    const nlohmann::json& list = member(json, key);
    if (!list.is_array())
        return std::nullopt;
    std::vector<std::uint64_t> shape;
    for (const nlohmann::json& size : list) {
        if (!size.is_number_unsigned())
            return std::nullopt;
        shape.push_back(size.get<std::uint64_t>());
    }
    return shape;
}

} // namespace deltascope
