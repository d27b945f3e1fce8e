#include "value_statistics.h"

#include "compensated_sum.h"
#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <array>

namespace deltascope {

namespace {

constexpr auto PerMille = ValueStatistics::PerMille;

/// Place of a percentile among `count` ascending values, from 1 on.
std::uint64_t rankOf(unsigned perMille, std::uint64_t count)
{
    return std::max<std::uint64_t>(1, count / 1000 * perMille + (count % 1000 * perMille + 999) / 1000);
}

/// What one look at each value tells.
class Moments {
public:
    void add(double value, std::uint64_t count)
    {
        const auto times = static_cast<double>(count);
        m_out.finite += count;
        m_out.zeros += value == 0 ? count : 0;
        m_least = std::min(m_least, value);
        m_most = std::max(m_most, value);
        m_sum.add(value * times);
        m_squares.add(value * value * times);
        m_powers.add(value, count);
    }
    void addNonFinite(double value, std::uint64_t count)
    {
        (std::isnan(value) ? m_out.nan : value > 0 ? m_out.positiveInfinite : m_out.negativeInfinite) += count;
    }

    std::uint64_t finite() const { return m_out.finite; }
    double mean() const { return m_sum.value() / static_cast<double>(m_out.finite); }
    const PowerCounts& powers() const { return m_powers; }

