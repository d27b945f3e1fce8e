#include "deltascope/app/view/json.h"

#include "diff_description.h"
#include "json_parts.h"
#include "reads_description.h"
#include "run_description.h"

#include "deltascope/base/bytes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

namespace {

std::string numberText(std::optional<std::uint64_t> value) { return value ? std::to_string(*value) : "null"; }

std::string textOf(const TensorCountView& tensor)
{
    return fmt::format(R"({{"name":{},"dtype":{},"shape":[{}],"changed_elems":{},"changed_vs_prev_elems":{},)"
                       R"("total_elems":{}}})",
                       dumpText(tensor.name), dumpText(tensor.dtype), fmt::join(tensor.shape, ","),
                       numberText(tensor.changedElements), numberText(tensor.changedVsPrevious), tensor.totalElements);
}

std::string textOf(const TensorDigestView& tensor)
{
    return fmt::format(R"({{"name":{},"dtype":{},"shape":[{}],"xxh3_128":"{}","sha256":"{}"}})", dumpText(tensor.name),
                       dumpText(tensor.dtype), fmt::join(tensor.shape, ","), toHex(tensor.xxh3), toHex(tensor.sha256));
}

std::string textOf(const std::string& text) { return dumpText(text); }

template <class Row> std::string textOf(const Row& row) { return dump(written(row)); }

/// Makes JSON of a described value, as JsonWriter does, and hands it on in pieces: its lists row by row.
class RowsWriter {
public:
    static constexpr bool Reads = false;

    explicit RowsWriter(const TextSink& sink)
        : m_sink(sink)
    {
    }

    void type(const char*, const char*) { }
    static bool has(const char*) { return true; }
    template <class T> void operator()(const char* key, const T& value, const char* = "")
    {
        begin(key);
        m_text += dump(JsonWriter::jsonOf(value));
    }
    void members(const ordered_json& object)
    {
        for (const auto& [key, value] : object.items()) {
            begin(key);
            m_text += dump(value);
        }
    }
    template <class Row> void operator()(const char* key, const std::vector<Row>& rows, const char* = "")
    {
        begin(key);
        m_text += '[';
        const char* separator = "";
        for (const Row& row : rows) {
            m_text.append(separator).append(textOf(row));
            separator = ",";
            if (m_text.size() >= PieceBytes)
                handOn();
        }
        m_text += ']';
    }

    void end()
    {
        m_text += '}';
        handOn();
    }

private:
    static constexpr std::size_t PieceBytes = 64 * 1024;

    void begin(std::string_view key)
    {
        fmt::format_to(std::back_inserter(m_text), "{}\"{}\":", m_isFirst ? '{' : ',', key);
        m_isFirst = false;
    }

    void handOn()
    {
        m_sink(m_text);
        m_text.clear();
    }

    const TextSink& m_sink;
    std::string m_text;
    bool m_isFirst = true;
};

template <class View> std::string collected(const View& view)
{
    std::string text;
    writeJson(view, [&](std::string_view piece) { text += piece; });
    return text;
}

}

void writeJson(const StepDetailView& view, const TextSink& sink)
{
    RowsWriter out(sink);
    out.members(written(view.step));
    out("chosen", nullIfEmpty(view.chosen));
    out("tensors", view.tensors);
    out.end();
}

void writeJson(const DigestView& view, const TextSink& sink)
{
    RowsWriter out(sink);
    out("root", view.root);
    out("strong_root", view.strongRoot);
    out("chosen", nullIfEmpty(view.chosen));
    out("tensors", view.tensors);
    describeReads(out, view.reads);
    out.end();
}

void writeJson(const DiffView& view, const TextSink& sink)
{
    RowsWriter out(sink);
    describe(out, view);
    out.end();
}

std::string toJson(const StepDetailView& view) { return collected(view); }

std::string toJson(const DigestView& view) { return collected(view); }

std::string toJson(const DiffView& view) { return collected(view); }

std::string tensorsToJson(const std::vector<TensorCountView>& tensors)
{
    std::string text = "[";
    for (const TensorCountView& tensor : tensors)
        text.append(text.size() > 1 ? "," : "").append(textOf(tensor));
    return text + "]";
}

} // namespace deltascope::app
