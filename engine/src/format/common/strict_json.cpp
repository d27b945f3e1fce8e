#include "format/common/strict_json.h"

#include "format/common/plain_kind.h"
#include "format/common/quote_name.h"

#include <fmt/format.h>
#include <vector>

namespace deltascope {

namespace {

constexpr std::uint64_t MaxBytes = 64U << 20;
constexpr std::size_t MaxDepth = 8;

/// Builds a tree from the events of a parse, but of the records of one list only one at a time.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    TreeBuilder(std::optional<std::string_view> list, const RecordVisitor& visit, const RecordVisitor& visitHead)
        : m_listName(list)
        , m_visit(visit)
        , m_visitHead(visitHead)
    {
    }

    nlohmann::json tree() { return std::move(m_root); }
    const std::string& refusal() const noexcept { return m_refusal; }
    std::optional<Error>& visitorError() noexcept { return m_visitorError; }

    bool null() override { return leaf(nullptr); }
    bool boolean(bool value) override { return leaf(value); }
    bool number_integer(number_integer_t value) override { return leaf(value); }
    bool number_unsigned(number_unsigned_t value) override { return leaf(value); }
    bool number_float(number_float_t value, const string_t&) override { return leaf(value); }
    bool string(string_t& value) override { return leaf(std::move(value)); }
    bool binary(binary_t&) override { return refuse("binary data"); }
    bool start_object(std::size_t) override { return enter(nlohmann::json::object()); }
    bool start_array(std::size_t) override
    {
        const bool isList = m_listName
            && (m_listName->empty() ? m_open.empty()
                                    : m_open.size() == 1 && m_root.is_object() && m_key == *m_listName);
        if (!enter(nlohmann::json::array()))
            return false;
        if (!isList)
            return true;
        m_list = m_open.back();
        return !m_visitHead || tell(m_visitHead, m_root);
    }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override
    {
        if (m_open.back()->contains(name))
            return refuse(fmt::format("the key {} twice", quoteName(name)));
        m_key = std::move(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    bool refuse(std::string what)
    {
        m_refusal = std::move(what);
        return false;
    }

    bool tell(const RecordVisitor& visit, const nlohmann::json& record)
    {
        Result<void> outcome = visit(record);
        if (!outcome)
            m_visitorError = std::move(outcome.error());
        return outcome.has_value();
    }

    bool isInList() const noexcept { return m_list && !m_open.empty() && m_open.back() == m_list; }

    /// Where the next value belongs.
    nlohmann::json& place(nlohmann::json value)
    {
        if (m_open.empty())
            return m_root = std::move(value);
        if (isInList())
            return m_record = std::move(value);
        nlohmann::json& parent = *m_open.back();
        if (parent.is_array())
            return parent.emplace_back(std::move(value));
        return parent[m_key] = std::move(value);
    }

    bool leaf(nlohmann::json value)
    {
        const nlohmann::json& placed = place(std::move(value));
        return !isInList() || tell(m_visit, placed);
    }

    bool enter(nlohmann::json value)
    {
        if (m_open.size() == MaxDepth)
            return refuse("deeper nesting than it needs");
        m_open.push_back(&place(std::move(value)));
        return true;
    }

    bool leave()
    {
        const nlohmann::json* closed = m_open.back();
        m_open.pop_back();
        if (closed == m_list)
            m_list = nullptr;
        return !isInList() || tell(m_visit, *closed);
    }

    std::optional<std::string_view> m_listName; ///< nothing: keep everything
    const RecordVisitor& m_visit;
    const RecordVisitor& m_visitHead;
    nlohmann::json m_root;
    nlohmann::json m_record;
    const nlohmann::json* m_list = nullptr; ///< the list whose records are handed on, while it is open
    std::vector<nlohmann::json*> m_open;
    std::string m_key;
    std::string m_refusal;
    std::optional<Error> m_visitorError;
};

Result<nlohmann::json> build(ByteSpan text, std::string_view what, const std::string& key,
                             std::optional<std::string_view> list, const RecordVisitor& visit,
                             const RecordVisitor& visitHead)
{
    const std::string_view view = asText(text);
    TreeBuilder builder(list, visit, visitHead);
    const bool whole = nlohmann::json::sax_parse(view.begin(), view.end(), &builder);
    if (builder.visitorError())
        return fail(std::move(*builder.visitorError()));
    if (!builder.refusal().empty())
        return fail(Code::Hostile, fmt::format("{} has {}", what, builder.refusal()), key);
    if (!whole)
        return fail(Code::Unfinished, fmt::format("{} is not whole JSON", what), key);
    return builder.tree();
}

const nlohmann::json Null;

}

Result<nlohmann::json> parseStrictJson(ByteSpan text, std::string_view what, const std::string& key)
{
    return build(text, what, key, std::nullopt, {}, {});
}

Result<nlohmann::json> parseRecords(ByteSpan text, std::string_view what, const std::string& key, std::string_view list,
                                    const RecordVisitor& visit, const RecordVisitor& visitHead)
{
    return build(text, what, key, list, visit, visitHead);
}

Result<nlohmann::json> readStrictJson(const ObjectStore& store, const ObjectInfo& object, std::string_view what,
                                      TaskContext& task)
{
    if (object.sizeBytes == 0)
        return fail(Code::Unfinished, fmt::format("{} is empty", what), object.key);
    DS_TRY(const std::vector<std::byte> text, readWhole(store, object.key, MaxBytes, task));
    Result<nlohmann::json> json = parseStrictJson(text, what, object.key);
    if (!json)
        return fail(orPlainKind(std::move(json.error()), Wanted::Json, store, object, task));
    return json;
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
