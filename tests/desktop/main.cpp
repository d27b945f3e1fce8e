#include "canvas/canvas_accessible.h"
#include "integration/watched_application.h"
#include "look/look.h"

#include <QTemporaryDir>

#include <gtest/gtest.h>

// One application for all tests of a process; configuration and state are in a folder of their own.
int main(int count, char** words)
{
    const QTemporaryDir home;
    qputenv("DELTASCOPE_HOME", home.path().toUtf8());
    qputenv("XDG_CONFIG_HOME", home.path().toUtf8());
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    ::testing::InitGoogleTest(&count, words);
    deltascope::desktop::installCanvasAccessibility();
    deltascope::desktop::WatchedApplication application(count, words);
    QApplication::setOrganizationName(QStringLiteral("deltascope"));
    QApplication::setApplicationName(QStringLiteral("deltascope-desktop-tests"));
    applyLook(application, deltascope::desktop::Appearance::Light, deltascope::desktop::Density::Comfortable);
    return RUN_ALL_TESTS();
}
