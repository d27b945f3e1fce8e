#include "pages/diff/diff_result.h"

#include "look/format.h"
#include "look/look.h"
#include "look/marks.h"
#include "pages/diff/diff_report.h"
#include "pages/diff/diff_tensors.h"
#include "pages/page.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace deltascope::desktop {

namespace {

enum Part { Tensors, OneSide, Reshaped };
constexpr std::size_t MostTiles = 6;
constexpr int NameInTile = 34; // characters

std::optional<double> shareIfAny(std::uint64_t part, std::uint64_t all)
{
    return all == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(all));
}

KpiTile::Content tile(const QString& label, const Quantity& value, std::vector<KpiTile::Run> context)
{
    KpiTile::Content content;
    content.label = label;
    content.value = value;
    content.context = std::move(context);
    return content;
}

/// How many versions lie behind the older of two steps up to the newer one; their numbers may be far apart. Nothing:
/// the epoch is not known.
std::optional<std::uint64_t> versionsBetween(const RunPointer& run, const DiffPair& pair)
{
    const auto epoch = static_cast<std::size_t>(pair.a.epoch);
    if (!run || !run->run || epoch >= run->run->epochs.size())
        return std::nullopt;
    const auto [from, to] = std::minmax(pair.a.step, pair.b.step);
    const std::vector<app::StepView>& steps = run->run->epochs[epoch].steps;
    return static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(), [from = from, to = to](const app::StepView& step) {
            return step.state != "gap" && step.step > from && step.step <= to;
        }));
}

KpiTile::Content between(const RunPointer& run, const DiffPair& pair)
{
    if (pair.a.epoch != pair.b.epoch)
        return tile(DiffResult::tr("Between them"), { unknownText(), {} },
                    { { DiffResult::tr("epochs %1 and %2").arg(pair.a.epoch).arg(pair.b.epoch) } });
    const std::optional<std::uint64_t> apart = versionsBetween(run, pair);
    return tile(DiffResult::tr("Between them"),
                { apart ? exactText(*apart) : unknownText(),
                  apart == 1U ? DiffResult::tr("version") : DiffResult::tr("versions") },
                { { DiffResult::tr("%1 to %2").arg(pair.a.step).arg(pair.b.step) } });
}

}

DiffResult::DiffResult(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_tileRow(new QWidget)
    , m_tabs(new QTabBar)
    , m_tabRow(new QWidget)
    , m_note(makeLabel({}, "muted"))
    , m_tensors(new DiffTensors(context))
{
    auto* tiles = new QHBoxLayout(m_tileRow);
    tiles->setContentsMargins(16, 12, 16, 12);
    tiles->setSpacing(metrics().gap);
    for (std::size_t i = 0; i < MostTiles; ++i) {
        auto* made = new KpiTile;
        made->setFocusPolicy(Qt::NoFocus); // they lead nowhere
        made->setAttribute(Qt::WA_TransparentForMouseEvents);
        tiles->addWidget(made, 1);
        m_tiles.push_back(made);
    }
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setAccessibleName(tr("Part of the result"));
    for (int i = Tensors; i <= Reshaped; ++i)
        m_tabs->addTab({});
    m_note->setFont(typeFont(Type::Label));
    auto* row = new QHBoxLayout(m_tabRow);
    row->setContentsMargins(16, 0, 16, 8);
    row->addWidget(m_tabs);
    row->addWidget(m_note);
    row->addStretch(1);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_tileRow);
    all->addWidget(m_tabRow);
    all->addWidget(m_tensors, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, &DiffResult::showPart);
}

