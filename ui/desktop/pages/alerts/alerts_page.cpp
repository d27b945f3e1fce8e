#include "pages/alerts/alerts_page.h"

#include "actions/action_registry.h"
#include "bridge/background.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/alerts/alert_details.h"
#include "pages/alerts/alert_model.h"
#include "pages/alerts/channels_card.h"
#include "pages/alerts/rule_row.h"
#include "pages/alerts/rules_card.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPointer>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QUndoStack>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

constexpr int LeastRules = 190; ///< pixels of height
constexpr int LeastHistory = 330;
constexpr int SideBySide = 960; ///< pixels of the page; rules stand above the alerts where there are fewer

}

/// What was typed into the filter; keystrokes that follow each other are one.
class AlertFilterCommand final : public QUndoCommand {
public:
    AlertFilterCommand(AlertsPage& page, QString before, QString after)
        : QUndoCommand(AlertsPage::tr("filter alerts"))
        , m_page(&page)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {
    }

    void undo() override { apply(m_before); }
    void redo() override { apply(m_after); }
    int id() const override { return 0x616c66; }
    bool mergeWith(const QUndoCommand* later) override
    {
        m_after = static_cast<const AlertFilterCommand*>(later)->m_after;
        return true;
    }

private:
    void apply(const QString& text)
    {
        if (m_page)
            m_page->setFilter(text);
    }

    QPointer<AlertsPage> m_page;
    QString m_before;
    QString m_after;
};

AlertsPage::AlertsPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_halves(new QSplitter(Qt::Horizontal))
    , m_rules(new RulesCard(context.bridge.monitor().alerts()))
    , m_channels(new ChannelsCard(context.bridge.monitor().sender()))
    , m_filter(new QLineEdit)
    , m_model(new AlertModel(this))
    , m_list(new QTableView)
    , m_nothing(makeLabel({}, "muted"))
    , m_details(new AlertDetails)
{
    m_halves->setChildrenCollapsible(false);
    m_halves->setHandleWidth(metrics().gap);
    m_halves->setStyleSheet(QStringLiteral("QSplitter::handle { background: transparent; }"));
    m_halves->addWidget(m_rules);
    m_halves->addWidget(makeHistory());
    m_halves->setSizes({ 460, 540 });
    auto* inner = new QWidget;
    auto* around = new QVBoxLayout(inner);
    const int padding = metrics().padding;
    around->setContentsMargins(padding, padding, padding, padding);
    around->setSpacing(metrics().gap);
    around->addWidget(m_channels);
    around->addWidget(m_halves, 1);
    m_rules->setMinimumHeight(LeastRules);
    m_history->setMinimumHeight(LeastHistory);
    auto* scroll = new QScrollArea; // for low windows
    setRole(scroll, "page");
    setRole(inner, "page");
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(inner);
    setContent(scroll);

    m_rules->setRules(context.bridge.monitor().alerts().list({}).rules); // many rows: not when the page is shown
    connect(&context.bridge, &ServiceBridge::alertMoved, this, &AlertsPage::refreshLater);
    connect(m_rules, &RulesCard::rulesChanged, this, &AlertsPage::showAlerts);
    connect(m_rules, &RulesCard::stepWanted, this,
            [this](std::int64_t step) { goTo(this->context().focus.id().toStdString(), step); });
    connect(m_details, &AlertDetails::stepWanted, this, &AlertsPage::goTo);
    const auto act = [this](std::function<Result<app::AlertView>(app::Alerts&)> change) {
        inBackground(
            this, [&alerts = this->context().bridge.monitor().alerts(), change] { return change(alerts); },
            [this](const Result<app::AlertView>&) { showAlerts(); }); // what is gone by now needs nobody
    };
    connect(m_details, &AlertDetails::acknowledgeWanted, this,
            [act](const std::string& id) { act([id](app::Alerts& alerts) { return alerts.acknowledge(id); }); });
    connect(m_details, &AlertDetails::snoozeWanted, this, [act](const std::string& id, std::int64_t untilUs) {
        act([id, untilUs](app::Alerts& alerts) { return alerts.snooze(id, untilUs); });
    });
}

QWidget* AlertsPage::makeHistory()
{
    m_history = new Card(tr("Alerts"));
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter the alerts"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(200);
    m_history->header()->addWidget(m_filter);
    m_history->header()->setContentsMargins(12, 4, 8, 4);
    m_history->header()->parentWidget()->setFixedHeight(36);
    connect(m_filter, &QLineEdit::textEdited, this, [this](const QString& text) {
        context().viewUndo.push(new AlertFilterCommand(*this, m_shownFilter, text));
    });

    TableHeader::give(*m_list);
    m_list->setModel(m_model);
    m_list->setAccessibleName(tr("Alerts, firing ones first"));
    m_list->setShowGrid(false);
    m_list->setWordWrap(false);
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setTabKeyNavigation(false);
    m_list->verticalHeader()->hide();
    m_list->verticalHeader()->setDefaultSectionSize(metrics().row);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &AlertsPage::showDetails);
    connect(m_list, &QTableView::activated, this, [this](const QModelIndex& index) {
        const app::AlertView& alert = m_model->alert(index.row());
        if (alert.step)
            goTo(alert.run, *alert.step);
    });
    m_nothing->setAlignment(Qt::AlignCenter);
    m_nothing->setWordWrap(true);
    m_history->content()->addWidget(m_list, 1);
    m_history->content()->addWidget(m_nothing, 1);
    m_history->content()->addWidget(makeLine());
    m_history->content()->addWidget(m_details);
    return m_history;
}

QAbstractItemView* AlertsPage::mainList() { return m_list; }

void AlertsPage::editRule(const std::string& rule)
{
    showAlerts(); // a server's rules may have come since
    m_rules->edit(rule);
}

