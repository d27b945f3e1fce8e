#pragma once

#include "openapi_document.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

namespace deltascope::server {

/// The interfaces that the page reads answers with (types.ts and generated.ts of ui/web/src/api): their names and keys.
class ApiContract {
public:
    using Keys = std::set<std::string>;

    ApiContract()
    {
        for (const char* name : { "generated.ts", "types.ts" })
            read(std::string(DELTASCOPE_GOLDEN_DIR) + "/../../ui/web/src/api/" + name);
    }
    const Keys& keysOf(const std::string& interface) const
    {
        static const Keys none;
        const auto found = m_keys.find(interface);
        return found == m_keys.end() ? none : found->second;
    }

    /// Whether some interface has the key as one that may be absent.
    bool isOptional(const std::string& key) const { return m_optional.contains(key); }

private:
    void read(const std::string& path)
    {
        std::ifstream file(path);
        const std::regex begin(R"(export interface (\w+)(?: extends (\w+))? \{)");
        const std::regex member(R"(  (\w+)(\?)?: .*)");
        std::smatch match;
        Keys* open = nullptr;
        for (std::string line; std::getline(file, line);) {
            if (std::regex_match(line, match, begin)) {
                const Keys inherited = match[2].matched ? m_keys[match[2]] : Keys();
                open = &m_keys[match[1]];
                *open = inherited;
            } else if (line == "}") {
                open = nullptr;
            } else if (open && std::regex_match(line, match, member)) {
                open->insert(match[1]);
                if (match[2].matched)
                    m_optional.insert(match[1]);
            }
        }
    }

    std::map<std::string, Keys> m_keys;
    Keys m_optional;
};

/// The answer has these keys, all of them but for optional ones, and no other. Where the document of the API describes
/// the interface, the values are as it says, at any depth.
inline void expectShape(const nlohmann::json& json, const std::string& interface)
{
    static const ApiContract contract;
    static const test::OpenapiDocument document;
    ApiContract::Keys keys;
    ASSERT_TRUE(json.is_object()) << interface << ": " << json;
    for (const auto& [key, value] : json.items())
        keys.insert(key);
    EXPECT_FALSE(keys.empty());
    ApiContract::Keys expected = contract.keysOf(interface);
    std::erase_if(expected, [&](const std::string& key) { return contract.isOptional(key) && !keys.contains(key); });
    EXPECT_EQ(keys, expected) << interface;
    if (document.hasSchema(interface)) {
        EXPECT_EQ(document.misfitOf(json, interface), "") << json;
    }
}

inline void expectShapes(const nlohmann::json& list, const std::string& interface)
{
    EXPECT_FALSE(list.empty()) << "no " << interface << " to look at";
    for (const nlohmann::json& json : list)
        expectShape(json, interface);
}

} // namespace deltascope::server
