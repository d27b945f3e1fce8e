#pragma once

#include "pages/page.h"
#include "session/session.h"
#include "window/main_window.h"

#include "support/temp_dir.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

namespace deltascope::desktop {

/// A window with the engine inside. Buckets are copies of tests/golden.
class DesktopFixture : public ::testing::Test {
protected:
    DesktopFixture()
    {
        qputenv("DELTASCOPE_HOME", QByteArray::fromStdString(home.path("home")));
        Result<std::unique_ptr<Session>> made = Session::create();
        EXPECT_TRUE(made) << (made ? "" : made.error().text);
        session = std::move(*made);
        window = std::make_unique<MainWindow>(*session);
        window->resize(1600, 1000);
        window->show();
    }
    ~DesktopFixture() override
    {
        window.reset();
        session.reset();
    }

    /// Runs the event loop until `condition` holds, at most for two minutes: a sanitizer and a busy machine take long.
    static bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 120'000); }

    app::SourceRequest golden(const std::string& name) const
    {
        const std::string to = home.path(name);
        std::filesystem::copy(std::string(DELTASCOPE_GOLDEN_DIR "/") + name, to,
                              std::filesystem::copy_options::recursive);
        app::SourceRequest request;
        request.source = to + "/bucket";
        if (std::filesystem::exists(to + "/base"))
            request.base = to + "/base";
        return request;
    }
    /// Opens a copy of a bucket and waits until everything in it was replayed.
    void open(const std::string& name)
    {
        window->openSource(golden(name));
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled;
        })) << name;
    }
    /// A plan of the session's monitor once it is made.
    app::PlanView madePlan(const std::string& run, const app::ActRequest& request)
    {
        Result<app::PlanView> plan = session->monitor().plan(run, request, "somebody");
        EXPECT_TRUE(plan && waitFor([&] {
                        plan = session->monitor().planned(plan->id);
                        return !plan || plan->state != "planning";
                    }));
        return plan.value_or(app::PlanView());
    }
    /// Shows a page and waits until it was refreshed.
    template <class T> T* show(const char* page)
    {
        window->showPage(QString::fromLatin1(page));
        QTest::qWait(50);
        auto* shown = qobject_cast<T*>(window->page());
        EXPECT_TRUE(shown) << page;
        return shown;
    }

    test::TempDir home;
    std::unique_ptr<Session> session;
    std::unique_ptr<MainWindow> window;
};

} // namespace deltascope::desktop
