#include "configuration.h"

#include "small_file.h"

#define TOML_EXCEPTIONS 0
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <toml++/toml.h>

namespace deltascope::app {

namespace {

constexpr double HighestPrice = 1e6;
constexpr std::size_t LargestConfiguration = 1U << 20;

std::string lineOf(const toml::node& node) { return fmt::format("line {}", node.source().begin.line); }

class ConfigurationReader {
public:
    explicit ConfigurationReader(const std::string& where)
        : m_where(where)
    {
    }

    Result<Configuration> read(const toml::table& file)
    {
        for (const auto& [key, node] : file) {
            if (key.str() == "prices")
                DS_CHECK(readPrices(node));
            else
                warn(std::string(key.str()), node);
        }
        std::sort(m_warnings.begin(), m_warnings.end());
        for (auto& [line, text] : m_warnings)
            m_out.warnings.push_back(std::move(text));
        return std::move(m_out);
    }

private:
    Result<void> readPrices(const toml::node& node)
    {
        DS_TRY(const toml::table* const table, asTable("prices", node));
        for (const auto& [key, value] : *table) {
            const std::string name(key.str());
            const toml::table* const prices = value.as_table();
            if (!prices) {
                DS_CHECK(readPrice(m_out.anyPrices, name, "prices." + name, value));
                continue;
            }
            StorePrices& ofStore = m_out.prices[name];
            for (const auto& [inner, price] : *prices)
                DS_CHECK(readPrice(ofStore, std::string(inner.str()), fmt::format("prices.{}.{}", name, inner.str()),
                                   price));
        }
        return {};
    }

    Result<void> readPrice(StorePrices& prices, const std::string& key, const std::string& path, const toml::node& node)
    {
        std::optional<double>* const place = key == "per_gb" ? &prices.perGb
            : key == "per_1000_requests"                     ? &prices.perThousandRequests
                                                             : nullptr;
        if (!place) {
            warn(path, node);
            return {};
        }
        if (!node.is_number())
            return wrong(node, path + " is no number");
        const double price = *node.value<double>();
        if (!(price >= 0 && price <= HighestPrice)) // false for what is no number
            return wrong(node, fmt::format("{} is {}; it must lie between 0 and {}", path, price, HighestPrice));
        *place = price;
        return {};
    }

    Result<const toml::table*> asTable(const std::string& path, const toml::node& node) const
    {
        if (const toml::table* const table = node.as_table())
            return table;
        return wrong(node, path + " is no table");
    }

    tl::unexpected<Error> wrong(const toml::node& node, const std::string& text) const
    {
        return fail(Code::Usage, fmt::format("{}: {}", lineOf(node), text), m_where, "mend the configuration file");
    }

    void warn(const std::string& path, const toml::node& node)
    {
        m_warnings.emplace_back(node.source().begin.line,
                                fmt::format("{}: {} means nothing to this version", lineOf(node), path));
    }

    const std::string& m_where;
    Configuration m_out;
    std::vector<std::pair<std::uint32_t, std::string>> m_warnings; ///< with their lines
};

}

StorePrices Configuration::pricesOf(std::string_view uri) const
{
    StorePrices prices = anyPrices;
    if (const auto ofStore = this->prices.find(uri.substr(0, uri.find(':'))); ofStore != this->prices.end()) {
        if (ofStore->second.perGb)
            prices.perGb = ofStore->second.perGb;
        if (ofStore->second.perThousandRequests)
            prices.perThousandRequests = ofStore->second.perThousandRequests;
    }
    return prices;
}

Result<Configuration> parseConfiguration(std::string_view text, const std::string& where)
{
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return fail(Code::Usage,
                    fmt::format("line {}, column {}: {}", error.source().begin.line, error.source().begin.column,
                                error.description()),
                    where, "mend the configuration file");
    }
    return ConfigurationReader(where).read(parsed.table());
}

Result<Configuration> readConfiguration(const std::string& path)
{
    std::error_code error;
    if (path.empty() || (!std::filesystem::exists(path, error) && !error))
        return Configuration();
    DS_TRY(const std::string text, readSmallFile(path, "configuration file", LargestConfiguration));
    return parseConfiguration(text, path);
}

} // namespace deltascope::app
