#include "help/help_text.h"

#include <QCoreApplication>

namespace deltascope::desktop {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Help)
};

using Keys = std::vector<std::pair<QString, QString>>;

Keys chartKeys()
{
    return { { QStringLiteral("W S"), Words::tr("zoom the focused chart in and out") },
             { QStringLiteral("A D"), Words::tr("pan it") },
             { QStringLiteral("F"), Words::tr("show all steps") },
             { QStringLiteral("Ctrl+Shift+←  →"), Words::tr("move the chart to another place") },
             { QStringLiteral("Return"), Words::tr("show the chart large, or all charts again") },
             { QStringLiteral("Menu"), Words::tr("what a chart or a tile can do") } };
}

Keys canvasKeys()
{
    return { { QStringLiteral("W S"), Words::tr("zoom in and out") },
             { QStringLiteral("A D"), Words::tr("pan left and right") },
             { QStringLiteral("F"), Words::tr("fit the selection, again: show all") } };
}

}

HelpText helpText(const QString& page)
{
    if (page == QLatin1String("live"))
        return {
            Words::tr(
                "What the run is doing now. The first line says what can be relied on. The tiles are about the newest "
                "version; a click on one leads to the page that it comes from. The charts have one value per step: "
                "drag over steps to look "
                "closer, on all pages at once. The mini heatmap shows in which layers weights changed. Below "
                "stand what happened last and what each replica says it serves."),
            chartKeys()
        };
    if (page == QLatin1String("heatmap")) {
        Keys keys = canvasKeys();
        keys.insert(
            keys.end(),
            { { QStringLiteral("Q E"), Words::tr("zoom rows out and in") },
              { QStringLiteral("← → ↑ ↓"), Words::tr("move the cursor by a cell; with Ctrl to the next change") },
              { QStringLiteral("R"), Words::tr("show the selected steps on all pages") },
              { QStringLiteral("Space+drag"), Words::tr("pan") },
              { QStringLiteral("Return"), Words::tr("go down: blocks of a tensor, then its elements") },
              { QStringLiteral("Backspace"), Words::tr("go up again") } });
        return { Words::tr("Which part of each tensor changed at each step. A row is a layer or a tensor, a column a "
                           "step, the color the share of elements; where several share a pixel, the highest is shown. "
                           "Hatched is not known, flat is no change at all. The scale is locked until it is unlocked."),
                 keys };
    }
    if (page == QLatin1String("timeline"))
        return { Words::tr("Where the time of a sync goes. Each bar is a step as its slowest replica saw it: from the "
                           "search for changes at the trainer to the first token. The hatched part at the bottom is "
                           "the pause, in which no tokens are produced. The lanes below show the same by the clock."),
                 canvasKeys() };
    if (page == QLatin1String("lineage"))
        return { Words::tr("All versions, the newest on top, and what each is built on. A diamond is an anchor, a full "
                           "version; a dot is a delta. The line shows which files are needed for a version, the last "
                           "column what rebuilding it costs. Holes and broken versions say what to do about them."),
                 { { QStringLiteral("↑ ↓"), Words::tr("move B") },
                   { QStringLiteral("Shift+click"), Words::tr("set A") },
                   { QStringLiteral("Ctrl+click"), Words::tr("select more versions") },
                   { QStringLiteral("Return"), Words::tr("open or fold a chain") } } };
    if (page == QLatin1String("bucket"))
        return { Words::tr("The objects of the source as they are stored, a thousand at a time, and what each is for. "
                           "The preview reads the header of a file only. Typing filters; words like kind:delta or "
                           "size:>10M narrow it further."),
                 { { QStringLiteral("Space"), Words::tr("preview the object") },
                   { QStringLiteral("Return"), Words::tr("open a folder") },
                   { QStringLiteral("Backspace"), Words::tr("go up") } } };
    if (page == QLatin1String("tensors"))
        return { Words::tr("The tensors of the model: shape, type, and when each changed last. Beside the list stand "
                           "the statistics of the selected one at B, and its past."),
                 { { QStringLiteral("Return"), Words::tr("look into the tensor") } } };
    if (page == QLatin1String("diff"))
        return { Words::tr("What is different between step A and step B. Touched counts what the deltas between them "
                           "have written, at once; different compares the bits, for which both are rebuilt."),
                 { { QStringLiteral("Return"), Words::tr("look at the difference of a tensor") } } };
    if (page == QLatin1String("alerts"))
        return { Words::tr("What went wrong, and the rules that notice it. A rule can be switched off, its threshold "
                           "changed, and tested on the run as it is. An alert can be acknowledged (somebody takes care "
                           "of it) or snoozed. On top stands who is told."),
                 { { QStringLiteral("Return"), Words::tr("go to the step of the alert") } } };
    if (page == QLatin1String("journal"))
        return { Words::tr(
                     "What people did to this run and said about it: roll backs, words, pins and notes, with who did "
                     "it, when, and the plan that it was bound to. A word stands for its step in every address "
                     "(SOURCE@good); a pin says that a step is to be kept. What stands beside the run is there for "
                     "everybody; where the source cannot be written, it is on this machine alone."),
                 { { QStringLiteral("Return"), Words::tr("go to the step of a word or a note") } } };
    return { Words::tr("Nothing is open. Watch the demo for a made-up run that the real engine trains and publishes on "
                       "this machine, or open a folder or bucket to which a trainer publishes its weights."),
             {} };
}

} // namespace deltascope::desktop
