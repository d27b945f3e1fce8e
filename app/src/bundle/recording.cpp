#include "recording.h"

#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/series_view.h"
#include "view/json_parts.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <utility>

namespace deltascope::bundle {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t MostTiles = 256; ///< 64 kB each
constexpr std::size_t MostStepDetails = 50; ///< each opens the run
constexpr std::size_t AskedAtOnce = 4;
constexpr std::size_t MostKeys = 5'000;
constexpr std::size_t MostSpans = 5'000; ///< that the API tells of one epoch
constexpr std::ptrdiff_t MostEntries = 5'000; ///< of the journal, and as many notes

using Query = std::map<std::string, std::string, std::less<>>;

/// One level of the heatmap: how many rows and columns are merged, and the tiles that makes.
struct Level {
    unsigned y = 0, x = 0;
    std::size_t tilesY = 1, tilesX = 1;

    std::size_t tiles() const { return tilesY * tilesX; }
};

/// Coarse ones first.
std::vector<Level> levelsOf(std::size_t rows, std::size_t columns)
{
    const auto tiles = [](std::size_t cells, unsigned level) {
        const std::size_t covered = app::HeatTile::Side << level;
        return std::max<std::size_t>(1, (cells + covered - 1) / covered);
    };
    std::vector<Level> levels;
    for (unsigned y = 0; y < app::heatLevels(rows); ++y) {
        for (unsigned x = 0; x < app::heatLevels(columns); ++x)
            levels.push_back({ y, x, tiles(rows, y), tiles(columns, x) });
    }
    std::stable_sort(levels.begin(), levels.end(),
                     [](const Level& a, const Level& b) { return a.tiles() < b.tiles(); });
    return levels;
}

/// Whether the version that was asked about is not the one that the run had.
bool isOfAnother(Code code)
{
    return code == Code::NotFound || code == Code::Rewritten || code == Code::Vanished || code == Code::Retired;
}

class Recorder {
public:
    Recorder(server::Api& api, const std::string& run, const Stopped& stopped)
        : m_api(api)
        , m_stopped(stopped)
        , m_base("runs/" + run)
    {
        m_out.run = run;
    }

    Result<Recording> record()
    {
        for (const char* address : { "capabilities", "runs", "tasks", "alerts" })
            DS_CHECK(keep(address));
        const ordered_json alerts = m_out.answer("alerts");
        for (const ordered_json& rule : alerts["rules"]) {
            const auto id = rule.at("id").get<std::string>();
            DS_CHECK(keep("alerts/backtest", { { "run", m_out.run }, { "rule", id } }, "alerts/backtest?rule=" + id));
        }
        for (const char* what : { "", "/lineage", "/replicas" })
            DS_CHECK(keep(m_base + what));
        DS_CHECK(keepAnnotations());
        DS_CHECK(keepSteps());
        for (const int epoch : m_out.epochs)
            DS_CHECK(keepEpoch(epoch));
        DS_CHECK(keepStepDetails());
        DS_CHECK(keepObjects());
        DS_CHECK(keepListing());
        return std::move(m_out);
    }

private:
    std::future<server::HttpResponse> send(const std::string& address, const Query& query)
    {
        const auto promise = std::make_shared<std::promise<server::HttpResponse>>();
        m_api.handle({ "GET", "/api/v1/" + address, query, {}, { "bundle", server::Scope::Read } },
                     [promise](server::HttpResponse response) { promise->set_value(std::move(response)); });
        return promise->get_future();
    }

    static Result<std::string> bodyOf(server::HttpResponse response, const std::string& address)
    {
        if (response.status == 200)
            return std::move(response.body);
        const ordered_json problem = ordered_json::parse(response.body, nullptr, false);
        const auto text = [&](const char* key) {
            return problem.is_object() ? problem.value(key, std::string()) : std::string();
        };
        return fail(parseCode(text("code")).value_or(Code::Internal), text("detail"), address, text("hint"));
    }

    Result<void> goesOn() const
    {
        if (m_stopped())
            return fail(Code::Canceled, "stopped; no bundle was made");
        return {};
    }

    Result<std::string> ask(const std::string& address, const Query& query)
    {
        DS_CHECK(goesOn());
        return bodyOf(send(address, query).get(), address);
    }

