#include "options.h"

#include "act_commands.h"
#include "examples.h"

#include "deltascope/app/command_line.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

void addSourceOptions(CLI::App& command, Options& options)
{
    command.add_option("--base", options.base,
                       "folder of the checkpoint that the chain starts from, where the layout has none of its own");
    command.add_option("--layout", options.layout, "read the source as this layout instead of detecting it");
    command
        .add_option("--epochs", options.epochs,
                    "where one run of the trainer ends and the next begins: auto (by evidence, the default), times, or "
                    "one (all is one run)")
        ->check(CLI::IsMember(valuesOf({}, "epochs")));
    command
        .add_option("--depth", options.searchDepth,
                    "how many folders below that of a step weights are looked for (default 4)")
        ->check(CLI::Range(std::size_t(1), MostSearchDepth));
}

std::string oneToFiftyOrAll(const std::string& value)
{
    const bool isNumber = CLI::Range(1, 50)(value).empty();
    return isNumber || value == "all" ? std::string() : fmt::format("{} is no number from 1 to 50, nor all", value);
}

/// A variable of the shell that is not set must not stand for the option that was left out.
std::string notEmpty(const std::string& value) { return value.empty() ? "is empty" : std::string(); }

}

std::vector<std::string> valuesOf(std::string_view command, std::string_view option)
{
    if (option == "layout")
        return command == "publish" ? std::vector<std::string> { "trl-v2", "slime-v2" } : app::layoutWords();
    if (option == "epochs")
        return { "auto", "times", "one" };
    if (option == "color")
        return { "auto", "always", "never" };
    if (option == "read-back")
        return { "cache", "disk" };
    if (option == "state")
        return { "served", "trained" };
    return {};
}

Result<void> Options::expectWholeRun(const std::string& command) const
{
    if (app::VersionRequest::parse(source).version.empty())
        return {};
    return fail(Code::Usage, fmt::format("{} takes a whole run, without @ and a step", command), source,
                "deltascope show " + app::quotedPath(source) + " shows one step");
}

Result<void> Options::expectFit(std::string_view command) const
{
    if (command == "materialize" && !shard.empty() && commit)
        return fail(Code::Usage,
                    "--shard writes one part, --commit finishes when all parts are written; take one of them");
    if (command != "publish")
        return {};
    if (anchorEvery && layout == "slime-v2")
        return fail(Code::Usage, "slime-v2 has no anchors, so --anchor-every would do nothing");
    const bool between = !source.empty() && !other.empty();
    if (between != watchFolder.empty() || source.empty() != other.empty())
        return fail(Code::Usage, "publish takes either --from and --to or --watch");
    if (isPlanned() && !between)
        return fail(Code::Usage, "one step is planned, from --from to --to; --watch publishes what comes");
    return {};
}

