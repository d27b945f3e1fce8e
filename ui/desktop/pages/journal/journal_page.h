#pragma once

#include "bridge/question.h"
#include "pages/page.h"

#include <QElapsedTimer>

class QPushButton;
class QSplitter;

namespace deltascope::desktop {

class Card;
class FilterField;
class TextTable;

/// What people said about a run and did to it: the journal, the words and pins with their steps, and the notes. GUI
/// thread.
class JournalPage final : public Page {
    Q_OBJECT

public:
    JournalPage(PageContext& context, QWidget* parent = nullptr);

    QLineEdit* filterField() override;
    QAbstractItemView* mainList() override;
    QString exportName() const override { return QStringLiteral("journal.tsv"); }
    QByteArray exportText() override;
    std::optional<StepId> stepAtCursor() override; ///< of the selected word or note, where it has the focus

    TextTable& journal() { return *m_journal; }
    TextTable& words() { return *m_words; }
    TextTable& notes() { return *m_notes; }

protected:
    void refresh() override;
    void cursorMoved() override { } // nothing here is about B
    void runOpened() override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    struct Part {
        Card* card;
        TextTable* table;
        QLabel* nothing;
        QString none; ///< said where there is none
    };
    Part makePart(const QString& title, TextTable* table, const QString& nothing);
    void ask();
    void take(const Result<app::JobResult>& answer);
    void showSaid();
    std::optional<StepId> stepOf(const TextTable& table) const;
    void goTo(const TextTable& table);
    void removeWord();
    void showButtons();

    Question m_question;
    app::AnnotationsView m_said;
    std::vector<app::RefView> m_seenRefs; ///< of the run, when m_said was asked for
    bool m_first = true; ///< nothing was read of this run yet
    bool m_unread = false; ///< journal and notes could not be read
    bool m_old = true; ///< something happened since m_said was asked for
    QElapsedTimer m_asked;
    QSplitter* m_halves;
    FilterField* m_filter;
    QLabel* m_message;
    TextTable* m_journal;
    TextTable* m_words;
    TextTable* m_notes;
    QPushButton* m_go;
    QPushButton* m_remove;
    std::vector<Part> m_parts;
};

} // namespace deltascope::desktop
