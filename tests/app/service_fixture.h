#pragma once

#include "deltascope/app/service.h"

#include "support/golden.h"
#include "support/temp_dir.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace deltascope::app {

/// A case of tests/golden in its place.
inline SourceRequest goldenSource(const std::string& name)
{
    SourceRequest request;
    request.source = test::goldenPath(name + "/bucket");
    if (std::filesystem::exists(test::goldenPath(name + "/base")))
        request.base = test::goldenPath(name + "/base");
    return request;
}

/// A copy of a case of tests/golden whose objects were published a minute after each other, or when the case says.
class BucketCopy {
public:
    static constexpr std::int64_t BeginSeconds = 1'700'000'000;
    static constexpr const char* Tensor = "model.layers.0.mlp.down_proj.weight"; ///< of every case with a model

    explicit BucketCopy(const std::string& name)
        : BucketCopy(name, [](const std::string&) { return true; })
    {
    }
    /// Without the objects that are not wanted yet.
    template <class IsWanted>
    BucketCopy(const std::string& name, IsWanted isWanted)
        : m_golden(test::goldenPath(name))
    {
        namespace fs = std::filesystem;
        if (fs::exists(m_golden + "/base"))
            fs::copy(m_golden + "/base", m_folder.path("base"), fs::copy_options::recursive);
        if (std::ifstream times(m_golden + "/mtimes.json"); times)
            m_times = nlohmann::json::parse(times);
        fs::create_directories(path());
        for (const auto& entry : fs::recursive_directory_iterator(m_golden + "/bucket")) {
            const std::string key = fs::relative(entry.path(), m_golden + "/bucket").string();
            if (entry.is_regular_file() && isWanted(key))
                publish(key);
        }
    }

    std::string path() const { return m_folder.path("bucket"); }
    std::string file(const std::string& key) const { return path() + "/" + key; }
    SourceRequest source() const
    {
        SourceRequest request;
        request.source = path();
        if (std::filesystem::exists(m_folder.path("base")))
            request.base = m_folder.path("base");
        return request;
    }

    /// Puts an object of the case in place at once, as writers that rename do.
    void publish(const std::string& key) const
    {
        namespace fs = std::filesystem;
        const std::string temporary = m_folder.path("on-its-way");
        fs::copy_file(m_golden + "/bucket/" + key, temporary, fs::copy_options::overwrite_existing);
        setTime(temporary, timeOf(key));
        fs::create_directories(fs::path(file(key)).parent_path());
        fs::rename(temporary, file(key));
    }
    /// Changes one byte and the time of an object.
    void damage(const std::string& key, std::size_t at) const
    {
        std::string bytes = m_folder.read("bucket/" + key);
        bytes.at(at) ^= 1;
        const std::string temporary = m_folder.write("on-its-way", bytes);
        setTime(temporary, timeOf(key) + 1);
        std::filesystem::rename(temporary, file(key));
    }

private:
    static void setTime(const std::string& file, std::int64_t seconds)
    {
        const auto time = std::chrono::sys_seconds(std::chrono::seconds(seconds));
        std::filesystem::last_write_time(file, std::chrono::file_clock::from_sys(time));
    }
    /// A minute per step; the step is the last number in the folder or name of an object.
    std::int64_t timeOf(const std::string& key) const
    {
        if (m_times.contains(key))
            return m_times[key].get<std::int64_t>();
        const std::size_t zeros = key.find("00");
        return BeginSeconds + (zeros == std::string::npos ? 0 : 60 * std::stoll(key.substr(zeros, 6)));
    }

    test::TempDir m_folder;
    std::string m_golden;
    nlohmann::json m_times = nlohmann::json::object();
};

/// A service with folders of its own, used as its clients do: start a job, take events, get a view.
class ServiceFixture : public testing::Test {
protected:
    ServiceFixture()
    {
        settings.cacheFolder = home.path("cache");
        settings.stateFolder = home.path("state");
        settings.threads = 2;
        startService();
    }

    /// One as it is set now, in place of the one before.
    void startService()
    {
        feed.reset();
        service.reset();
        auto created = Service::create(settings);
        EXPECT_TRUE(created) << created.error().text;
        service = std::move(*created);
        feed = service->subscribe({});
        m_events.clear();
        m_at = 0;
    }

    /// The next event that `wanted` makes something of; an empty one after a minute.
    template <class Wanted> auto next(Wanted wanted) -> decltype(wanted(std::declval<Event&>()))
    {
        const auto giveUp = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < giveUp) {
            for (; m_at < m_events.size(); ++m_at) {
                if (auto made = wanted(m_events[m_at])) {
                    ++m_at;
                    return made;
                }
            }
            feed->wait(100);
            m_events = feed->take();
            m_at = 0;
        }
        ADD_FAILURE() << "what was waited for did not happen";
        return {};
    }
    Result<JobResult> outcomeOf(JobId job)
    {
        auto outcome = next([&](Event& event) -> std::optional<Result<JobResult>> {
            auto* const end = std::get_if<JobFinished>(&event);
            return end && end->job == job ? std::optional(std::move(end->outcome)) : std::nullopt;
        });
        return outcome ? std::move(*outcome) : fail(Code::Internal, "no end");
    }
    template <class View> std::shared_ptr<const View> viewOf(JobId job)
    {
        const auto outcome = outcomeOf(job);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return outcome ? std::get<std::shared_ptr<const View>>(*outcome) : std::make_shared<const View>();
    }
    Error errorOf(JobId job)
    {
        const auto outcome = outcomeOf(job);
        EXPECT_FALSE(outcome);
        return outcome ? Error() : outcome.error();
    }

    test::TempDir home;
    Settings settings; ///< for startService()
    std::unique_ptr<Service> service;
    std::unique_ptr<EventFeed> feed;

private:
    std::vector<Event> m_events; ///< taken
    std::size_t m_at = 0; ///< of them looked at
};

} // namespace deltascope::app
