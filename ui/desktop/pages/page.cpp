#include "pages/page.h"

#include "actions/action_registry.h"
#include "canvas/canvas.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QAbstractItemView>
#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int RefreshMs = 100;
constexpr double StaleSeconds = 30;

}

Page::Page(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_stack(new QStackedLayout)
    , m_banner(makeBanner())
    , m_empty(makeEmptyState())
{
    setRole(this, "page");
    setAttribute(Qt::WA_StyledBackground);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_banner);
    all->addLayout(m_stack, 1);
    m_stack->addWidget(m_empty);
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(RefreshMs);
    connect(&m_refresh, &QTimer::timeout, this, &Page::refreshNow);
    m_contact.setInterval(1000);
    connect(&m_contact, &QTimer::timeout, this, &Page::showState);
    connect(&context.focus, &RunFocus::moved, this, &Page::refreshLater);
    connect(&context.focus, &RunFocus::opened, this, [this] {
        setEmptyText({});
        runOpened();
        refreshLater();
        showState();
    });
    connect(&context.cursor, &StepCursor::changed, this, [this] {
        if (isVisible() && run() && run()->run)
            cursorMoved();
        else
            m_dirty = true;
    });
}

std::optional<StepId> Page::stepAtCursor()
{
    return canvas() && canvas()->stepAtCursor() ? canvas()->stepAtCursor() : m_context.cursor.b();
}

void Page::takeFocus()
{
    QWidget* last = focusWidget();
    if (last && last != this && last->isVisibleTo(this))
        return last->setFocus();
    for (QWidget* view : { static_cast<QWidget*>(canvas()), static_cast<QWidget*>(mainList()) }) {
        if (view && view->isVisibleTo(this))
            return view->setFocus();
    }
    const QList<QWidget*> inside = findChildren<QWidget*>();
    const auto control = std::find_if(inside.begin(), inside.end(), [this](const QWidget* widget) {
        return widget->focusPolicy() & Qt::TabFocus && widget->isEnabled() && widget->isVisibleTo(this);
    });
    (control == inside.end() ? this : *control)->setFocus();
}

void Page::refreshLater()
{
    m_dirty = true;
    if (isVisible() && !m_refresh.isActive())
        m_refresh.start();
}

void Page::setContent(QWidget* content)
{
    m_content = content;
    m_stack->addWidget(content);
    showState();
}

void Page::setEmptyText(const QString& title, const QString& text)
{
    m_nothingTitle = title;
    m_nothingText = text;
    showState();
}

void Page::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_contact.start();
    if (m_dirty)
        refreshNow();
    else
        showState();
    takeFocus(); // before the page in whose place this one comes is hidden, and Qt looks for somebody
}

void Page::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_contact.stop();
}

void Page::refreshNow()
{
    if (!isVisible())
        return;
    m_refresh.stop();
    m_dirty = false;
    if (run() && run()->run)
        refresh();
    showState();
}

QWidget* Page::makeEmptyState()
{
    auto* state = new QWidget;
    m_emptyTitle = makeLabel({}, "section");
    m_emptyText = makeLabel({}, "muted");
    m_emptyText->setWordWrap(true);
    m_emptyText->setMaximumWidth(560);
    m_emptyText->setAlignment(Qt::AlignHCenter);
    m_emptyButtons = new QWidget;
    auto* row = new QHBoxLayout(m_emptyButtons);
    row->setSpacing(12);
    const auto act = [this, row](const QString& text, const char* role, const QString& id) {
        QPushButton* button = makeButton(text, {}, role);
        connect(button, &QPushButton::clicked, this, [this, id] { m_context.actions.trigger(id); });
        row->addWidget(button);
    };
    act(tr("Open a folder or bucket…"), "primary", QStringLiteral("source.open"));
    act(tr("Watch the demo"), "link", QStringLiteral("source.demo"));
    auto* all = new QVBoxLayout(state);
    all->setSpacing(10);
    all->addStretch(2);
    all->addWidget(m_emptyTitle, 0, Qt::AlignHCenter);
    auto* text = new QHBoxLayout; // with an alignment of its own a label is not as high as its lines
    text->addStretch(1);
    text->addWidget(m_emptyText, 8);
    text->addStretch(1);
    all->addLayout(text);
    all->addWidget(m_emptyButtons, 0, Qt::AlignHCenter);
    all->addStretch(3);
    return state;
}

