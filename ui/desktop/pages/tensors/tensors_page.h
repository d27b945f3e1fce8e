#pragma once

#include "bridge/calculation.h"
#include "pages/page.h"
#include "pages/tensors/history_canvas.h"
#include "pages/tensors/tensor_model.h"

class QLabel;
class QSplitter;
class QStackedWidget;
class QTreeView;

namespace deltascope::desktop {

class BlockView;
class ElementView;
class Trail;

/// All tensors of the run; of the selected one its past, and where B changed it.
class TensorsPage final : public Page {
    Q_OBJECT

public:
    explicit TensorsPage(PageContext& context, QWidget* parent = nullptr);

    Canvas* canvas() override;
    QLineEdit* filterField() override { return m_filter; }
    QAbstractItemView* mainList() override;
    QString exportName() const override;
    QByteArray exportText() override; ///< the tensors that are listed

    TensorModel& model() { return m_model; }
    QTreeView* list() { return m_list; }
    BlockView* blocks() { return m_blocks; }
    ElementView* elements() { return m_elements; }
    HistoryCanvas* history() { return m_history; }

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeList();
    QWidget* makeDetails();
    void makeListing();
    void take(const TensorListingPointer& listing);
    void orderChosen(const TensorOrder& order, bool merge);
    void setOrder(const TensorOrder& order);
    void selectTensor();
    void showTensor();
    void readHistory();
    void openElements(std::uint64_t row, std::uint64_t column);
    void closeElements();

    TensorModel m_model;
    TensorOrder m_order;
    Calculation<TensorListingPointer> m_listing;
    Calculation<TensorHistoryPointer> m_reading;
    std::string m_tensor; ///< that is shown
    StepCursor::State m_seen;
    bool m_narrow = false; ///< there is no room for all columns of the list
    std::uint64_t m_elementRow = 0, m_elementColumn = 0;

    QSplitter* m_splitter;
    QTreeView* m_list;
    QLineEdit* m_filter;
    QLabel* m_count;
    QLabel* m_name;
    QLabel* m_facts;
    HistoryCanvas* m_history;
    Trail* m_trail;
    QStackedWidget* m_inside; ///< blocks or elements
    QStackedWidget* m_details; ///< nothing, or a tensor
    BlockView* m_blocks;
    ElementView* m_elements;
};

} // namespace deltascope::desktop
