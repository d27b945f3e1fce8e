#include "welcome/welcome_page.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int ContentWidth = 1088;

/// A large button: icon, what it does, and two lines about it.
class Choice final : public QPushButton {
public:
    Choice(const QString& iconName, const QString& title, const QString& text, const QString& keys, bool first)
    {
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        setAccessibleName(title);
        setAccessibleDescription(text);
        setRole(this, "choice");
        if (first)
            setProperty("first", true);
        auto* picture = new QLabel;
        picture->setPixmap(
            desktop::icon(iconName, first ? Token::Accent : Token::Text).pixmap(QSize(26, 26), devicePixelRatioF()));
        auto* top = new QHBoxLayout;
        top->addWidget(picture);
        top->addStretch(1);
        if (!keys.isEmpty())
            top->addWidget(makeLabel(keys, "tag"));
        auto* about = makeLabel(text, "muted");
        about->setWordWrap(true);
        about->setAlignment(Qt::AlignLeft | Qt::AlignTop);
        about->setMinimumHeight(2 * about->fontMetrics().lineSpacing() + 2);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(20, 18, 20, 16);
        column->addLayout(top);
        column->addStretch(1);
        column->addWidget(makeLabel(title, "section"));
        column->addWidget(about);
        for (QLabel* label : findChildren<QLabel*>())
            label->setAttribute(Qt::WA_TransparentForMouseEvents);
    }

protected:
    /// Enter too, as in a dialog.
    void keyPressEvent(QKeyEvent* event) override
    {
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
            click();
        else
            QPushButton::keyPressEvent(event);
    }
};

}

WelcomePage::WelcomePage(Session& session, ActionRegistry& actions, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_actions(actions)
    , m_recents(new QTreeWidget)
{
    setRole(this, "page");
    setAttribute(Qt::WA_StyledBackground);
    auto* logo = new QLabel;
    logo->setPixmap(icon(QStringLiteral("logo")).pixmap(QSize(48, 48), devicePixelRatioF()));
    auto* name = makeLabel(tr("Deltascope"), "kpi");
    auto* title = new QVBoxLayout;
    title->setSpacing(0);
    title->addWidget(name);
    title->addWidget(makeLabel(tr("Watch the weights that move between training and inference."), "muted"));
    auto* head = new QHBoxLayout;
    head->setSpacing(16);
    head->addWidget(logo);
    head->addLayout(title, 1);
    auto* lower = new QHBoxLayout;
    lower->setSpacing(16);
    lower->addWidget(makeRecents(), 2);
    lower->addWidget(makeWhat(), 1);
    auto* drop = makeLabel(tr("Drop a run folder, a bundle or a .safetensors file anywhere in this window"), "muted");
    drop->setAlignment(Qt::AlignCenter);
    drop->setMinimumHeight(72);
    drop->setStyleSheet(QStringLiteral("border: 1px dashed palette(mid); border-radius: 6px;"));

    auto* content = new QWidget;
    content->setMaximumWidth(ContentWidth);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(32, 24, 32, 24);
    column->setSpacing(32);
    column->addStretch(1);
    column->addLayout(head);
    if (!session.isRemote())
        column->addWidget(makeChoices());
    column->addLayout(lower);
    if (!session.isRemote())
        column->addWidget(drop);
    else
        drop->setParent(this), drop->hide();
    column->addStretch(2);
    auto* centered = new QWidget;
    setRole(centered, "page");
    auto* row = new QHBoxLayout(centered);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(content, 100);
    row->addStretch(1);
    auto* scroll = new QScrollArea;
    setRole(scroll, "page");
    scroll->setWidget(centered);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scroll);
    if (session.isRemote())
        connect(&session.bridge(), &ServiceBridge::runMoved, this, &WelcomePage::showRecents);
    else
        connect(&session, &Session::recentsChanged, this, &WelcomePage::showRecents);
    showRecents();
}

QWidget* WelcomePage::makeChoices()
{
    auto* choices = new QWidget;
    auto* row = new QHBoxLayout(choices);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(16);
    const auto add = [&](const char* id, const QString& iconName, const QString& title, const QString& text,
                         bool first) {
        const QString action = QString::fromLatin1(id);
        auto* choice =
            new Choice(iconName, title, text, m_actions.shortcutOf(action).toString(QKeySequence::NativeText), first);
        connect(choice, &QPushButton::clicked, this, [this, action] { m_actions.trigger(action); });
        row->addWidget(choice);
        if (first)
            setFocusProxy(choice);
    };
    add("source.demo", QStringLiteral("pulse"), tr("Watch a live demo"),
        tr("The real engine on a made-up run, without a network. Full in two seconds."), true);
    add("source.open", QStringLiteral("folder"), tr("Open a folder or bucket…"),
        tr("The folder to which a trainer publishes. Nothing in it is changed."), false);
    add("source.connect", QStringLiteral("server"), tr("Connect to a server…"),
        tr("The runs of another machine, where deltascope serve does the work."), false);
    return choices;
}

