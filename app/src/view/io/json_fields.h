#pragma once

#include "deltascope/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace deltascope::app {

// Reads JSON that came from elsewhere: what is needed has to be there with its type and range, what is not known is
// passed over. Inside, what does not fit is thrown; readJson() makes an error of it.

using nlohmann::json;

struct Unfit {
    std::string what;
};

/// `what`: to name in the error.
template <class T> T valueOf(const json& value, const char* what)
{
    const auto unfit = [&](const char* type) { return Unfit { std::string("\"") + what + "\" is no " + type }; };
    if constexpr (std::is_same_v<T, bool>) {
        if (!value.is_boolean())
            throw unfit("truth value");
        return value.get<bool>();
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (!value.is_string())
            throw unfit("text");
        return value.get<std::string>();
    } else if constexpr (std::is_floating_point_v<T>) {
        if (!value.is_number())
            throw unfit("number");
        return value.get<T>();
    } else if constexpr (std::is_unsigned_v<T>) {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max())
            throw unfit("count");
        return static_cast<T>(value.get<std::uint64_t>());
    } else {
        static_assert(std::is_signed_v<T>);
        const bool fits = value.is_number_unsigned()
            ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())
            : value.is_number_integer() && value.get<std::int64_t>() >= std::numeric_limits<T>::min();
        if (!fits)
            throw unfit("whole number");
        return static_cast<T>(value.get<std::int64_t>());
    }
}

/// The field of an object, whatever it is.
inline const json& fieldOf(const json& object, const char* key)
{
    if (!object.is_object())
        throw Unfit { std::string("what should have \"") + key + "\" is no object" };
    const auto found = object.find(key);
    if (found == object.end())
        throw Unfit { std::string("\"") + key + "\" is missing" };
    return *found;
}

template <class T> T read(const json& object, const char* key) { return valueOf<T>(fieldOf(object, key), key); }

template <class T> std::optional<T> readOptional(const json& object, const char* key)
{
    const json& value = fieldOf(object, key);
    return value.is_null() ? std::nullopt : std::optional(valueOf<T>(value, key));
}

/// null is empty.
inline std::string readText(const json& object, const char* key)
{
    return readOptional<std::string>(object, key).value_or(std::string());
}

inline const json& readArray(const json& object, const char* key)
{
    const json& value = fieldOf(object, key);
    if (!value.is_array())
        throw Unfit { std::string("\"") + key + "\" is no list" };
    return value;
}

template <class T> std::vector<T> readList(const json& object, const char* key)
{
    std::vector<T> values;
    for (const json& value : readArray(object, key))
        values.push_back(valueOf<T>(value, key));
    return values;
}

template <class Read> auto readEach(const json& object, const char* key, Read readOne)
{
    std::vector<decltype(readOne(object))> values;
    for (const json& value : readArray(object, key))
        values.push_back(readOne(value));
    return values;
}

/// Parses a document and reads it. Errors: Unsupported.
template <class Read>
auto readJson(const std::string& text, Read readDocument) -> Result<decltype(readDocument(std::declval<const json&>()))>
{
    try {
        return readDocument(json::parse(text));
    } catch (const Unfit& unfit) {
        return fail(Code::Unsupported, "the answer is not as agreed: " + unfit.what, {},
                    "use the same version here and there");
    } catch (const json::exception&) {
        return fail(Code::Unsupported, "the answer is no JSON document", {}, "use the same version here and there");
    }
}

} // namespace deltascope::app
