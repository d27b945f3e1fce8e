#include "pages/bucket/bucket_preview.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/bucket/bucket_picture.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTreeView>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int SettleMs = 120;

QTreeView* makeTable(QAbstractItemModel* model, const QString& name)
{
    auto* view = new QTreeView;
    TableHeader::give(*view);
    view->setModel(model);
    view->setAccessibleName(name);
    view->setRootIsDecorated(false);
    view->setItemsExpandable(false);
    view->setUniformRowHeights(true);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setFrameShape(QFrame::NoFrame);
    view->setFont(typeFont(Type::Table));
    view->setTextElideMode(Qt::ElideMiddle);
    view->header()->setStretchLastSection(false);
    return view;
}

QLabel* makeValue()
{
    QLabel* label = makeLabel({}, "body");
    label->setFont(typeFont(Type::Table));
    label->setAlignment(Qt::AlignRight);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

}

BucketPreview::BucketPreview(ServiceBridge& bridge, QWidget* parent)
    : QWidget(parent)
    , m_bridge(bridge)
    , m_title(makeLabel({}, "title"))
    , m_sizeText(makeValue())
    , m_exact(makeValue())
    , m_modified(makeValue())
    , m_headerSize(makeValue())
    , m_message(makeLabel({}, "muted"))
    , m_facts(new QWidget)
    , m_metadataTitle(makeLabel({}, "title"))
    , m_tensorsTitle(makeLabel({}, "title"))
    , m_metadata(new MetadataTable(this))
    , m_tensors(new TensorTable(this))
    , m_metadataView(makeTable(m_metadata, tr("Metadata of the header")))
    , m_tensorsView(makeTable(m_tensors, tr("Tensors of the header, largest first")))
    , m_tables(new QWidget)
{
    setAccessibleName(tr("Preview"));
    setRole(this, "page");
    setAttribute(Qt::WA_StyledBackground);
    setMinimumWidth(260);
    m_title->setWordWrap(true);
    m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message->setWordWrap(true);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* rows = new QFormLayout(m_facts);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setVerticalSpacing(5);
    rows->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    for (const auto& [name, value] : { std::pair(tr("Size"), m_sizeText), std::pair(tr("Exact bytes"), m_exact),
                                       std::pair(tr("Modified"), m_modified), std::pair(tr("Header"), m_headerSize) }) {
        QLabel* label = makeLabel(name, "muted");
        label->setFont(typeFont(Type::Table));
        rows->addRow(label, value);
    }
    m_metadataView->header()->setSectionResizeMode(0, QHeaderView::Interactive);
    m_metadataView->header()->resizeSection(0, 132);
    m_metadataView->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    QHeaderView* columns = m_tensorsView->header();
    columns->setSectionResizeMode(TensorTable::Name, QHeaderView::Stretch);
    columns->setMinimumSectionSize(40);
    columns->resizeSection(TensorTable::Form, 120);
    columns->resizeSection(TensorTable::Bytes, 68);

    auto* tables = new QVBoxLayout(m_tables);
    tables->setContentsMargins(0, 0, 0, 0);
    tables->setSpacing(0);
    const auto addTable = [&](QLabel* title, QTreeView* view, int stretch) {
        title->setContentsMargins(12, 10, 12, 6);
        tables->addWidget(makeLine());
        tables->addWidget(title);
        tables->addWidget(view, stretch);
    };
    addTable(m_metadataTitle, m_metadataView, 2);
    addTable(m_tensorsTitle, m_tensorsView, 3);

    auto* head = new QVBoxLayout;
    head->setContentsMargins(12, 12, 12, 12);
    head->setSpacing(10);
    head->addWidget(m_title);
    head->addWidget(m_facts);
    head->addWidget(m_message);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addLayout(head);
    all->addWidget(m_tables, 1);
    all->addStretch(0);

    m_settle.setSingleShot(true);
    m_settle.setInterval(SettleMs);
    connect(&m_settle, &QTimer::timeout, this, &BucketPreview::read);
    showRow(nullptr, {});
}

