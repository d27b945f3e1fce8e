#pragma once

#include "forms.h"
#include "json_fields.h"

#include "deltascope/base/short_list.h"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope::app {

/// Fills a described value from JSON that came from elsewhere, by the rules of json_fields.h.
class JsonReader {
public:
    static constexpr bool Reads = true;

    explicit JsonReader(const json& from)
        : m_from(from)
    {
    }

    void type(const char*, const char*) { }
    /// Whether a key is there that earlier versions do not write.
    bool has(const char* key) const { return m_from.contains(key); }
    /// `what`: the error where the values do not fit.
    static void expect(bool fits, const char* what)
    {
        if (!fits)
            throw Unfit { what };
    }
    template <class Rest> bool variant(bool taken, const Variant&, Rest rest)
    {
        if (taken)
            rest(*this);
        return taken;
    }
    template <class T> void operator()(const char* key, T&& value, const char* = "")
    {
        take(fieldOf(m_from, key), key, value);
    }
    template <class T> void operator()(const char* key, AbsentIfEmpty<T> form, const char* = "")
    {
        form.value = {};
        if (has(key))
            takeThere(m_from.at(key), key, form.value);
    }
    template <class T> void operator()(const char* key, JsonText<T> form, const char* = "")
    {
        form.text = has(key) ? m_from.at(key).dump() : "null";
    }
    template <class Make> static void computed(const char*, Make, const char* = "") { }

private:
    template <class T> static void take(const json& from, const char* key, T& value)
    {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
            value = valueOf<T>(from, key);
        } else {
            JsonReader reader(from);
            describe(reader, value);
        }
    }
    template <class T> static void take(const json& from, const char* key, std::optional<T>& value)
    {
        value.reset();
        if (!from.is_null())
            take(from, key, value.emplace());
    }
    template <class T> static void take(const json& from, const char* key, std::vector<T>& values)
    {
        if (!from.is_array())
            throw Unfit { std::string("\"") + key + "\" is no list" };
        values.clear();
        for (const json& entry : from)
            take(entry, key, values.emplace_back());
    }
    template <class T, std::uint32_t Inline>
    static void take(const json& from, const char* key, ShortList<T, Inline>& values)
    {
        std::vector<T> list;
        take(from, key, list);
        values = list;
    }
    template <class T> static void take(const json& from, const char* key, Word<T>& form)
    {
        if constexpr (std::is_enum_v<T>) {
            const auto& words = form.words.words;
            const auto found = std::find(words.begin(), words.end(), valueOf<std::string>(from, key));
            if (found == words.end() || found->empty())
                throw Unfit { std::string("\"") + key + "\" is none of its words" };
            form.value = static_cast<T>(found - words.begin());
        } else {
            take(from, key, form.value);
        }
    }
    template <class T> static void take(const json& from, const char* key, OrWord<T>& form)
    {
        if (from == form.word)
            form.value = form.meant;
        else
            take(from, key, form.value);
    }
    template <class T> static void take(const json& from, const char* key, NullIfEmpty<T>& form)
    {
        form.value = {};
        if (!from.is_null())
            take(from, key, form.value);
    }
    template <class T> static void take(const json& from, const char* key, NullAs<T>& form)
    {
        form.value = form.meant;
        if (!from.is_null())
            take(from, key, form.value);
    }
    template <class T, class Type> static void take(const json& from, const char*, Typed<T, Type>& form)
    {
        form.value.reset();
        if (!from.is_null())
            form.value = form.type.read(from);
    }
    template <class T> static void take(const json& from, const char* key, NullsUnless<T>& form)
    {
        form.list.clear();
        if (form.applies)
            take(from, key, form.list);
    }
    template <class T> static void take(const json& from, const char* key, ByName<std::optional<T>>& form)
    {
        form.pairs.reset();
        if (from.is_null())
            return;
        ByName<T> there = byName(form.pairs.emplace());
        take(from, key, there);
    }
    template <class T> static void take(const json& from, const char* key, ByName<T>& form)
    {
        if (!from.is_object())
            throw Unfit { std::string("\"") + key + "\" is no object" };
        form.pairs.clear();
        for (const auto& [name, entry] : from.items()) {
            typename T::value_type::second_type value {};
            take(entry, key, value);
            form.pairs.insert(form.pairs.end(), { name, std::move(value) });
        }
    }
    template <class T> static void take(const json& from, const char* key, Pairs<T>& form)
    {
        if (!from.is_array())
            throw Unfit { std::string("\"") + key + "\" is no list" };
        form.list.clear();
        for (const json& entry : from) {
            auto& [first, second] = form.list.emplace_back();
            take(fieldOf(entry, form.keys.first), form.keys.first, first);
            take(fieldOf(entry, form.keys.second), form.keys.second, second);
        }
    }
    template <class T> static void take(const json& from, const char* key, Either<T>& form)
    {
        form.value = valueOf<std::string>(from, key) == form.yes;
    }
    template <class T> static void take(const json& from, const char* key, EitherOrNull<T>& form)
    {
        form.either.value = false;
        if (!from.is_null())
            take(from, key, form.either);
    }

    /// A key that may be absent is not null where it is there.
    template <class T> static void takeThere(const json& from, const char* key, T& value) { take(from, key, value); }
    template <class T> static void takeThere(const json& from, const char* key, std::optional<T>& value)
    {
        take(from, key, value.emplace());
    }

    const json& m_from;
};

/// A described value; what its JSON leaves out stays as in one that was just made. Throws Unfit.
template <class T> T readAs(const json& from)
{
    T value {};
    JsonReader reader(from);
    describe(reader, value);
    return value;
}

} // namespace deltascope::app
