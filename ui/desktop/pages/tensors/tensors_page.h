#pragma once

#include "bridge/calculation.h"
#include "pages/page.h"
#include "pages/tensors/history_canvas.h"
#include "pages/tensors/tensor_model.h"

class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTreeView;

namespace deltascope::desktop {

class BlockView;
class ElementView;
class Trail;
class ValuesPanel;

/// All tensors of the run; of the selected one its past, where B changed it, and on request its values.
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
    ValuesPanel* values() { return m_values; }
    QPushButton* valuesButton() { return m_showValues; }

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
    void showValues();
    void shareRoom();
    void readHistory();
    void openElements(std::uint64_t row, std::uint64_t column);
    void closeElements();

    TensorModel m_model;
    TensorOrder m_order;
    Calculation<TensorListingPointer> m_listing;
    Calculation<TensorHistoryPointer> m_reading;
    std::string m_tensor; ///< that is shown
    StepCursor::State m_seen;
    int m_listWidth = 0; ///< that the room was shared for
    bool m_valuesChosen = false; ///< the user has shown or hidden the values
    std::uint64_t m_elementRow = 0, m_elementColumn = 0;

    QSplitter* m_splitter;
    QTreeView* m_list;
    QLineEdit* m_filter;
    QLabel* m_count;
    QLabel* m_name;
    QLabel* m_facts;
    QPushButton* m_showValues;
    HistoryCanvas* m_history;
    Trail* m_trail;
    QStackedWidget* m_inside; ///< blocks or elements
    QStackedWidget* m_details; ///< nothing, or a tensor
    BlockView* m_blocks;
    ElementView* m_elements;
    ValuesPanel* m_values;
};

} // namespace deltascope::desktop
