#include "pages/bucket/bucket_path.h"

#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QLayoutItem>
#include <QPushButton>

namespace deltascope::desktop {

namespace {

constexpr int SourceLength = 44;
constexpr int FolderLength = 32;

}

BucketPath::BucketPath(QWidget* parent)
    : QWidget(parent)
    , m_row(new QHBoxLayout(this))
{
    setAccessibleName(tr("Folders"));
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(2);
}

void BucketPath::showFolder(const std::string& source, const std::string& prefix)
{
    if (m_shown && source == m_source && prefix == m_prefix)
        return;
    m_shown = true;
    m_source = source;
    m_prefix = prefix;
    while (QLayoutItem* item = m_row->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    add(shortened(safeName(source), SourceLength), safeName(source), {}, prefix.empty());
    for (std::size_t begin = 0; begin < prefix.size();) {
        const std::size_t slash = prefix.find('/', begin);
        const std::string folder = prefix.substr(begin, slash - begin);
        m_row->addWidget(makeLabel(QStringLiteral("›"), "muted"));
        add(shortened(safeName(folder), FolderLength), safeName(folder), prefix.substr(0, slash + 1),
            slash + 1 == prefix.size());
        begin = slash + 1;
    }
    m_row->addStretch(1);
}

void BucketPath::add(const QString& text, const QString& tip, const std::string& prefix, bool last)
{
    if (last) {
        QLabel* label = makeLabel(text, "title");
        label->setContentsMargins(4, 0, 4, 0);
        label->setToolTip(tip);
        m_row->addWidget(label);
        return;
    }
    QPushButton* button = makeButton(text, {}, "link");
    button->setToolTip(tip);
    button->setAccessibleName(tr("Go to %1").arg(tip));
    connect(button, &QPushButton::clicked, this, [this, prefix] { emit chosen(prefix); });
    m_row->addWidget(button);
}

} // namespace deltascope::desktop
