#pragma once

#include "deltascope/app/monitor.h"

#include "service_fixture.h"
#include "support/sanitizer.h"
#include "trl_anchor.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace deltascope::app {

/// A monitor that is listened to.
class MonitorFixture : public ServiceFixture {
protected:
    MonitorFixture()
    {
        options.outputFolder = home.path("out");
        open(2);
    }
    ~MonitorFixture() override { close(); }

    void open(int verifyLevel)
    {
        close();
        options.verifyLevel = verifyLevel;
        monitor = Monitor::create(*service, options);
        m_listening = monitor->listen([this](const MonitorEvent& event) {
            const std::lock_guard lock(m_mutex);
            m_told.push_back(event);
            m_changed.notify_all();
        });
    }
    void close()
    {
        m_listening.reset();
        monitor.reset();
        m_told.clear();
    }

    /// As if the program ended and was started again.
    void restart()
    {
        close();
        startService();
        open(options.verifyLevel);
    }

    /// Whether an event comes, or came since the last call, that `wanted` likes.
    bool happens(const std::function<bool(const MonitorEvent&)>& wanted)
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(60), [&] {
            while (!m_told.empty()) {
                const MonitorEvent event = std::move(m_told.front());
                m_told.pop_front();
                if (wanted(event))
                    return true;
            }
            return false;
        });
    }
    using Snapshot = std::shared_ptr<const RunSnapshot>;
    /// The run once it is as wanted.
    Snapshot runWhen(const std::string& id, const std::function<bool(const RunSnapshot&)>& wanted)
    {
        if (Snapshot now = monitor->run(id); now && wanted(*now))
            return now;
        Snapshot found;
        EXPECT_TRUE(happens([&](const MonitorEvent& event) {
            const auto* moved = std::get_if<RunMoved>(&event);
            if (moved && moved->now->id == id && wanted(*moved->now))
                found = moved->now;
            return found != nullptr;
        })) << id;
        return found ? found : std::make_shared<const RunSnapshot>();
    }
    /// The run once everything in it was replayed.
    Snapshot settledRun(const std::string& id)
    {
        return runWhen(id, [](const RunSnapshot& run) { return run.run && run.run->settled; });
    }
    /// The id of a run once everything in it was replayed.
    std::string followed(const SourceRequest& source)
    {
        const std::string id = monitor->follow(source, "", false);
        settledRun(id);
        return id;
    }
    TaskView endOf(const std::string& task)
    {
        std::optional<TaskView> now = monitor->task(task);
        if (!now || isOver(*now))
            return now.value_or(TaskView());
        EXPECT_TRUE(happens([&](const MonitorEvent& event) {
            const auto* moved = std::get_if<TaskMoved>(&event);
            if (moved && moved->task.id == task && isOver(moved->task))
                now = moved->task;
            return isOver(*now);
        })) << task;
        return *now;
    }

    /// The plan once it is made, or could not be made.
    PlanView made(const std::string& id)
    {
        const auto giveUp = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (;;) {
            const Result<PlanView> plan = monitor->planned(id);
            EXPECT_TRUE(plan);
            if (!plan || plan->state != "planning" || std::chrono::steady_clock::now() > giveUp)
                return plan.value_or(PlanView());
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    PlanView planOf(const std::string& run, const ActRequest& request)
    {
        const auto asked = monitor->plan(run, request, "somebody");
        EXPECT_TRUE(asked) << asked.error().text;
        return asked ? made(asked->id) : PlanView();
    }
    TaskView start(const std::string& run, const ActRequest& request)
    {
        const PlanView plan = planOf(run, request);
        const auto task = monitor->start(plan.id, plan.hash, "somebody");
        EXPECT_TRUE(task) << task.error().text;
        return task.value_or(TaskView());
    }
    static MaterializeArgs materialize(std::string step, std::string to = {})
    {
        MaterializeArgs plan;
        plan.step = std::move(step);
        plan.to = std::move(to);
        return plan;
    }

    /// A run of one anchor of 64 MiB, whose acts take a while.
    SourceRequest largeRun() const
    {
        std::vector<TensorInfo> tensors;
        for (int i = 0; i < (test::UnderSanitizer ? 8 : 32); ++i) // enough to be paused in the middle
            tensors.push_back({ "model.layers." + std::to_string(i) + ".weight", Dtype::BF16, { 1024, 1024 } });
        home.write("large/anchors/step_000001.safetensors", trlAnchor(1, tensors));
        SourceRequest source;
        source.source = home.path("large");
        return source;
    }

    MonitorOptions options; ///< for open()
    std::unique_ptr<Monitor> monitor;

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<MonitorEvent> m_told; ///< not looked at yet
    std::shared_ptr<void> m_listening;
};

} // namespace deltascope::app
