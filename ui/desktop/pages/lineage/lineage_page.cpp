#include "pages/lineage/lineage_page.h"

#include "actions/action_registry.h"
#include "acts/act_words.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/lineage/lineage_legend.h"
#include "pages/lineage/lineage_strip.h"
#include "pages/lineage/lineage_text.h"
#include "pages/lineage/lineage_tree.h"
#include "state/range_command.h"
#include "widgets/cards.h"
#include "widgets/filter_field.h"
#include "widgets/readout.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QMenu>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int AgeMs = 1000;

}

LineagePage::LineagePage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_strip(new LineageStrip)
    , m_tree(new LineageTree)
    , m_filter(new FilterField(lineageFields(), context.viewUndo))
    , m_counts(new Readout("body"))
    , m_legend(new LineageLegend)
    , m_message(makeLabel({}, "error"))
{
    m_filter->setPlaceholderText(QStringLiteral("kind:anchor state:broken verify:<2 step:1100..1200"));
    m_filter->setAccessibleName(tr("Filter versions"));
    m_filter->setMinimumWidth(220);
    m_filter->setMaximumWidth(440);
    m_counts->setFont(typeFont(Type::Table));
    m_message->setContentsMargins(16, 0, 16, 6);
    m_message->setWordWrap(true);
    m_message->hide();

    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(16, 8, 16, 8);
    tools->setSpacing(16);
    tools->addWidget(m_filter, 3);
    tools->addWidget(m_counts);
    tools->addWidget(m_legend, 2);
    auto* content = new QWidget;
    auto* all = new QVBoxLayout(content);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_strip);
    all->addWidget(makeLine());
    all->addLayout(tools);
    all->addWidget(m_message);
    all->addWidget(makeLine());
    all->addWidget(m_tree, 1);
    setContent(content);

    StepCursor& cursor = context.cursor;
    const auto setB = [&cursor](const StepId& step) { cursor.setB(step); };
    const auto setA = [&cursor](const StepId& step) { cursor.setA(step); };
    connect(m_strip, &LineageStrip::chose, this, setB);
    connect(m_strip, &LineageStrip::choseToCompare, this, setA);
    connect(m_strip, &LineageStrip::rangeChosen, this, [this, &cursor](const std::optional<StepRange>& range) {
        showRange(cursor, this->context().viewUndo, range);
    });
    connect(m_tree, &LineageTree::chose, this, setB);
    connect(m_tree, &LineageTree::choseToCompare, this, setA);
    connect(m_tree, &LineageTree::menuWanted, this, [this](const QModelIndex& index, const QPoint& at) {
        QMenu menu(this);
        fillMenu(menu, index);
        menu.exec(at);
    });
    connect(m_filter, &FilterField::queryChanged, this, &LineagePage::refreshLater);
    connect(m_filter, &QLineEdit::returnPressed, m_tree, qOverload<>(&QWidget::setFocus));
    m_clock.setInterval(AgeMs);
    connect(&m_clock, &QTimer::timeout, m_tree->viewport(), qOverload<>(&QWidget::update));
    m_clock.start();
}

Canvas* LineagePage::canvas() { return m_strip; }
QLineEdit* LineagePage::filterField() { return m_filter; }
QAbstractItemView* LineagePage::mainList() { return m_tree; }

std::optional<StepId> LineagePage::stepAtCursor()
{
    const std::optional<StepId> step = m_strip->hasFocus() ? m_strip->stepAtCursor() : m_tree->stepAtCursor();
    return step ? step : context().cursor.b();
}

void LineagePage::runOpened()
{
    m_filter->reset();
    m_message->hide();
    m_strip->showPicture(nullptr);
    m_tree->showPicture(nullptr, std::nullopt, std::nullopt);
}

void LineagePage::refresh()
{
    m_calculation.start(
        [snapshot = run(), query = m_filter->query(), &monitor = context().bridge.monitor()] {
            return std::make_shared<const LineagePicture>(snapshot, monitor.alerts().list(snapshot->id).alerts, query);
        },
        [this](const LineagePointer& picture) {
            if (run() && picture->snapshot().id == run()->id)
                take(picture);
        });
}

void LineagePage::take(const LineagePointer& picture)
{
    const StepCursor::State& cursor = context().cursor.state();
    m_tree->showPicture(picture, cursor.a, cursor.b);
    m_strip->showPicture(picture);
    m_legend->setOtherWays(std::any_of(picture->rows().begin(), picture->rows().end(),
                                       [](const app::LineageRowView& row) { return !row.forms.empty(); }));
    m_strip->setMarks(cursor.a, cursor.b, cursor.range);
    m_tree->setEmptyText(picture->kept() ? tr("No version passes the filter") : QString());
    showCounts();
}

void LineagePage::showCounts()
{
    const LineagePicture& picture = *m_tree->lineage().picture();
    const std::size_t epochs = picture.snapshot().run->epochs.size();
    m_counts->read(tr("%1 in %2%3")
                       .arg(pluralText(picture.versions(), tr("version"), tr("versions")),
                            pluralText(picture.chains().size(), tr("chain"), tr("chains")),
                            epochs > 1 ? tr(", %1").arg(pluralText(epochs, tr("epoch"), tr("epochs"))) : QString()));
    if (picture.kept())
        m_filter->setFound(picture.kept()->size(), picture.rows().size());
}

