#pragma once

#include "bridge/calculation.h"
#include "pages/page.h"

#include <QDialog>

#include <functional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace deltascope::desktop {

/// One thing that can be found.
struct Finding {
    QString text;
    QString note; ///< what it is, or its shortcut
    QString icon;
    std::function<void()> open;
    int score = 0; ///< the higher, the earlier
    QString command {}; ///< of the command line, that does the same; empty: none
};

/// How well a text fits what was typed: all letters in order; 0: it does not. Case does not matter.
int fuzzyScore(const QString& text, const QString& typed);

/// One field that finds steps, tensors and commands: '>' commands only, '#' a step, '/' a tensor.
class Omnibox final : public QDialog {
    Q_OBJECT

public:
    /// `typed`: what stands in the field at first, such as ">".
    Omnibox(PageContext& context, const QString& typed, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void search(const QString& typed);
    void addCommands(const QString& typed, std::vector<Finding>& found) const;
    void addSteps(const QString& typed, std::vector<Finding>& found) const;
    void searchTensors(const QString& typed);
    void showFound(std::vector<Finding> found);
    void choose();

    PageContext& m_context;
    QLineEdit* m_field;
    QListWidget* m_list;
    std::vector<Finding> m_found; ///< as shown
    Calculation<std::vector<std::pair<int, std::string>>> m_tensors;
};

} // namespace deltascope::desktop
