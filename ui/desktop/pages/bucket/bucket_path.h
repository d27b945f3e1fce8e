#pragma once

#include <QWidget>

#include <string>

class QHBoxLayout;

namespace deltascope::desktop {

/// The source and the folders down to the one that is shown; each is a button. GUI thread.
class BucketPath final : public QWidget {
    Q_OBJECT

public:
    explicit BucketPath(QWidget* parent = nullptr);
    void showFolder(const std::string& source, const std::string& prefix);

signals:
    void chosen(const std::string& prefix);

private:
    void add(const QString& text, const QString& tip, const std::string& prefix, bool last);

    QHBoxLayout* m_row;
    std::string m_source;
    std::string m_prefix;
    bool m_shown = false;
};

} // namespace deltascope::desktop
