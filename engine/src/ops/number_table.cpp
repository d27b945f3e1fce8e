#include "number_table.h"

#include "deltascope/engine/number_format.h"

#include <array>
#include <mutex>

namespace deltascope {

namespace {

std::vector<double> makeTable(Dtype dtype)
{
    std::vector<double> table;
    const auto fill = [&table](auto format) {
        using Format = decltype(format);
        if constexpr (Format::Width <= 16) {
            for (std::size_t bits = 0; bits < std::size_t { 1 } << Format::Width; ++bits)
                table.push_back(numberOf(format, static_cast<typename Format::Bits>(bits)));
        }
    };
    withNumbers(dtype, fill, fill);
    return table;
}

}

const std::vector<double>& numberTable(Dtype dtype)
{
    constexpr std::size_t Types = static_cast<std::size_t>(Dtype::U64) + 1;
    static std::array<std::once_flag, Types> made;
    static std::array<std::vector<double>, Types> tables;
    const auto type = static_cast<std::size_t>(dtype);
    std::call_once(made[type], [&] { tables[type] = makeTable(dtype); });
    return tables[type];
}

} // namespace deltascope
