#include "window/open_dialog.h"

#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int OpenDialogWidth = 640;
constexpr int TypingMs = 300;

QString describe(const app::RunView& run)
{
    std::size_t anchors = 0;
    std::size_t deltas = 0;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            if (step.state != "gap")
                ++(step.kind == "delta" ? deltas : anchors);
        }
    }
    return OpenDialog::tr("%1 layout, %2, %3, %4 on the wire")
        .arg(safeName(run.layout), pluralText(anchors, OpenDialog::tr("anchor"), OpenDialog::tr("anchors")),
             pluralText(deltas, OpenDialog::tr("delta"), OpenDialog::tr("deltas")), bytesText(run.wireBytes));
}

}

OpenDialog::OpenDialog(Session& session, const QString& source, QWidget* parent)
    : QDialog(parent)
    , m_session(session)
    , m_source(new QLineEdit(source))
    , m_base(new QLineEdit)
    , m_layout(new QLineEdit)
    , m_depth(new QSpinBox)
    , m_found(makeLabel({}, "body"))
    , m_open(makeButton(tr("Open read-only"), {}, "primary"))
{
    setWindowTitle(tr("Open a folder or bucket"));
    setModal(true);
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(OpenDialogWidth);
    const auto withButton = [this](QLineEdit* field, const QString& title) {
        auto* choose = makeButton(tr("Browse…"));
        connect(choose, &QPushButton::clicked, this, [this, field, title] { browse(field, title); });
        auto* row = new QHBoxLayout;
        row->addWidget(field, 1);
        row->addWidget(choose);
        return row;
    };
    m_source->setPlaceholderText(tr("/path/of/the/run or file:///path"));
    m_source->setAccessibleName(tr("Folder or address of the run"));
    m_base->setPlaceholderText(tr("only where the run begins with a checkpoint elsewhere"));
    m_base->setAccessibleName(tr("Folder of the base checkpoint"));
    m_layout->setPlaceholderText(tr("detected"));
    m_layout->setAccessibleName(tr("Layout"));
    m_depth->setRange(1, static_cast<int>(MostSearchDepth));
    m_depth->setValue(static_cast<int>(DefaultSearchDepth));
    m_depth->setSuffix(tr(" below the folder of a step"));
    m_depth->setToolTip(tr("How many folders below that of a step weights are looked for"));
    m_depth->setAccessibleName(tr("Depth of the search for weights below a step"));
    auto* form = new QFormLayout;
    form->setSpacing(10);
    form->addRow(tr("Source"), withButton(m_source, tr("Folder of a run")));
    form->addRow(tr("Base"), withButton(m_base, tr("Folder of the base checkpoint")));
    form->addRow(tr("Layout"), m_layout);
    form->addRow(tr("Depth"), m_depth);
    m_found->setWordWrap(true);
    m_found->setMinimumHeight(40);
    m_found->setAlignment(Qt::AlignTop);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    all->addWidget(makeLabel(windowTitle(), "sheet"));
    all->addLayout(form);
    all->addWidget(m_found);
    auto* buttons = new QHBoxLayout;
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_open, &QPushButton::clicked, this, [this] {
        emit chosen(request());
        accept();
    });
    m_open->setDefault(true);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_open);
    all->addLayout(buttons);
    m_later.setSingleShot(true);
    m_later.setInterval(TypingMs);
    connect(&m_later, &QTimer::timeout, this, &OpenDialog::look);
    for (QLineEdit* field : { m_source, m_base, m_layout })
        connect(field, &QLineEdit::textChanged, this, &OpenDialog::lookLater);
    connect(m_depth, &QSpinBox::valueChanged, this, &OpenDialog::lookLater);
    lookLater();
}

app::SourceRequest OpenDialog::request() const
{
    app::SourceRequest request;
    request.source = m_source->text().trimmed().toStdString();
    request.base = m_base->text().trimmed().toStdString();
    request.layout = m_layout->text().trimmed().toStdString();
    request.searchDepth = static_cast<std::size_t>(m_depth->value());
    return request;
}

void OpenDialog::browse(QLineEdit* field, const QString& title)
{
    auto* dialog = new QFileDialog(this, title, field->text());
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    dialog->open();
}

void OpenDialog::lookLater()
{
    ++m_generation;
    m_open->setEnabled(!request().source.isEmpty());
    m_found->setText({});
    m_later.start();
}

void OpenDialog::look()
{
    const app::SourceRequest wanted = request();
    if (wanted.source.isEmpty())
        return;
    if (!Session::bundleFile(wanted.source.text()).isEmpty()) {
        setRole(m_found, "body");
        return m_found->setText(tr("A bundle: opens in a window of its own, as it was recorded."));
    }
    m_found->setText(tr("Looking…"));
    setRole(m_found, "muted");
    m_session.bridge().ask(
        this, [wanted](app::Service& service) { return service.openRun(wanted, app::Depth::Headers); },
        [this, generation = m_generation](const Result<app::JobResult>& answer) {
            if (generation == m_generation)
                showAnswer(answer);
        });
}

void OpenDialog::showAnswer(const Result<app::JobResult>& answer)
{
    setRole(m_found, answer ? "body" : "error");
    if (!answer) {
        QString text = QStringLiteral("✕ %1").arg(safeName(answer.error().text));
        if (!answer.error().action.empty())
            text += QStringLiteral("\n") + safeName(answer.error().action);
        return m_found->setText(text);
    }
    const app::RunView& run = *std::get<std::shared_ptr<const app::RunView>>(*answer);
    QString text = QStringLiteral("✓ ") + describe(run);
    if (!run.problems.empty())
        text += QStringLiteral("\n⚑ ")
            + tr("%1, the first: %2")
                  .arg(pluralText(run.problems.size(), tr("problem"), tr("problems")),
                       safeName(run.problems.front().text));
    m_found->setText(text);
}

} // namespace deltascope::desktop
