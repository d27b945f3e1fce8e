#pragma once

#include <QLabel>

namespace deltascope::desktop {

/// A line of text that changes all the time, such as an age or a count. It grows with its text and shrinks only when
/// much room is left, so that nothing beside it moves and nothing around it is laid out anew for each digit.
class Readout final : public QLabel {
    Q_OBJECT

public:
    explicit Readout(const char* role, QWidget* parent = nullptr); ///< one of the roles of look.h

    void read(const QString& text);

protected:
    void changeEvent(QEvent* event) override;

private:
    int textWidth() const; ///< with the frame
    void measure(); ///< frame, height and width anew

    int m_frame = 0; ///< left and right of the text
};

} // namespace deltascope::desktop
