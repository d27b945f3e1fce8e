#include "desktop_fixture.h"
#include "page_text.h"

#include "bundle/bundle.h"
#include "bundle/zip.h"
#include "recorded/bundle_archive.h"

#include "acts/materialize_sheet.h"
#include "pages/pages.h"
#include "window/server_windows.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>

// The window on a bundle: what it shows is what the run's own window showed.

namespace deltascope::desktop {
namespace {

class BundleWindow : public DesktopFixture {
protected:
    BundleWindow()
    {
        QSettings().clear();
        QObject::connect(window.get(), &MainWindow::bundleWanted, &windows,
                         [this](const QString& file) { windows.openBundle(window.get(), file); });
    }

    /// Opens a bucket of which ages are told in hours, and exports it.
    std::string exportOf(const char* bucket)
    {
        const app::SourceRequest request = golden(bucket);
        const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(50);
        for (const auto& file : std::filesystem::recursive_directory_iterator(request.source.text()))
            std::filesystem::last_write_time(file.path(), before);
        window->openSource(request);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->settled && run->verified.size() >= 15;
        }));
        const std::string path = home.path("run.dscope");
        const auto done = bundle::exportBundle(session->service(), request, path, [] { return false; });
        EXPECT_TRUE(done) << done.error().text;
        return path;
    }
    MainWindow* opened() const
    {
        EXPECT_TRUE(waitFor([this] { return windows.count() == 1; }));
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            auto* found = qobject_cast<MainWindow*>(widget);
            if (found && found != window.get() && found->isVisible())
                return found;
        }
        return nullptr;
    }
    MainWindow* open(const std::string& path)
    {
        windows.openBundle(window.get(), QString::fromStdString(path));
        MainWindow* shown = opened();
        if (shown)
            shown->resize(window->size());
        return shown;
    }

    ServerWindows windows;
};

TEST_F(BundleWindow, SaysThatItsVerdictsWereMadeByOlderRules)
{
    const std::string path = exportOf("trl-v2-gap");
    const auto archive = app::BundleArchive::open(path);
    ASSERT_TRUE(archive);
    auto made = bundle::ZipArchive::create();
    for (const char* name : { "manifest.json", "snapshot.json", "listing.json", "alerts.jsonl", "counts.jsonl" }) {
        std::string text = archive->read(name, UINT32_MAX).value();
        if (const std::size_t at = text.find("\"format_version\": 3"); at != std::string::npos)
            text.replace(at, 19, "\"format_version\": 2");
        ASSERT_TRUE(made->add(name, text));
    }
    MainWindow* recorded = open(home.write("old.dscope", made->finish().value()));
    ASSERT_TRUE(recorded);
    const auto says = [&](const char* id) {
        recorded->showPage(QString::fromLatin1(id));
        const QString old = QStringLiteral("by older rules: do not rely on them");
        return std::pair(said(*recorded->page()).contains(old), said(*recorded->statusBar()).contains(old));
    };
    EXPECT_TRUE(waitFor([&] { return says("live") == std::pair(true, true); }));
    EXPECT_TRUE(says("lineage").second);
    recorded->showPage(QStringLiteral("journal"));
    EXPECT_TRUE(waitFor([&] { return said(*recorded->page()).contains(QStringLiteral("Not known")); }))
        << said(*recorded->page()).toStdString();
    EXPECT_FALSE(said(*recorded->page()).contains(QStringLiteral("Nothing was done"))) << "it kept no journal";
}

TEST_F(BundleWindow, ItsPagesSayWhatTheRunsOwnSaid)
{
    MainWindow* recorded = open(exportOf("trl-v2-gap"));
    ASSERT_TRUE(recorded);
    for (const char* id : { "live", "heatmap", "timeline", "lineage", "bucket", "tensors", "alerts", "journal" }) {
        window->showPage(QString::fromLatin1(id));
        recorded->showPage(QString::fromLatin1(id));
        ASSERT_TRUE(recorded->page()) << id;
        std::string here;
        std::string there;
        EXPECT_TRUE(waitFor([&] {
            here = textOf(*window->page());
            there = textOf(*recorded->page());
            return here == there && here.size() > 100;
        })) << id
            << "\n--- here:\n"
            << here << "\n--- there:\n"
            << there;
    }
    const QString name = QString::fromStdString(window->focus().run()->name);
    EXPECT_EQ(recorded->windowTitle(), QStringLiteral("%1 (bundle) – Deltascope").arg(name));
    EXPECT_TRUE(said(*recorded->statusBar()).contains(QStringLiteral("run.dscope, recorded ")));
    EXPECT_FALSE(said(*recorded).contains(QStringLiteral("contact"), Qt::CaseInsensitive));
    EXPECT_FALSE(recorded->actions().action(QStringLiteral("source.open"))->isEnabled());
    EXPECT_FALSE(recorded->actions().action(QStringLiteral("source.all"))->isEnabled());
}

