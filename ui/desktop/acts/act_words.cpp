#include "acts/act_words.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

struct KnownAct {
    std::string_view kind;
    const char* icon;
    bool ownSheet;
};

constexpr std::array<KnownAct, 8> KnownActs { {
    { "materialize", "download", true },
    { "verify", "shield", true },
    { "diff", "diff", true }, // a page
    { "rollback", "undo", true },
    { "undo", "undo", true },
    { "branch", "branch", false },
    { "pin", "pin", false },
    { "ref", "flag", false },
} };

const KnownAct* knownAct(std::string_view kind)
{
    const auto* found =
        std::find_if(KnownActs.begin(), KnownActs.end(), [&](const auto& act) { return act.kind == kind; });
    return found == KnownActs.end() ? nullptr : found;
}

}

std::optional<app::ActInfo> actInfo(std::string_view kind)
{
    for (app::ActInfo& act : app::actInfos()) {
        if (act.kind == kind)
            return std::move(act);
    }
    return std::nullopt;
}

bool actHasField(std::string_view kind, std::string_view field)
{
    const std::optional<app::ActInfo> act = actInfo(kind);
    return act
        && std::any_of(act->fields.begin(), act->fields.end(), [&](const auto& one) { return one.name == field; });
}

bool asksForStep(const app::ActInfo& act)
{
    return std::any_of(act.fields.begin(), act.fields.end(),
                       [](const app::ActField& field) { return field.type == app::ActField::Type::Step; });
}

bool hasOwnSheet(std::string_view kind)
{
    const KnownAct* act = knownAct(kind);
    return act && act->ownSheet;
}

std::vector<StepAct> stepActs(const app::StepView& step)
{
    std::vector<StepAct> acts { { QCoreApplication::translate("Acts", "Roll back to step %1…").arg(step.step),
                                  QStringLiteral("run.rollBack"), step.restorable } };
    for (const app::ActInfo& act : app::actInfos()) {
        if (asksForStep(act) && !hasOwnSheet(act.kind))
            acts.push_back({ actWords(act.title) + QStringLiteral("…"), actionOf(act.kind), true });
    }
    return acts;
}

QString actWords(std::string_view words)
{
    return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}
QString actionOf(std::string_view kind) { return QStringLiteral("act.") + actWords(kind); }

QString actIcon(std::string_view kind)
{
    const KnownAct* act = knownAct(kind);
    return QString::fromLatin1(act ? act->icon : "list");
}

} // namespace deltascope::desktop
