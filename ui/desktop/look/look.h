#pragma once

#include <QFont>
#include <QString>

class QApplication;
class QWidget;

namespace deltascope::desktop {

enum class Appearance { System, Light, Dark };
enum class Density { Comfortable, Compact };

/// Pixels at 100 %; rows depend on the density.
struct Metrics {
    int row = 28; ///< of tables
    int control = 28; ///< buttons and fields
    int padding = 12; ///< of pages
    int gap = 8; ///< between cards
};

/// Colors and fonts of the application and the style sheet of its dressed windows. Widgets learn of it by
/// PaletteChange. GUI thread.
void applyLook(QApplication& application, Appearance appearance, Density density);
/// Gives a window the style sheet, and each that follows; all that it owns has it too. A window with a parent has that
/// of its parent. Last in a constructor: under a style sheet, a widget that gets a parent is styled anew with all its
/// children. (This is why the application as a whole has none.)
void dress(QWidget& window);
const Metrics& metrics();
Appearance currentAppearance();
Density currentDensity();

// Type: sizes follow the system's font; 13 stands for its usual size.
enum class Type { Kpi, PageNumber, SheetTitle, Section, Body, Table, TableTitle, Label, Mono };
QFont typeFont(Type type);

/// Gives a widget one of the roles that the style sheet knows: "card", "muted", "label", "kpi", "section", "title",
/// "mono", "tag", "badTag", "primary", "error", "banner", "doubt", "sunken", "chrome", "link".
void setRole(QWidget* widget, const char* role);
/// After a change of another property that the style sheet looks at. Costs a millisecond.
void repolish(QWidget* widget);

} // namespace deltascope::desktop
