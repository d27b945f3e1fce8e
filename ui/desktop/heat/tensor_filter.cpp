#include "heat/tensor_filter.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>

namespace deltascope::desktop {

namespace {

QString filterText(const char* text) { return QCoreApplication::translate("TensorFilter", text); }

QString plainDtype(const QString& name)
{
    const QString lower = name.toLower();
    if (lower == QLatin1String("bfloat16"))
        return QStringLiteral("bf16");
    if (lower == QLatin1String("float16") || lower == QLatin1String("fp16"))
        return QStringLiteral("f16");
    if (lower == QLatin1String("float32") || lower == QLatin1String("fp32"))
        return QStringLiteral("f32");
    return lower;
}

bool holds(const QString& sign, double a, double b)
{
    if (sign == QLatin1String(">"))
        return a > b;
    if (sign == QLatin1String("<"))
        return a < b;
    return sign == QLatin1String(">=") ? a >= b : a <= b;
}

}

double meanShare(const app::TensorRowView& tensor, std::uint64_t columns)
{
    if (tensor.elements == 0 || columns == 0)
        return 0;
    return static_cast<double>(tensor.changedElements) / static_cast<double>(tensor.elements)
        / static_cast<double>(columns);
}

TensorFilter::TensorFilter(const QString& text, std::uint64_t columns)
{
    static const QRegularExpression Words(QStringLiteral(R"(/(?:\\.|[^/])+/|[^\s,]+)"));
    static const QRegularExpression Changed(QStringLiteral(R"(^changed(>=|<=|>|<)([\d.]+)(%?)$)"));
    static const QRegularExpression LikeChanged(QStringLiteral("^changed[<>=:]"));
    for (auto at = Words.globalMatch(text); at.hasNext();) {
        const QString word = at.next().captured();
        if (word.size() > 2 && word.startsWith(QLatin1Char('/')) && word.endsWith(QLatin1Char('/'))) {
            const QRegularExpression pattern(word.mid(1, word.size() - 2));
            if (!pattern.isValid()) {
                m_error = pattern.errorString();
                break;
            }
            m_terms.emplace_back([pattern](const app::TensorRowView& tensor) {
                return pattern.match(QString::fromStdString(tensor.name)).hasMatch();
            });
        } else if (const auto match = Changed.match(word); match.hasMatch()) {
            bool isNumber = false;
            const double limit = match.captured(2).toDouble(&isNumber) / (match.captured(3).isEmpty() ? 1 : 100);
            if (!isNumber) {
                m_error = filterText("%1 is no number").arg(match.captured(2));
                break;
            }
            m_terms.emplace_back([sign = match.captured(1), limit, columns](const app::TensorRowView& tensor) {
                return columns > 0 && holds(sign, meanShare(tensor, columns), limit);
            });
        } else if (LikeChanged.match(word).hasMatch()) {
            m_error = filterText("Write changed>1%");
            break;
        } else if (word.startsWith(QLatin1String("dtype:"))) {
            m_terms.emplace_back([dtype = plainDtype(word.mid(6))](const app::TensorRowView& tensor) {
                return plainDtype(QString::fromStdString(tensor.dtype)) == dtype;
            });
        } else {
            m_terms.emplace_back([word](const app::TensorRowView& tensor) {
                return QString::fromStdString(tensor.name).contains(word, Qt::CaseInsensitive);
            });
        }
    }
    if (!m_error.isEmpty())
        m_terms.clear();
}

bool TensorFilter::operator()(const app::TensorRowView& tensor) const
{
    return std::all_of(m_terms.begin(), m_terms.end(), [&](const Term& term) { return term(tensor); });
}

} // namespace deltascope::desktop
