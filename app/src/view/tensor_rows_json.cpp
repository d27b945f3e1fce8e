#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "step_description.h"

#include "deltascope/base/bytes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

namespace {

/// Writes one object, member by member, and hands it on in pieces.
class DocumentWriter {
public:
    explicit DocumentWriter(const TextSink& sink)
        : m_sink(sink)
    {
    }

    /// All members of `object`, which has one at least.
    void members(const ordered_json& object)
    {
        const std::string text = dump(object);
        next();
        m_text.append(text, 1, text.size() - 2);
    }

    template <class Rows, class TextOf> void list(std::string_view key, const Rows& rows, const TextOf& textOf)
    {
        next();
        fmt::format_to(std::back_inserter(m_text), "\"{}\":[", key);
        const char* separator = "";
        for (const auto& row : rows) {
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

    void next()
    {
        m_text += m_isFirst ? '{' : ',';
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

std::string differenceText(const TensorDiffView& tensor)
{
    return dump({ { "name", tensor.name },
                  { "dtype", tensor.dtype },
                  { "shape", std::vector<std::uint64_t>(tensor.shape) },
                  { "elements", tensor.elements },
                  { "elements_different", tensor.different },
                  { "elements_touched", orNull(tensor.touched) },
                  { "sign_flips", tensor.signFlips },
                  { "nan_involved", tensor.nanInvolved },
                  { "max_abs", tensor.maxAbs },
                  { "max_ulp", tensor.maxUlp },
                  { "relative_norm", orNull(tensor.relativeNorm) } });
}

std::string reshapedText(const ReshapedTensorView& tensor)
{
    return dump({ { "name", tensor.name },
                  { "dtype_a", tensor.dtypeA },
                  { "dtype_b", tensor.dtypeB },
                  { "shape_a", tensor.shapeA },
                  { "shape_b", tensor.shapeB } });
}

ordered_json chosenOrNull(const std::string& chosen)
{
    return chosen.empty() ? ordered_json(nullptr) : ordered_json(chosen);
}

template <class View> std::string collected(const View& view)
{
    std::string text;
    writeJson(view, [&](std::string_view piece) { text += piece; });
    return text;
}

}

void writeJson(const StepDetailView& view, const TextSink& sink)
{
    DocumentWriter document(sink);
    ordered_json step = written(view.step);
    step["chosen"] = chosenOrNull(view.chosen);
    document.members(step);
    document.list("tensors", view.tensors, [](const TensorCountView& tensor) { return textOf(tensor); });
    document.end();
}

void writeJson(const DigestView& view, const TextSink& sink)
{
    DocumentWriter document(sink);
    document.members(
        { { "root", view.root }, { "strong_root", view.strongRoot }, { "chosen", chosenOrNull(view.chosen) } });
    document.list("tensors", view.tensors, [](const TensorDigestView& tensor) { return textOf(tensor); });
    document.members({ { "rewritten", view.reads.rewritten }, { "notices", written(view.reads.notices) } });
    document.end();
}

void writeJson(const DiffView& view, const TextSink& sink)
{
    ordered_json settings = ordered_json::array();
    for (const SettingDiffView& setting : view.settings)
        settings.push_back({ { "name", setting.name },
                             { "a", ordered_json::parse(setting.a) },
                             { "b", ordered_json::parse(setting.b) } });
    ordered_json forms = ordered_json::array();
    for (const FormDifferenceView& form : view.forms)
        forms.push_back({ { "kind", form.kind },
                          { "a", form.a },
                          { "b", form.b },
                          { "tensors", form.tensors },
                          { "text", form.text } });
    const bool unknown = view.equal && view.tensorsLeftOut > 0; // whether the whole checkpoints are
    DocumentWriter document(sink);
    document.members({ { "equal", unknown ? ordered_json(nullptr) : ordered_json(view.equal) },
                       { "tensor_globs", view.globs },
                       { "tensors_left_out", view.tensorsLeftOut },
                       { "tensors_total", view.tensorsTotal },
                       { "tensors_different", view.tensorsDifferent },
                       { "elements_total", view.elementsTotal },
                       { "elements_different", view.elementsDifferent },
                       { "elements_touched", orNull(view.elementsTouched) },
                       { "relative_norm", orNull(view.relativeNorm) },
                       { "bytes_compared", view.bytesCompared } });
    document.list("only_in_a", view.onlyInA, dumpText);
    document.list("only_in_b", view.onlyInB, dumpText);
    document.members({ { "settings", std::move(settings) }, { "form_differences", std::move(forms) } });
    document.list("tensors", view.tensors, differenceText);
    document.list("changed_dtype_or_shape", view.reshaped, reshapedText);
    document.members({ { "rewritten", view.reads.rewritten },
                       { "notices", written(view.reads.notices) },
                       { "seconds", view.seconds } });
    document.end();
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