    /// What takes long to answer, several at a time. Returns how many are of versions that were replaced or removed
    /// since the run was looked at.
    Result<std::size_t> keepAll(const std::vector<std::string>& addresses)
    {
        std::deque<std::pair<const std::string*, std::future<server::HttpResponse>>> sent;
        Result<std::size_t> outcome { 0 };
        const auto receive = [&] {
            const std::string& address = *sent.front().first;
            Result<std::string> body = bodyOf(sent.front().second.get(), address);
            if (body)
                m_out.answers[address] = std::move(*body);
            else if (outcome && isOfAnother(body.error().code))
                ++*outcome;
            else if (outcome)
                outcome = fail(std::move(body.error()));
            sent.pop_front();
        };
        for (const std::string& address : addresses) {
            if (sent.size() == AskedAtOnce)
                receive();
            if (const Result<void> going = goesOn(); outcome && !going)
                outcome = fail(going.error());
            if (!outcome)
                break;
            sent.emplace_back(&address, send(address, {}));
        }
        while (!sent.empty())
            receive();
        return outcome;
    }

    Result<ordered_json> askJson(const std::string& address, const Query& query = {})
    {
        DS_TRY(const std::string body, ask(address, query));
        return ordered_json::parse(body);
    }

    Result<void> keep(const std::string& address, const Query& query = {}, const std::string& as = {})
    {
        DS_TRY(m_out.answers[as.empty() ? address : as], ask(address, query));
        return {};
    }

    /// An answer that comes in pages, as one: `list` is the field that grows. Stops behind `most` entries.
    Result<ordered_json> askPages(const std::string& address, Query query, const char* list, std::size_t most)
    {
        DS_TRY(ordered_json whole, askJson(address, query));
        while (!whole["next_cursor"].is_null() && whole[list].size() < most) {
            query["cursor"] = whole["next_cursor"].get<std::string>();
            DS_TRY(const ordered_json page, askJson(address, query));
            whole[list].insert(whole[list].end(), page[list].begin(), page[list].end());
            whole["next_cursor"] = page["next_cursor"];
        }
        return whole;
    }

    /// Words, notes and the journal, the newest entries of each.
    Result<void> keepAnnotations()
    {
        DS_TRY(ordered_json said, askJson(m_base + "/annotations"));
        for (const auto& [list, what] :
             { std::pair("notes", "notes"), std::pair("journal", "entries of the journal") }) {
            ordered_json& entries = said[list];
            if (entries.size() <= MostEntries)
                continue;
            m_out.leftOut.push_back(fmt::format("{} before the newest {}", what, MostEntries));
            entries.erase(entries.begin(), entries.end() - MostEntries);
        }
        m_out.answers[m_base + "/annotations"] = app::dump(said);
        return {};
    }

    Result<void> keepSteps()
    {
        DS_TRY(ordered_json steps, askPages(m_base + "/steps", {}, "steps", SIZE_MAX));
        for (const ordered_json& step : steps["steps"]) {
            const int epoch = step.at("epoch").get<int>();
            if (m_out.epochs.empty() || m_out.epochs.back() != epoch)
                m_out.epochs.push_back(epoch);
        }
        steps["epochs"] = m_out.epochs;
        m_out.answers[m_base + "/steps"] = app::dump(steps);
        return {};
    }

    Result<void> keepEpoch(int epoch)
    {
        std::string names;
        for (const std::string_view name : app::seriesNames())
            names += fmt::format("{}{}", names.empty() ? "" : ",", name);
        const std::string text = std::to_string(epoch);
        const std::string end = "?epoch=" + text;
        DS_CHECK(keep(m_base + "/series", { { "epoch", text }, { "names", names }, { "px", "0" } },
                      m_base + "/series" + end));
        DS_CHECK(keep(m_base + "/timeline", { { "epoch", text } }, m_base + "/timeline" + end));
        if (m_out.of("timeline" + end)["spans"].size() >= MostSpans)
            m_out.leftOut.push_back(fmt::format("single spans of epoch {} before its newest {}", epoch, MostSpans));
        const Result<void> heat = keepHeat(epoch, end);
        if (!heat && heat.error().code != Code::Transient) // which it is while nothing was replayed
            return heat;
        if (!heat)
            m_out.leftOut.push_back(fmt::format("a heatmap of epoch {}, of which nothing can be replayed", epoch));
        return {};
    }

