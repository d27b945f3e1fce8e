#include "look/format.h"

#include <QDateTime>
#include <QLocale>

#include <array>
#include <cmath>

namespace deltascope::desktop {

namespace {

const QLocale& digits()
{
    static const QLocale locale(QLocale::English, QLocale::UnitedStates);
    return locale;
}

QString fixed(double x, int decimals) { return QString::number(x, 'f', decimals); }

/// Three significant digits, without an exponent: 1.23, 12.3, 123, 1234.
QString threeDigits(double x)
{
    const double size = std::abs(x);
    if (size >= 99.95)
        return fixed(x, 0);
    return fixed(x, size >= 9.995 ? 1 : 2);
}

template <std::size_t N> Quantity scaled(double x, const std::array<const char*, N>& units)
{
    std::size_t i = 0;
    while (std::abs(x) >= 999.5 && i + 1 < N) {
        x /= 1000;
        ++i;
    }
    return { i == 0 ? fixed(std::round(x), 0) : threeDigits(x), QString::fromLatin1(units[i]) };
}

Quantity nothing() { return { unknownText(), {} }; }

QString twoDigits(long long n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); }

QDateTime localTime(std::int64_t us) { return QDateTime::fromMSecsSinceEpoch(us / 1000); }

}

const QString& unknownText()
{
    static const QString text = QStringLiteral("–");
    return text;
}

Quantity bytesQuantity(std::optional<std::uint64_t> bytes)
{
    static constexpr std::array<const char*, 6> Units { "B", "kB", "MB", "GB", "TB", "PB" };
    return bytes ? scaled(static_cast<double>(*bytes), Units) : nothing();
}

QString bytesText(std::optional<std::uint64_t> bytes) { return bytesQuantity(bytes).text(); }

QString rateText(double bytesPerSecond)
{
    return bytesText(static_cast<std::uint64_t>(std::max(0.0, bytesPerSecond))) + QStringLiteral("/s");
}

QString countText(std::optional<std::uint64_t> count)
{
    static constexpr std::array<const char*, 5> Units { "", "k", "M", "B", "T" };
    return count ? scaled(static_cast<double>(*count), Units).text() : unknownText();
}

QString exactText(std::uint64_t count) { return digits().toString(static_cast<qulonglong>(count)); }

Quantity percentQuantity(std::optional<double> fraction)
{
    if (!fraction || !std::isfinite(*fraction))
        return nothing();
    const QString percent = QStringLiteral("%");
    const double p = *fraction * 100;
    const double size = std::abs(p);
    if (size == 0)
        return { QStringLiteral("0"), percent };
    if (size >= 99.95)
        return { size == 100 ? fixed(p, 0) : fixed(p, 2), percent };
    if (size >= 0.995)
        return { fixed(p, 1), percent };
    if (size < 1e-6)
        return { QString::number(p, 'e', 1), percent };
    return { fixed(p, 1 - static_cast<int>(std::floor(std::log10(size) + 1e-9))), percent };
}

QString percentText(std::optional<double> fraction) { return percentQuantity(fraction).text(); }

QString timesText(std::optional<double> ratio)
{
    if (!ratio || !std::isfinite(*ratio))
        return unknownText();
    return fixed(*ratio, *ratio >= 9.95 ? 0 : 1) + QChar(u'×');
}