    /// `deviations`: the sum of the squared distances from the mean.
    ValueStatistics statistics(double deviations) const
    {
        ValueStatistics out = m_out;
        if (m_out.finite == 0)
            return out;
        out.min = m_least + 0.0; // no sign of a zero
        out.max = m_most + 0.0;
        const auto known = [](double number) { return std::isfinite(number) ? std::optional(number) : std::nullopt; };
        out.mean = known(mean());
        out.std = known(std::sqrt(deviations / static_cast<double>(m_out.finite)));
        out.norm = known(std::sqrt(m_squares.value()));
        return out;
    }

private:
    ValueStatistics m_out;
    double m_least = std::numeric_limits<double>::infinity();
    double m_most = -std::numeric_limits<double>::infinity();
    Sum m_sum;
    Sum m_squares;
    PowerCounts m_powers;
};

/// A number for each pattern of at most 16 bits: its count.
template <class Format> class NarrowCollector final : public ValueCollector {
    using Bits = typename Format::Bits;

public:
    NarrowCollector(const Format& format, const Backend& backend)
        : m_format(format)
        , m_backend(backend)
        , m_counts(std::size_t { 1 } << Format::Width)
    {
    }

    void add(ByteSpan elements) override { m_backend.countPatterns(elements, sizeof(Bits), m_counts); }

    void endPass() override
    {
        forEachValue([&](double value, std::uint64_t count) {
            if (std::isfinite(value))
                m_moments.add(value, count);
            else
                m_moments.addNonFinite(value, count);
        });
    }

    void setEdges(const std::vector<double>& edges) override
    {
        m_linear.assign(edges.size() - 1, 0);
        forEachValue([&](double value, std::uint64_t count) {
            if (std::isfinite(value))
                m_linear[binOf(edges, value)] += count;
        });
    }

    ValueStatistics statistics() const override
    {
        const double mean = m_moments.mean();
        Sum deviations;
        std::uint64_t passed = 0;
        std::size_t next = 0;
        std::array<std::optional<double>, PerMille.size()> percentiles;
        forEachValue([&](double value, std::uint64_t count) {
            if (!std::isfinite(value))
                return;
            deviations.add((value - mean) * (value - mean) * static_cast<double>(count));
            passed += count;
            for (; next < PerMille.size() && rankOf(PerMille[next], m_moments.finite()) <= passed; ++next)
                percentiles[next] = value + 0.0;
        });
        ValueStatistics out = m_moments.statistics(deviations.value());
        out.percentiles = percentiles;
        return out;
    }

    std::vector<std::uint64_t> linear() const override { return m_linear; }
    const PowerCounts& powers() const override { return m_moments.powers(); }

private:
    /// Ascending.
    template <class Visit> void forEachValue(const Visit& visit) const
    {
        for (std::uint64_t place = 0; place < m_counts.size(); ++place) {
            const Bits bits = m_format.pattern(place);
            if (m_counts[bits] > 0)
                visit(numberOf(m_format, bits), m_counts[bits]);
        }
    }

    Format m_format;
    const Backend& m_backend;
    std::vector<std::uint64_t> m_counts;
    std::vector<std::uint64_t> m_linear;
    Moments m_moments;
};

/// Finds percentiles of wide types digit by digit of their place in the order of values, 16 bits each.
template <class Format> class WideCollector final : public ValueCollector {
    using Bits = typename Format::Bits;
    static constexpr unsigned DigitBits = 16;

public:
    explicit WideCollector(const Format& format)
        : m_format(format)
    {
    }

    void add(ByteSpan elements) override
    {
        for (std::size_t at = 0; at < elements.size(); at += sizeof(Bits)) {
            const Bits bits = loadLe<Bits>(elements, at);
            const double value = numberOf(m_format, bits);
            if (!std::isfinite(value)) {
                if (m_pass == 0)
                    m_moments.addNonFinite(value, 1);
                continue;
            }
            if (m_pass == 0)
                m_moments.add(value, 1);
            else if (m_pass == 1)
                addAgain(value);
            countDigit(m_format.ordered(bits));
        }
    }

    void endPass() override
    {
        if (m_pass == 0) {
            m_mean = m_moments.mean();
            for (std::size_t i = 0; i < PerMille.size(); ++i)
                m_wanted[i].rank = rankOf(PerMille[i], m_moments.finite());
        }
        ++m_pass;
        for (Wanted& wanted : m_wanted)
            takeDigit(wanted);
        std::vector<Group> groups;
        for (Wanted& wanted : m_wanted) {
            if (groups.empty() || groups.back().prefix != wanted.prefix)
                groups.emplace_back(wanted.prefix);
            wanted.group = groups.size() - 1;
        }
        m_groups = std::move(groups);
    }

    void setEdges(const std::vector<double>& edges) override
    {
        m_edges = edges;
        m_linear.assign(edges.size() - 1, 0);
    }

    ValueStatistics statistics() const override
    {
        ValueStatistics out = m_moments.statistics(m_deviations.value());
        for (std::size_t i = 0; out.finite > 0 && i < PerMille.size(); ++i)
            out.percentiles[i] = m_format.value(m_format.pattern(m_wanted[i].prefix)) + 0.0;
        return out;
    }

    std::vector<std::uint64_t> linear() const override { return m_linear; }
    const PowerCounts& powers() const override { return m_moments.powers(); }

private:
    /// Elements that begin with a prefix, by the digit behind it.
    struct Group {
        explicit Group(std::uint64_t begin)
            : prefix(begin)
            , counts(std::size_t { 1 } << DigitBits)
        {
        }
        std::uint64_t prefix;
        std::vector<std::uint64_t> counts;
    };
    struct Wanted {
        std::uint64_t rank = 0; ///< among those with the prefix
        std::uint64_t prefix = 0;
        std::size_t group = 0;
    };

    void addAgain(double value)
    {
        m_deviations.add((value - m_mean) * (value - m_mean));
        if (!m_edges.empty())
            ++m_linear[binOf(m_edges, value)];
    }

    void countDigit(std::uint64_t place)
    {
        const std::uint64_t known = place >> (Format::Width - DigitBits * (m_pass + 1));
        for (Group& group : m_groups) {
            if (known >> DigitBits == group.prefix)
                ++group.counts[known & 0xffffU];
        }
    }

    void takeDigit(Wanted& wanted) const
    {
        const std::vector<std::uint64_t>& counts = m_groups[wanted.group].counts;
        std::size_t digit = 0;
        for (; digit + 1 < counts.size() && wanted.rank > counts[digit]; ++digit)
            wanted.rank -= counts[digit];
        wanted.prefix = wanted.prefix << DigitBits | digit;
    }

    Format m_format;
    unsigned m_pass = 0;
    std::vector<Group> m_groups = std::vector<Group>(1, Group(0));
    std::array<Wanted, PerMille.size()> m_wanted;
    std::vector<double> m_edges;
    std::vector<std::uint64_t> m_linear;
    Moments m_moments;
    double m_mean = 0;
    Sum m_deviations;
};

}

std::unique_ptr<ValueCollector> ValueCollector::of(Dtype dtype, const Backend& backend)
{
    std::unique_ptr<ValueCollector> out;
    const auto make = [&](auto format) {
        using Format = decltype(format);
        if constexpr (Format::Width <= 16)
            out = std::make_unique<NarrowCollector<Format>>(format, backend);
        else
            out = std::make_unique<WideCollector<Format>>(format);
    };
    withNumbers(dtype, make, make);
    return out;
}

} // namespace deltascope
