#include "acts/verify_sheet.h"

#include "look/format.h"
#include "look/marks.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QVBoxLayout>

namespace deltascope::desktop {

VerifySheet::VerifySheet(ServiceBridge& bridge, const RunPointer& run, const QString& range, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(run->id), tr("Verify %1").arg(safeName(run->name)), tr("Verify"), parent)
    , m_range(new QLineEdit(range))
    , m_level(new QComboBox)
{
    static constexpr const char* Proves[] = {
        QT_TR_NOOP("names, numbers and markers are without a hole"),
        QT_TR_NOOP("headers fit their files and each other"),
        QT_TR_NOOP("whole objects match the digests that are stored"),
        QT_TR_NOOP("rebuilt tensors match their publisher's digests"),
        QT_TR_NOOP("anchors equal what the deltas lead to"),
    };
    for (int level = 0; level < 5; ++level)
        m_level->addItem(QStringLiteral("%1: %2").arg(levelText(level), tr(Proves[level])), level);
    m_level->setCurrentIndex(3);
    m_level->setAccessibleName(tr("Level"));
    m_range->setPlaceholderText(tr("all steps"));
    m_range->setAccessibleName(tr("Steps: 12, 0:12, 3..9, or nothing for all"));
    m_range->setToolTip(m_range->accessibleName());
    auto* form = new QFormLayout;
    form->addRow(tr("Steps"), m_range);
    form->addRow(tr("Level"), m_level);
    options()->addLayout(form);
    connect(m_range, &QLineEdit::textChanged, this, [this] { planLater(); });
    connect(m_level, &QComboBox::currentIndexChanged, this, [this] { planLater(); });
}

app::ActRequest VerifySheet::request() const
{
    return app::VerifyArgs { m_range->text().trimmed().toStdString(), m_level->currentData().toInt() };
}

} // namespace deltascope::desktop
