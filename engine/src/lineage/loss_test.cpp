#include "lineage/loss_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deltascope {

namespace {

/// log(n!) less Stirling's (n + 1/2) log n - n + log(2 pi) / 2. The difference is small, so what is computed from it
/// keeps its digits where log(n!) itself is of the order of 1e13.
double stirlingError(double n) noexcept
{
    constexpr double HalfLogTwoPi = 0.91893853320467274178;
    if (n < 16) {
        double factorial = 1;
        for (double i = 2; i <= n; ++i)
            factorial *= i;
        return n == 0 ? 0 : std::log(factorial) - (n + 0.5) * std::log(n) + n - HalfLogTwoPi;
    }
    const double square = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) / n;
}

/// x log(x / expected) - (x - expected).
double deviance(double x, double expected) noexcept
{
    if (x == 0)
        return expected;
    const double difference = x - expected;
    return x * std::log1p(difference / expected) - difference;
}

/// Logarithm of the probability of x hits in n draws of probability p; q = 1 - p.
double logBinomial(double x, double n, double p, double q) noexcept
{
    constexpr double TwoPi = 6.28318530717958647693;
    const double misses = n - x;
    if (x == 0)
        return n * (p < 0.5 ? std::log1p(-p) : std::log(q));
    if (misses == 0)
        return n * (q < 0.5 ? std::log1p(-q) : std::log(p));
    return stirlingError(n) - stirlingError(x) - stirlingError(misses) - deviance(x, n * p) - deviance(misses, n * q)
        + 0.5 * std::log(n / (TwoPi * x * misses));
}

/// The sum of probabilities from the one on whose logarithm is `first`. `ratio(i)`: of the (i + 1)th to the ith; it
/// falls.
template <class Ratio> double tail(double first, Ratio ratio) noexcept
{
    constexpr int Terms = 2000;
    double term = 1;
    double sum = 1;
    double last = 0;
    for (int i = 0; i < Terms && term > sum * 1e-17; ++i) {
        last = ratio(i);
        if (last >= 1) // below the most likely count
            return 1;
        term *= last;
        sum += term;
    }
    sum += term * last / (1 - last); // the rest falls at least as fast as a geometric series
    return std::min(1.0, std::exp(first) * sum);
}

}

double probabilityOfNoops(NoopCounts suspect, NoopCounts habit) noexcept
{
    const auto hits = static_cast<double>(suspect.noops);
    const auto draws = static_cast<double>(suspect.assigned);
    const auto others = static_cast<double>(habit.assigned);
    const auto noops = hits + static_cast<double>(habit.noops);
    const double all = draws + others;
    const double expected = noops * draws / all;
    if (hits <= expected || others == 0)
        return 1;
    const double p = draws / all;
    const double q = others / all;
    const double misses = all - noops; // assignments that change something
    const double first =
        logBinomial(hits, noops, p, q) + logBinomial(draws - hits, misses, p, q) - logBinomial(draws, all, p, q);
    return tail(first, [&](int i) {
        const double at = hits + i;
        return (noops - at) / (at + 1) * (draws - at) / (misses - draws + at + 1);
    });
}

double probabilityOfNoops(NoopCounts suspect, double share) noexcept
{
    const auto hits = static_cast<double>(suspect.noops);
    const auto draws = static_cast<double>(suspect.assigned);
    if (hits <= draws * share)
        return 1;
    return tail(logBinomial(hits, draws, share, 1 - share),
                [&](int i) { return (draws - hits - i) / (hits + i + 1) * share / (1 - share); });
}

NoopVerdict judgeNoops(NoopCounts suspect, NoopCounts habit) noexcept
{
    if (suspect.noops == 0)
        return NoopVerdict::Habit;
    const bool known = habit.assigned >= LeastHabit;
    const double probability = known ? probabilityOfNoops(suspect, habit) : probabilityOfNoops(suspect, LargestShare);
    if (probability <= LossProbability)
        return NoopVerdict::Loss;
    return known && probability >= HabitProbability ? NoopVerdict::Habit : NoopVerdict::Unexplained;
}

} // namespace deltascope
