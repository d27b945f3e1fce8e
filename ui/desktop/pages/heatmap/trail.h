#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// Where we are inside of the heatmap: Heatmap › tensor › elements. What is above can be clicked.
class Trail final : public QFrame {
    Q_OBJECT

public:
    /// `top`: what is above the tensor.
    explicit Trail(const QString& top, QWidget* parent = nullptr);
    void setPlace(const QString& tensor, const QString& elements = {}); ///< elements empty: the tensor is shown

signals:
    void topWanted();
    void tensorWanted();

private:
    QPushButton* m_tensorLink;
    QLabel* m_tensor;
    QLabel* m_arrow;
    QLabel* m_elements;
};

} // namespace deltascope::desktop
