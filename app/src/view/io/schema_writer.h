#pragma once

#include "schema.h"

#include "deltascope/base/short_list.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope::app {

/// Puts what a described value consists of into a schema.
class SchemaWriter {
public:
    static constexpr bool Reads = false;

    explicit SchemaWriter(Schema& schema)
        : m_schema(schema)
    {
    }

    /// A value that begins with the fields of another one has its own name.
    void type(const char* name, const char* note)
    {
        if (!m_object.name.empty())
            return;
        m_object.name = name;
        m_object.note = note;
    }
    static bool has(const char*) { return true; }
    static void expect(bool, const char*) { }
    template <class Rest> bool variant(bool, const Variant& variant, Rest rest)
    {
        SchemaWriter writer(m_schema);
        writer.m_object = { variant.name, variant.note, m_object.fields };
        for (SchemaField& field : writer.m_object.fields) {
            std::vector<std::string>& names = field.type.names;
            if (field.type.kind == SchemaType::Kind::Words
                && std::find(names.begin(), names.end(), variant.word) != names.end()) {
                names = { variant.word };
                field.type.alias.clear();
            }
        }
        rest(writer);
        m_variants.push_back(std::move(writer.m_object));
        return false;
    }
    template <class T> void operator()(const char* key, const T& value, const char* note = "")
    {
        m_object.fields.push_back({ key, typeOf(value), note, false });
    }
    template <class T> void operator()(const char* key, const AbsentIfEmpty<T>& form, const char* note = "")
    {
        (*this)(key, inside(form.value), note);
        m_object.fields.back().mayBeAbsent = true;
    }

    template <class Make> void computed(const char* key, Make make, const char* note = "")
    {
        (*this)(key, make(), note);
    }

    /// Adds the value and its variants, unless they are there. Their names.
    std::vector<std::string> finish() &&
    {
        std::vector<std::string> names;
        m_variants.insert(m_variants.begin(), std::move(m_object));
        for (SchemaObject& object : m_variants) {
            names.push_back(object.name);
            addNew(m_schema.objects, std::move(object));
        }
        return names;
    }

private:
    using Kind = SchemaType::Kind;

    template <class T> static void addNew(std::vector<T>& list, T value)
    {
        if (std::find(list.begin(), list.end(), value) == list.end())
            list.push_back(std::move(value));
    }
    /// What an optional may hold; anything else is itself.
    template <class T> static T inside(const std::optional<T>&) { return {}; }
    template <class T> static const T& inside(const T& value) { return value; }

    template <class T> SchemaType typeOf(const T& value)
    {
        SchemaType type;
        if constexpr (std::is_same_v<T, bool>) {
            type.kind = Kind::Truth;
        } else if constexpr (std::is_unsigned_v<T>) {
            type.kind = Kind::Count;
        } else if constexpr (std::is_integral_v<T>) {
            type.kind = Kind::Whole;
        } else if constexpr (std::is_floating_point_v<T>) {
            type.kind = Kind::Number;
        } else if constexpr (!IsText<T>) {
            SchemaWriter writer(m_schema);
            describe(writer, value);
            type.kind = Kind::Object;
            type.names = std::move(writer).finish();
        }
        return type;
    }
    template <class T> SchemaType typeOf(const std::optional<T>&) { return orNull(typeOf(T {})); }
    template <class T> SchemaType typeOf(const std::vector<T>&)
    {
        SchemaType type;
        type.kind = Kind::List;
        type.item.push_back(typeOf(T {}));
        return type;
    }
    template <class T, std::uint32_t Inline> SchemaType typeOf(const ShortList<T, Inline>&)
    {
        return typeOf(std::vector<T>());
    }
    template <class T> SchemaType typeOf(const Word<T>& form) { return typeOf(form.words); }
    template <class T> SchemaType typeOf(const OrWord<T>& form)
    {
        SchemaType type = typeOf(form.value);
        type.names = { form.word };
        return type;
    }
    template <class T> SchemaType typeOf(const NullIfEmpty<T>& form)
    {
        return orNull(form.words ? typeOf(*form.words) : typeOf(form.value));
    }
    template <class T> SchemaType typeOf(const NullAs<T>& form) { return orNull(typeOf(form.value)); }
    template <class T> static SchemaType typeOf(const JsonText<T>&)
    {
        SchemaType type;
        type.kind = Kind::Any;
        return type;
    }
    template <class T, class Type> SchemaType typeOf(const Typed<T, Type>& form)
    {
        SchemaType type;
        type.kind = Kind::Object;
        type.names = form.type.addTo(m_schema);
        return orNull(type);
    }
    template <class T> SchemaType typeOf(const NullsUnless<T>& form)
    {
        SchemaType type = typeOf(form.list);
        type.item.front().nullable = true;
        return type;
    }
    template <class T> SchemaType typeOf(const ByName<const std::optional<T>>&)
    {
        const T pairs {};
        return orNull(typeOf(byName(pairs)));
    }
    template <class T> SchemaType typeOf(const ByName<T>&)
    {
        SchemaType type;
        type.kind = Kind::Map;
        type.item.push_back(typeOf(typename std::remove_const_t<T>::value_type::second_type()));
        return type;
    }
    template <class T> SchemaType typeOf(const Pairs<T>& form)
    {
        using Pair = typename std::remove_const_t<T>::value_type;
        SchemaWriter writer(m_schema);
        writer.type(form.keys.name, "");
        writer(form.keys.first, typename Pair::first_type());
        writer(form.keys.second, typename Pair::second_type());
        SchemaType type;
        type.kind = Kind::List;
        type.item.push_back({ Kind::Object, false, std::move(writer).finish(), {}, {} });
        return type;
    }
    template <class T> SchemaType typeOf(const Either<T>& form)
    {
        return typeOf(WordSet { {}, { form.yes, form.no } });
    }
    template <class T> SchemaType typeOf(const EitherOrNull<T>& form) { return orNull(typeOf(form.either)); }
    SchemaType typeOf(const WordSet& set)
    {
        SchemaType type;
        type.kind = Kind::Words;
        type.alias = set.name;
        for (const std::string_view word : set.words) {
            if (!word.empty())
                type.names.emplace_back(word);
        }
        if (!type.alias.empty())
            addNew(m_schema.words, type);
        return type;
    }
    static SchemaType orNull(SchemaType type)
    {
        type.nullable = true;
        return type;
    }

    Schema& m_schema;
    SchemaObject m_object;
    std::vector<SchemaObject> m_variants;
};

/// Adds a described value, and all that it holds. Its name, and those of its variants.
template <class T> std::vector<std::string> addTo(Schema& schema, const T& value)
{
    SchemaWriter writer(schema);
    describe(writer, value);
    return std::move(writer).finish();
}

} // namespace deltascope::app
