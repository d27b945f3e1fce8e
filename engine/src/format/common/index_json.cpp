#include "format/common/index_json.h"

#include "format/common/plain_kind.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace deltascope {

namespace {

/// Whether a name leads out of the folder that it should stand in.
bool leadsOutside(std::string_view file)
{
    return file.starts_with('/') || file.starts_with('\\') || file.find("..") != std::string_view::npos
        || file.find('\0') != std::string_view::npos;
}

/// Builds an IndexJson from parser events, so that duplicate keys are seen and no tree is built.
class IndexHandler final : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit IndexHandler(std::string_view key)
        : m_where(key)
    {
    }

    Result<IndexJson> result(bool complete)
    {
        if (m_error)
            return fail(*m_error);
        if (!complete)
            return fail(Code::Unfinished, "the index is not whole JSON", m_where);
        if (!m_hasWeightMap)
            return fail(Code::Malformed, "the index has no weight_map", m_where);
        return std::move(m_index);
    }

    bool null() override { return value(std::nullopt); }
    bool boolean(bool) override { return value(std::nullopt); }
    bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
    bool number_unsigned(number_unsigned_t number) override { return value(std::to_string(number)); }
    bool number_float(number_float_t, const string_t&) override { return value(std::nullopt); }
    bool binary(binary_t&) override { return refuse("binary data"); }

    bool string(string_t& text) override
    {
        if (m_section == Section::WeightMap && m_depth == 2)
            return mapped(text);
        return value(text);
    }

    bool start_object(std::size_t) override
    {
        if (m_depth == 1) {
            m_section = m_key == "metadata" ? Section::Metadata
                : m_key == "weight_map"     ? Section::WeightMap
                                            : Section::Other;
            m_index.hasMetadata |= m_section == Section::Metadata;
            m_hasWeightMap |= m_section == Section::WeightMap;
        } else if (m_depth > 1 && !value(std::nullopt)) {
            return false;
        }
        return enter();
    }

    bool start_array(std::size_t) override { return value(std::nullopt) && enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }

    bool key(string_t& name) override
    {
        m_key = name; // the parser goes on with the memory of its own string
        bool isNew = true;
        if (m_section == Section::WeightMap && m_depth == 2) {
            const std::size_t before = m_index.weightMap.size();
            m_mapped = m_index.weightMap.try_emplace(m_index.weightMap.end(), name); // most writers sort
            isNew = m_index.weightMap.size() > before;
        } else {
            isNew = m_names.back().insert(name).second;
        }
        return isNew || refuse(fmt::format("the key {} twice", quoteName(name)), Code::Hostile);
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    enum class Section : std::uint8_t { Other, Metadata, WeightMap };

    bool refuse(const std::string& what, Code code = Code::Malformed)
    {
        m_error = Error { code, "the index has " + what, m_where, {}, {} };
        return false;
    }

    bool enter()
    {
        if (++m_depth > IndexJson::MaxDepth)
            return refuse("deeper nesting than an index needs", Code::Hostile);
        m_names.emplace_back();
        return true;
    }

    bool leave()
    {
        --m_depth;
        m_names.pop_back();
        if (m_depth == 1)
            m_section = Section::Other;
        return true;
    }

    /// Any value but a mapped file name and the sections themselves.
    bool value(std::optional<std::string> text)
    {
        if (m_depth == 0)
            return refuse("no object at its top");
        if (m_depth == 1 && (m_key == "metadata" || m_key == "weight_map"))
            return refuse(fmt::format("a {} that is no object", m_key));
        if (m_section == Section::WeightMap)
            return refuse("a weight_map with something else than file names");
        if (m_section == Section::Metadata && m_depth == 2)
            m_index.metadata.insert_or_assign(m_key, std::move(text));
        return true;
    }

    bool mapped(const std::string& file)
    {
        if (m_index.files.empty() || m_index.files[m_lastFile] != file) {
            if (!isSafeFileName(file))
                return refuse(fmt::format("the file name {}, which is not a plain name in its folder", quoteName(file)),
                              leadsOutside(file) ? Code::Hostile : Code::Malformed);
            const auto next = static_cast<std::uint32_t>(m_index.files.size());
            const auto [known, isNew] = m_files.try_emplace(file, next);
            if (isNew)
                m_index.files.push_back(file);
            m_lastFile = known->second;
        }
        m_mapped->second = m_lastFile;
        return true;
    }

    std::string m_where;
    IndexJson m_index;
    std::optional<Error> m_error;
    bool m_hasWeightMap = false;
    int m_depth = 0;
    Section m_section = Section::Other;
    std::string m_key;
    std::map<std::string, std::uint32_t, std::less<>>::iterator m_mapped; ///< the tensor whose file comes next
    std::map<std::string, std::uint32_t> m_files; ///< indices of IndexJson::files
    std::uint32_t m_lastFile = 0;
    std::vector<std::unordered_set<std::string>> m_names; ///< keys of the objects that are open
};

} // namespace

std::string_view IndexJson::meta(std::string_view key) const
{
    const auto found = metadata.find(key);
    return found != metadata.end() && found->second ? std::string_view(*found->second) : std::string_view();
}

std::optional<std::int64_t> IndexJson::number(std::string_view key) const { return parseNumber(meta(key)); }

Result<IndexJson> parseIndexJson(ByteSpan text, std::string_view key)
{
    IndexHandler handler(key);
    const std::string_view view = asText(text);
    const bool complete = nlohmann::json::sax_parse(view.begin(), view.end(), &handler);
    return handler.result(complete);
}

Result<IndexJson> readIndexJson(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    if (object.sizeBytes == 0)
        return fail(Code::Unfinished, "the index is empty", object.key);
    DS_TRY(const std::vector<std::byte> text, readWhole(store, object.key, IndexJson::MaxBytes, task));
    Result<IndexJson> index = parseIndexJson(text, object.key);
    if (!index)
        return fail(orPlainKind(std::move(index.error()), Wanted::Json, store, object, task));
    return index;
}

bool isSafeFileName(std::string_view name) noexcept
{
    const auto isPlain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_'
            || c == '-';
    };
    return !name.empty() && name.size() <= 255 && name != "." && name != ".."
        && std::all_of(name.begin(), name.end(), isPlain);
}

} // namespace deltascope
