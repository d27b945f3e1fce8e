#include "widgets/filter_field.h"

#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QAction>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QPointer>
#include <QStyle>
#include <QUndoStack>

namespace deltascope::desktop {

namespace {

constexpr int CommandId = 0x46494c;
constexpr qint64 MergeMs = 1500;
constexpr int ClearWidth = 24;

}

/// A change of the text. What is typed in one go is one command.
class FilterCommand final : public QUndoCommand {
public:
    FilterCommand(FilterField* field, QString before, QString after)
        : QUndoCommand(FilterField::tr("filter"))
        , m_field(field)
        , m_before(std::move(before))
        , m_after(std::move(after))
    {
        m_clock.start();
    }

    int id() const override { return CommandId; }
    bool mergeWith(const QUndoCommand* other) override
    {
        const auto* next = static_cast<const FilterCommand*>(other);
        if (next->m_field != m_field || m_clock.elapsed() > MergeMs)
            return false;
        m_after = next->m_after;
        m_clock.restart();
        return true;
    }
    void undo() override { show(m_before); }
    void redo() override { show(m_after); }

private:
    void show(const QString& text)
    {
        if (m_field)
            m_field->take(text);
    }

    QPointer<FilterField> m_field;
    QString m_before;
    QString m_after;
    QElapsedTimer m_clock;
};

FilterField::FilterField(std::vector<QueryField> fields, QUndoStack& undo, QWidget* parent)
    : QLineEdit(parent)
    , m_fields(std::move(fields))
    , m_undo(undo)
    , m_status(makeLabel({}, "ok", this))
{
    addAction(icon(QStringLiteral("filter"), Token::Muted), QLineEdit::LeadingPosition);
    m_clear = addAction(icon(QStringLiteral("close"), Token::Muted), QLineEdit::TrailingPosition);
    m_clear->setToolTip(tr("Clear the filter"));
    m_clear->setVisible(false);
    connect(m_clear, &QAction::triggered, this, &QLineEdit::clear);
    m_status->setFont(typeFont(Type::Table));
    m_status->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_status->hide();
    connect(this, &QLineEdit::textChanged, this, [this](const QString& text) {
        if (!m_silent && text != m_taken)
            m_undo.push(new FilterCommand(this, m_taken, text));
    });
}

void FilterField::take(const QString& text)
{
    m_taken = text;
    if (this->text() != text) {
        m_silent = true;
        setText(text);
        m_silent = false;
    }
    m_query = Query::parse(text, m_fields);
    showState();
    emit queryChanged();
}

void FilterField::reset()
{
    if (!m_taken.isEmpty())
        take({});
}

void FilterField::startWith(const QString& text)
{
    setFocus(Qt::ShortcutFocusReason);
    setText(text);
    end(false);
}

void FilterField::setFound(std::uint64_t found, std::uint64_t all, const QString& note)
{
    m_found = tr("✓ %1 of %2").arg(exactText(found), exactText(all));
    if (!note.isEmpty())
        m_found += QLatin1Char(' ') + note;
    showState();
}

void FilterField::showState()
{
    const bool neutral = m_taken.trimmed().isEmpty();
    const bool valid = m_query.error().isEmpty();
    const char* state = neutral ? "" : valid ? "valid" : "invalid";
    if (property("state").toString() != QLatin1String(state)) {
        setProperty("state", QLatin1String(state));
        repolish(this);
        setRole(m_status, valid ? "ok" : "error");
    }
    const QString text = neutral ? QString() : valid ? m_found : QStringLiteral("✕ ") + m_query.error();
    setToolTip(valid ? QString() : text);
    setAccessibleDescription(text);
    m_clear->setVisible(!m_taken.isEmpty());
    m_statusText = text;
    m_status->setVisible(!text.isEmpty());
    placeStatus();
}

void FilterField::placeStatus()
{
    const QFontMetrics measure = m_status->fontMetrics();
    const int wanted = std::min(width() / 2, measure.horizontalAdvance(m_statusText) + 4);
    m_status->setText(measure.elidedText(m_statusText, Qt::ElideRight, wanted));
    setTextMargins(0, 0, m_status->isHidden() ? 0 : wanted, 0);
    m_status->setGeometry(width() - ClearWidth - 8 - wanted, 0, wanted, height());
}

void FilterField::resizeEvent(QResizeEvent* event)
{
    QLineEdit::resizeEvent(event);
    placeStatus();
}

void FilterField::changeEvent(QEvent* event)
{
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange && m_status)
        placeStatus();
}

void FilterField::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        if (text().isEmpty())
            focusNextChild();
        else
            clear();
        return;
    }
    if (event->key() == Qt::Key_Down || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        emit returnPressed(); // the list takes over
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace deltascope::desktop