QWidget* Page::makeBanner()
{
    auto* banner = new QFrame;
    setRole(banner, "banner");
    m_bannerText = makeLabel({}, "body");
    m_bannerText->setWordWrap(true);
    m_bannerText->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QPushButton* retry = makeButton(tr("Try again"), {}, "small");
    connect(retry, &QPushButton::clicked, this, [this] { m_context.actions.trigger(QStringLiteral("view.refresh")); });
    auto* row = new QHBoxLayout(banner);
    row->setContentsMargins(12, 8, 8, 8);
    row->addWidget(m_bannerText, 1);
    row->addWidget(retry, 0, Qt::AlignTop);
    auto* frame = new QWidget;
    auto* around = new QVBoxLayout(frame);
    around->setContentsMargins(12, 12, 12, 0);
    around->addWidget(banner);
    frame->hide();
    return frame;
}

void Page::showState()
{
    const RunPointer& shown = run();
    QString title = m_nothingTitle;
    QString text = m_nothingText;
    bool offer = false;
    QString banner;
    bool stale = false;
    if (!shown) {
        title = tr("No run is open");
        text = tr("Open a folder or a bucket to which a trainer publishes its weights.");
        offer = true;
    } else if (shown->error) {
        banner =
            QStringLiteral("✕ %1 %2").arg(QString::fromStdString(shown->error->code), safeName(shown->error->text));
        if (!shown->error->where.empty())
            banner += QStringLiteral("  (%1)").arg(safeName(shown->error->where));
        if (!shown->error->remedy.empty())
            banner += QStringLiteral("\n%1").arg(safeName(shown->error->remedy));
        if (!shown->run) {
            title = tr("This source cannot be read");
            text = safeName(shown->source);
            offer = true;
        }
    } else if (!shown->run) {
        title = tr("Reading %1…").arg(safeName(shown->name));
        text = shown->opening.empty()
            ? tr("Names and headers first, then what changed in each version.")
            : tr("%1\nNothing is said of any step before this has ended.").arg(safeName(shown->opening));
    } else if (shown->run->epochs.empty() && title.isEmpty()) {
        title = tr("Nothing is published here yet");
        text = tr("Watching %1. The first version appears here as it is published.").arg(safeName(shown->source));
        if (!shown->run->problems.empty())
            text += QStringLiteral("\n") + safeName(shown->run->problems.front().text);
    }
    if (shown && !shown->error && shown->contactUs > 0) {
        const double age = static_cast<double>(ServiceBridge::nowUs() - shown->contactUs) / 1e6;
        const bool lost = shown->state == "lost";
        stale = lost || (age > StaleSeconds && shown->state == "live");
        if (stale)
            banner = tr("No contact with %1 for %2. What is shown is of then.")
                         .arg(lost ? m_context.bridge.server() : tr("the source"), ageText(age));
    }
    m_emptyTitle->setText(title);
    m_emptyText->setText(text);
    m_emptyText->setVisible(!text.isEmpty());
    m_emptyButtons->setVisible(offer);
    showContent(title.isEmpty() && m_content);
    m_bannerText->setText(banner);
    QWidget* frame = m_bannerText->parentWidget();
    const char* role = stale ? "stale" : "banner";
    if (frame->property("role").toString() != QLatin1String(role))
        setRole(frame, role);
    m_banner->setVisible(!banner.isEmpty());
}

/// What comes while nobody has begun anything else gets the focus.
void Page::showContent(bool content)
{
    const QWidget* focus = window()->focusWidget();
    const bool idle = !focus || focus == this || m_empty->isAncestorOf(focus);
    QWidget* wanted = content ? m_content : m_empty;
    if (m_stack->currentWidget() == wanted)
        return;
    m_stack->setCurrentWidget(wanted);
    if (content && idle && isVisible())
        takeFocus();
}

} // namespace deltascope::desktop
