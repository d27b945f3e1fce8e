#pragma once

#include "json_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope::app {

/// A string as dump() writes it; quick for names.
inline std::string dumpText(std::string_view text)
{
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    return std::all_of(text.begin(), text.end(), isPlain) ? '"' + std::string(text) + '"' : dump(text);
}

/// Text that is handed on in pieces.
class TextPieces {
public:
    using Sink = std::function<void(std::string_view)>;

    explicit TextPieces(const Sink& sink)
        : m_sink(sink)
    {
    }

    std::string text; ///< that was not handed on yet

    void handOn()
    {
        m_sink(text);
        text.clear();
    }
    void handOnIfLarge()
    {
        constexpr std::size_t PieceBytes = 64 * 1024;
        if (text.size() >= PieceBytes)
            handOn();
    }

private:
    const Sink& m_sink;
};

/// Makes JSON of a described value, the same as JsonWriter and dump() make together, without a tree of it: lists may
/// have a row for each of a million tensors.
class TextWriter {
public:
    static constexpr bool Reads = false;

    explicit TextWriter(TextPieces& out)
        : m_out(out)
    {
        m_out.text += '{';
    }

    void type(const char*, const char*) { }
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
        m_out.text.append(m_separator).append(key).append("\":");
        m_separator = ",\"";
        put(value);
    }
    template <class T> void operator()(const char* key, const AbsentIfEmpty<T>& form, const char* = "")
    {
        if (!isEmpty(form.value))
            (*this)(key, form.value);
    }
    template <class Make> void computed(const char* key, Make make, const char* = "") { (*this)(key, make()); }

    template <class T> static void write(const T& value, TextPieces& out)
    {
        if constexpr (std::is_same_v<T, bool>) {
            out.text += value ? "true" : "false";
        } else if constexpr (std::is_integral_v<T>) {
            const fmt::format_int digits(value);
            out.text.append(digits.data(), digits.size());
        } else if constexpr (IsText<T>) {
            out.text += dumpText(value);
        } else if constexpr (requires(TextWriter & writer) { describe(writer, value); }) {
            TextWriter writer(out);
            describe(writer, value);
            out.text += '}';
        } else { // a form, or a number with a point
            out.text += dump(JsonWriter::jsonOf(value));
        }
    }
    template <class T> static void write(const std::optional<T>& value, TextPieces& out)
    {
        if (value)
            write(*value, out);
        else
            out.text += "null";
    }
    template <class T> static void write(const std::vector<T>& values, TextPieces& out)
    {
        out.text += '[';
        const char* separator = "";
        for (const T& value : values) {
            out.text += separator;
            separator = ",";
            write(value, out);
            out.handOnIfLarge();
        }
        out.text += ']';
    }
    template <class T, std::uint32_t Inline> static void write(const ShortList<T, Inline>& values, TextPieces& out)
    {
        write(std::vector<T>(values), out);
    }

private:
    template <class T> void put(const T& value) { write(value, m_out); }

    TextPieces& m_out;
    const char* m_separator = "\"";
};

/// The JSON of a described value, or of a list of them, in pieces.
template <class T> void writeText(const T& value, const TextPieces::Sink& sink)
{
    TextPieces out(sink);
    TextWriter::write(value, out);
    out.handOn();
}

/// The same as one text.
template <class T> std::string writtenText(const T& value)
{
    std::string text;
    writeText(value, [&](std::string_view piece) { text += piece; });
    return text;
}

} // namespace deltascope::app
