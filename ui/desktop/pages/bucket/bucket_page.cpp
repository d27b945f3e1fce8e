#include "pages/bucket/bucket_page.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/bucket/bucket_list.h"
#include "pages/bucket/bucket_path.h"
#include "pages/bucket/bucket_preview.h"
#include "pages/bucket/bucket_totals.h"
#include "widgets/cards.h"
#include "widgets/filter_field.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QUndoStack>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr std::size_t PageRows = 1000;
constexpr int AgeMs = 1000;
constexpr int ListEveryMs = 2000; ///< at most; listing a big bucket costs requests
constexpr int PreviewWidth = 340;
constexpr int WidthForPreview = 860; ///< of the page; below it the preview has to be asked for

/// Another order of the list.
class SortCommand final : public QUndoCommand {
public:
    struct Order {
        int column;
        bool descending;
    };
    SortCommand(BucketPage* page, Order before, Order after)
        : QUndoCommand(BucketPage::tr("sort"))
        , m_page(page)
        , m_before(before)
        , m_after(after)
    {
    }
    void undo() override { sort(m_before); }
    void redo() override { sort(m_after); }

private:
    void sort(Order order)
    {
        if (m_page)
            m_page->sortBy(order.column, order.descending);
    }

    QPointer<BucketPage> m_page;
    Order m_before;
    Order m_after;
};

}

BucketPage::BucketPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_path(new BucketPath)
    , m_filter(new FilterField(bucketFields(), context.viewUndo))
    , m_list(new BucketList)
    , m_listed(makeLabel({}, "body"))
    , m_more(makeButton(tr("Load the next 1,000"), {}, "small"))
    , m_error(makeLabel({}, "error"))
    , m_retry(makeButton(tr("Try again"), {}, "small"))
    , m_errorBar(new QWidget)
    , m_totals(new BucketTotals)
    , m_preview(new BucketPreview(context.bridge))
{
    m_filter->setPlaceholderText(QStringLiteral("kind:delta step:>1200 size:>10M"));
    m_filter->setAccessibleName(tr("Filter objects"));
    m_filter->setMinimumWidth(220);
    m_filter->setMaximumWidth(440);
    m_listed->setFont(typeFont(Type::Table));
    m_error->setWordWrap(true);

    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(12, 8, 16, 8);
    tools->setSpacing(16);
    tools->addWidget(m_path, 1);
    tools->addWidget(m_filter, 1);
    auto* errorRow = new QHBoxLayout(m_errorBar);
    errorRow->setContentsMargins(16, 0, 16, 8);
    errorRow->addWidget(m_error, 1);
    errorRow->addWidget(m_retry, 0, Qt::AlignTop);
    m_errorBar->hide();
    auto* listedRow = new QHBoxLayout;
    listedRow->setContentsMargins(16, 6, 16, 6);
    listedRow->addWidget(m_listed);
    listedRow->addStretch(1);
    listedRow->addWidget(m_more);
    m_more->hide();

    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(tools);
    column->addWidget(m_errorBar);
    column->addWidget(makeLine());
    column->addWidget(m_list, 1);
    column->addWidget(makeLine());
    column->addLayout(listedRow);
    column->addWidget(makeLine());
    column->addWidget(m_totals);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    splitter->addWidget(left);
    splitter->addWidget(m_preview);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setCollapsible(0, false);
    splitter->setCollapsible(1, false);
    splitter->setSizes({ 900, PreviewWidth });
    left->setMinimumWidth(340);
    setContent(splitter);

    connect(m_path, &BucketPath::chosen, this, &BucketPage::openFolder);
    connect(m_filter, &FilterField::queryChanged, this, [this] {
        m_wish.query = m_filter->query();
        calculate();
    });
    connect(m_filter, &QLineEdit::returnPressed, m_list, qOverload<>(&QWidget::setFocus));
    connect(m_list, &BucketList::typed, m_filter, &FilterField::startWith);
    connect(m_list, &BucketList::opened, this, &BucketPage::openRow);
    connect(m_list, &BucketList::upWanted, this, &BucketPage::goUp);
    connect(m_list, &BucketList::previewWanted, this, &BucketPage::togglePreview);
    connect(m_list, &BucketList::currentMoved, this, [this] { m_preview->showRow(m_list->current(), m_wish.prefix); });
    connect(m_list, &BucketList::menuWanted, this, [this](const QModelIndex& index, const QPoint& at) {
        QMenu menu(this);
        fillMenu(menu, m_list->objects().row(index.row()));
        menu.exec(at);
    });
    connect(m_list, &BucketList::sortWanted, this, [this](int sorted, bool descending) {
        this->context().viewUndo.push(
            new SortCommand(this, { m_wish.sort, m_wish.descending }, { sorted, descending }));
    });
    connect(&m_list->objects(), &BucketModel::moreWanted, this, [this] {
        m_wish.most += PageRows;
        calculate();
    });
    connect(m_more, &QPushButton::clicked, this, [this] { m_list->objects().fetchMore({}); });
    connect(m_retry, &QPushButton::clicked, this, [this] { list(true); });
    if (const QAction* again = context.actions.action(QStringLiteral("view.refresh")))
        connect(again, &QAction::triggered, this, [this] {
            if (isVisible() && run() && run()->run)
                list(true);
        });
    m_listSoon.setSingleShot(true);
    connect(&m_listSoon, &QTimer::timeout, this, [this] { list(false); });
    m_clock.setInterval(AgeMs);
    connect(&m_clock, &QTimer::timeout, m_list->viewport(), qOverload<>(&QWidget::update));
    m_clock.start();
}