void LineagePage::cursorMoved()
{
    const StepCursor::State& cursor = context().cursor.state();
    const LineagePointer& shown = m_tree->lineage().picture();
    if (cursor.follow && cursor.b && shown && !shown->find(*cursor.b))
        return; // take() marks it, with the version that is not in the list yet
    // While B follows, the list stays where the user has put it; at its top it shows the newest anyway.
    m_tree->setMarks(cursor.a, cursor.b, !cursor.follow);
    m_strip->setMarks(cursor.a, cursor.b, cursor.range);
}

QByteArray LineagePage::exportText()
{
    const LineagePointer& picture = m_tree->lineage().picture();
    if (!picture)
        return {};
    std::vector<std::size_t> rows = m_tree->selectedRows();
    if (rows.size() < 2 && picture->kept()) {
        rows = *picture->kept();
    } else if (rows.size() < 2) {
        rows.resize(picture->rows().size());
        for (std::size_t at = 0; at < rows.size(); ++at)
            rows[at] = at;
    }
    return lineageCsv(*picture, rows);
}

void LineagePage::fillMenu(QMenu& menu, const QModelIndex& index)
{
    const LineageModel& model = m_tree->lineage();
    const std::optional<StepId> step = model.versionOf(index);
    ActionRegistry& actions = context().actions;
    const std::vector<std::size_t> selected = m_tree->selectedRows();
    const bool several = selected.size() > 1;
    // Acts work on B: the version of the menu becomes it first.
    const auto onStep = [&](const QString& text, const QString& id, bool enabled) {
        QAction* action = menu.addAction(text);
        action->setEnabled(step.has_value() && enabled);
        connect(action, &QAction::triggered, this, [this, id, step] {
            context().cursor.setB(*step);
            context().actions.trigger(id);
        });
    };
    if (several) {
        connect(menu.addAction(tr("Verify %1").arg(pluralText(selected.size(), tr("version"), tr("versions")))),
                &QAction::triggered, this, &LineagePage::verifySelected);
    } else if (step) {
        const app::StepView* shown = context().focus.step(*step);
        const std::optional<StepId> a = context().cursor.a();
        onStep(tr("Verify"), QStringLiteral("run.verify"), true);
        onStep(tr("Materialize…"), QStringLiteral("run.materializeOptions"), shown && shown->restorable);
        if (shown && run()->state != "recorded") {
            for (const StepAct& act : stepActs(*shown))
                onStep(act.text, act.id, act.enabled);
        }
        onStep(a ? tr("Diff with A (%1)").arg(a->step) : tr("Diff with A (Shift+click chooses A)"),
               QStringLiteral("run.diff"), a && a != step);
        menu.addSeparator();
        connect(menu.addAction(tr("Set as A")), &QAction::triggered, this,
                [this, step] { context().cursor.setA(*step); });
    }
    if (step || several) {
        QString text;
        const LineagePicture& picture = *model.picture();
        for (const std::size_t row : several ? selected : std::vector<std::size_t> { model.item(index.row()).row })
            text += (text.isEmpty() ? QString() : QStringLiteral("\n")) + versionAddress(picture, row);
        connect(menu.addAction(several ? tr("Copy URIs") : tr("Copy URI")), &QAction::triggered, this,
                [text] { QApplication::clipboard()->setText(text); });
    }
    QAction* save = menu.addAction(tr("Export list (CSV)…"));
    connect(save, &QAction::triggered, this, [&actions] { actions.trigger(QStringLiteral("view.export")); });
    if (model.picture()->kept())
        return;
    menu.addSeparator();
    const std::size_t chain = model.item(index.row()).chain;
    if (LineageFolding::canFold(*model.picture(), chain)) {
        const bool open = model.isOpen(chain);
        connect(menu.addAction(open ? tr("Fold this chain") : tr("Open this chain")), &QAction::triggered, this,
                [this, chain, open] { m_tree->setOpen(chain, !open); });
    }
    connect(menu.addAction(tr("Open all chains")), &QAction::triggered, this, [this] { m_tree->setAllOpen(true); });
    connect(menu.addAction(tr("Fold all chains")), &QAction::triggered, this, [this] { m_tree->setAllOpen(false); });
}

/// Neighbors are verified together, each stretch as a task of its own.
void LineagePage::verifySelected()
{
    const std::vector<std::size_t> rows = m_tree->selectedRows();
    const LineagePicture& picture = *m_tree->lineage().picture();
    for (std::size_t at = 0; at < rows.size();) {
        std::size_t end = at + 1;
        while (end < rows.size() && rows[end] == rows[end - 1] + 1
               && picture.idOf(rows[end]).epoch == picture.idOf(rows[at]).epoch)
            ++end;
        const StepId first = picture.idOf(rows[end - 1]);
        const StepId last = picture.idOf(rows[at]);
        app::VerifyArgs request;
        request.range =
            (first == last ? first.address() : first.address() + QStringLiteral("..") + last.address()).toStdString();
        context().bridge.planToTheEnd(this, context().focus.id(), request, [this](const Result<app::PlanView>& plan) {
            if (!plan) {
                tell(safeName(plan.error().text));
                return;
            }
            context().bridge.start(this, *plan, [this](const Result<app::TaskView>& task) {
                if (!task)
                    tell(safeName(task.error().text));
            });
        });
        at = end;
    }
}

void LineagePage::tell(const QString& text)
{
    m_message->setText(QStringLiteral("✕ ") + text);
    m_message->show();
}

} // namespace deltascope::desktop
