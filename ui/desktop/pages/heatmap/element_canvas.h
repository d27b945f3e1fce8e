#pragma once

#include "canvas/canvas.h"
#include "pages/heatmap/element_model.h"

#include <QImage>

namespace deltascope::desktop {

/// Signed change of the elements of a window; zero in the middle of the colors. GUI thread.
class ElementCanvas final : public Canvas {
    Q_OBJECT

public:
    /// `model` outlives it.
    explicit ElementCanvas(ElementModel& model, QWidget* parent = nullptr);

    void setCurrentElement(int element);
    int currentElement() const { return m_current; }

    QAbstractItemModel* table() override { return &m_model; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override { return { 320, 360 }; }
    QSize minimumSizeHint() const override { return { 160, 180 }; }

signals:
    void elementChosen(int element);
    void upWanted();

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override { m_imageDirty = true; }
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void makeImage();
    int elementAt(const QPoint& at) const; ///< -1: none
    double side() const; ///< pixels per element
    int columns() const;
    int rows() const;
    void moveBy(int elements);

    ElementModel& m_model;
    QImage m_image;
    bool m_imageDirty = true;
    double m_most = 0; ///< greatest change
    int m_current = 0;
};

} // namespace deltascope::desktop
