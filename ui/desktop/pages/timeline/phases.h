#pragma once

#include "deltascope/app/view/timeline_view.h"
#include "look/tokens.h"

#include <QString>

#include <array>
#include <string>
#include <vector>

class QPainter;
class QRectF;

namespace deltascope::desktop {

// Phases of a weight sync: what belongs together, in which color. Vermillion is pause and nothing else.

/// From the bottom to the top of a bar.
enum class PhaseGroup { Pause, Verify, Fetch, Upload, Diff, Resume, Other };
inline constexpr std::array PhaseGroups = { PhaseGroup::Pause,  PhaseGroup::Verify, PhaseGroup::Fetch,
                                            PhaseGroup::Upload, PhaseGroup::Diff,   PhaseGroup::Resume,
                                            PhaseGroup::Other };

PhaseGroup groupOf(const std::string& phase);
Token tokenOf(PhaseGroup group);
QString groupText(PhaseGroup group); ///< of the legend: "Fetch, stage"
/// A phase as it is shown: "drain" of "pause.drain".
QString phaseText(const std::string& phase);

/// A stretch of a bar, in microseconds from its bottom.
struct Stretch {
    PhaseGroup group = PhaseGroup::Other;
    std::int64_t fromUs = 0;
    std::int64_t toUs = 0;
};
/// The phases of a bar from its bottom, neighbors of one group merged.
std::vector<Stretch> stretchesOf(const app::BarView& bar);
/// The actor told how long the sync took, and nothing about its parts.
bool hasNoBreakdown(const app::BarView& bar);

/// Fills a rectangle in the color of a group. A pause that is wide enough is hatched and outlined.
void fillPhase(QPainter& painter, const QRectF& rect, PhaseGroup group);

} // namespace deltascope::desktop
