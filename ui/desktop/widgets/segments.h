#pragma once

#include <QWidget>

class QButtonGroup;

namespace deltascope::desktop {

/// A few choices side by side, one of which holds. Arrow keys move between them. GUI thread.
class Segments final : public QWidget {
    Q_OBJECT

public:
    /// The first one is chosen.
    Segments(const QString& accessibleName, const QStringList& choices, QWidget* parent = nullptr);

    int chosen() const;
    void choose(int index); ///< says nothing

signals:
    void chosenByUser(int index);

private:
    QButtonGroup* m_group;
};

} // namespace deltascope::desktop
