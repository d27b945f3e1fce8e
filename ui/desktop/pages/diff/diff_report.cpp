#include "pages/diff/diff_report.h"

#include "look/format.h"
#include "look/marks.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr std::size_t SummaryRows = 20;

/// Counts stay exact: JSON numbers of Qt are doubles beyond 64-bit integers only.
QJsonValue number(std::uint64_t count) { return static_cast<qint64>(count); }

QString plainText(const QJsonValue& value)
{
    if (value.isString())
        return value.toString();
    if (value.isNull())
        return {};
    const double real = value.toDouble();
    const qint64 whole = value.toInteger(-1);
    return whole >= 0 ? QString::number(whole) : QString::number(real, 'g', 9);
}

QString csvCell(const QJsonValue& value)
{
    QString text = plainText(value);
    if (!value.isString())
        return text;
    // A spreadsheet takes a cell that begins so for a formula.
    if (!text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text.front()))
        text.prepend(QLatin1Char('\''));
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QString markdownCell(const QJsonValue& value)
{
    QString text = value.isNull() ? unknownText() : plainText(value);
    QString escaped;
    for (const QChar c : text) {
        if (QStringLiteral("|\\`<>*_[]").contains(c))
            escaped += QLatin1Char('\\');
        escaped += c;
    }
    return escaped;
}

template <class Cells, class Text> QString joined(const Cells& cells, const QString& between, Text text)
{
    QStringList words;
    for (const auto& cell : cells)
        words += text(cell);
    return words.join(between);
}

}

QByteArray DiffReport::csv() const
{
    QString text = columns.join(QLatin1Char(',')) + QLatin1Char('\n');
    for (const auto& row : rows)
        text += joined(row, QStringLiteral(","), csvCell) + QLatin1Char('\n');
    return text.toUtf8();
}

QByteArray DiffReport::jsonLines() const
{
    QByteArray text;
    for (const auto& row : rows) {
        QJsonObject object;
        for (qsizetype i = 0; i < columns.size(); ++i)
            object.insert(columns[i], row[static_cast<std::size_t>(i)]);
        text += QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
    }
    return text;
}

QByteArray DiffReport::markdown() const
{
    QString text = QStringLiteral("# %1\n\n").arg(title);
    for (const auto& [name, value] : facts)
        text += QStringLiteral("- %1: %2\n").arg(name, markdownCell(value));
    const QString between = QStringLiteral(" | ");
    text +=
        QStringLiteral("\n| %1 |\n|").arg(joined(columns, between, [](const QString& c) { return markdownCell(c); }));
    text += QStringLiteral(" --- |").repeated(columns.size()) + QLatin1Char('\n');
    for (std::size_t row = 0; row < std::min(rows.size(), SummaryRows); ++row)
        text += QStringLiteral("| %1 |\n").arg(joined(rows[row], between, markdownCell));
    if (rows.size() > SummaryRows)
        text += QStringLiteral("\n%1 more rows.\n").arg(rows.size() - SummaryRows);
    return text.toUtf8();
}

namespace {

QString partText(const app::DiffView& diff, std::uint64_t part, std::uint64_t all)
{
    const std::string nothing = app::nothingComparedText(diff);
    return nothing.empty() ? QStringLiteral("%1 of %2").arg(exactText(part), exactText(all))
                           : QString::fromStdString(nothing);
}

}

