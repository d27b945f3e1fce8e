#include "pages/tensors/tensors_page.h"

#include "look/icon.h"
#include "look/look.h"
#include "pages/heatmap/block_view.h"
#include "pages/heatmap/element_view.h"
#include "pages/heatmap/trail.h"
#include "pages/tensors/values_panel.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

// What stands where on the page Tensors, and how its parts share the room.

namespace deltascope::desktop {

namespace {

constexpr int NarrowPage = 1000; ///< pixels
constexpr int WidePage = 1400;
constexpr int RoomForValues = 1160; ///< beside the list and the blocks
constexpr int ListWidth = 560;
constexpr int ShortListWidth = 340; ///< beside the values
constexpr int NarrowListWidth = 240;
constexpr int ValuesWidth = 330;

}

QWidget* TensorsPage::makeList()
{
    m_filter->setAccessibleName(tr("Filter tensors"));
    m_filter->setPlaceholderText(tr("mlp, /attn.*v/, changed>1%"));
    m_filter->addAction(icon(QStringLiteral("filter")), QLineEdit::LeadingPosition);
    m_filter->setClearButtonEnabled(true);
    TableHeader::give(*m_list);
    m_list->header()->setSectionsClickable(true);
    m_list->setModel(&m_model);
    m_list->setAccessibleName(tr("Tensors"));
    m_list->setUniformRowHeights(true);
    m_list->setAllColumnsShowFocus(true);
    m_list->setSortingEnabled(true);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setIndentation(16);
    QHeaderView* header = m_list->header();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(QHeaderView::Interactive);
    header->setSectionResizeMode(TensorOrder::Name, QHeaderView::Stretch);
    header->setMinimumSectionSize(48);
    const int digits = QFontMetrics(typeFont(Type::Table)).horizontalAdvance(QLatin1Char('0'));
    header->resizeSection(TensorOrder::Shape, 13 * digits);
    header->resizeSection(TensorOrder::Dtype, 7 * digits);
    header->resizeSection(TensorOrder::Elements, 11 * digits);
    header->resizeSection(TensorOrder::LastChanged, 13 * digits);
    header->resizeSection(TensorOrder::TotalChanged, 10 * digits);
    m_list->sortByColumn(TensorOrder::Name, Qt::AscendingOrder);
    m_list->setMinimumWidth(240);
    auto* side = new QWidget;
    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 8, 12, 8);
    top->setSpacing(8);
    top->addWidget(m_filter, 1);
    top->addWidget(m_count);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(m_list, 1);
    return side;
}

QWidget* TensorsPage::makeDetails()
{
    m_name->setContentsMargins(12, 0, 12, 0);
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_name->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_facts->setContentsMargins(12, 2, 12, 4);
    m_facts->setWordWrap(true);
    m_trail->hide();
    m_inside->addWidget(m_blocks);
    m_inside->addWidget(m_elements);
    auto* tensor = new QWidget;
    auto* column = new QVBoxLayout(tensor);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_showValues->setCheckable(true);
    m_showValues->setToolTip(tr("Range, percentiles and histogram of this tensor, on request"));
    connect(m_showValues, &QPushButton::toggled, this, &TensorsPage::showValues);
    connect(m_showValues, &QPushButton::clicked, this, [this] { m_valuesChosen = true; });
    auto* title = new QHBoxLayout;
    title->setContentsMargins(0, 8, 12, 0);
    title->addWidget(m_name, 1);
    title->addWidget(m_showValues);
    column->addLayout(title);
    column->addWidget(m_facts);
    column->addWidget(m_history);
    column->addWidget(makeLine());
    column->addWidget(m_trail);
    column->addWidget(m_inside, 1);
    QLabel* nothing = makeLabel(tr("Select a tensor to see its past and where it changed."), "muted");
    nothing->setAlignment(Qt::AlignCenter);
    nothing->setWordWrap(true);
    m_details->addWidget(nothing);
    m_details->addWidget(tensor);
    m_details->setMinimumWidth(300);
    return m_details;
}

void TensorsPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    m_list->setColumnHidden(TensorOrder::Dtype, width() < WidePage);
    if (!m_valuesChosen)
        m_showValues->setChecked(width() >= RoomForValues);
    shareRoom();
}

/// Between list, tensor and values; the list drops columns before it gets too narrow for names.
void TensorsPage::shareRoom()
{
    const int list = width() < NarrowPage             ? NarrowListWidth
        : !m_values->isHidden() && width() < WidePage ? ShortListWidth
                                                      : ListWidth;
    if (list == m_listWidth)
        return; // how the user has shared it stays
    m_listWidth = list;
    for (const int column : { TensorOrder::Shape, TensorOrder::Elements, TensorOrder::LastChanged })
        m_list->setColumnHidden(column, list < ListWidth);
    m_splitter->setSizes({ list, width(), ValuesWidth });
}

/// Beside a tensor, where the user wants them or has said nothing and there is room.
void TensorsPage::showValues()
{
    const bool wanted = m_details->currentIndex() == 1 && m_showValues->isChecked();
    if (wanted != m_values->isHidden())
        return;
    m_values->setVisible(wanted);
    shareRoom();
}

} // namespace deltascope::desktop