QWidget* WelcomePage::makeRecents()
{
    m_recents->setAccessibleName(recentsTitle());
    m_recents->setRootIsDecorated(false);
    m_recents->setUniformRowHeights(true);
    TableHeader::give(*m_recents);
    m_recents->setColumnCount(4);
    m_recents->setHeaderLabels({ tr("source"), tr("run"), tr("latest"), tr("seen") });
    m_recents->header()->setStretchLastSection(false);
    m_recents->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_recents->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_recents->setMinimumHeight(190);
    m_recents->setTextElideMode(Qt::ElideMiddle);
    connect(m_recents, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        emit sourceChosen(item->data(0, Qt::UserRole).toString(), item->data(1, Qt::UserRole).toString());
    });
    m_recents->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_recents, &QTreeWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        const QTreeWidgetItem* item = m_recents->itemAt(at);
        if (!item)
            return;
        if (m_session.isRemote())
            return;
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        const QString source = item->data(0, Qt::UserRole).toString();
        menu->addAction(tr("Forget this source"), this, [this, source] { m_session.forgetRecent(source); });
        menu->popup(m_recents->viewport()->mapToGlobal(at));
    });
    auto* card = new QFrame;
    setRole(card, "card");
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(1, 1, 1, 1);
    inside->addWidget(m_recents);
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(makeLabel(recentsTitle(), "section"));
    column->addWidget(card, 1);
    return part;
}

QWidget* WelcomePage::makeWhat()
{
    auto* card = new QFrame;
    setRole(card, "card");
    auto* lines = new QVBoxLayout(card);
    lines->setContentsMargins(16, 14, 16, 14);
    const auto add = [&](const QString& iconName, const QString& text) {
        auto* picture = new QLabel;
        picture->setPixmap(icon(iconName, Token::Muted).pixmap(QSize(18, 18), devicePixelRatioF()));
        auto* about = makeLabel(text, "body");
        about->setWordWrap(true);
        auto* row = new QHBoxLayout;
        row->setSpacing(12);
        row->addWidget(picture);
        row->addWidget(about, 1);
        lines->addLayout(row);
    };
    add(QStringLiteral("pulse"), tr("Sees every weight version that a trainer publishes."));
    add(QStringLiteral("bars"), tr("Shows how long inference paused for it."));
    add(QStringLiteral("shield"), tr("Proves that a version is sound, bit for bit."));
    add(QStringLiteral("undo"), tr("Rebuilds the full checkpoint of any step."));
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(makeLabel(tr("What is this?"), "section"));
    column->addWidget(card, 1);
    return part;
}

QString WelcomePage::recentsTitle() const
{
    return m_session.isRemote() ? tr("Runs of %1").arg(m_session.bridge().server()) : tr("Recent sources");
}

/// Those of before, or what a server has.
std::vector<Session::Recent> WelcomePage::sources() const
{
    if (!m_session.isRemote())
        return m_session.recents();
    std::vector<Session::Recent> list;
    for (const RunPointer& run : m_session.monitor().runs())
        list.push_back({ QString::fromStdString(run->source), QString::fromStdString(run->base),
                         QString::fromStdString(run->name), run->run ? run->run->latest.value_or(-1) : -1,
                         run->contactUs });
    return list;
}

void WelcomePage::showRecents()
{
    m_recents->clear();
    const std::int64_t now = ServiceBridge::nowUs();
    for (const Session::Recent& recent : sources()) {
        auto* item = new QTreeWidgetItem({ safeName(recent.source.toStdString()), safeName(recent.run.toStdString()),
                                           recent.latest < 0 ? unknownText() : QString::number(recent.latest),
                                           agoText(recent.seenUs, now) });
        item->setIcon(
            0,
            icon(recent.source.startsWith(QLatin1String("file:")) ? QStringLiteral("folder") : QStringLiteral("cloud"),
                 Token::Muted));
        item->setToolTip(0, item->text(0));
        item->setToolTip(3, fullTimeText(recent.seenUs));
        item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
        item->setTextAlignment(3, Qt::AlignRight | Qt::AlignVCenter);
        item->setData(0, Qt::UserRole, recent.source);
        item->setData(1, Qt::UserRole, recent.base);
        m_recents->addTopLevelItem(item);
    }
    if (m_recents->topLevelItemCount() == 0) {
        auto* none = new QTreeWidgetItem({ tr("None yet") });
        none->setFlags(Qt::NoItemFlags);
        none->setForeground(0, color(Token::Muted));
        m_recents->addTopLevelItem(none);
    }
}

} // namespace deltascope::desktop