DiffReport makeReport(const app::DiffView& diff, const QString& run, const QString& a, const QString& b)
{
    DiffReport report;
    report.title = QStringLiteral("Difference between %1 and %2").arg(a, b);
    report.file = QStringLiteral("%1-diff-%2-%3").arg(run, a, b).replace(QLatin1Char(':'), QLatin1Char('-'));
    report.facts = {
        { QStringLiteral("equal"),
          diff.equal && !diff.adapters.empty() ? QStringLiteral("tensors, bit by bit")
              : diff.equal                     ? QStringLiteral("yes, bit by bit")
              : diff.tensorsTotal == 0         ? QStringLiteral("not known")
                                               : QStringLiteral("no") },
        { QStringLiteral("tensors different"), partText(diff, diff.tensorsDifferent, diff.tensorsTotal) },
        { QStringLiteral("elements different"), partText(diff, diff.elementsDifferent, diff.elementsTotal) },
        { QStringLiteral("relative L2"), diff.relativeNorm ? smallText(*diff.relativeNorm) : unknownText() },
        { QStringLiteral("only in A"), exactText(diff.onlyInA.size()) },
        { QStringLiteral("only in B"), exactText(diff.onlyInB.size()) },
        { QStringLiteral("another shape or dtype"), exactText(diff.reshaped.size()) },
        { QStringLiteral("bytes compared"), exactText(diff.bytesCompared) },
    };
    if (const std::string text = app::notFiniteText(diff); !text.empty())
        report.facts.push_back({ QStringLiteral("not finite"), QString::fromStdString(text) });
    for (const app::FormDifferenceView& form : diff.forms)
        report.facts.push_back({ QStringLiteral("compared as"), safeName(form.text) });
    if (!diff.adapters.empty())
        report.facts.push_back({ QStringLiteral("adapters"), safeName(diff.adapters) });
    if (!diff.settings.empty())
        report.facts.push_back({ QStringLiteral("settings"), safeName(app::settingsText(diff)) });
    for (const QString& line : readsLines(diff.reads))
        report.facts.push_back({ QStringLiteral("read"), line });
    report.columns =
        QStringLiteral("tensor dtype shape elements different touched max_abs relative_l2 max_ulp sign_flips "
                       "nan_involved")
            .split(QLatin1Char(' '));
    std::vector<const app::TensorDiffView*> tensors;
    for (const app::TensorDiffView& tensor : diff.tensors)
        tensors.push_back(&tensor);
    const auto share = [](const app::TensorDiffView& tensor) {
        return static_cast<double>(tensor.different) / static_cast<double>(std::max<std::uint64_t>(1, tensor.elements));
    };
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](const auto* x, const auto* y) { return share(*x) > share(*y); });
    const QJsonValue Null(QJsonValue::Null);
    const auto orNull = [&](const std::optional<double>& value) { return value ? QJsonValue(*value) : Null; };
    for (const app::TensorDiffView* tensor : tensors)
        report.rows.push_back({ safeName(tensor->name), safeName(tensor->dtype), shapeText(tensor->shape),
                                number(tensor->elements), number(tensor->different),
                                tensor->touched ? number(*tensor->touched) : Null, orNull(tensor->maxAbs),
                                orNull(tensor->relativeNorm), tensor->maxUlp ? number(*tensor->maxUlp) : Null,
                                tensor->signFlips ? number(*tensor->signFlips) : Null,
                                tensor->nanInvolved ? number(*tensor->nanInvolved) : Null });
    return report;
}

DiffReport makeReport(const app::TouchedView& touched, const QString& run)
{
    DiffReport report;
    report.title = QStringLiteral("Touched between %1 and %2").arg(touched.a).arg(touched.b);
    report.file = QStringLiteral("%1-touched-%2-%3").arg(run).arg(touched.a).arg(touched.b);
    report.facts = { { QStringLiteral("elements touched at most"), exactText(touched.elementsAtMost) },
                     { QStringLiteral("elements"),
                       touched.elementsTotal ? exactText(*touched.elementsTotal) : unknownText() },
                     { QStringLiteral("tensors touched"), exactText(touched.tensors.size()) } };
    report.columns = QStringLiteral("tensor dtype shape elements touched_at_most").split(QLatin1Char(' '));
    for (const app::TouchedTensorView& tensor : touched.tensors)
        report.rows.push_back({ safeName(tensor.name), safeName(tensor.dtype), shapeText(tensor.shape),
                                number(tensor.elements), number(tensor.atMost) });
    return report;
}

} // namespace deltascope::desktop
