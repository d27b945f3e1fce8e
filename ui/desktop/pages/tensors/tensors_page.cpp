#include "pages/tensors/tensors_page.h"

#include "heat/color_map.h"
#include "heat/tensor_filter.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/heatmap/block_view.h"
#include "pages/heatmap/element_view.h"
#include "pages/heatmap/trail.h"
#include "pages/heatmap/view_commands.h"
#include "pages/tensors/values_panel.h"
#include "widgets/cards.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QUndoStack>

namespace deltascope::desktop {

namespace {

enum CommandKind { OrderKind = 111 };
constexpr std::uint64_t FewTensors = 400; ///< found by a filter: their groups are opened

}

TensorsPage::TensorsPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_splitter(new QSplitter)
    , m_list(new QTreeView)
    , m_filter(new QLineEdit)
    , m_count(makeLabel({}, "muted"))
    , m_name(makeLabel({}, "section"))
    , m_facts(makeLabel({}, "muted"))
    , m_showValues(makeButton(tr("Values"), {}, "small"))
    , m_history(new HistoryCanvas)
    , m_trail(new Trail(tr("Blocks")))
    , m_inside(new QStackedWidget)
    , m_details(new QStackedWidget)
    , m_blocks(new BlockView(context))
    , m_elements(new ElementView(context))
    , m_values(new ValuesPanel(context))
{
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(makeList());
    m_splitter->addWidget(makeDetails());
    m_splitter->addWidget(m_values);
    m_values->hide();
    m_splitter->setStretchFactor(0, 0);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setStretchFactor(2, 0);
    setContent(m_splitter);

    connect(&m_model, &TensorModel::sortWanted, this, [this](int column, bool descending) {
        TensorOrder order = m_order;
        order.column = column;
        order.descending = descending;
        orderChosen(order, false);
    });
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QString error = TensorFilter(text, 0).error();
        m_filter->setProperty("state", error.isEmpty() ? QVariant() : QStringLiteral("invalid"));
        m_filter->setToolTip(error.isEmpty() ? tr("Words, /expression/, changed>1%, dtype:bf16; all have to hold")
                                             : QStringLiteral("✕ ") + error);
        repolish(m_filter);
        if (!error.isEmpty())
            return;
        TensorOrder order = m_order;
        order.filter = text.trimmed();
        orderChosen(order, true);
    });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        if (const int tensor = m_model.tensorAt(row); tensor >= 0)
            this->context().cursor.setTensor(m_model.listing()->tensor(tensor).name);
    });
    connect(m_list, &QTreeView::activated, this, [this](const QModelIndex& row) {
        if (m_model.tensorAt(row) < 0)
            m_list->setExpanded(row.siblingAtColumn(0), !m_list->isExpanded(row.siblingAtColumn(0)));
        else
            m_blocks->canvas()->setFocus();
    });
    connect(m_history, &HistoryCanvas::stepChosen, this,
            [this](const StepId& step) { this->context().cursor.setB(step); });
    connect(m_blocks, &BlockView::elementsWanted, this, &TensorsPage::openElements);
    connect(m_blocks, &BlockView::upWanted, this, [this] { m_list->setFocus(); });
    connect(m_elements, &ElementView::upWanted, this, &TensorsPage::closeElements);
    connect(m_elements, &ElementView::moved, this,
            [this] { m_trail->setPlace(safeName(m_tensor), m_elements->place()); });
    connect(m_trail, &Trail::topWanted, this, &TensorsPage::closeElements);
    connect(m_trail, &Trail::tensorWanted, this, &TensorsPage::closeElements);
    showTensor();
}

Canvas* TensorsPage::canvas()
{
    if (Canvas* focused = m_values->focusedCanvas())
        return focused;
    if (m_inside->currentWidget() == m_elements)
        return m_elements->canvas();
    if (m_history->hasFocus())
        return m_history;
    return m_blocks->canvas();
}

QAbstractItemView* TensorsPage::mainList() { return m_list; }

// --- data ------------------------------------------------------------------------------------------------------------

void TensorsPage::refresh()
{
    if (!run()->heat || run()->heat->rows.empty()) {
        setEmptyText(tr("No tensors are known yet"),
                     tr("They are listed as soon as a complete state of this run has been read."));
        return;
    }
    setEmptyText({});
    makeListing();
    readHistory();
}

void TensorsPage::makeListing()
{
    if (!run() || !run()->heat)
        return;
    m_listing.start([heat = run()->heat, order = m_order] { return makeTensorListing(heat, order); },
                    [this](const TensorListingPointer& listing) { take(listing); });
}

void TensorsPage::take(const TensorListingPointer& listing)
{
    const TensorListingPointer before = m_model.listing();
    // Known names at known places: folded groups and the selection stay. Else the list begins anew.
    const bool same = before && before->order == listing->order && before->items.size() == listing->items.size()
        && sameItems(*before, *listing);
    QStringList open;
    for (int row = 0; !same && row < m_model.rowCount(); ++row) {
        if (m_list->isExpanded(m_model.index(row, 0)))
            open << m_model.index(row, 0).data().toString();
    }
    m_model.setListing(listing, same);
    m_count->setText(listing->order.filter.isEmpty()
                         ? pluralText(listing->heat->rows.size(), tr("tensor"))
                         : tr("%1 of %2").arg(exactText(listing->shown), exactText(listing->heat->rows.size())));
    if (!same) {
        const bool all = !listing->order.filter.isEmpty() && listing->shown <= FewTensors;
        for (int row = 0; row < m_model.rowCount() && (all || !open.isEmpty()); ++row) {
            const QModelIndex index = m_model.index(row, 0);
            if (all || open.contains(index.data().toString()))
                m_list->setExpanded(index, true);
        }
        selectTensor();
    }
    showTensor();
}

