#pragma once

#include <QFrame>
#include <QLabel>

class QHBoxLayout;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace deltascope::desktop {

/// A label in one of the roles of look.h.
QLabel* makeLabel(const QString& text, const char* role, QWidget* parent = nullptr);
void dressLabel(QLabel* label, const char* role);
QPushButton* makeButton(const QString& text, const QString& iconName = {}, const char* role = nullptr,
                        QWidget* parent = nullptr);
QFrame* makeLine(QWidget* parent = nullptr);

/// A raised rectangle with a title row of 28 px and room below it.
class Card : public QFrame {
    Q_OBJECT

public:
    explicit Card(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setNote(const QString& text); ///< muted, beside the title: unit and meaning
    QHBoxLayout* header() { return m_header; } ///< what is added stands at the right
    QVBoxLayout* content() { return m_content; }

private:
    QLabel* m_title;
    QLabel* m_note;
    QHBoxLayout* m_header;
    QVBoxLayout* m_content;
};

/// A line for a shell, in a fixed font, with a button that copies it.
class CommandLine final : public QFrame {
    Q_OBJECT

public:
    explicit CommandLine(QWidget* parent = nullptr);
    void setCommand(const QString& command);
    QString command() const;
    QToolButton* copyButton() { return m_copy; }

private:
    QLabel* m_text;
    QToolButton* m_copy;
};

} // namespace deltascope::desktop