void BucketPreview::setSource(const std::optional<app::SourceRequest>& source)
{
    m_source = source;
    m_key.clear();
    m_header.reset();
    showRow(nullptr, {});
}

void BucketPreview::showRow(const app::ListingRowView* row, const std::string& prefix)
{
    if (!row) {
        ++m_generation;
        m_settle.stop();
        m_key.clear();
        m_title->setText(tr("Nothing is selected"));
        m_facts->hide();
        m_tables->hide();
        say(tr("Select an object to see what its header says."), "muted");
        return;
    }
    const std::int64_t now = ServiceBridge::nowUs();
    m_title->setText(safeName(nameInFolder(*row, prefix)));
    m_title->setToolTip(safeName(row->key));
    m_sizeText->setText(bytesText(row->sizeBytes));
    m_exact->setText(exactText(row->sizeBytes));
    m_modified->setText(agoText(row->modifiedUs, now));
    m_modified->setToolTip(fullTimeText(row->modifiedUs));
    m_facts->show();
    if (row->key == m_key && row->sizeBytes == m_size && row->modifiedUs == m_modifiedUs)
        return; // its header is shown, or on its way
    ++m_generation;
    m_key = row->key;
    m_size = row->sizeBytes;
    m_modifiedUs = row->modifiedUs;
    m_reading = false;
    showHeader(nullptr);
    m_settle.stop();
    if (row->folder)
        say(tr("A folder. Enter opens it."), "muted");
    else if (!QString::fromStdString(row->key).endsWith(QLatin1String(".safetensors")))
        say(tr("Not a safetensors file, so there is no header to show. Its size and time are all that is known here."),
            "muted");
    else {
        m_reading = true;
        say(tr("Reading the header…"), "muted");
        m_settle.start();
    }
}

void BucketPreview::read()
{
    if (!m_source) {
        m_reading = false;
        return;
    }
    const quint64 generation = m_generation;
    m_bridge.ask(
        this, [source = *m_source, key = m_key](app::Service& service) { return service.readHeader(source, key); },
        [this, generation](const Result<app::JobResult>& result) {
            if (generation != m_generation)
                return;
            m_reading = false;
            if (!result) {
                const app::ProblemView problem = app::problemView(result.error());
                QString text =
                    QStringLiteral("✕ %1 %2").arg(QString::fromStdString(problem.code), safeName(problem.text));
                if (!problem.remedy.empty())
                    text += QLatin1Char('\n') + safeName(problem.remedy);
                say(text, "error");
                return;
            }
            if (const auto* header = std::get_if<HeaderPointer>(&*result))
                showHeader(*header);
        });
}

void BucketPreview::showHeader(HeaderPointer header)
{
    m_header = std::move(header);
    m_metadata->show(m_header);
    m_tensors->show(m_header);
    m_tables->setVisible(m_header != nullptr);
    m_headerSize->setText(m_header ? tr("%1, %2").arg(bytesText(m_header->headerBytes),
                                                      pluralText(m_header->tensorsTotal, tr("tensor"), tr("tensors")))
                                   : unknownText());
    if (!m_header)
        return;
    say({}, "muted");
    m_metadataTitle->setText(m_header->metadata.empty()
                                 ? tr("No metadata")
                                 : tr("Metadata, as the file claims (%1)").arg(exactText(m_header->metadata.size())));
    m_metadataView->setVisible(!m_header->metadata.empty());
    const bool cut = m_header->tensors.size() < m_header->tensorsTotal;
    m_tensorsTitle->setText(cut ? tr("Tensors: the first %1 of %2")
                                      .arg(exactText(m_header->tensors.size()), exactText(m_header->tensorsTotal))
                                : tr("Tensors (%1)").arg(exactText(m_header->tensorsTotal)));
}

void BucketPreview::say(const QString& text, const char* role)
{
    setRole(m_message, role);
    m_message->setText(text);
    m_message->setVisible(!text.isEmpty());
}

} // namespace deltascope::desktop
