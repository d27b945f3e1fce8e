#include "window/omnibox.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "look/marks.h"
#include "widgets/cards.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int OmniboxWidth = 640;
constexpr std::size_t MostFound = 50;

}

int fuzzyScore(const QString& text, const QString& typed)
{
    if (typed.isEmpty())
        return 1;
    int score = 1;
    qsizetype at = -1;
    for (const QChar wanted : typed) {
        if (wanted.isSpace())
            continue;
        const qsizetype found = text.indexOf(wanted, at + 1, Qt::CaseInsensitive);
        if (found < 0)
            return 0;
        const bool begins = found == 0 || !text.at(found - 1).isLetterOrNumber();
        score += found == at + 1 ? 8 : begins ? 6 : 1;
        at = found;
    }
    if (text.contains(typed, Qt::CaseInsensitive))
        score += 20;
    return score * 100 / static_cast<int>(std::max<qsizetype>(20, text.size()));
}

Omnibox::Omnibox(PageContext& context, const QString& typed, QWidget* parent)
    : QDialog(parent, Qt::Popup)
    , m_context(context)
    , m_field(new QLineEdit)
    , m_list(new QListWidget)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Find"));
    resize(OmniboxWidth, 420);
    if (parent)
        move(parent->mapToGlobal(QPoint((parent->width() - OmniboxWidth) / 2, 84)));
    m_field->setPlaceholderText(tr("Step, tensor or command      > commands   # step   / tensor"));
    m_field->setAccessibleName(tr("Find a step, a tensor or a command"));
    m_list->setAccessibleName(tr("What was found"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(8, 8, 8, 8);
    all->addWidget(m_field);
    all->addWidget(m_list, 1);
    m_field->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, &Omnibox::search);
    connect(m_field, &QLineEdit::returnPressed, this, &Omnibox::choose);
    connect(m_list, &QListWidget::itemClicked, this, &Omnibox::choose);
    m_field->setText(typed);
    m_field->setFocus();
    search(typed);
}

bool Omnibox::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress)
        return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int by = key == Qt::Key_Down ? 1
        : key == Qt::Key_Up            ? -1
        : key == Qt::Key_PageDown      ? 10
        : key == Qt::Key_PageUp        ? -10
                                       : 0;
    if (by == 0)
        return QDialog::eventFilter(watched, event);
    m_list->setCurrentRow(std::clamp(m_list->currentRow() + by, 0, std::max(0, m_list->count() - 1)));
    return true;
}

void Omnibox::search(const QString& typed)
{
    const QString rest = typed.mid(1).trimmed();
    std::vector<Finding> found;
    if (typed.startsWith(QLatin1Char('>'))) {
        addCommands(rest, found);
    } else if (typed.startsWith(QLatin1Char('#'))) {
        addSteps(rest, found);
    } else if (typed.startsWith(QLatin1Char('/'))) {
        searchTensors(rest);
    } else {
        addSteps(typed.trimmed(), found);
        addCommands(typed.trimmed(), found);
        if (typed.trimmed().size() > 1)
            searchTensors(typed.trimmed());
    }
    showFound(std::move(found));
}

void Omnibox::addCommands(const QString& typed, std::vector<Finding>& found) const
{
    for (const ActionSpec& spec : m_context.actions.specs()) {
        const int score = fuzzyScore(spec.text, typed);
        if (score == 0 || !m_context.actions.isEnabled(spec.id) || spec.id == QLatin1String("view.omnibox"))
            continue;
        ActionRegistry* actions = &m_context.actions;
        const QString id = spec.id;
        found.push_back({ spec.text, m_context.actions.shortcutOf(id).toString(QKeySequence::NativeText), spec.icon,
                          [actions, id] { actions->trigger(id); }, score, spec.cli ? spec.cli() : QString() });
    }
}

void Omnibox::addSteps(const QString& typed, std::vector<Finding>& found) const
{
    bool isNumber = false;
    const std::int64_t number = typed.toLongLong(&isNumber);
    const RunPointer& run = m_context.focus.run();
    if (!isNumber || !run || !run->run)
        return;
    for (auto epoch = run->run->epochs.rbegin(); epoch != run->run->epochs.rend(); ++epoch) {
        const app::StepView* step = m_context.focus.step({ epoch->epoch, number });
        if (!step)
            continue;
        StepCursor* cursor = &m_context.cursor;
        const StepId id { step->epoch, step->step };
        found.push_back({ tr("Step %1").arg(step->step),
                          QStringLiteral("%1, %2").arg(kindText(step->kind), stepStateText(step->state)),
                          QStringLiteral("branch"), [cursor, id] { cursor->setB(id); }, 1000 });
    }
}

void Omnibox::searchTensors(const QString& typed)
{
    const RunPointer& run = m_context.focus.run();
    if (!run || !run->heat)
        return;
    m_tensors.start(
        [heat = run->heat, typed] {
            std::vector<std::pair<int, std::string>> best;
            for (const app::TensorRowView& row : heat->rows) {
                const int score = fuzzyScore(QString::fromStdString(row.name), typed);
                if (score > 0)
                    best.emplace_back(score, row.name);
            }
            const std::size_t count = std::min(MostFound, best.size());
            std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(count), best.end(),
                              [](const auto& a, const auto& b) { return a.first > b.first; });
            best.resize(count);
            return best;
        },
        [this](const std::vector<std::pair<int, std::string>>& best) {
            std::vector<Finding> found = std::move(m_found);
            for (const auto& [score, name] : best) {
                PageContext* context = &m_context;
                found.push_back({ safeName(name), tr("tensor"), QStringLiteral("layers"),
                                  [context, tensor = name] {
                                      context->cursor.setTensor(tensor);
                                      context->actions.trigger(QStringLiteral("go.tensors"));
                                  },
                                  score });
            }
            showFound(std::move(found));
        });
}

void Omnibox::showFound(std::vector<Finding> found)
{
    std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.score > b.score; });
    if (found.size() > MostFound)
        found.resize(MostFound);
    m_found = std::move(found);
    m_list->clear();
    for (const Finding& finding : m_found) {
        auto* item = new QListWidgetItem(
            icon(finding.icon.isEmpty() ? QStringLiteral("right") : finding.icon),
            finding.note.isEmpty() ? finding.text : QStringLiteral("%1      %2").arg(finding.text, finding.note));
        item->setToolTip(finding.command);
        m_list->addItem(item);
    }
    m_list->setCurrentRow(m_found.empty() ? -1 : 0);
}

void Omnibox::choose()
{
    const int row = m_list->currentRow();
    if (row < 0)
        return;
    const std::function<void()> open = m_found[static_cast<std::size_t>(row)].open;
    close();
    open();
}

} // namespace deltascope::desktop
