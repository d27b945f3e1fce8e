#include "widgets/cards.h"

#include "look/icon.h"
#include "look/look.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    dressLabel(label, role);
    return label;
}

void dressLabel(QLabel* label, const char* role)
{
    label->setTextFormat(Qt::PlainText); // names come from files
    const QByteArray name = role;
    if (name == "label" || name == "tag" || name == "ref" || name == "live")
        label->setFont(typeFont(Type::Label));
    else if (name == "section")
        label->setFont(typeFont(Type::Section));
    else if (name == "title")
        label->setFont(typeFont(Type::TableTitle));
    else if (name == "kpi")
        label->setFont(typeFont(Type::Kpi));
    else if (name == "number")
        label->setFont(typeFont(Type::PageNumber));
    else if (name == "sheet")
        label->setFont(typeFont(Type::SheetTitle));
    else if (name == "mono")
        label->setFont(typeFont(Type::Mono));
    setRole(label, role);
}

QPushButton* makeButton(const QString& text, const QString& iconName, const char* role, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    if (!iconName.isEmpty())
        button->setIcon(qstrcmp(role, "primary") == 0 ? icon(iconName, Token::OnAccent) : icon(iconName));
    if (role)
        setRole(button, role);
    return button;
}

QFrame* makeLine(QWidget* parent)
{
    auto* line = new QFrame(parent);
    setRole(line, "line");
    return line;
}

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_title(makeLabel(title, "title"))
    , m_note(makeLabel({}, "label"))
    , m_header(new QHBoxLayout)
    , m_content(new QVBoxLayout)
{
    setRole(this, "card");
    m_header->setContentsMargins(12, 0, 8, 0);
    m_header->setSpacing(8);
    m_header->addWidget(m_title);
    m_header->addWidget(m_note);
    m_header->addStretch(1);
    auto* bar = new QWidget;
    bar->setFixedHeight(28);
    bar->setLayout(m_header);
    m_content->setContentsMargins(0, 0, 0, 0);
    m_content->setSpacing(0);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(1, 1, 1, 1);
    all->setSpacing(0);
    all->addWidget(bar);
    all->addLayout(m_content, 1);
}

void Card::setTitle(const QString& title) { m_title->setText(title); }
void Card::setNote(const QString& text) { m_note->setText(text); }

CommandLine::CommandLine(QWidget* parent)
    : QFrame(parent)
    , m_text(makeLabel({}, "mono"))
    , m_copy(new QToolButton)
{
    setRole(this, "sunken");
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setWordWrap(true);
    m_text->setAccessibleName(tr("Command line"));
    m_copy->setIcon(icon(QStringLiteral("copy")));
    m_copy->setToolTip(tr("Copy the command"));
    m_copy->setAccessibleName(m_copy->toolTip());
    connect(m_copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text->text()); });
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 6, 6);
    row->addWidget(m_text, 1);
    row->addWidget(m_copy, 0, Qt::AlignTop);
}

void CommandLine::setCommand(const QString& command) { m_text->setText(command); }
QString CommandLine::command() const { return m_text->text(); }

} // namespace deltascope::desktop
