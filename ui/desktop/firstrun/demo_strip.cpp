#include "firstrun/demo_strip.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/page.h"
#include "session/demo_run.h"
#include "widgets/cards.h"

#include <QDesktopServices>
#include <QDirIterator>
#include <QHBoxLayout>
#include <QPushButton>
#include <QUrl>

namespace deltascope::desktop {

namespace {

constexpr int CountMs = 5000;

std::uint64_t bytesIn(const QString& folder)
{
    std::uint64_t bytes = 0;
    for (QDirIterator file(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories); file.hasNext();) {
        file.next();
        bytes += static_cast<std::uint64_t>(file.fileInfo().size());
    }
    return bytes;
}

}

DemoStrip::DemoStrip(PageContext& context, DemoRun& demo, QWidget* parent)
    : QFrame(parent)
    , m_context(context)
    , m_demo(demo)
    , m_text(makeLabel(tr("Demo data"), "body"))
    , m_buttons(new QWidget)
{
    setRole(this, "strip");
    auto* acts = new QHBoxLayout(m_buttons);
    acts->setContentsMargins(0, 0, 0, 0);
    acts->setSpacing(8);
    for (const auto& [id, text] : { std::pair("demo.files", tr("Show files")), std::pair("demo.restart", tr("Restart")),
                                    std::pair("demo.delete", tr("Stop and delete")) }) {
        QPushButton* button = makeButton(text, {}, "small");
        const QString action = QString::fromLatin1(id);
        button->setToolTip(context.actions.action(action)->text());
        connect(button, &QPushButton::clicked, this, [this, action] { m_context.actions.trigger(action); });
        acts->addWidget(button);
    }
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(metrics().padding, 4, metrics().padding, 4);
    row->setSpacing(metrics().padding);
    row->addWidget(m_text);
    row->addWidget(m_buttons);
    row->addStretch(1);
    hide();
    m_clock.setInterval(CountMs);
    connect(&m_clock, &QTimer::timeout, this, &DemoStrip::count);
    connect(&context.focus, &RunFocus::opened, this, &DemoStrip::look);
}

QString DemoStrip::text() const { return m_text->text(); }

void DemoStrip::look()
{
    const RunPointer& run = m_context.focus.run();
    setVisible(run && run->demo);
    if (isHidden())
        return m_clock.stop();
    m_clock.start();
    count();
}

void DemoStrip::count()
{
    m_size.start([folder = m_demo.folder()] { return bytesIn(folder); },
                 [this](std::uint64_t bytes) {
                     if (!m_demo.isEnding())
                         m_text->setText(tr("Demo data, %1 in cache.").arg(bytesText(bytes)));
                 });
}

void DemoStrip::setEnding(const QString& text)
{
    m_buttons->setEnabled(text.isEmpty());
    if (!text.isEmpty())
        m_text->setText(text);
}

void DemoStrip::showFiles() { QDesktopServices::openUrl(QUrl::fromLocalFile(m_demo.folder())); }

void DemoStrip::restart()
{
    setEnding(tr("Demo data. Starting anew…"));
    m_demo.restart([this](const Result<QString>& run) {
        setEnding({});
        if (run)
            return emit restarted(*run);
        emit deleted();
        emit failed(safeName(run.error().text));
    });
}

void DemoStrip::stopAndDelete()
{
    setEnding(tr("Demo data. Stopping…"));
    m_demo.end([this](const Result<void>& removed) {
        setEnding({});
        emit deleted();
        if (!removed)
            emit failed(safeName(removed.error().text));
    });
}

} // namespace deltascope::desktop
