#include "actions/action_registry.h"
#include "acts/act_words.h"
#include "pages/bucket/bucket_list.h"
#include "pages/bucket/bucket_page.h"
#include "pages/bucket/bucket_preview.h"
#include "pages/bucket/object_address.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include <algorithm>

namespace deltascope::desktop {

/// The version that an object belongs to; of two with the same number the one that holds it.
std::optional<StepId> BucketPage::stepOf(const app::ListingRowView& row) const
{
    if (!row.step || !run() || !run()->run)
        return std::nullopt;
    const auto& epochs = run()->run->epochs;
    std::optional<StepId> newest;
    for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
        const auto step =
            std::lower_bound(epoch->steps.begin(), epoch->steps.end(), *row.step,
                             [](const app::StepView& shown, std::int64_t wanted) { return shown.step < wanted; });
        if (step == epoch->steps.end() || step->step != *row.step || step->state == "gap")
            continue;
        const StepId id { step->epoch, step->step };
        if (std::any_of(step->objects.begin(), step->objects.end(),
                        [&](const app::ObjectView& object) { return object.key == row.key; }))
            return id;
        newest = newest ? newest : id;
    }
    return newest;
}

void BucketPage::fillMenu(QMenu& menu, const app::ListingRowView& row)
{
    if (row.folder) {
        connect(menu.addAction(tr("Open")), &QAction::triggered, this, [this, key = row.key] { openFolder(key); });
    } else {
        QAction* look = menu.addAction(m_preview->isVisible() ? tr("Hide the preview") : tr("Show the preview"));
        connect(look, &QAction::triggered, this, &BucketPage::togglePreview);
    }
    addCopies(menu, row);
    const std::optional<StepId> step = stepOf(row);
    if (!step)
        return;
    menu.addSeparator();
    // Acts work on B: the version of the object becomes it first.
    const auto onStep = [&](const QString& text, const QString& id, bool enabled) {
        QAction* action = menu.addAction(text);
        action->setEnabled(enabled);
        connect(action, &QAction::triggered, this, [this, id, step] {
            context().cursor.setB(*step);
            context().actions.trigger(id);
        });
    };
    const app::StepView* shown = context().focus.step(*step);
    onStep(tr("Go to step %1").arg(step->step), QStringLiteral("go.lineage"), true);
    onStep(tr("Verify step %1…").arg(step->step), QStringLiteral("run.verify"), true);
    onStep(tr("Materialize step %1…").arg(step->step), QStringLiteral("run.materializeOptions"),
           shown && shown->restorable);
    if (shown && run()->state != "recorded") {
        for (const StepAct& act : stepActs(*shown))
            onStep(act.text, act.id, act.enabled);
    }
}

void BucketPage::addCopies(QMenu& menu, const app::ListingRowView& row)
{
    QMenu* copies = menu.addMenu(tr("Copy"));
    const std::optional<ObjectAddress> address = objectAddress(run()->source, row.key);
    if (!address) {
        copies->setEnabled(false);
        copies->setTitle(tr("Copy (the name is no text)"));
        return;
    }
    const auto add = [&](const QString& text, const std::optional<QString>& content) {
        if (content)
            connect(copies->addAction(text), &QAction::triggered, this,
                    [content] { QApplication::clipboard()->setText(*content); });
    };
    add(tr("URI"), address->uri);
    add(tr("Path"), address->path);
    if (!row.folder) {
        add(QStringLiteral("aws s3 cp …"), address->aws);
        add(QStringLiteral("hf buckets cp …"), address->hf);
    }
}

} // namespace deltascope::desktop
