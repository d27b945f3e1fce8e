#pragma once

#include "pages/lineage/lineage_model.h"

#include <QByteArray>
#include <QString>

namespace deltascope::desktop {

// What the list of versions says, as plain text: for the painter, tooltips, screen readers and files.

QString lineageText(const LineagePicture& picture, const LineageItem& item, LineageModel::Column column);
QString lineageTip(const LineagePicture& picture, const LineageItem& item, LineageModel::Column column);

QString stepText(const app::LineageRowView& row); ///< "1187", "1208 – 1210" of a hole, "1171′" of a lost branch
QString foldedSteps(const LineagePicture& picture, const LineageChain& chain); ///< "1220 – 1229"
QString foldedWhat(const LineagePicture& picture, const LineageChain& chain); ///< "chain of 1220, 10 versions"
QString checkedText(const LineageChain& chain); ///< "all level 3, anchor level 4"
QString alertsText(const LineagePicture& picture, const LineageChain& chain); ///< "⚑ 1217 pause-long, cleared"
QString restartWhat(const LineagePicture& picture, const LineageItem& item); ///< "Trainer restarted from step 1170"
QString restartWhen(const LineagePicture& picture, const LineageItem& item); ///< ", epoch 1 begins, 13:50:31"
/// "restores 12", "branch of s3://bucket/run@12"; empty: neither.
QString restoredText(const app::LineageRowView& row);
QString problemText(const app::LineageRowView& row); ///< of the gravest one: "✕ DS-… …"; empty: none
QString remarkText(const LineagePicture& picture, std::size_t row); ///< what stands behind the names of a row

/// "file:///run@0:1187", as the command line understands it.
QString versionAddress(const LineagePicture& picture, std::size_t row);

/// All fields of some rows, with a header.
QByteArray lineageCsv(const LineagePicture& picture, const std::vector<std::size_t>& rows);

} // namespace deltascope::desktop
