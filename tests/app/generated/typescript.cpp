#include "typescript.h"

#include <cstddef>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t Columns = 120;

std::string unionOf(const std::vector<std::string>& names, const char* quote)
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : " | ") + (quote + name) + quote;
    return text;
}

std::string typescriptType(const SchemaType& type)
{
    std::string text;
    switch (type.kind) {
    case SchemaType::Kind::Any:
        text = "unknown";
        break;
    case SchemaType::Kind::Truth:
        text = "boolean";
        break;
    case SchemaType::Kind::Whole:
    case SchemaType::Kind::Count:
    case SchemaType::Kind::Number:
        text = "number" + std::string(type.names.empty() ? "" : " | ") + unionOf(type.names, "'");
        break;
    case SchemaType::Kind::Text:
        text = "string";
        break;
    case SchemaType::Kind::Words:
        text = type.alias.empty() ? unionOf(type.names, "'") : type.alias;
        break;
    case SchemaType::Kind::Object:
        text = unionOf(type.names, "");
        break;
    case SchemaType::Kind::Map:
        text = "Record<string, " + typescriptType(type.item.front()) + ">";
        break;
    case SchemaType::Kind::List:
        text = typescriptType(type.item.front());
        text = (text.find(' ') == std::string::npos ? text : "(" + text + ")") + "[]";
        break;
    }
    return text + (type.nullable ? " | null" : "");
}

std::string memberOf(const SchemaField& field)
{
    const std::string member =
        fmt::format("  {}{}: {};", field.key, field.mayBeAbsent ? "?" : "", typescriptType(field.type));
    if (field.note.empty())
        return member + "\n";
    const std::string noted = member + " // " + field.note;
    return noted.size() <= Columns ? noted + "\n" : fmt::format("  /** {} */\n{}\n", field.note, member);
}

}

std::string typescriptOf(const Schema& schema)
{
    std::string text;
    for (const SchemaType& set : schema.words)
        text += fmt::format("export type {} = {};\n", set.alias, unionOf(set.names, "'"));
    for (const SchemaObject& object : schema.objects) {
        text += object.note.empty() ? "\n" : fmt::format("\n/** {} */\n", object.note);
        text += fmt::format("export interface {} {{\n", object.name);
        for (const SchemaField& field : object.fields)
            text += memberOf(field);
        text += "}\n";
    }
    return text;
}

} // namespace deltascope::app
