#include "pages/journal/journal_page.h"

#include "actions/action_registry.h"
#include "acts/act_sheet.h"
#include "acts/act_words.h"
#include "look/format.h"
#include "look/look.h"
#include "look/marks.h"
#include "pages/journal/journal_rows.h"
#include "widgets/cards.h"
#include "widgets/filter_field.h"
#include "widgets/text_table.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace deltascope::desktop {

namespace {

constexpr qint64 OldMs = 5000; ///< of what nothing is known to have changed
constexpr int WideFrom = 960; ///< pixels of the page; words and notes stand below the journal where there are fewer

QSplitter* makeSplitter(Qt::Orientation orientation)
{
    auto* splitter = new QSplitter(orientation);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(metrics().gap);
    splitter->setStyleSheet(QStringLiteral("QSplitter::handle { background: transparent; }"));
    return splitter;
}

}

JournalPage::JournalPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_question(context.bridge)
    , m_halves(makeSplitter(Qt::Horizontal))
    , m_filter(new FilterField({}, context.viewUndo))
    , m_message(makeLabel({}, "error"))
    , m_journal(new TextTable(tr("Journal, newest first"), journalColumns()))
    , m_words(new TextTable(tr("Words and pins"), wordColumns()))
    , m_notes(new TextTable(tr("Notes, newest first"), noteColumns()))
    , m_go(makeButton(tr("Go to step"), {}, "small"))
    , m_remove(makeButton(tr("Remove…"), {}, "small"))
{
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter journal, words and notes"));
    m_filter->setMaximumWidth(440);
    m_message->setWordWrap(true);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message->hide();
    auto* said = makeSplitter(Qt::Vertical);
    m_parts = {
        makePart(tr("Journal"), m_journal,
                 tr("Nothing was done to this run yet. Roll backs, words, pins and notes are written down here, "
                    "with who did it and when.")),
        makePart(tr("Words and pins"), m_words,
                 tr("No step has a word. With “Name this step…” a step can be called by one: SOURCE@good.")),
        makePart(tr("Notes"), m_notes, tr("No notes. “Write a note…” tells others what to know about a step."))
    };
    m_halves->addWidget(m_parts[0].card);
    said->addWidget(m_parts[1].card);
    said->addWidget(m_parts[2].card);
    m_halves->addWidget(said);
    m_halves->setSizes({ 560, 440 });
    QHBoxLayout* header = m_parts[1].card->header();
    header->setContentsMargins(12, 4, 8, 4);
    header->parentWidget()->setFixedHeight(36);
    header->addWidget(m_go);
    header->addWidget(m_remove);

    auto* content = new QWidget;
    auto* all = new QVBoxLayout(content);
    const int padding = metrics().padding;
    all->setContentsMargins(padding, padding, padding, padding);
    all->setSpacing(metrics().gap);
    all->addWidget(m_filter);
    all->addWidget(m_message);
    all->addWidget(m_halves, 1);
    setContent(content);

    connect(m_filter, &FilterField::queryChanged, this, &JournalPage::showSaid);
    connect(m_go, &QPushButton::clicked, this, [this] { goTo(*m_words); });
    connect(m_remove, &QPushButton::clicked, this, &JournalPage::removeWord);
    for (TextTable* table : { m_words, m_notes })
        connect(table, &QTableView::activated, this, [this, table] { goTo(*table); });
    connect(m_words->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &JournalPage::showButtons);
    connect(&context.bridge, &ServiceBridge::taskMoved, this, [this](const app::TaskView& task) {
        if (isOver(task) && run() && task.plan.run == run()->id) {
            m_old = true;
            refreshLater();
        }
    });
    showSaid();
}

JournalPage::Part JournalPage::makePart(const QString& title, TextTable* table, const QString& nothing)
{
    auto* card = new Card(title);
    QLabel* label = makeLabel(nothing, "muted");
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setContentsMargins(24, 12, 24, 12);
    card->content()->addWidget(table, 1);
    card->content()->addWidget(label, 1);
    card->setMinimumHeight(120);
    return { card, table, label, nothing };
}

QLineEdit* JournalPage::filterField() { return m_filter; }
QAbstractItemView* JournalPage::mainList() { return m_journal; }

void JournalPage::runOpened()
{
    m_question.drop();
    m_said = {};
    m_first = true;
    m_unread = false;
    m_old = true;
    m_filter->reset();
    m_message->hide();
    showSaid();
}

void JournalPage::showEvent(QShowEvent* event)
{
    m_old = true;
    refreshLater();
    Page::showEvent(event);
}

void JournalPage::refresh()
{
    if (m_old || run()->run->refs != m_seenRefs || m_asked.hasExpired(OldMs))
        ask();
}

void JournalPage::ask()
{
    const std::optional<app::SourceRequest> source = context().bridge.monitor().sourceOf(run()->id);
    if (!source || m_question.isRunning())
        return;
    m_old = false;
    m_seenRefs = run()->run->refs;
    m_asked.start();
    m_question.ask([source](app::Service& service) { return service.annotations(*source); },
                   [this](const Result<app::JobResult>& answer) { take(answer); });
}