TEST_F(BundleWindow, MaterializeIsRefusedWithTheReason)
{
    MainWindow* recorded = open(exportOf("trl-v2-gap"));
    ASSERT_TRUE(recorded);
    recorded->actions().trigger(QStringLiteral("run.materialize"));
    auto* sheet = recorded->findChild<MaterializeSheet*>();
    ASSERT_TRUE(sheet);
    EXPECT_TRUE(waitFor([sheet] { return said(*sheet).contains(QStringLiteral("a bundle holds no weights")); }));
    EXPECT_TRUE(said(*sheet).contains(QString::fromStdString(recorded->focus().run()->source)));
    EXPECT_FALSE(said(*sheet).contains(QStringLiteral("run.dscope")));
    EXPECT_FALSE(sheet->findChild<QPushButton*>(QStringLiteral("act"))->isEnabled());
    sheet->reject();
}

TEST_F(BundleWindow, OffersNoActThatWritesToTheRun)
{
    const QStringList acts { QStringLiteral("run.rollBack"), QStringLiteral("act.ref"), QStringLiteral("act.pin"),
                             QStringLiteral("act.note") };
    MainWindow* recorded = open(exportOf("trl-v2-gap"));
    ASSERT_TRUE(recorded);
    for (const QString& act : acts) {
        EXPECT_TRUE(window->actions().isEnabled(act)) << act.toStdString();
        EXPECT_FALSE(recorded->actions().isEnabled(act)) << act.toStdString();
    }
    recorded->showPage(QStringLiteral("journal"));
    EXPECT_TRUE(waitFor([&] { return said(*recorded->page()).contains(QStringLiteral("Nothing was done")); }))
        << said(*recorded->page()).toStdString();
}

TEST_F(BundleWindow, OpensFromWhereverItIsNamed)
{
    const QString path = QString::fromStdString(exportOf("trl-v2-gap"));
    const QString shown = window->focus().id();
    const auto closeIt = [this] {
        MainWindow* recorded = opened();
        ASSERT_TRUE(recorded);
        recorded->close();
        EXPECT_TRUE(waitFor([this] { return windows.count() == 0; }));
    };
    app::SourceRequest request;
    request.source = path.toStdString();
    window->openSource(request);
    closeIt();
    request.source = QUrl::fromLocalFile(path).toString().toStdString();
    window->openSource(request);
    closeIt();
    QMimeData dragged;
    dragged.setUrls({ QUrl::fromLocalFile(path) });
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    closeIt();
    EXPECT_EQ(window->focus().id(), shown);
}

TEST_F(BundleWindow, FoldersAndAddressesAreNoBundles)
{
    EXPECT_EQ(Session::bundleFile(home.path("gone.DSCOPE")), QString::fromStdString(home.path("gone.DSCOPE")));
    EXPECT_TRUE(Session::bundleFile(home.write("folder.dscope/file", "")).isEmpty());
    EXPECT_TRUE(Session::bundleFile(home.path("folder.dscope")).isEmpty());
    EXPECT_TRUE(Session::bundleFile("s3://bucket/run.dscope").isEmpty());
    EXPECT_TRUE(Session::bundleFile("").isEmpty());
}

TEST_F(BundleWindow, WhatCannotBeOpenedIsSaid)
{
    const std::string path = home.write("broken.dscope", "no archive");
    windows.openBundle(window.get(), QString::fromStdString(path));
    const QMessageBox* box = nullptr;
    ASSERT_TRUE(waitFor([&] {
        box = window->findChild<QMessageBox*>(QStringLiteral("refused"));
        return box != nullptr;
    }));
    EXPECT_TRUE(box->text().contains(QStringLiteral("no bundle")));
    EXPECT_TRUE(box->informativeText().contains(QString::fromStdString(path)));
    EXPECT_EQ(windows.count(), 0U);
}

}
} // namespace deltascope::desktop
