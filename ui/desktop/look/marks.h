#pragma once

#include "deltascope/app/view/problem.h"
#include "deltascope/app/view/reads_view.h"
#include "deltascope/app/view/verified_view.h"

#include <QString>
#include <QStringList>

#include <string>

namespace deltascope::desktop {

// Words with their marks, the same everywhere; never color alone.

QString stepStateText(const std::string& state); ///< "● complete", "✕ broken"
QString kindText(const std::string& kind); ///< "anchor", "partial anchor", "delta"
QString problemLine(const app::ProblemView& problem); ///< "✕ DS-… …"; a notice has no mark
/// What the reader of a result must know about the bytes that it was made from: "⚑ rewritten and used: deltas/…".
QStringList readsLines(const app::ReadsView& reads);
QString levelText(int level); ///< "3 replay"
/// "verified as published", "DS-REWRITTEN speaks against it". `against`: the gravest problem, null where there are
/// notices at most.
QString verdictText(const std::string& result, const app::ProblemView* against = nullptr);
QString verdictText(const app::VerifiedView& verified);
QString evidenceText(const std::string& result); ///< the same in a word or two: "verified", "first sight"
bool isSound(const std::string& result); ///< a verdict that found nothing wrong and checked something

} // namespace deltascope::desktop