void TensorsPage::runOpened()
{
    m_model.setListing(nullptr, false);
    m_history->setHistory(nullptr);
    m_tensor.clear();
    m_elements->clear();
    closeElements();
    showTensor();
}

void TensorsPage::cursorMoved()
{
    const StepCursor::State now = context().cursor.state();
    m_history->setB(now.b);
    if (now.tensor != m_tensor) {
        closeElements();
        selectTensor();
        showTensor();
    } else if (m_inside->currentWidget() == m_elements && (now.b != m_seen.b || now.a != m_seen.a)) {
        openElements(m_elementRow, m_elementColumn);
    }
    if ((now.b ? now.b->epoch : 0) != (m_seen.b ? m_seen.b->epoch : 0))
        readHistory();
    m_seen = now;
}

/// Shows the selected tensor of the cursor in the list.
void TensorsPage::selectTensor()
{
    const QModelIndex wanted = m_model.indexOf(context().cursor.state().tensor);
    if (!wanted.isValid() || wanted.row() < 0)
        return;
    m_list->expand(wanted.parent());
    if (m_list->currentIndex().siblingAtColumn(0) != wanted) {
        m_list->setCurrentIndex(wanted);
        m_list->scrollTo(wanted);
    }
}

void TensorsPage::showTensor()
{
    const std::string& wanted = context().cursor.state().tensor;
    const TensorListingPointer& listing = m_model.listing();
    const app::TensorRowView* tensor = nullptr;
    if (listing && !wanted.empty()) {
        const auto& rows = listing->heat->rows;
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == wanted; });
        tensor = found == rows.end() ? nullptr : &*found;
    }
    m_details->setCurrentIndex(tensor ? 1 : 0);
    showValues();
    const std::string shown = tensor ? tensor->name : std::string();
    const bool other = shown != m_tensor;
    m_tensor = shown;
    if (tensor) {
        m_name->setText(shortened(safeName(tensor->name), 90));
        m_name->setToolTip(safeName(tensor->name));
        QStringList facts { shapeText(tensor->shape), safeName(tensor->dtype).toLower(),
                            tr("%1 elements").arg(exactText(tensor->elements)), bytesText(tensor->bytes) };
        if (listing->knownColumns > 0)
            facts << tr("%1 changed per step on the mean").arg(shareText(meanShare(*tensor, listing->knownColumns)));
        facts << (tensor->lastChanged ? tr("last changed at %1").arg(*tensor->lastChanged)
                                      : tr("not changed by any version that was read"));
        m_facts->setText(facts.join(QStringLiteral("  ·  ")));
    }
    if (!other)
        return;
    m_blocks->setTensor(m_tensor);
    m_values->setTensor(m_tensor);
    m_history->setHistory(nullptr);
    readHistory();
}

void TensorsPage::readHistory()
{
    if (!run() || !run()->heat || m_tensor.empty())
        return;
    const app::EpochView* epoch = context().focus.epoch();
    m_reading.start(
        [heat = run()->heat, epoch = epoch ? epoch->epoch : 0, name = m_tensor]() -> TensorHistoryPointer {
            const auto found =
                std::find_if(heat->rows.begin(), heat->rows.end(), [&](const auto& row) { return row.name == name; });
            return found == heat->rows.end()
                ? nullptr
                : makeTensorHistory(*heat, epoch, static_cast<int>(found - heat->rows.begin()));
        },
        [this](const TensorHistoryPointer& history) {
            m_history->setHistory(history);
            m_history->setB(context().cursor.b());
        });
}

// --- inside of a tensor ----------------------------------------------------------------------------------------------

void TensorsPage::openElements(std::uint64_t row, std::uint64_t column)
{
    const std::optional<TensorTarget> target = m_blocks->target();
    const BlocksPointer& blocks = m_blocks->blocks();
    if (!target || !blocks)
        return;
    m_elementRow = row;
    m_elementColumn = column;
    m_inside->setCurrentWidget(m_elements);
    m_trail->show();
    m_elements->show(*target, row, column, blocks->rows, blocks->cols);
    m_elements->canvas()->setFocus();
}

void TensorsPage::closeElements()
{
    if (m_inside->currentWidget() != m_elements)
        return;
    m_trail->hide();
    m_inside->setCurrentWidget(m_blocks);
    if (isVisible())
        m_blocks->canvas()->setFocus();
}

// --- order -----------------------------------------------------------------------------------------------------------

void TensorsPage::orderChosen(const TensorOrder& order, bool merge)
{
    if (order == m_order)
        return;
    context().viewUndo.push(new ViewCommand<TensorOrder>(
        tr("list of tensors"), m_order, order,
        [page = QPointer(this)](const TensorOrder& back) {
            if (page)
                page->setOrder(back);
        },
        merge ? OrderKind : -1));
    m_order = order;
    makeListing();
}

void TensorsPage::setOrder(const TensorOrder& order)
{
    m_order = order;
    if (m_filter->text().trimmed() != order.filter)
        m_filter->setText(order.filter);
    m_list->sortByColumn(order.column, order.descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    makeListing();
}

// --- export ----------------------------------------------------------------------------------------------------------

QString TensorsPage::exportName() const { return run() ? tr("%1-tensors.csv").arg(safeName(run()->name)) : QString(); }

QByteArray TensorsPage::exportText() { return m_model.listing() ? asCsv(*m_model.listing()) : QByteArray(); }

} // namespace deltascope::desktop