QLineEdit* BucketPage::filterField() { return m_filter; }
QAbstractItemView* BucketPage::mainList() { return m_list; }

std::optional<StepId> BucketPage::stepAtCursor()
{
    const app::ListingRowView* row = m_list->current();
    const std::optional<StepId> step = row ? stepOf(*row) : std::nullopt;
    return step ? step : context().cursor.b();
}

void BucketPage::runOpened()
{
    ++m_generation;
    m_listing.reset();
    m_listingNow = false;
    m_listAgain = false;
    m_listSoon.stop();
    m_listedMark.clear();
    m_listedAt.invalidate();
    m_wish.prefix.clear();
    m_wish.most = PageRows;
    m_filter->reset();
    m_list->showPicture(nullptr);
    m_listed->clear();
    m_more->hide();
    m_errorBar->hide();
    m_preview->setSource(std::nullopt);
}

void BucketPage::refresh()
{
    if (!m_listing)
        m_preview->setSource(context().bridge.monitor().sourceOf(run()->id));
    m_path->showFolder(run()->source, m_wish.prefix);
    cursorMoved();
    list(false);
    calculate(); // states may be others now
}

void BucketPage::cursorMoved()
{
    const std::optional<StepId> b = context().cursor.b();
    m_list->setStep(b ? std::optional(b->step) : std::nullopt);
}

QByteArray BucketPage::contentMark() const
{
    const app::RunView& shown = *run()->run;
    QByteArray mark = QByteArray::number(static_cast<qulonglong>(shown.wireBytes)) + ' '
        + QByteArray::number(static_cast<qulonglong>(shown.ignoredObjects));
    for (const app::EpochView& epoch : shown.epochs) {
        mark += ' ' + QByteArray::number(static_cast<qulonglong>(epoch.steps.size()));
        if (!epoch.steps.empty())
            mark += ':' + QByteArray::fromStdString(epoch.steps.back().state);
    }
    return mark;
}

/// Lists the source anew if something may have come or gone since. `again`: in any case.
void BucketPage::list(bool again)
{
    if (!run() || !run()->run)
        return;
    if (m_listingNow) {
        m_listAgain = m_listAgain || again;
        return;
    }
    const QByteArray mark = contentMark();
    if (!again && m_listing && mark == m_listedMark)
        return;
    if (!again && m_listedAt.isValid() && m_listedAt.elapsed() < ListEveryMs) {
        if (!m_listSoon.isActive())
            m_listSoon.start(ListEveryMs - static_cast<int>(m_listedAt.elapsed()));
        return;
    }
    const std::optional<app::SourceRequest> source = context().bridge.monitor().sourceOf(run()->id);
    if (!source)
        return;
    m_listingNow = true;
    m_listAgain = false;
    m_listedMark = mark;
    m_listedAt.start();
    showListed();
    context().bridge.ask(
        this, [source = *source](app::Service& service) { return service.listObjects(source); },
        [this, generation = m_generation](const Result<app::JobResult>& result) {
            if (generation != m_generation)
                return;
            m_listingNow = false;
            if (!result) {
                const app::ProblemView problem = app::problemView(result.error());
                showError(
                    QStringLiteral("✕ %1 %2  %3")
                        .arg(QString::fromStdString(problem.code), safeName(problem.text), safeName(problem.remedy))
                        .trimmed());
                showListed();
                return;
            }
            m_errorBar->hide();
            if (const auto* listing = std::get_if<std::shared_ptr<const app::ListingView>>(&*result))
                m_listing = *listing;
            calculate();
            list(m_listAgain);
        });
}

