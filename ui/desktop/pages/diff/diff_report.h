#pragma once

#include "pages/diff/diff_contents.h"

#include <QByteArray>
#include <QJsonValue>

namespace deltascope::desktop {

/// A comparison to be saved. Immutable; any thread.
struct DiffReport {
    QString title;
    QString file; ///< without its type
    std::vector<std::pair<QString, QString>> facts;
    QStringList columns;
    std::vector<std::vector<QJsonValue>> rows; ///< most different first; null: not known

    QByteArray csv() const;
    QByteArray jsonLines() const;
    QByteArray markdown() const; ///< facts and the first 20 rows
};

/// `a`, `b`: as they are shown; `run`: for the name of the file.
DiffReport makeReport(const app::DiffView& diff, const QString& run, const QString& a, const QString& b);
DiffReport makeReport(const app::TouchedView& touched, const QString& run);

} // namespace deltascope::desktop
