#include "widgets/query.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <limits>

namespace deltascope::desktop {

namespace {

constexpr double Infinity = std::numeric_limits<double>::infinity();

QString translated(const char* text) { return QCoreApplication::translate("Query", text); }

/// "10M", "1.5GB", "-1".
std::optional<double> numberOf(const QString& text)
{
    static const QRegularExpression form(QStringLiteral("^(-?\\d+(?:\\.\\d+)?)([kmgt]?)b?$"),
                                         QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = form.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    double value = match.captured(1).toDouble();
    const QString suffix = match.captured(2).toLower();
    for (const QChar unit : QStringLiteral("kmgt")) {
        if (suffix.isEmpty())
            break;
        value *= 1000;
        if (suffix == unit)
            break;
    }
    return value;
}

}

bool Query::WordTest::operator()(const QString& word) const
{
    if (wanted == QLatin1Char('*'))
        return !word.isEmpty();
    if (wanted.startsWith(QLatin1Char('~')))
        return word.contains(QStringView(wanted).sliced(1), Qt::CaseInsensitive);
    return word.compare(wanted, Qt::CaseInsensitive) == 0;
}

Query Query::parse(const QString& text, const std::vector<QueryField>& fields)
{
    static const QRegularExpression blank(QStringLiteral("\\s+"));
    Query query;
    for (const QString& term : text.split(blank, Qt::SkipEmptyParts)) {
        if (!query.readTerm(term, fields)) {
            query.m_terms.clear();
            break;
        }
    }
    return query;
}

bool Query::readTerm(const QString& text, const std::vector<QueryField>& fields)
{
    static const QRegularExpression form(QStringLiteral("^([A-Za-z]+):(.*)$"));
    Term term;
    const QRegularExpressionMatch match = form.match(text);
    if (!match.hasMatch()) {
        term.word.wanted = text.toLower();
        m_terms.push_back(std::move(term));
        return true;
    }
    const QString name = match.captured(1).toLower();
    const QString wanted = match.captured(2);
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const QueryField& f) { return f.name == name; });
    if (field == fields.end()) {
        QStringList names;
        for (const QueryField& known : fields)
            names.append(known.name);
        m_error = translated("there is no %1; there are %2").arg(match.captured(1), names.join(QStringLiteral(", ")));
        return false;
    }
    if (wanted.isEmpty()) {
        m_error = translated("%1: what?").arg(name);
        return false;
    }
    term.field = static_cast<std::size_t>(field - fields.begin());
    term.kind = field->number ? Kind::Number : Kind::Word;
    term.word.wanted = wanted.toLower();
    if (field->number && !parseNumber(wanted, term)) {
        m_error = translated("%1 is no number").arg(wanted);
        return false;
    }
    m_terms.push_back(std::move(term));
    return true;
}

bool Query::parseNumber(const QString& text, Term& term)
{
    static const QRegularExpression form(QStringLiteral("^(>=|<=|>|<|)(.*)$"));
    term.low = -Infinity;
    term.high = Infinity;
    if (const qsizetype dots = text.indexOf(QLatin1String("..")); dots > 0) {
        const std::optional<double> low = numberOf(text.left(dots));
        const std::optional<double> high = numberOf(text.mid(dots + 2));
        term.low = low.value_or(0);
        term.high = high.value_or(0);
        return low && high;
    }
    const QRegularExpressionMatch match = form.match(text);
    const QString sign = match.captured(1);
    const std::optional<double> limit = numberOf(match.captured(2));
    if (!limit)
        return false;
    if (!sign.startsWith(QLatin1Char('<')))
        term.low = *limit;
    if (!sign.startsWith(QLatin1Char('>')))
        term.high = *limit;
    term.lowOpen = sign == QLatin1String(">");
    term.highOpen = sign == QLatin1String("<");
    return true;
}

} // namespace deltascope::desktop
