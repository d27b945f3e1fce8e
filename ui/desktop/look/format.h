#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::desktop {

// Numbers, times and names as they stand on screen, by the same rules as ui/web/src/format.ts. What is not known is
// "–". Pure; any thread.

/// A value and its unit apart, for tiles where the unit is small.
struct Quantity {
    QString value;
    QString unit;

    bool operator==(const Quantity&) const = default;
    QString text() const { return unit.isEmpty() ? value : value + QChar(u' ') + unit; }
};

const QString& unknownText();

constexpr double secondsOf(std::int64_t us) { return static_cast<double>(us) / 1e6; }
constexpr std::optional<double> secondsOf(std::optional<std::int64_t> us)
{
    return us ? std::optional(secondsOf(*us)) : std::nullopt;
}

Quantity bytesQuantity(std::optional<std::uint64_t> bytes); ///< SI: 1 GB is 10^9 bytes
QString bytesText(std::optional<std::uint64_t> bytes);
QString rateText(double bytesPerSecond);
QString countText(std::optional<std::uint64_t> count); ///< 63.2 M, 7.62 B
QString exactText(std::uint64_t count); ///< 1,234,567
Quantity percentQuantity(std::optional<double> fraction);
QString percentText(std::optional<double> fraction); ///< two significant digits below 1 %
QString timesText(std::optional<double> ratio); ///< "84×"
Quantity durationQuantity(std::optional<double> seconds);
QString durationText(std::optional<double> seconds); ///< < 0.1 ms, 840 ms, 12.4 s, 3:07, 1:02:05, 2 days
Quantity ageQuantity(std::optional<double> seconds); ///< whole seconds below a minute
QString ageText(std::optional<double> seconds);
QString agoText(std::int64_t us, std::int64_t nowUs); ///< "7 s ago"; 0: not known
QString backendText(const std::string& name); ///< "AVX-512"; "scalar"
QString clockText(std::int64_t us, std::int64_t nowUs); ///< local time of day, with the date if it is another day
QString fullTimeText(std::int64_t us); ///< local and UTC time, for tooltips
QString shapeText(const std::vector<std::uint64_t>& shape); ///< "3,584 × 18,944"; "scalar"
QString pluralText(std::uint64_t n, const QString& one, const QString& many = {}); ///< "3 steps"

/// A name from a file, with everything that could deceive the eye written out: "a\u202eb". Broken UTF-8 as \xNN.
QString safeName(const std::string& name);
/// The same for a text of several lines.
QString safeText(const std::string& text);
/// A long name with its middle left out; both ends tell names of tensors apart.
QString shortened(const QString& name, int limit = 80);

/// The text with places at which long words such as digests may be broken, for labels that wrap.
QString breakable(const QString& text);

} // namespace deltascope::desktop
