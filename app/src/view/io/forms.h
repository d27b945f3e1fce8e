#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope::app {

// What descriptions are written with. The description of a value is one function template:
//
//     template <class Io> void describe(Io& io, Of<Io, RefView>& ref)
//     {
//         io.type("Ref", "A word that people gave a version.");
//         io("word", ref.word, "as behind the @ of an address");
//         ...
//
// `Io` is JsonWriter, TextWriter, JsonReader or SchemaWriter. A field is given as it is (a number, a truth value, a
// text, another described value, an optional of these, which is null, or a list of these), or in one of the forms
// below.

/// A reader fills the value, the others look at it.
template <class Io, class T> using Of = std::conditional_t<Io::Reads, T, const T>;

template <class T> inline constexpr bool IsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

/// A closed set of words. Readers take any text: a later version may have more of them.
struct WordSet {
    std::string_view name; ///< of its type in TypeScript; empty: it has none
    std::array<std::string_view, 8> words; ///< the empty ones behind them do not count
};

/// A text that is one word of a set, or an enumeration whose values are the words in their order, and no other.
template <class T> struct Word {
    T& value;
    const WordSet& words;
};
template <class T> Word<T> word(T& value, const WordSet& words) { return { value, words }; }

/// An empty text, or a 0, is null.
template <class T> struct NullIfEmpty {
    T& value;
    const WordSet* words; ///< null: any text
};
template <class T> NullIfEmpty<T> nullIfEmpty(T& value) { return { value, nullptr }; }
template <class T> NullIfEmpty<T> nullIfEmpty(T& text, const WordSet& words) { return { text, &words }; }

/// The same for io.computed().
inline std::optional<std::string> textOrNull(std::string text)
{
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// A value that is null where `isNull`; a reader makes `meant` of null.
template <class T> struct NullAs {
    T& value;
    bool isNull;
    std::remove_const_t<T> meant;
};
template <class T> NullAs<T> nullAs(std::remove_const_t<T> meant, T& value, bool isNull)
{
    return { value, isNull, meant };
}
/// JSON has no infinity: it is null.
template <class T> NullAs<T> nullIfInfinite(T& number)
{
    return { number, !std::isfinite(number), std::numeric_limits<T>::infinity() };
}

/// A text that is itself a JSON value, of any type. An absent key is null.
template <class T> struct JsonText {
    T& text;
};
template <class T> JsonText<T> jsonText(T& text) { return { text }; }

/// An optional value whose type other fields decide: `Type` has written(), read() and addTo(), as ReportType does.
template <class T, class Type> struct Typed {
    T& value;
    Type type;
};
template <class T, class Type> Typed<T, Type> typed(T& value, Type type) { return { value, type }; }

/// An empty text, list or optional has no key.
template <class T> struct AbsentIfEmpty {
    T& value;
};
template <class T> AbsentIfEmpty<T> absentIfEmpty(T& value) { return { value }; }
template <class T> bool isEmpty(const T& value)
{
    if constexpr (requires { value.has_value(); })
        return !value.has_value();
    else
        return value == T();
}
template <class T> bool isEmpty(const std::vector<T>& list) { return list.empty(); }

/// A truth value as one of two words.
template <class T> struct Either {
    T& value;
    const char* yes;
    const char* no;
};
template <class T> Either<T> either(T& value, const char* yes, const char* no) { return { value, yes, no }; }

/// The same, and null where it does not apply.
template <class T> struct EitherOrNull {
    bool applies;
    Either<T> either;
};
template <class T> EitherOrNull<T> eitherIf(bool applies, T& value, const char* yes, const char* no)
{
    return { applies, { value, yes, no } };
}

/// An optional number, which is a word instead where it is `meant`.
template <class T> struct OrWord {
    T& value;
    std::int64_t meant;
    const char* word;
};
template <class T> OrWord<T> orWord(T& value, std::int64_t meant, const char* word) { return { value, meant, word }; }

/// What the objects are called, and their keys, that pairs of numbers are in JSON.
struct PairKeys {
    const char* name;
    const char* first;
    const char* second;
};
/// A list of pairs as a list of objects.
template <class T> struct Pairs {
    T& list;
    const PairKeys& keys;
};
template <class T> Pairs<T> pairs(T& list, const PairKeys& keys) { return { list, keys }; }

/// A list with `count` times null instead where it does not apply; a reader makes it empty there.
template <class T> struct NullsUnless {
    bool applies;
    T& list;
    std::size_t count;
};
template <class T> NullsUnless<T> nullsUnless(bool applies, T& list, std::size_t count)
{
    return { applies, list, count };
}

/// A map from names to values, or a list of such pairs, as an object; an optional one may be null.
template <class T> struct ByName {
    T& pairs;
};
template <class T> ByName<T> byName(T& pairs) { return { pairs }; }

/// A value with fewer keys: those before, of which the sets of words that have `word` are that word, and its own.
struct Variant {
    const char* name;
    const char* note;
    const char* word;
};

} // namespace deltascope::app
