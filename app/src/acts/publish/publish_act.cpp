#include "acts/publish/publish_act.h"

#include "acts/plan_parts.h"
#include "acts/report_of.h"
#include "deltascope/app/command_line.h"
#include "deltascope/app/view/counted.h"
#include "service/publishing.h"
#include "view/publish_description.h"

#include <fmt/format.h>
#include <locale>
#include <sstream>

namespace deltascope::app {

namespace {

constexpr std::int64_t MostBetweenAnchors = 1'000'000;
constexpr double MostRestores = 1e9;

/// Errors: Usage.
Result<double> restoresOf(const std::string& text)
{
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    double number = -1;
    if (stream >> number && stream.peek() == std::istringstream::traits_type::eof() && number >= 0
        && number <= MostRestores)
        return number;
    return fail(Code::Usage, fmt::format("\"restores\" of publish is a number from 0 to {:.0f}", MostRestores), text);
}

Result<PublishArgs> argsOf(const CheckedArgs& args)
{
    PublishArgs publish { args.text("from"), args.text("to"), args.text("encoding"), args.text("checksum") };
    publish.anchorEvery = static_cast<std::uint32_t>(args.whole("anchor_every"));
    publish.anchorWhenCheaper = args.flag("anchor_when_cheaper");
    DS_TRY(publish.restoresPerAnchor, restoresOf(args.text("restores")));
    publish.newEpoch = args.flag("new_epoch");
    publish.allowSuspect = args.flag("allow_suspect");
    publish.acceptRewritten = args.flag("accept_rewritten");
    publish.soleWriter = args.flag("sole_writer");
    publish.mapPrefix = args.text("map_prefix");
    return publish;
}

Result<BoundPlan> planPublishOf(const ActScene& scene, const CheckedArgs& args)
{
    DS_TRY(PublishArgs publish, argsOf(args));
    DS_TRY(publish.from, stateAddressOf(scene.options, publish.from));
    DS_TRY(publish.to, stateAddressOf(scene.options, publish.to));
    SourceRequest into = scene.source;
    into.layout = scene.snapshot.run->layout;
    BoundPlan plan;
    plan.call.act = publish;
    plan.view.title = fmt::format("Publish a step into {}", scene.snapshot.name);
    plan.view.cli = publishCommand(into, publish);
    return plan;
}

Result<JobResult> runPublish(const ActWork& work, TaskContext& task)
{
    DS_TRY(const PublishArgs args, argsOf(work.args));
    const PublishRequest request(work.call.source, args);
    DS_TRY(PublishView view,
           work.isPlan() ? planPublication(work.bench, request, task)
                         : publishOnce(work.bench, request, work.call.planHash, task));
    return JobResult(std::make_shared<const PublishView>(std::move(view)));
}

void takePublish(PlanView& plan, const JobResult& planned)
{
    const PublishView& found = *std::get<std::shared_ptr<const PublishView>>(planned);
    takeActPlan(plan, found.plan);
    plan.warnings.insert(plan.warnings.end(), found.notices.begin(), found.notices.end());
    for (const auto& [fact, value] : found.plan.effects)
        plan.facts.push_back({ fact, value });
    plan.steps.push_back({ "Read both states and compare them", found.plan.readBytes });
    for (const PlannedObjectView& object : found.plan.writes)
        plan.steps.push_back({ "Write " + object.key, 0 });
}

}

Act publishAct()
{
    using Type = ActField::Type;
    return {
        { "publish",
          "Publish a step",
          "",
          { { "from", Type::Place, "From", "A checkpoint, or the address of a step: the state that the run ends with.",
              "", true },
            { "to", Type::Place, "To", "A checkpoint, or the address of a step: the next state.", "", true },
            { "encoding", Type::Text, "Encoding",
              "gap_delta or raw in trl-v2, xor or overwrite in slime-v2; empty: the one named first.", "" },
            { "checksum", Type::Text, "Checksum",
              "Of slime-v2: xxh3-128, blake3 or adler32; empty: the one named first.", "" },
            { "anchor_every", Type::Whole, "Anchor every", "Every N-th version is an anchor; 0: only the first.", "10",
              false, MostBetweenAnchors },
            { "anchor_when_cheaper", Type::Flag, "Anchor when cheaper",
              "Also an anchor when restores would read more in deltas than it weighs.", "false" },
            { "restores", Type::Text, "Restores", "How many are expected until the next anchor.", "1" },
            { "new_epoch", Type::Flag, "New epoch", "Begin another epoch behind the run, with an anchor.", "false" },
            { "allow_suspect", Type::Flag, "Allow suspect values",
              "Also publish a state that holds NaN, or values that are suspect in another way.", "false" },
            { "accept_rewritten", Type::Flag, "Accept rewritten objects",
              "Use objects that were rewritten since they were first seen, this once.", "false" },
            { "sole_writer", Type::Flag, "Nobody else publishes there",
              "Needed on a store that cannot put under a condition.", "false" },
            { "map_prefix", Type::Text, "Names",
              "A=B: tensors whose names begin with A are published as beginning with B; empty: names stay.", "" } },
          ActWay::OwnCommand },
        planPublishOf,
        reportOf<PublishView>(),
        runPublish,
        takePublish
    };
}

PublishArgs::operator ActRequest() const
{
    return { "publish",
             { { "from", from },
               { "to", to },
               { "encoding", encoding },
               { "checksum", checksum },
               { "anchor_every", static_cast<std::int64_t>(anchorEvery) },
               { "anchor_when_cheaper", anchorWhenCheaper },
               { "restores", fmt::format("{}", restoresPerAnchor) },
               { "new_epoch", newEpoch },
               { "allow_suspect", allowSuspect },
               { "accept_rewritten", acceptRewritten },
               { "sole_writer", soleWriter },
               { "map_prefix", mapPrefix } } };
}

PublishRequest::PublishRequest(SourceRequest run, const PublishArgs& args)
    : into(std::move(run))
    , from(VersionRequest::parse(args.from))
    , to(VersionRequest::parse(args.to))
    , encoding(args.encoding)
    , checksum(args.checksum)
    , anchorEvery(args.anchorEvery)
    , anchorWhenCheaper(args.anchorWhenCheaper)
    , restoresPerAnchor(args.restoresPerAnchor)
    , newEpoch(args.newEpoch)
    , allowSuspect(args.allowSuspect)
    , acceptRewritten(args.acceptRewritten)
    , soleWriter(args.soleWriter)
    , mapPrefix(args.mapPrefix)
{
    // The layout is that of the run; what is published from and to says by itself what it is.
    from.source.base = to.source.base = into.base;
    from.source.searchDepth = to.source.searchDepth = into.searchDepth;
    from.acceptRewritten = to.acceptRewritten = acceptRewritten;
}

} // namespace deltascope::app