void BucketPage::calculate()
{
    if (!m_listing || !run() || !run()->run)
        return;
    m_calculation.start(
        [listing = m_listing, shown = run()->run, wish = m_wish] { return makeBucketPicture(*listing, *shown, wish); },
        [this, generation = m_generation](const BucketPointer& picture) {
            if (generation == m_generation && picture->prefix == m_wish.prefix)
                take(picture);
        });
}

void BucketPage::take(const BucketPointer& picture)
{
    m_list->showPicture(picture);
    m_preview->showRow(m_list->current(), m_wish.prefix);
    m_totals->showTotals(picture->totals);
    if (!m_wish.query.isEmpty())
        m_filter->setFound(picture->rows.size(), picture->listed);
    m_list->setEmptyText(!m_wish.query.isEmpty() ? tr("Nothing here passes the filter") : tr("Nothing lies here"));
    showListed();
}

void BucketPage::showListed()
{
    const BucketPointer& picture = m_list->objects().picture();
    m_more->setVisible(picture && !picture->complete);
    if (!picture) {
        m_listed->setText(m_listingNow ? tr("Listing the source…") : QString());
        return;
    }
    const QString rows = pluralText(picture->listed, tr("row"), tr("rows"));
    QString text = picture->complete ? tr("%1 in this folder, all listed").arg(rows)
                                     : tr("Showing the first %1 of this folder; there are more").arg(rows);
    if (m_listingNow)
        text += tr(" · listing again…");
    m_listed->setText(text);
}

void BucketPage::showError(const QString& text)
{
    m_error->setText(text);
    m_errorBar->show();
}

void BucketPage::openFolder(const std::string& prefix)
{
    m_wish.prefix = prefix;
    m_wish.most = PageRows;
    if (run())
        m_path->showFolder(run()->source, prefix);
    calculate();
}

void BucketPage::goUp()
{
    if (m_wish.prefix.empty())
        return;
    const std::size_t slash = m_wish.prefix.rfind('/', m_wish.prefix.size() - 2);
    openFolder(slash == std::string::npos ? std::string() : m_wish.prefix.substr(0, slash + 1));
}

void BucketPage::openRow(const QModelIndex& index)
{
    const app::ListingRowView& row = m_list->objects().row(index.row());
    if (row.folder)
        openFolder(std::string(row.key));
    else
        setPreview(true);
}

void BucketPage::togglePreview() { setPreview(!m_preview->isVisible()); }

void BucketPage::setPreview(bool shown)
{
    m_previewChosen = true;
    m_preview->setVisible(shown);
}

void BucketPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    if (!m_previewChosen)
        m_preview->setVisible(width() >= WidthForPreview);
}

void BucketPage::sortBy(int column, bool descending)
{
    m_wish.sort = column;
    m_wish.descending = descending;
    const QSignalBlocker quiet(m_list->header());
    m_list->header()->setSortIndicator(column, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    m_list->header()->viewport()->update();
    calculate();
}

QByteArray BucketPage::exportText()
{
    const BucketPointer& picture = m_list->objects().picture();
    if (!picture)
        return {};
    QByteArray text = "key,kind,step,size,modified_us,state\n";
    for (const app::ListingRowView& row : picture->rows) {
        QString key = safeName(row.key);
        key.replace(QLatin1Char('"'), QStringLiteral("\"\""));
        text += '"' + key.toUtf8() + "\"," + objectKindText(row).toUtf8() + ','
            + (row.step ? QByteArray::number(static_cast<qlonglong>(*row.step)) : QByteArray()) + ','
            + QByteArray::number(static_cast<qulonglong>(row.sizeBytes)) + ','
            + (row.modifiedUs == 0 ? QByteArray() : QByteArray::number(static_cast<qlonglong>(row.modifiedUs))) + ','
            + QByteArray::fromStdString(row.state) + '\n';
    }
    return text;
}

} // namespace deltascope::desktop