void describe(CLI::App& program, Options& options)
{
    program.require_subcommand(1);
    program.fallthrough();
    program.set_version_flag("--version", DELTASCOPE_VERSION);
    program.add_flag("--json", options.json, "one JSON document on stdout");
    program.add_flag("-q,--quiet", options.quiet, "no progress, no suggestions");
    program.add_flag("--plain", options.plain, "no colors and no bars");
    program.add_flag("--no-input", options.noInput, "never ask; nothing asks today");
    program.add_option("--limit-rate", options.limitRate, "most bytes per second (20MB) from and to each object store")
        ->type_name("SIZE");
    program.add_option("--color", options.color, "auto, always or never")->check(CLI::IsMember(valuesOf({}, "color")));
    program.add_option("--threads", options.threads, "worker threads; default: all of the machine")
        ->check(CLI::Range(0, 1024));
    program
        .add_option(
            "--backend", options.backend,
            "what finds, measures and applies changes: scalar, avx2, avx512, simd or cuda; default: the fastest "
            "of the processor")
        ->type_name("NAME");
    program
        .add_option("--device-memory", options.deviceMemory,
                    "memory of the device (128MiB) that --backend cuda may take, in batches of 32 MiB, 64 at most; "
                    "default: a tenth of what is free, and 8 batches at most")
        ->type_name("SIZE");

    CLI::App* log = program.add_subcommand(
        "log", "the history of a run: what each step is, changed, costs, and whether it can be rebuilt");
    log->add_option("source", options.source, "folder or URI of the run")->required();
    log->add_option(
        "tensors", options.tensors,
        "tell what each step changed in these: names, where * stands for any letters, dots too ('lm_head*'); "
        "quote them");
    log->add_flag("--headers-only", options.headersOnly,
                  "read no payload; changed counts stay unknown where nothing was replayed yet");
    log->add_flag("--all", options.all, "every step, also on a terminal, and those that change none of the tensors");
    log->add_option("--compare", options.compare,
                    "of plain checkpoints, compare the newest N with the one before each, which reads both; 0: none; "
                    "default: as many as take some seconds");

    CLI::App* show = program.add_subcommand("show", "one step, tensor by tensor");
    show->add_option("version", options.source, "SOURCE@STEP")->required();
    show->add_flag("--headers-only", options.headersOnly, "read no payload");

    CLI::App* list = program.add_subcommand("ls", "the objects of a source and the step that each belongs to");
    list->add_option("source", options.source, "folder or URI")->required();

    CLI::App* verify = program.add_subcommand("verify", "prove a run, a step or a range of steps");
    verify->add_option("source", options.source, "SOURCE, SOURCE@STEP or SOURCE@FIRST..LAST")->required();
    verify
        ->add_option("--level", options.level,
                     "0 listing, 1 headers, 2 all bytes, 3 replay, 4 replay with anchors and roots")
        ->check(CLI::Range(0, 4));
    verify->add_flag("--all", options.all, "each of several runs that lie below the source");
    verify->add_flag("--strict", options.strict, "exit with 6 if there is any problem that is more than a notice");
    verify->add_flag("--accept-rewritten", options.acceptRewritten,
                     "trust rewritten objects as they are now, instead of as they were first seen");

    CLI::App* materialize = program.add_subcommand("materialize", "write the full checkpoint of a step");
    materialize->add_option("version", options.source, "SOURCE@STEP")->required();
    materialize->add_option("-o,--output", options.destination, "new folder for the checkpoint")->required();
    materialize->add_option("--shard-size", options.shardSize,
                            "cut into files of this size (5GB); default: as the anchor is");
    materialize
        ->add_option("--read-back", options.readBack, "compare written bytes from the page cache or from the disk")
        ->check(CLI::IsMember(valuesOf({}, "read-back")));
    materialize->add_option("--shard", options.shard,
                            "I/N: be one of N processes that share the rebuild; write every N-th file");
    materialize->add_flag("--commit", options.commit, "finish a rebuild whose parts are all written");
    materialize->add_flag("--for-training", options.forTraining,
                          "also copy optimizer, scheduler, random and trainer state of the step, as far as the source "
                          "has them");
    materialize->add_flag("--across-gap", options.acrossGap,
                          "rebuild although the no-op test proves that a delta is lost");
    materialize
        ->add_option("--state", options.state,
                     "served (what the deltas lead to, the default) or trained (the trainer's full form), where a step "
                     "has both and they differ")
        ->check(CLI::IsMember(valuesOf({}, "state")));

    CLI::App* diff = program.add_subcommand("diff", "compare any two versions or checkpoints bit by bit");
    diff->add_option("a", options.source, "SOURCE@STEP, checkpoint folder or safetensors file")->required();
    diff->add_option("b", options.other, "the other one")->required();
    diff->add_option("tensors", options.tensors,
                     "compare only these: names, where * stands for any letters, dots too ('*.weight'); quote them");
    diff->add_flag("--exit-code", options.exitCode, "exit with 1 if they differ");
    diff->add_option(
            "--map-prefix", options.mapPrefix,
            "A=B: names that begin with A in the first begin with B in the second ('=_orig_mod.'); default: found "
            "where all names differ so")
        ->check(notEmpty);

    CLI::App* stats = program.add_subcommand(
        "stats", "the values of one tensor: range, percentiles, histogram, and how far they moved between two steps");
    stats->add_option("version", options.source, "SOURCE@STEP")->required();
    stats->add_option("tensor", options.tensor, "name of the tensor, as show lists it")->required();
    stats->add_option("--against", options.against,
                      "step to compare with; default: what the step builds on, for an anchor the step before it");
    stats
        ->add_option(
            "--history", options.history,
            "instead, the values at the last N steps up to this one (50 at most); all: the step at which it first "
            "changed, and the one at which it first held a NaN, over the whole run")
        ->check(oneToFiftyOrAll)
        ->type_name("N|all")
        ->excludes("--against");
    stats->add_flag("--cost", options.costOnly, "tell only how much would be read");

    CLI::App* digest = program.add_subcommand("digest", "hashes of every tensor and of the whole checkpoint");
    digest->add_option("version", options.source, "SOURCE@STEP, checkpoint folder or one safetensors file")->required();
    digest
        ->add_option("--check", options.digests,
                     "compare with what 'digest --json' wrote elsewhere, and exit with 1 if anything differs")
        ->check(notEmpty);
    digest->add_flag("--across-gap", options.acrossGap, "also where the no-op test proves that a delta is lost");

    CLI::App* publish = program.add_subcommand(
        "publish", "publish a step between two checkpoints, or all that a trainer drops into a folder");
    publish->add_option("--into", options.into, "folder or URI of the run; a new or empty one begins a run")
        ->required();
    publish->add_option("--from", options.source, "checkpoint folder or SOURCE@STEP: the state that the run ends with");
    publish->add_option("--to", options.other, "checkpoint folder or SOURCE@STEP: the next state");
    CLI::Option* watched =
        publish->add_option("--watch", options.watchFolder,
                            "folder where a trainer drops checkpoint-N folders; publish each when it is complete");
    CLI::Option* marker = publish
                              ->add_option("--marker", options.marker,
                                           "with --watch: a checkpoint is complete once its folder holds this file")
                              ->needs(watched);
    publish
        ->add_option("--quiet-seconds", options.quietSeconds,
                     "with --watch, without --marker: complete once nothing changed for so long")
        ->check(CLI::Range(0.0, 86400.0))
        ->needs(watched)
        ->excludes(marker);
    publish
        ->add_option("--settle", options.settleSeconds,
                     "with --watch: leave out, and name, a checkpoint that is not complete and in which nothing "
                     "changed for so many seconds (600)")
        ->check(CLI::Range(0.0, 86400.0))
        ->needs(watched);
    publish
        ->add_flag("--once", options.once,
                   "with --watch: end when all complete checkpoints are published; fails if one was left out")
        ->needs(watched);
    publish
        ->add_option("--anchor-every", options.anchorEvery,
                     "trl-v2: every N-th version is an anchor (10); 0: only the first")
        ->check(CLI::Range(0, 1'000'000));
    CLI::Option* cheaper = publish->add_flag("--anchor-when-cheaper", options.anchorWhenCheaper,
                                             "also an anchor when restores would read more in deltas than it weighs");
    publish
        ->add_option("--restores", options.restoresPerAnchor,
                     "with --anchor-when-cheaper: restores expected until the next anchor")
        ->check(CLI::Range(0.0, 1e9))
        ->needs(cheaper);
    publish->add_flag("--new-epoch", options.newEpoch,
                      "begin another epoch behind the run, with an anchor, instead of going on with it");
    publish->add_flag("--allow-suspect", options.allowSuspect,
                      "also publish states that hold NaN, or values that are suspect in another way");
    publish->add_flag("--sole-writer", options.soleWriter,
                      "nobody else publishes there: needed where the store cannot put under a condition");
    publish
        ->add_option("--map-prefix", options.mapPrefix,
                     "A=B: publish tensors whose names begin with A as beginning with B ('_orig_mod.=')")
        ->check(notEmpty);
    publish->add_option("--encoding", options.encoding, "trl-v2: gap_delta or raw; slime-v2: xor or overwrite");
    publish->add_option("--checksum", options.checksum, "slime-v2: xxh3-128, blake3 or adler32");

    addPlanOptions(*publish, options);

    for (CLI::App* command : { materialize, diff, digest, stats, publish })
        command->add_flag("--accept-rewritten", options.acceptRewritten,
                          "read objects that were rewritten since they were first seen, this once");

    CLI::App* watch = program.add_subcommand("watch", "a line for every step as it is published");
    watch->add_option("source", options.source, "folder or URI of the run")->required();
    watch->add_flag("--headers-only", options.headersOnly, "read no payload");

    CLI::App* cost =
        program.add_subcommand("cost", "what a run costs per step and per day, and how often an anchor pays");
    cost->add_option("source", options.source, "folder or URI of the run")->required();
    cost->add_option("--price-per-gb", options.cost.pricePerGb, "money per GB moved; default: 0.09");
    cost->add_option("--link-gbps", options.cost.linkGbps, "speed of the link in Gbit/s; default: 10");
    cost->add_option("--steps-per-day", options.cost.stepsPerDay, "default: from publication times");
    cost->add_option("--restores-per-day", options.cost.restoresPerDay, "how often a step is rebuilt; default: 4");
    cost->add_option("--lr", options.cost.learningRate,
                     "learning rate: predicts the changed share; reads up to 64 MiB of weights");
    cost->add_flag("--headers-only", options.headersOnly,
                   "replay nothing; what was never replayed has no changed share");

    CLI::App* demo =
        program.add_subcommand("demo", "train, publish and follow a small model, with a few incidents, and watch it");
    demo->add_option("--dir", options.destination, "folder for bucket, trainer and replicas; default: under the cache");
    demo->add_option("--rate", options.rate, "training steps per second")->check(CLI::Range(0.01, 100.0));
    demo->add_option("--seed", options.seed, "of weights and steps");
    demo->add_option("--for", options.seconds, "end after so many seconds; default: with Ctrl+C")
        ->check(CLI::Range(0.0, 1e9));

    demo->add_option("--into", options.into, "publish into this folder or bucket instead of one in --dir");
    demo->add_flag("--sole-writer", options.soleWriter,
                   "nobody else writes into that bucket; what the demo makes itself is its own");
    demo->add_flag("--serve", options.serve, "show it in the browser instead of the terminal");

    CLI::App* serve = program.add_subcommand("serve", "follow runs and show them in the browser");
    serve->add_option("sources", options.served.sources, "folders or URIs of runs")->required();
    serve->add_option("--unix-socket", options.served.unixSocket, "also listen on this socket, for its owner alone");
    serve->add_option("--base-path", options.served.basePath, "path below which a proxy shows the page");
    serve->add_option("--token-file", options.served.tokenFile,
                      "who may do what: lines NAME SCOPE TOKEN; needed to listen beyond this machine");
    serve->add_option("--tls-cert", options.served.tlsCertificate, "PEM file of a certificate: speak HTTPS");
    serve->add_option("--tls-key", options.served.tlsKey, "PEM file of the key of that certificate");
    serve->add_flag("--insecure-http", options.served.insecureHttp, "let clear text leave this machine");
    serve->add_option("--auth-proxy", options.served.authProxyHeader, "header in which a trusted proxy names the user");
    serve->add_option("--auth-proxy-from", options.served.authProxyFrom,
                      "network that such a proxy comes from, besides the Unix socket; default: loopback");
    serve->add_option("--allow-host", options.served.allowedHosts, "further name by which browsers may come");
    serve->add_option("--allow-embed", options.served.embedders, "origin whose pages may show this one in a frame");
    serve->add_flag("--allow-acts", options.served.allowActs, "let browsers verify, compare and materialize");
    serve
        ->add_option("--verify-level", options.served.verifyLevel,
                     "how deep every step is verified in the background; 0: not at all")
        ->check(CLI::Range(0, 4));
    for (CLI::App* command : { demo, serve }) {
        command->add_option("--listen", options.served.listen, "HOST:PORT; port 0: any free one")
            ->capture_default_str();
        command->add_flag("--open", options.served.open, "open the page in this desktop's browser, if there is one");
        command->add_option("--output", options.served.output, "folder that checkpoints are materialized in");
        command->add_option("--alert-channels", options.served.channels,
                            "file of webhooks and programs that are told of alerts: lines LEVEL ADDRESS");
    }

    CLI::App* gui = program.add_subcommand("gui", "open the desktop app");
    gui->add_option("source", options.source, "folder or URI of a run");
    gui->add_option("--page", options.page,
                    "page to show first: live, heatmap, timeline, lineage, bucket, tensors, diff or alerts");

    CLI::App* exported = program.add_subcommand("export", "put what the page shows of a run into one file");
    exported->add_option("source", options.source, "folder or URI of the run")->required();
    exported->add_option("--bundle", options.destination, "new file; its web/index.html opens without a daemon")
        ->required();

    const std::vector<CLI::App*> acts = describeActs(program, options);

    CLI::App* leftovers =
        program.add_subcommand("leftovers", "what stopped and killed rebuilds left in a folder, and what it weighs");
    leftovers->add_option("folder", options.source, "folder that holds, or should have held, the checkpoints")
        ->required();

    CLI::App* doctor = program.add_subcommand("doctor", "look at this machine and, if given, at a source");
    CLI::Option* const examined = doctor->add_option("source", options.source, "folder or URI");
    doctor
        ->add_flag("--clean", options.clean,
                   "remove from the source what writers of this machine that were killed left half-written")
        ->needs(examined);

    for (CLI::App* command : { log, show, list, verify, materialize, diff, stats, digest, publish, cost, watch, serve,
                               gui, exported, doctor })
        addSourceOptions(*command, options);
    for (CLI::App* command : acts)
        addSourceOptions(*command, options);
    for (CLI::App* command :
         { log, show, list, verify, materialize, diff, stats, digest, cost, watch, serve, gui, exported })
        command->add_option("--mirror", options.mirrors,
                            "folder that holds the same objects, read where the source lost or damaged them");
    for (CLI::App* command : { log, show, watch, serve, gui, exported })
        command->add_option("--logs", options.logs,
                            "log files of trainer and inference engines: their lines tell how long a sync paused");
    publish->get_option("--layout")->required()->description("trl-v2 or slime-v2");

    CLI::App* completion = program.add_subcommand("completion", "print a completion script");
    completion->add_option("shell", options.shell, "bash, zsh or fish")->required();

    for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; }))
        command->footer("Examples:\n" + examplesText(examplesOf(command->get_name())));
}

bool namesFolder(const std::string& checkpoint)
{
    const app::VersionRequest request = app::VersionRequest::parse(checkpoint);
    const Address& address = request.source.source;
    std::error_code ignored;
    const bool isFile = address.remote() ? address.text().ends_with(".safetensors")
                                         : address.path() && std::filesystem::is_regular_file(*address.path(), ignored);
    return request.version.empty() && !isFile;
}

} // namespace deltascope::cli
