#include "pages/heatmap/heatmap_page.h"

#include "heat/heat_canvas.h"
#include "look/format.h"

#include <QFileDialog>
#include <QMessageBox>
#include <QSaveFile>

#include <array>
#include <cmath>

// Cells of the heatmap as lines of text.

namespace deltascope::desktop {

namespace {

QByteArray quoted(std::string name)
{
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2)
        name.insert(at, 1, '"');
    return QByteArray("\"").append(name.c_str(), static_cast<qsizetype>(name.size())).append('"');
}

}

QString HeatmapPage::exportName() const { return run() ? tr("%1-heatmap.csv").arg(safeName(run()->name)) : QString(); }

QByteArray HeatmapPage::exportText()
{
    const HeatModel& model = m_heat->model();
    if (model.isEmpty())
        return {};
    const Axis& axis = model.axis();
    const int to = std::min(model.plan()->columns, static_cast<int>(std::ceil(axis.first + axis.seen())));
    return csvOf(static_cast<int>(axis.first), to, std::max(0, model.firstSeenRow()), model.endOfSeenRows());
}

QByteArray HeatmapPage::csvOf(int fromColumn, int toColumn, int fromRow, int toRow) const
{
    const HeatModel& model = m_heat->model();
    const HeatPlan& plan = *model.plan();
    std::array<QByteArray, 256> shares;
    for (std::size_t code = 0; code < shares.size(); ++code)
        shares[code] = QByteArray::number(app::heatShare(static_cast<std::uint8_t>(code)), 'g', 3);
    QByteArray text = "tensor";
    for (int column = fromColumn; column < toColumn; ++column)
        text.append(",changed_frac_").append(QByteArray::number(static_cast<qlonglong>(plan.column(column).step)));
    text.append('\n');
    for (int at = fromRow; at < toRow; ++at) {
        const ViewRow& view = model.rows()[static_cast<std::size_t>(at)];
        if (view.kind == ViewRow::Kind::Head)
            continue;
        for (int row = view.first; row < view.first + view.lines(); ++row) {
            text.append(quoted(plan.tensor(row).name));
            for (int column = fromColumn; column < toColumn; ++column) {
                text.append(',');
                if (const auto code = plan.code(row, column))
                    text.append(shares[*code]);
            }
            text.append('\n');
        }
    }
    return text;
}

void HeatmapPage::exportBox(const QByteArray& csv)
{
    auto* dialog = new QFileDialog(this, tr("Export the cells"), exportName(), tr("Comma separated (*.csv)"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this, csv](const QString& path) {
        QSaveFile file(path);
        if (file.open(QIODevice::WriteOnly) && file.write(csv) == csv.size() && file.commit())
            return;
        auto* box =
            new QMessageBox(QMessageBox::Warning, tr("Not exported"),
                            tr("✕ %1 cannot be written. Choose another folder.").arg(path), QMessageBox::Ok, this);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    });
    dialog->open();
}

} // namespace deltascope::desktop
