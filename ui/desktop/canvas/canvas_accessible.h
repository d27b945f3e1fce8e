#pragma once

namespace deltascope::desktop {

/// Makes every Canvas a table for screen readers: rows, columns and headers of its table(). To be called once, before
/// the first window.
void installCanvasAccessibility();

} // namespace deltascope::desktop