    Result<void> keepHeat(int epoch, const std::string& end)
    {
        const Query query { { "epoch", std::to_string(epoch) } };
        DS_CHECK(keep(m_base + "/tensors", query, m_base + "/tensors" + end));
        DS_CHECK(keep(m_base + "/heat", query, m_base + "/heat" + end));
        const ordered_json index = m_out.of("heat" + end);
        std::size_t left = 0;
        for (const Level& level : levelsOf(index["rows"].get<std::size_t>(), index["columns"].size())) {
            if (m_out.tiles.size() + 2 * level.tiles() > MostTiles) {
                ++left;
                continue;
            }
            DS_CHECK(keepTiles(level, query, end));
        }
        if (left > 0)
            m_out.leftOut.push_back(fmt::format("the {} finest levels of the heatmap of epoch {}", left, epoch));
        return {};
    }

    Result<void> keepTiles(const Level& level, const Query& query, const std::string& end)
    {
        for (const char* pool : { "max", "mean" }) {
            for (std::size_t tile = 0; tile < level.tiles(); ++tile) {
                const std::string address = fmt::format("{}/heat/{}/{}/{}/{}/{}", m_base, pool, level.y, level.x,
                                                        tile / level.tilesX, tile % level.tilesX);
                DS_TRY(m_out.tiles[address + end], ask(address, query));
            }
        }
        return {};
    }

    Result<void> keepStepDetails()
    {
        const ordered_json steps = m_out.of("steps").at("steps");
        std::vector<std::string> addresses;
        for (std::size_t at = steps.size(); at-- > 0;) {
            const ordered_json& step = steps[at];
            if (step["kind"] == "gap")
                continue;
            if (addresses.size() == MostStepDetails) {
                m_out.leftOut.push_back(fmt::format("tensors of single steps before the newest {}", MostStepDetails));
                break;
            }
            addresses.push_back(
                fmt::format("{}/steps/{}:{}", m_base, step["epoch"].get<int>(), step["step"].get<std::int64_t>()));
        }
        DS_TRY(const std::size_t gone, keepAll(addresses));
        if (gone > 0)
            m_out.leftOut.push_back(
                fmt::format("tensors of {} that changed or went during the export", app::counted(gone, "step")));
        return {};
    }

    Result<void> keepObjects()
    {
        std::deque<std::string> folders { "" };
        std::size_t kept = 0;
        for (; !folders.empty() && kept < MostKeys; folders.pop_front()) {
            const std::string& prefix = folders.front();
            DS_TRY(ordered_json page,
                   askPages(m_base + "/objects", { { "prefix", prefix }, { "limit", "1000" } }, "objects",
                            MostKeys - kept));
            for (const ordered_json& object : page["objects"]) {
                if (object.at("folder").get<bool>())
                    folders.push_back(object.at("key").get<std::string>());
            }
            kept += page["objects"].size();
            if (!page["next_cursor"].is_null())
                m_out.leftOut.push_back(fmt::format("keys behind the first {} of one folder", page["objects"].size()));
            page["next_cursor"] = nullptr;
            m_out.answers[m_base + "/objects?prefix=" + prefix] = app::dump(page);
        }
        if (!folders.empty())
            m_out.leftOut.push_back(fmt::format("the keys of {} folders", folders.size()));
        return {};
    }

    Result<void> keepListing()
    {
        DS_TRY(m_out.listing, askJson(m_base + "/objects/all"));
        ordered_json& objects = m_out.listing["objects"];
        if (objects.size() > MostKeys) {
            m_out.leftOut.push_back(fmt::format("keys behind the first {} of the whole listing", MostKeys));
            objects.erase(objects.begin() + MostKeys, objects.end());
        }
        return {};
    }

    server::Api& m_api;
    const Stopped& m_stopped;
    const std::string m_base;
    Recording m_out;
};

}

Result<Recording> record(server::Api& api, const std::string& run, const Stopped& stopped)
{
    return Recorder(api, run, stopped).record();
}

} // namespace deltascope::bundle
