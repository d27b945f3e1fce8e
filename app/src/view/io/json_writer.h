#pragma once

#include "forms.h"

#include "deltascope/base/short_list.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope::app {

using nlohmann::ordered_json;

/// Makes JSON of a described value; the keys have the order of the description.
class JsonWriter {
public:
    static constexpr bool Reads = false;

    void type(const char*, const char*) { }
    /// Whether a key is there that earlier versions do not write.
    static bool has(const char*) { return true; }
    static void expect(bool, const char*) { }
    template <class Rest> bool variant(bool taken, const Variant&, Rest rest)
    {
        if (taken)
            rest(*this);
        return taken;
    }
    template <class T> void operator()(const char* key, const T& value, const char* = "")
    {
        m_object.emplace(key, jsonOf(value));
    }
    template <class T> void operator()(const char* key, const AbsentIfEmpty<T>& form, const char* note = "")
    {
        if (!isEmpty(form.value))
            (*this)(key, form.value, note);
    }

    /// What follows from the other fields: readers pass it over.
    template <class Make> void computed(const char* key, Make make, const char* note = "")
    {
        (*this)(key, make(), note);
    }

    template <class T> static ordered_json jsonOf(const T& value)
    {
        if constexpr (std::is_arithmetic_v<T> || IsText<T>) {
            return value;
        } else {
            JsonWriter writer;
            describe(writer, value);
            return std::move(writer.m_object);
        }
    }
    template <class T> static ordered_json jsonOf(const std::optional<T>& value)
    {
        return value ? jsonOf(*value) : ordered_json(nullptr);
    }
    template <class T> static ordered_json jsonOf(const std::vector<T>& values)
    {
        ordered_json list = ordered_json::array();
        for (const T& value : values)
            list.push_back(jsonOf(value));
        return list;
    }
    template <class T, std::uint32_t Inline> static ordered_json jsonOf(const ShortList<T, Inline>& values)
    {
        return std::vector<T>(values);
    }
    template <class T> static ordered_json jsonOf(const Word<T>& form)
    {
        if constexpr (std::is_enum_v<T>)
            return form.words.words[static_cast<std::size_t>(form.value)];
        else
            return form.value;
    }
    template <class T> static ordered_json jsonOf(const OrWord<T>& form)
    {
        return form.value == form.meant ? ordered_json(form.word) : jsonOf(form.value);
    }
    template <class T> static ordered_json jsonOf(const NullIfEmpty<T>& form)
    {
        return form.value == std::remove_const_t<T>() ? ordered_json(nullptr) : ordered_json(form.value);
    }
    template <class T> static ordered_json jsonOf(const NullAs<T>& form)
    {
        return form.isNull ? ordered_json(nullptr) : jsonOf(form.value);
    }
    template <class T> static ordered_json jsonOf(const JsonText<T>& form) { return ordered_json::parse(form.text); }
    template <class T, class Type> static ordered_json jsonOf(const Typed<T, Type>& form)
    {
        return form.value ? form.type.written(*form.value) : ordered_json(nullptr);
    }
    template <class T> static ordered_json jsonOf(const NullsUnless<T>& form)
    {
        return form.applies ? jsonOf(form.list) : ordered_json(ordered_json::array_t(form.count));
    }
    template <class T> static ordered_json jsonOf(const ByName<const std::optional<T>>& form)
    {
        return form.pairs ? jsonOf(byName(*form.pairs)) : ordered_json(nullptr);
    }
    template <class T> static ordered_json jsonOf(const ByName<T>& form)
    {
        ordered_json object = ordered_json::object();
        for (const auto& [name, value] : form.pairs)
            object.emplace(name, jsonOf(value));
        return object;
    }
    template <class T> static ordered_json jsonOf(const Pairs<T>& form)
    {
        ordered_json list = ordered_json::array();
        for (const auto& [first, second] : form.list)
            list.push_back({ { form.keys.first, first }, { form.keys.second, second } });
        return list;
    }
    template <class T> static ordered_json jsonOf(const Either<T>& form) { return form.value ? form.yes : form.no; }
    template <class T> static ordered_json jsonOf(const EitherOrNull<T>& form)
    {
        return form.applies ? jsonOf(form.either) : ordered_json(nullptr);
    }

    ordered_json take() { return std::move(m_object); }

private:
    ordered_json m_object = ordered_json::object();
};

/// The JSON of a described value, of an optional one, or of a list of them.
template <class T> ordered_json written(const T& value) { return JsonWriter::jsonOf(value); }

/// One line; invalid UTF-8 is replaced.
inline std::string dump(const ordered_json& json)
{
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace deltascope::app
