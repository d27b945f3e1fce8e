#include "widgets/reads_note.h"

#include "look/marks.h"
#include "widgets/cards.h"

namespace deltascope::desktop {

ReadsNote::ReadsNote(QWidget* parent)
    : QLabel(parent)
{
    dressLabel(this, "body");
    setWordWrap(true);
    setContentsMargins(12, 4, 12, 4);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    hide();
}

void ReadsNote::setReads(const app::ReadsView& reads)
{
    setText(readsLines(reads).join(QLatin1Char('\n')));
    setVisible(!text().isEmpty());
}

} // namespace deltascope::desktop
