#include "monitor/neighbors.h"

#include "deltascope/engine/provenance.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t MostProvenanceBytes = std::uintmax_t { 16 } << 20;
constexpr int MostNeighbors = 1000;

/// Empty: it is no checkpoint of ours, or cannot be read.
std::string sourceOf(const fs::path& checkpoint)
{
    std::error_code error;
    const fs::path file = checkpoint / ProvenanceName;
    if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > MostProvenanceBytes || error)
        return {};
    std::ifstream stream(file);
    const nlohmann::json document = nlohmann::json::parse(stream, nullptr, false);
    const auto source = document.is_object() ? document.find("source") : document.end();
    return source != document.end() && source->is_string() ? source->get<std::string>() : std::string();
}

} // namespace

std::optional<std::string> foreignNeighbor(const std::string& destination, const std::string& source)
{
    std::optional<std::string> foreign;
    std::error_code error;
    fs::directory_iterator entry(fs::path(destination).parent_path(), error);
    for (int i = 0; !error && i < MostNeighbors && entry != fs::directory_iterator(); ++i, entry.increment(error)) {
        const std::string other = sourceOf(entry->path());
        if (other == source)
            return std::nullopt;
        if (!other.empty() && !foreign)
            foreign = other;
    }
    return foreign;
}

} // namespace deltascope::app