void DiffResult::show(const DiffPair& pair, DiffPointer diff)
{
    if (m_diff == diff)
        return;
    m_pair = pair;
    m_diff = std::move(diff);
    m_touched.reset();
    const app::DiffView& view = *m_diff;
    const app::TensorDiffView* largest = largestDifference(view);
    const bool nothing = view.tensorsTotal == 0;
    std::vector<KpiTile::Run> elements { { nothing ? tr("nothing was compared") : countText(view.elementsDifferent) } };
    if (view.elementsTouched) {
        elements.push_back({ tr(", touched ") });
        elements.push_back({ percentText(shareIfAny(*view.elementsTouched, view.elementsTotal)), true });
    }
    QString speed = tr("in %1").arg(durationText(view.seconds));
    if (view.seconds > 0)
        speed += QStringLiteral(", ") + rateText(static_cast<double>(view.bytesCompared) / view.seconds);
    const Quantity different = nothing
        ? Quantity { unknownText(), {} }
        : Quantity { exactText(view.tensorsDifferent), tr("of %1").arg(exactText(view.tensorsTotal)) };
    showTiles({ tile(tr("Tensors different"), different,
                     { { nothing ? tr("nothing was compared")
                                 : tr("%1 equal").arg(exactText(view.tensorsTotal - view.tensorsDifferent)) } }),
                tile(tr("Elements different"), percentQuantity(shareIfAny(view.elementsDifferent, view.elementsTotal)),
                     std::move(elements)),
                tile(tr("max |Δ|"), { largest ? smallText(*largest->maxAbs) : unknownText(), {} },
                     { { largest ? shortened(safeName(largest->name), NameInTile) : QString() } }),
                tile(tr("Relative L2"), { view.relativeNorm ? smallText(*view.relativeNorm) : unknownText(), {} },
                     { { tr("B − A over A") } }),
                between(m_context.focus.run(), pair),
                tile(tr("Compared"), bytesQuantity(view.bytesCompared), { { speed } }) });
    m_tabs->setTabText(Tensors, tr("Tensors %1").arg(exactText(view.tensors.size())));
    m_tabs->setTabText(OneSide, tr("Only in A or B %1").arg(exactText(view.onlyInA.size() + view.onlyInB.size())));
    m_tabs->setTabText(Reshaped, tr("Shape or dtype %1").arg(exactText(view.reshaped.size())));
    m_tabs->show();
    QStringList notes;
    if (nothing)
        notes << QStringLiteral("⚠ ") + QString::fromStdString(app::nothingComparedText(view));
    if (const std::string text = app::notFiniteText(view); !text.empty())
        notes << QStringLiteral("⚠ ") + QString::fromStdString(text);
    for (const app::FormDifferenceView& form : view.forms)
        notes << QStringLiteral("⚠ ") + safeName(form.text);
    if (!view.adapters.empty())
        notes << QStringLiteral("⚠ ") + safeName(view.adapters);
    if (!view.settings.empty())
        notes << safeName(app::settingsText(view));
    notes << readsLines(view.reads);
    m_note->setText(notes.join(QLatin1Char('\n')));
    m_note->setVisible(!notes.isEmpty());
    const int part = !view.tensors.empty()              ? Tensors
        : view.onlyInA.size() + view.onlyInB.size() > 0 ? OneSide
                                                        : Reshaped;
    m_tabs->setCurrentIndex(part);
    showPart(part);
}

void DiffResult::show(const DiffPair& pair, TouchedPointer touched)
{
    if (m_touched == touched)
        return;
    m_pair = pair;
    m_touched = std::move(touched);
    m_diff.reset();
    const app::TouchedView& view = *m_touched;
    showTiles(
        { tile(
              tr("Elements touched at most"),
              percentQuantity(view.elementsTotal ? shareIfAny(view.elementsAtMost, *view.elementsTotal) : std::nullopt),
              { { tr("%1 of %2").arg(countText(view.elementsAtMost), countText(view.elementsTotal)) } }),
          tile(tr("Tensors touched"), { exactText(view.tensors.size()), {} }, { { tr("by at least one delta") } }),
          between(m_context.focus.run(), pair) });
    m_tabs->hide();
    m_note->setText(tr("An upper bound: an element that changes twice counts twice. “Different” compares the bits."));
    m_note->show();
    m_tensors->setOpens(true);
    m_tensors->setContent(QStringLiteral("touched"), touchedTensors(m_touched), pair.a, pair.b);
}

void DiffResult::showPart(int part)
{
    if (!m_diff || !m_pair)
        return;
    m_tensors->setOpens(part == Tensors);
    m_tensors->setContent(QStringLiteral("different %1").arg(part),
                          part == Tensors       ? differentTensors(m_diff)
                              : part == OneSide ? tensorsOfOneSide(m_diff)
                                                : reshapedTensors(m_diff),
                          m_pair->a, m_pair->b);
}

void DiffResult::showTiles(std::vector<KpiTile::Content> contents)
{
    for (std::size_t i = 0; i < m_tiles.size(); ++i) {
        m_tiles[i]->setVisible(i < contents.size());
        if (i < contents.size())
            m_tiles[i]->setContent(std::move(contents[i]));
    }
}

std::vector<KpiTile::Content> DiffResult::tiles() const
{
    std::vector<KpiTile::Content> contents;
    for (const KpiTile* made : m_tiles) {
        if (made->isVisibleTo(m_tileRow))
            contents.push_back(made->content());
    }
    return contents;
}

} // namespace deltascope::desktop
