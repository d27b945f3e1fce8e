#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace deltascope::test {

/// resources/openapi.json, and whether values are as its schemas say.
class OpenapiDocument {
public:
    using Json = nlohmann::json;

    OpenapiDocument()
    {
        std::ifstream file(std::string(DELTASCOPE_GOLDEN_DIR) + "/../../resources/openapi.json");
        m_document = Json::parse(file);
    }

    const Json& json() const { return m_document; }
    bool hasSchema(const std::string& name) const { return schemas().contains(name); }

    /// What in the value is not as the schema of this name says; empty: nothing.
    std::string misfitOf(const Json& value, const std::string& name) const
    {
        return misfit(value, schemas().at(name), name);
    }

private:
    const Json& schemas() const { return m_document.at("components").at("schemas"); }

    std::string misfit(const Json& value, const Json& schema, const std::string& where) const
    {
        if (schema.contains("$ref"))
            return misfit(value, m_document.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), where);
        if (value.is_null() && schema.value("nullable", false))
            return {};
        if (schema.contains("allOf"))
            return misfit(value, schema["allOf"].at(0), where);
        if (schema.contains("oneOf")) {
            const auto fits = [&](const Json& one) { return misfit(value, one, where).empty(); };
            const auto count = std::count_if(schema["oneOf"].begin(), schema["oneOf"].end(), fits);
            return count == 1 ? "" : where + " fits " + std::to_string(count) + " of its schemas";
        }
        if (!schema.contains("type")) // any value
            return {};
        if (!isOfType(value, schema.at("type").get<std::string>()))
            return where + " is no " + schema["type"].get<std::string>();
        if (schema.contains("enum") && std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0)
            return where + " is none of its words: " + value.dump();
        if (schema.contains("minimum") && value < schema["minimum"])
            return where + " is too small";
        if (value.is_array())
            return misfitOfList(value, schema, where);
        return value.is_object() ? misfitOfObject(value, schema, where) : "";
    }

    static bool isOfType(const Json& value, const std::string& type)
    {
        return type == "string" ? value.is_string()
            : type == "boolean" ? value.is_boolean()
            : type == "integer" ? value.is_number_integer()
            : type == "number"  ? value.is_number()
            : type == "array"   ? value.is_array()
                                : type == "object" && value.is_object();
    }

    std::string misfitOfList(const Json& list, const Json& schema, const std::string& where) const
    {
        for (const Json& entry : list) {
            if (const std::string found = misfit(entry, schema.at("items"), where + "[]"); !found.empty())
                return found;
        }
        return {};
    }

    std::string misfitOfObject(const Json& object, const Json& schema, const std::string& where) const
    {
        for (const Json& key : schema.value("required", Json::array())) {
            if (!object.contains(key.get<std::string>()))
                return where + " has no " + key.get<std::string>();
        }
        for (const auto& [key, value] : object.items()) {
            if (schema.contains("additionalProperties")) {
                if (const std::string found = misfit(value, schema["additionalProperties"], where + "." + key);
                    !found.empty())
                    return found;
                continue;
            }
            if (!schema.at("properties").contains(key))
                return where + " has " + key + ", which nobody describes";
            const std::string found = misfit(value, schema["properties"][key], where + "." + key);
            if (!found.empty())
                return found;
        }
        return {};
    }

    Json m_document;
};

} // namespace deltascope::test
