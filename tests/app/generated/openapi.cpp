#include "openapi.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope::app {

namespace {

using nlohmann::ordered_json;

/// On one line, with blanks as people write them.
std::string inlineText(const ordered_json& value)
{
    if (!value.is_structured())
        return value.dump();
    if (value.empty())
        return value.is_array() ? "[]" : "{}";
    std::string text;
    for (const auto& [key, entry] : value.items())
        text +=
            (text.empty() ? "" : ", ") + (value.is_object() ? ordered_json(key).dump() + ": " : "") + inlineText(entry);
    return value.is_array() ? "[" + text + "]" : "{ " + text + " }";
}

ordered_json referenceTo(const std::string& name) { return { { "$ref", "#/components/schemas/" + name } }; }

ordered_json openapiType(const SchemaType& type)
{
    ordered_json out = ordered_json::object();
    switch (type.kind) {
    case SchemaType::Kind::Any:
        break;
    case SchemaType::Kind::Truth:
        out["type"] = "boolean";
        break;
    case SchemaType::Kind::Whole:
        out["type"] = "integer";
        if (!type.names.empty())
            out = { { "oneOf", ordered_json::array({ out, { { "type", "string" }, { "enum", type.names } } }) } };
        break;
    case SchemaType::Kind::Count:
        out = { { "type", "integer" }, { "minimum", 0 } };
        break;
    case SchemaType::Kind::Number:
        out["type"] = "number";
        break;
    case SchemaType::Kind::Text:
        out["type"] = "string";
        break;
    case SchemaType::Kind::Words:
        out = { { "type", "string" }, { "enum", type.names } };
        if (type.nullable)
            out["enum"].push_back(nullptr);
        break;
    case SchemaType::Kind::Object: {
        ordered_json references = ordered_json::array();
        for (const std::string& name : type.names)
            references.push_back(referenceTo(name));
        const char* const which = references.size() == 1 ? "allOf" : "oneOf";
        out[which] = std::move(references);
        break;
    }
    case SchemaType::Kind::Map:
        out = { { "type", "object" }, { "additionalProperties", openapiType(type.item.front()) } };
        break;
    case SchemaType::Kind::List:
        out = { { "type", "array" }, { "items", openapiType(type.item.front()) } };
        break;
    }
    if (type.nullable)
        out["nullable"] = true;
    else if (out.contains("allOf"))
        return referenceTo(type.names.front());
    return out;
}

ordered_json propertyOf(const SchemaField& field)
{
    ordered_json out = openapiType(field.type);
    if (field.note.empty())
        return out;
    if (out.contains("$ref")) // nothing may stand beside a reference
        out = { { "allOf", ordered_json::array({ out }) } };
    out["description"] = field.note;
    return out;
}

}

std::string openapiOneOf(const std::string& name, const std::vector<ordered_json>& schemas)
{
    std::string list;
    for (const ordered_json& schema : schemas)
        list += (list.empty() ? "\n          " : ",\n          ") + inlineText(schema);
    return fmt::format("      {}: {{\n        \"oneOf\": [{}\n        ]\n      }},\n", ordered_json(name).dump(), list);
}

std::string openapiOf(const Schema& schema)
{
    std::string text;
    for (const SchemaObject& object : schema.objects) {
        ordered_json required = ordered_json::array();
        std::string properties;
        for (const SchemaField& field : object.fields) {
            if (!field.mayBeAbsent)
                required.push_back(field.key);
            properties += fmt::format("{}\n          {}: {}", properties.empty() ? "" : ",",
                                      ordered_json(field.key).dump(), inlineText(propertyOf(field)));
        }
        text += fmt::format("      {}: {{\n        \"type\": \"object\",", ordered_json(object.name).dump());
        if (!object.note.empty())
            text += fmt::format(" \"description\": {},", ordered_json(object.note).dump());
        text += fmt::format("\n        \"required\": {},\n        \"properties\": {{{}\n        }}\n      }},\n",
                            inlineText(required), properties);
    }
    return text;
}

} // namespace deltascope::app
