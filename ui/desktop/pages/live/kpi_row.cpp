#include "pages/live/kpi_row.h"

#include "look/look.h"
#include "look/marks.h"

#include <QGridLayout>

namespace deltascope::desktop {

namespace {

template <class T> Quantity plain(const std::optional<T>& value)
{
    return { value ? QString::number(*value) : unknownText(), {} };
}

std::optional<double> seconds(std::optional<double> ms) { return ms ? std::optional(*ms / 1e3) : std::nullopt; }

KpiTile::Run muted(const QString& text) { return { text, false, Token::Muted }; }
KpiTile::Run strong(const QString& text) { return { text, true, Token::Text }; }

}

QString usualText(std::optional<double> value, std::optional<double> median)
{
    if (!value || !median || *median == 0)
        return {};
    const double ratio = *value / *median;
    if (ratio > 1.03)
        return KpiRow::tr("▲ above usual ");
    if (ratio < 0.97)
        return KpiRow::tr("▼ below usual ");
    return KpiRow::tr("as usual, ");
}

KpiRow::KpiRow(QWidget* parent)
    : QWidget(parent)
    , m_grid(new QGridLayout(this))
{
    static constexpr std::array<const char*, TileCount> Pages { "lineage", "lineage",  "heatmap",
                                                                "bucket",  "timeline", "timeline" };
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(metrics().gap);
    for (int i = 0; i < TileCount; ++i) {
        auto* tile = new KpiTile;
        m_tiles[static_cast<std::size_t>(i)] = tile;
        connect(tile, &KpiTile::clicked, this,
                [this, i] { emit pageWanted(QString::fromLatin1(Pages[static_cast<std::size_t>(i)])); });
        tile->setContextMenuPolicy(Qt::CustomContextMenu);
        connect(tile, &KpiTile::customContextMenuRequested, this,
                [this, tile, i](const QPoint& at) { emit menuWanted(i, tile->mapToGlobal(at)); });
    }
    setRows(1);
    m_tiles[Changed]->setToolTip(tr("Elements that the latest delta changes, of all.\n"
                                    "The median is over the last 50 versions."));
    m_tiles[DeltaSize]->setToolTip(tr("Bytes of the latest delta; smaller: full version / delta."));
    m_tiles[Replicas]->setToolTip(tr("Replicas that say they serve the newest version, of those that report.\nNobody "
                                     "has looked into their memory."));
}

void KpiRow::setRows(int rows)
{
    const int columns = (TileCount + rows - 1) / rows;
    for (int i = 0; i < TileCount; ++i) {
        m_grid->removeWidget(m_tiles[static_cast<std::size_t>(i)]);
        m_grid->addWidget(m_tiles[static_cast<std::size_t>(i)], i / columns, i % columns);
    }
    for (int i = 0; i < TileCount; ++i)
        m_grid->setColumnStretch(i, i < columns ? 1 : 0);
}

void KpiRow::setData(std::shared_ptr<const LiveData> data)
{
    m_data = std::move(data);
    const app::KpiView& kpi = m_data->summary.kpi;
    setLatest(kpi);
    setChanged(kpi);
    setPaused(kpi);
    setReplicas(kpi);
    tick(ServiceBridge::nowUs());
}

void KpiRow::tick(std::int64_t nowUs)
{
    if (!m_data)
        return;
    const app::KpiView& kpi = m_data->summary.kpi;
    KpiTile::Content age;
    age.label = tr("Age");
    age.value = ageQuantity(kpi.latestAtUs && *kpi.latestAtUs > 0
                                ? std::optional(static_cast<double>(nowUs - *kpi.latestAtUs) / 1e6)
                                : std::nullopt);
    age.context = { muted(tr("one every ")), strong(durationText(kpi.intervalSeconds)) };
    m_tiles[Age]->setContent(std::move(age));
    m_tiles[Age]->setToolTip(tr("Since the latest step that can be rebuilt was published:\n%1")
                                 .arg(fullTimeText(kpi.latestAtUs.value_or(0))));
}

void KpiRow::setLatest(const app::KpiView& kpi)
{
    KpiTile::Content content;
    content.label = tr("Latest step");
    const app::HealthView& health = m_data->summary.health;
    if (health.state == "broken" && health.restore < kpi.newest) {
        content.label = tr("Newest step");
        content.bad = true;
        content.badge = { tr("✕ broken"), false, Token::Error };
        content.value = plain(kpi.newest);
        content.context = { muted(tr("last sound step ")), strong(plain(health.restore).value) };
    } else {
        content.value = plain(kpi.latest);
        content.context = { kpi.chainAnchor
                                ? muted(tr("chain of anchor %1").arg(*kpi.chainAnchor))
                                : muted(kpi.latest ? tr("no anchor needed") : tr("nothing to rebuild yet")) };
    }
    m_tiles[Latest]->setContent(std::move(content));
    m_tiles[Latest]->setToolTip(
        tr("Newest step that can be rebuilt; it takes %1 on anchor %2.")
            .arg(pluralText(kpi.chainDeltas.value_or(0), tr("delta")), plain(kpi.chainAnchor).value));
}

void KpiRow::setChanged(const app::KpiView& kpi)
{
    KpiTile::Content changed;
    changed.label = tr("Changed");
    changed.value = percentQuantity(kpi.changedFraction);
    const QString usual = usualText(kpi.changedFraction, kpi.changedFractionMedian);
    changed.context = { strong(usual),
                        muted(usual.isEmpty() ? tr("median %1").arg(percentText(kpi.changedFractionMedian))
                                              : percentText(kpi.changedFractionMedian)) };
    m_tiles[Changed]->setContent(std::move(changed));

    KpiTile::Content delta;
    delta.label = tr("Delta size");
    delta.value = bytesQuantity(kpi.deltaBytes);
    delta.context = { strong(timesText(kpi.ratio)), muted(tr(" smaller than full")) };
    m_tiles[DeltaSize]->setContent(std::move(delta));
    if (kpi.deltaBytes && kpi.fullBytes)
        m_tiles[DeltaSize]->setToolTip(
            tr("Latest delta: %1 B.\nFull version: %2 (%3 B).\nSmaller: full / delta.")
                .arg(exactText(*kpi.deltaBytes), bytesText(kpi.fullBytes), exactText(*kpi.fullBytes)));
}

void KpiRow::setPaused(const app::KpiView& kpi)
{
    KpiTile::Content content;
    content.label = tr("Paused");
    content.paused = true;
    content.value = durationQuantity(seconds(kpi.pauseMs));
    if (kpi.pauseMs)
        content.context = { strong(percentText(kpi.pausedFraction)), muted(tr(" of wall")),
                            muted(tr(", p95 %1").arg(durationText(seconds(kpi.pauseP95Ms)))) };
    else
        content.context = { muted(tr("no pause was reported")) };
    m_tiles[Paused]->setContent(std::move(content));
    m_tiles[Paused]->setToolTip(tr("Time without tokens at the latest sync; median %1, p95 %2.\n"
                                   "Share: Σ pauses / wall time of the last 50 versions.")
                                    .arg(durationText(seconds(kpi.pauseP50Ms)), durationText(seconds(kpi.pauseP95Ms))));
}

void KpiRow::setReplicas(const app::KpiView& kpi)
{
    KpiTile::Content content;
    content.label = tr("Replicas in sync, they say");
    if (kpi.replicas == 0) {
        content.value = { unknownText(), {} };
        content.context = { muted(tr("none says that it runs")) };
    } else {
        content.value = { QString::number(kpi.replicasInSync), tr("of %1").arg(kpi.replicas) };
        if (kpi.worstReplica && kpi.worstLag.value_or(0) > 0)
            content.context = { muted(tr("worst ")),
                                strong(tr("%1, lag %2 ⚑").arg(safeName(*kpi.worstReplica)).arg(*kpi.worstLag)) };
        else
            content.context = { muted(kpi.replicasInSync == kpi.replicas ? tr("none says it is behind")
                                                                         : tr("not all are heard")) };
    }
    m_tiles[Replicas]->setContent(std::move(content));
}

} // namespace deltascope::desktop