void AlertsPage::refresh()
{
    m_rules->setRun(run());
    showAlerts();
}

void AlertsPage::setFilter(const QString& text)
{
    m_shownFilter = text;
    if (m_filter->text() != text)
        m_filter->setText(text);
    showAlerts();
}

void AlertsPage::showAlerts()
{
    const app::AlertListView all = context().bridge.monitor().alerts().list({});
    m_rules->setRules(all.rules);
    m_channels->setForeign(all.channels);
    const QModelIndex current = m_list->currentIndex();
    const std::string selected =
        current.isValid() && current.row() < m_model->rowCount() ? m_model->alert(current.row()).id : std::string();
    const std::vector<RunPointer> runs = context().bridge.monitor().runs();
    QHash<QString, QString> names;
    for (const RunPointer& run : runs)
        names.insert(QString::fromStdString(run->id), safeName(run->name));
    m_model->setAlerts(all.alerts, std::move(names), m_shownFilter, ServiceBridge::nowUs());
    const int row = selected.empty() ? -1 : m_model->rowOf(selected);
    if (row >= 0 && row != m_list->currentIndex().row())
        m_list->setCurrentIndex(m_model->index(row, 0));
    else if (row < 0 && m_model->rowCount() > 0)
        m_list->setCurrentIndex(m_model->index(0, 0));

    const auto firing = std::count_if(all.alerts.begin(), all.alerts.end(),
                                      [](const auto& alert) { return alert.state == app::AlertState::Firing; });
    const auto cleared = std::count_if(all.alerts.begin(), all.alerts.end(),
                                       [](const auto& alert) { return alert.state == app::AlertState::Cleared; });
    m_history->setNote(tr("%1 firing, %2 cleared").arg(firing).arg(cleared));
    const auto on = std::count_if(all.rules.begin(), all.rules.end(), [](const auto& rule) { return rule.on; });
    m_nothing->setText(
        all.alerts.empty()
            ? tr("No rule has fired. %1 watch the run.").arg(pluralText(static_cast<std::uint64_t>(on), tr("rule")))
            : tr("No alert is like this."));
    m_list->setVisible(m_model->rowCount() > 0);
    m_nothing->setVisible(m_model->rowCount() == 0);
    m_list->setColumnHidden(AlertModel::Run, runs.size() < 2);
    fitColumns();
    showDetails();
}

void AlertsPage::showDetails()
{
    const QModelIndex current = m_list->currentIndex();
    const bool shown = current.isValid() && current.row() < m_model->rowCount();
    if (!shown)
        return m_details->setAlert(std::nullopt, {}, {}, 0);
    const app::AlertView& alert = m_model->alert(current.row());
    const RuleRow* const rule = m_rules->row(alert.rule);
    m_details->setAlert(alert, current.siblingAtColumn(AlertModel::Run).data().toString(),
                        rule ? QString::fromStdString(rule->rule().unit) : QString(), ServiceBridge::nowUs());
}

void AlertsPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    const Qt::Orientation wanted = width() >= SideBySide ? Qt::Horizontal : Qt::Vertical;
    if (m_halves->orientation() != wanted)
        m_halves->setOrientation(wanted);
    fitColumns();
}

/// Every column as wide as its texts, the title takes what is left.
void AlertsPage::fitColumns()
{
    constexpr int Looked = 100; ///< rows
    QHeaderView* header = m_list->horizontalHeader();
    const QFontMetrics metrics(typeFont(Type::TableTitle));
    for (int column = 0; column < AlertModel::ColumnCount; ++column) {
        if (column == AlertModel::Title)
            continue;
        int width = metrics.horizontalAdvance(m_model->headerData(column, Qt::Horizontal).toString());
        for (int row = 0; row < std::min(Looked, m_model->rowCount()); ++row)
            width = std::max(width, metrics.horizontalAdvance(m_model->index(row, column).data().toString()));
        header->setSectionResizeMode(column, QHeaderView::Fixed);
        header->resizeSection(column, width + 20);
    }
    header->setSectionResizeMode(AlertModel::Title, QHeaderView::Stretch);
}

void AlertsPage::goTo(const std::string& run, std::int64_t step)
{
    RunFocus& focus = context().focus;
    if (focus.id().toStdString() != run)
        focus.open(QString::fromStdString(run));
    if (!focus.run() || !focus.run()->run || focus.run()->run->epochs.empty())
        return;
    // Rules look at the newest epoch; what lies in an older one was found while it was the newest.
    const auto& epochs = focus.run()->run->epochs;
    for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
        if (!focus.step({ epoch->epoch, step }))
            continue;
        context().cursor.setB({ epoch->epoch, step });
        context().actions.trigger(QStringLiteral("go.lineage"));
        return;
    }
}

std::optional<StepId> AlertsPage::stepAtCursor()
{
    const std::optional<app::AlertView>& alert = m_details->alert();
    if (alert && alert->step && run() && run()->run && !run()->run->epochs.empty() && alert->run == run()->id)
        return StepId { run()->run->epochs.back().epoch, *alert->step };
    return Page::stepAtCursor();
}

QByteArray AlertsPage::exportText()
{
    QString text;
    for (int column = 0; column < AlertModel::ColumnCount; ++column)
        text += m_model->headerData(column, Qt::Horizontal).toString() + QChar(u'\t');
    text += tr("text") + QChar(u'\n');
    for (int row = 0; row < m_model->rowCount(); ++row) {
        for (int column = 0; column < AlertModel::ColumnCount; ++column)
            text += m_model->index(row, column).data().toString() + QChar(u'\t');
        text += safeName(m_model->alert(row).text) + QChar(u'\n');
    }
    return text.toUtf8();
}

} // namespace deltascope::desktop