void JournalPage::take(const Result<app::JobResult>& answer)
{
    m_unread = !answer;
    QStringList problems;
    if (answer) {
        m_said = *std::get<std::shared_ptr<const app::AnnotationsView>>(*answer);
        for (const app::ProblemView& problem : m_said.problems)
            problems << problemLine(problem);
    } else if (run() && run()->run) { // the run knows its words all the same
        m_said = {};
        m_said.refs = run()->run->refs;
        problems << QStringLiteral("✕ %1").arg(safeName(answer.error().text));
        if (!answer.error().action.empty())
            problems.back() += QLatin1Char('\n') + safeText(answer.error().action);
    }
    m_message->setText(problems.join(QLatin1Char('\n')));
    m_message->setVisible(!problems.isEmpty());
    const bool first = std::exchange(m_first, false);
    showSaid();
    if (first && m_filter->hasFocus() && m_filter->text().isEmpty())
        m_journal->setFocus(); // it was hidden while it was empty
    if (m_old)
        refreshLater();
}

void JournalPage::showSaid()
{
    const std::int64_t now = ServiceBridge::nowUs();
    const Query& query = m_filter->query();
    m_journal->setRows(journalRows(m_said, query, now));
    m_words->setRows(wordRows(m_said, query, now));
    m_notes->setRows(noteRows(m_said, query, now));
    const std::array<std::size_t, 3> known { m_said.journal.size(), m_said.refs.size(), m_said.notes.size() };
    std::size_t all = 0;
    std::size_t found = 0;
    for (std::size_t at = 0; at < m_parts.size(); ++at) {
        const Part& part = m_parts[at];
        all += known[at];
        part.nothing->setText(m_first                                 ? tr("Reading…")
                                  : known[at] > 0                     ? tr("Nothing passes the filter")
                                  : m_unread && part.table != m_words ? tr("Not known: it could not be read")
                                                                      : part.none);
        const bool any = !part.table->rows().empty();
        found += part.table->rows().size();
        part.table->setVisible(any);
        part.nothing->setVisible(!any);
        part.card->setNote(any ? exactText(part.table->rows().size()) : QString());
    }
    m_filter->setFound(found, all);
    showButtons();
}

void JournalPage::showButtons()
{
    const bool chosen = m_words->currentRow() != nullptr;
    m_go->setVisible(!m_words->rows().empty());
    m_remove->setVisible(!m_words->rows().empty() && run() && run()->state != "recorded");
    m_go->setEnabled(stepOf(*m_words).has_value());
    m_remove->setEnabled(chosen);
}

std::optional<StepId> JournalPage::stepOf(const TextTable& table) const
{
    const TextRow* row = table.currentRow();
    if (!row || !run() || !run()->run)
        return std::nullopt;
    const RunFocus& focus = context().focus;
    if (&table == m_words) {
        const auto ref = std::find_if(m_said.refs.begin(), m_said.refs.end(), [&](const app::RefView& one) {
            return QString::fromStdString(one.word) == row->subject.toString();
        });
        const StepId id = ref != m_said.refs.end() && ref->step ? StepId { ref->epoch, *ref->step } : StepId { -1, -1 };
        return focus.step(id) ? std::optional(id) : std::nullopt;
    }
    const auto note = std::find_if(m_said.notes.begin(), m_said.notes.end(), [&](const app::AnnotationView& one) {
        return one.number == row->subject.toULongLong();
    });
    if (note == m_said.notes.end())
        return std::nullopt;
    const auto& epochs = run()->run->epochs;
    for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) { // the newest that has it
        if (focus.step({ epoch->epoch, note->step }))
            return StepId { epoch->epoch, note->step };
    }
    return std::nullopt;
}

std::optional<StepId> JournalPage::stepAtCursor()
{
    for (const TextTable* table : { m_words, m_notes }) {
        if (table->hasFocus() && stepOf(*table))
            return stepOf(*table);
    }
    return Page::stepAtCursor();
}

void JournalPage::goTo(const TextTable& table)
{
    const std::optional<StepId> step = stepOf(table);
    if (!step)
        return;
    context().cursor.setB(*step);
    context().actions.trigger(QStringLiteral("go.lineage"));
}

void JournalPage::removeWord()
{
    const TextRow* row = m_words->currentRow();
    if (!row)
        return;
    const std::string word = row->subject.toString().toStdString();
    const auto ref =
        std::find_if(m_said.refs.begin(), m_said.refs.end(), [&](const auto& one) { return one.word == word; });
    if (ref == m_said.refs.end())
        return;
    constexpr std::string_view PinPrefix = "pin/";
    const std::optional<app::ActInfo> act = actInfo(ref->isPin ? "unpin" : "unref");
    const std::string name = ref->isPin && word.starts_with(PinPrefix) ? word.substr(PinPrefix.size()) : word;
    if (act)
        (new ActSheet(context().bridge, run(), *act, { { "name", name } }, window()))->open();
}

void JournalPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    const Qt::Orientation wanted = width() >= WideFrom ? Qt::Horizontal : Qt::Vertical;
    if (m_halves->orientation() != wanted)
        m_halves->setOrientation(wanted);
}

QByteArray JournalPage::exportText()
{
    return (m_journal->tabbedText() + QLatin1Char('\n') + m_words->tabbedText() + QLatin1Char('\n')
            + m_notes->tabbedText())
        .toUtf8();
}

} // namespace deltascope::desktop