Quantity durationQuantity(std::optional<double> seconds)
{
    if (!seconds || !std::isfinite(*seconds))
        return nothing();
    if (*seconds > 0 && *seconds < 0.00005)
        return { QStringLiteral("< 0.1"), QStringLiteral("ms") };
    if (*seconds < 0.9995)
        return { fixed(*seconds * 1000, *seconds < 0.00995 ? 1 : 0), QStringLiteral("ms") };
    if (*seconds < 59.95)
        return { fixed(*seconds, 1), QStringLiteral("s") };
    const long long whole = std::llround(*seconds);
    if (whole < 3600)
        return { QString::number(whole / 60) + QChar(u':') + twoDigits(whole % 60), {} };
    if (whole < 86'400)
        return { QString::number(whole / 3600) + QChar(u':') + twoDigits(whole / 60 % 60) + QChar(u':')
                     + twoDigits(whole % 60),
                 {} };
    const long long days = std::llround(static_cast<double>(whole) / 86'400);
    return { QString::number(days), days == 1 ? QStringLiteral("day") : QStringLiteral("days") };
}

QString durationText(std::optional<double> seconds) { return durationQuantity(seconds).text(); }

QString backendText(const std::string& name)
{
    if (name == "scalar")
        return QStringLiteral("scalar");
    return name == "avx512" ? QStringLiteral("AVX-512") : safeName(name).toUpper();
}

Quantity ageQuantity(std::optional<double> seconds)
{
    if (!seconds)
        return nothing();
    const double whole = std::max(0.0, std::round(*seconds));
    return whole < 60 ? Quantity { fixed(whole, 0), QStringLiteral("s") } : durationQuantity(whole);
}

QString ageText(std::optional<double> seconds) { return ageQuantity(seconds).text(); }

QString agoText(std::int64_t us, std::int64_t nowUs)
{
    if (us == 0)
        return unknownText();
    return ageText(static_cast<double>(nowUs - us) / 1e6) + QStringLiteral(" ago");
}

QString clockText(std::int64_t us, std::int64_t nowUs)
{
    if (us == 0)
        return unknownText();
    const QDateTime time = localTime(us);
    const bool sameDay = time.date() == localTime(nowUs).date();
    return time.toString(sameDay ? QStringLiteral("HH:mm:ss") : QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

QString fullTimeText(std::int64_t us)
{
    if (us == 0)
        return unknownText();
    const QDateTime time = localTime(us);
    return QStringLiteral("%1 %2, %3")
        .arg(time.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), time.timeZoneAbbreviation(),
             time.toUTC().toString(QStringLiteral("yyyy-MM-ddTHH:mm:ss.zzzZ")));
}

QString shapeText(const std::vector<std::uint64_t>& shape)
{
    if (shape.empty())
        return QStringLiteral("scalar");
    QString text;
    for (const std::uint64_t size : shape)
        text += (text.isEmpty() ? QString() : QStringLiteral(" × ")) + exactText(size);
    return text;
}

QString pluralText(std::uint64_t n, const QString& one, const QString& many)
{
    return exactText(n) + QChar(u' ') + (n == 1 ? one : many.isEmpty() ? one + QChar(u's') : many);
}

QString safeName(const std::string& name)
{
    QString text;
    const QString read = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    if (read.contains(QChar::ReplacementCharacter)) { // not UTF-8: what is not ASCII as bytes
        for (const unsigned char c : name) {
            text += c >= 0x20 && c < 0x7f ? QString(QLatin1Char(static_cast<char>(c)))
                                          : QStringLiteral("\\x%1").arg(c, 2, 16, QLatin1Char('0'));
        }
        return text;
    }
    for (const QChar c : read) {
        const ushort u = c.unicode();
        const bool deceives = u < 0x20 || (u >= 0x7f && u <= 0x9f) || u == 0xad || u == 0x61c
            || (u >= 0x200b && u <= 0x200f) || (u >= 0x2028 && u <= 0x202e) || (u >= 0x2060 && u <= 0x206f)
            || u == 0xfeff || (u >= 0xfff9 && u <= 0xfffb);
        if (deceives)
            text += QStringLiteral("\\u%1").arg(u, 4, 16, QLatin1Char('0'));
        else
            text += c;
    }
    return text;
}

QString safeText(const std::string& text)
{
    QString safe;
    std::size_t at = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
        safe += safeName(text.substr(at, end - at)) + QLatin1Char('\n');
        at = end + 1;
    }
    return safe + safeName(text.substr(at));
}

QString shortened(const QString& name, int limit)
{
    if (name.size() <= limit)
        return name;
    const int head = limit / 2;
    return name.left(head) + QChar(u'…') + name.right(limit - 1 - head);
}

QString breakable(const QString& text)
{
    constexpr int LongWord = 16;
    const QChar breakHere(0x200b); // zero-width space
    QString out;
    int run = 0;
    for (const QChar c : text) {
        const bool separates = c == QLatin1Char('/') || c == QLatin1Char('.') || c == QLatin1Char('_');
        if (run == LongWord) {
            out += breakHere;
            run = 0;
        }
        out += c;
        run = c.isSpace() || separates ? 0 : run + 1;
        if (separates)
            out += breakHere;
    }
    return out;
}

} // namespace deltascope::desktop
