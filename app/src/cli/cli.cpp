#include "cli.h"

#include "completion.h"
#include "exit_codes.h"
#include "job_console.h"
#include "live_text.h"
#include "text.h"

#include "deltascope/app/service.h"
#include "deltascope/app/view/json.h"
#include "deltascope/base/bytes.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>

namespace deltascope::cli {

namespace {

    /// Everything that the command line can say. Filled by CLI11, read by the commands.
    struct Options {
        bool json = false;
        bool quiet = false;
        bool plain = false;
        bool noInput = false;
        std::string color = "auto";
        unsigned threads = 0;

        std::string source;
        std::string other;
        std::string base;
        std::string layout;
        bool headersOnly = false;
        bool all = false;
        bool exitCode = false;
        bool acrossGap = false;
        int level = 2;
        bool acceptRewritten = false;
        std::string destination;
        std::string shardSize;
        std::string shard;
        std::string readBack = "cache";
        bool commit = false;
        std::string into;
        std::string encoding;
        std::string checksum;
        std::string watchFolder;
        std::string marker;
        double quietSeconds = 5;
        bool once = false;
        std::uint32_t anchorEvery = 10;
        bool anchorWhenCheaper = false;
        double restoresPerAnchor = 1;
        bool newEpoch = false;
        double rate = 1;
        std::uint64_t seed = 1;
        double seconds = 0;
        std::string shell;
        app::CostRequest cost;

        app::SourceRequest sourceRequest() const { return { source, base, layout }; }
        app::Depth depth() const { return headersOnly ? app::Depth::Headers : app::Depth::Replayed; }
        app::VersionRequest versionRequest(const std::string& address) const
        {
            app::VersionRequest request = app::VersionRequest::parse(address);
            request.source.base = base;
            request.source.layout = layout;
            return request;
        }
    };

    /// "5GB", "512MiB", "1000000".
    Result<std::uint64_t> parseSize(const std::string& text)
    {
        static const std::map<std::string, std::uint64_t> Units = {
            { "", 1 }, { "B", 1 }, { "KB", 1000 }, { "MB", 1'000'000 }, { "GB", 1'000'000'000 }, { "TB", 1'000'000'000'000 },
            { "KIB", 1ULL << 10 }, { "MIB", 1ULL << 20 }, { "GIB", 1ULL << 30 }, { "TIB", 1ULL << 40 },
        };
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        std::string unit = text.substr(digits);
        std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
        const std::optional<std::int64_t> number = parseNumber(text.substr(0, digits));
        const auto factor = Units.find(unit);
        const std::optional<std::uint64_t> bytes = number && factor != Units.end()
            ? checkedMul(static_cast<std::uint64_t>(*number), factor->second)
            : std::nullopt;
        if (!bytes || *bytes == 0)
            return fail(Code::Usage, fmt::format("{} is not a size such as 5GB or 512MiB", text));
        return *bytes;
    }

    /// "i/n" of --shard.
    Result<std::pair<std::uint32_t, std::uint32_t>> parsePart(const std::string& text)
    {
        const std::size_t slash = text.find('/');
        const std::optional<std::int64_t> part = parseNumber(text.substr(0, slash));
        const std::optional<std::int64_t> parts = slash == std::string::npos ? std::nullopt : parseNumber(text.substr(slash + 1));
        if (!part || !parts || *parts < 1 || *parts > 100'000 || *part >= *parts)
            return fail(Code::Usage, fmt::format("--shard takes I/N with I from 0 to N-1, not {}", text));
        return std::pair(static_cast<std::uint32_t>(*part), static_cast<std::uint32_t>(*parts));
    }

    /// Runs one command against the service and prints what comes of it.
    class Commands {
    public:
        Commands(const Options& options, Style style, std::vector<CommandWords> words)
            : m_options(options)
            , m_style(style)
            , m_words(std::move(words))
        {
        }

        int run(const std::string& command)
        {
            if (command == "completion")
                return completion();
            app::Settings settings = app::Settings::fromEnvironment();
            settings.threads = m_options.threads;
            Result<std::unique_ptr<app::Service>> service = app::Service::create(settings);
            const Result<int> status = service ? dispatch(command, **service) : fail(std::move(service.error()));
            return status ? *status : report(status.error());
        }

        /// Errors go to stderr for people and, with --json, to stdout as one document.
        int report(const Error& error) const
        {
            const app::ProblemView problem = app::problemView(error);
            if (m_options.json)
                writeOut(app::errorToJson(problem) + "\n");
            writeErr("deltascope: " + problem.code + ": ");
            if (!problem.where.empty())
                writeErr(safe(problem.where) + ": ");
            if (!namesStep(problem))
                writeErr(fmt::format("step {}: ", *problem.step));
            writeErr(safe(problem.text) + "\n");
            if (!problem.remedy.empty())
                writeErr("  → " + safe(problem.remedy) + "\n");
            return exitFor(problem.code);
        }

    private:
        Result<int> dispatch(const std::string& command, app::Service& service)
        {
            if (command == "log")
                return log(service);
            if (command == "show")
                return show(service);
            if (command == "ls")
                return list(service);
            if (command == "verify")
                return verify(service);
            if (command == "materialize")
                return materialize(service);
            if (command == "diff")
                return diff(service);
            if (command == "publish")
                return publish(service);
            if (command == "demo")
                return demo(service);
            if (command == "digest")
                return digest(service);
            if (command == "cost")
                return cost(service);
            if (command == "watch")
                return watch(service);
            return doctor(service);
        }

        template <class View>
        void print(const View& view, const std::function<std::string(const View&)>& text) const
        {
            writeOut(m_options.json ? app::toJson(view) + "\n" : text(view));
        }

        void suggest(const std::string& command) const
        {
            if (!m_options.json && !m_options.quiet)
                writeErr("next: " + safe(command) + "\n");
        }

        /// Errors: Usage, if a step is named where a whole run is meant.
        Result<void> expectWholeRun(const std::string& command) const
        {
            if (app::VersionRequest::parse(m_options.source).version.empty())
                return {};
            return fail(Code::Usage, fmt::format("{} takes a whole run, without @ and a step", command), m_options.source,
                        "deltascope show " + shellWord(m_options.source) + " shows one step");
        }

        std::string baseWords() const { return m_options.base.empty() ? "" : " --base " + shellWord(m_options.base); }

        Result<int> log(app::Service& service)
        {
            DS_CHECK(expectWholeRun("log"));
            DS_TRY(const auto view, runJob<app::RunView>(service, m_style, [&](app::Service& s) {
                       return s.openRun(m_options.sourceRequest(), m_options.depth());
                   }));
            constexpr std::size_t ScreenSteps = 60;
            const std::size_t limit = m_options.all || !m_style.progress ? 0 : ScreenSteps;
            print<app::RunView>(*view, [&](const app::RunView& run) { return logText(run, m_style, limit); });
            if (view->latest)
                suggest(fmt::format("deltascope materialize {} -o DIR{}",
                                    shellWord(fmt::format("{}@{}", m_options.source, *view->latest)), baseWords()));
            return Success;
        }

        Result<int> show(app::Service& service)
        {
            DS_TRY(const auto view, runJob<app::StepDetailView>(service, m_style, [&](app::Service& s) {
                       return s.showStep(m_options.versionRequest(m_options.source), m_options.depth());
                   }));
            print<app::StepDetailView>(*view, [&](const app::StepDetailView& step) { return stepText(step, m_style); });
            return Success;
        }

        Result<int> list(app::Service& service)
        {
            DS_CHECK(expectWholeRun("ls"));
            DS_TRY(const auto view, runJob<app::ListingView>(service, m_style, [&](app::Service& s) {
                       return s.listObjects(m_options.sourceRequest());
                   }));
            print<app::ListingView>(*view, [&](const app::ListingView& listing) { return listingText(listing, m_style); });
            return Success;
        }

        Result<int> verify(app::Service& service)
        {
            const app::VersionRequest version = m_options.versionRequest(m_options.source);
            DS_TRY(const auto view, runJob<app::VerifyView>(service, m_style, [&](app::Service& s) {
                       return s.verify(app::VerifyRequest { version.source, version.version, m_options.level, m_options.acceptRewritten });
                   }));
            print<app::VerifyView>(*view, [&](const app::VerifyView& report) { return verifyText(report, m_style); });
            return exitForVerdict(*view);
        }

        Result<int> digest(app::Service& service)
        {
            DS_TRY(const auto view, runJob<app::DigestView>(service, m_style, [&](app::Service& s) {
                       return s.digest(m_options.versionRequest(m_options.source), m_options.acrossGap);
                   }));
            print<app::DigestView>(*view, [&](const app::DigestView& digest) { return digestText(digest, m_style); });
            return Success;
        }

        Result<int> diff(app::Service& service)
        {
            DS_TRY(const auto view, runJob<app::DiffView>(service, m_style, [&](app::Service& s) {
                       return s.diff(m_options.versionRequest(m_options.source), m_options.versionRequest(m_options.other));
                   }));
            print<app::DiffView>(*view, [&](const app::DiffView& diff) { return diffText(diff, m_style); });
            return m_options.exitCode && !view->equal ? Failure : Success;
        }

        Result<int> materialize(app::Service& service)
        {
            app::MaterializeRequest request;
            request.version = m_options.versionRequest(m_options.source);
            request.destination = m_options.destination;
            request.readBackFromDisk = m_options.readBack == "disk";
            request.acrossGap = m_options.acrossGap;
            request.commit = m_options.commit;
            if (!m_options.shardSize.empty()) {
                DS_TRY(request.shardBytes, parseSize(m_options.shardSize));
            }
            if (!m_options.shard.empty() && m_options.commit)
                return fail(Code::Usage, "--shard writes one part, --commit finishes when all parts are written; take one of them");
            if (!m_options.shard.empty()) {
                DS_TRY(const auto part, parsePart(m_options.shard));
                request.part = part.first;
                request.parts = part.second;
            }
            Result<std::shared_ptr<const app::MaterializeView>> view
                = runJob<app::MaterializeView>(service, m_style, [&](app::Service& s) { return s.materialize(request); });
            if (!view && view.error().code == Code::Canceled) {
                view.error().text = "stopped; what is written is kept beside the destination";
                view.error().where = m_options.destination;
                view.error().action = "run the same command again to go on; to give up, remove the hidden folder .NAME.ds-* beside it";
            }
            if (!view)
                return fail(std::move(view.error()));
            print<app::MaterializeView>(**view, [&](const app::MaterializeView& result) { return materializeText(result, m_style); });
            if ((*view)->committed)
                suggest("deltascope digest " + shellWord(m_options.destination));
            else
                suggest(fmt::format("when all parts are done: deltascope materialize {} -o {}{} --commit{}", shellWord(m_options.source),
                                    shellWord(m_options.destination),
                                    m_options.shardSize.empty() ? "" : " --shard-size " + shellWord(m_options.shardSize), baseWords()));
            return Success;
        }

        Result<int> publish(app::Service& service)
        {
            app::PublishRequest request;
            request.into = { m_options.into, m_options.base, m_options.layout };
            request.encoding = m_options.encoding;
            request.checksum = m_options.checksum;
            request.anchorEvery = m_options.anchorEvery;
            request.anchorWhenCheaper = m_options.anchorWhenCheaper;
            request.restoresPerAnchor = m_options.restoresPerAnchor;
            request.newEpoch = m_options.newEpoch;
            const bool between = !m_options.source.empty() && !m_options.other.empty();
            if (between != m_options.watchFolder.empty() || m_options.source.empty() != m_options.other.empty())
                return fail(Code::Usage, "publish takes either --from and --to or --watch");
            return between ? publishBetween(service, std::move(request)) : publishFolder(service, std::move(request));
        }

        Result<int> publishBetween(app::Service& service, app::PublishRequest request)
        {
            // The layout is that of the run; what is published from and to says by itself what it is.
            request.from = app::VersionRequest::parse(m_options.source);
            request.to = app::VersionRequest::parse(m_options.other);
            request.from.source.base = request.to.source.base = m_options.base;
            DS_TRY(const auto view, runJob<app::PublishView>(service, m_style, [&](app::Service& s) { return s.publish(request); }));
            print<app::PublishView>(*view, [&](const app::PublishView& result) { return publishText(result, m_style); });
            std::string base = baseWords();
            if (base.empty() && m_options.layout == "slime-v2") // the run stands on what it was published from
                base = " --base " + shellWord(m_options.source);
            suggest("deltascope log " + shellWord(m_options.into) + base);
            return Success;
        }

        Result<int> publishFolder(app::Service& service, app::PublishRequest request)
        {
            request.watchFolder = m_options.watchFolder;
            request.marker = m_options.marker;
            request.quietSeconds = m_options.quietSeconds;
            request.once = m_options.once;
            PublicationPrinter printer(m_style, m_options.json);
            DS_CHECK(untilStopped(service, { {}, [&](const app::PublishView& view) { printer.show(view); } },
                                  [&] { return service.publish(request); }));
            return Success;
        }

        Result<int> cost(app::Service& service)
        {
            DS_CHECK(expectWholeRun("cost"));
            app::CostRequest request = m_options.cost;
            request.source = m_options.sourceRequest();
            request.depth = m_options.depth();
            DS_TRY(const auto view, runJob<app::CostView>(service, m_style, [&](app::Service& s) { return s.cost(request); }));
            print<app::CostView>(*view, [&](const app::CostView& cost) { return costText(cost, m_style); });
            return Success;
        }

        Result<int> watch(app::Service& service)
        {
            DS_CHECK(expectWholeRun("watch"));
            RunPrinter printer(m_style, m_options.json);
            DS_CHECK(untilStopped(service, { [&](const app::RunView& run) { printer.show(run); }, {} },
                                  [&] { return service.watch(m_options.sourceRequest(), m_options.depth()); }));
            return Success;
        }

        /// Runs a job that goes on until the user ends it; that is no failure.
        Result<void> untilStopped(app::Service& service, const JobListeners& listeners, const std::function<app::JobId()>& start)
        {
            const std::unique_ptr<app::EventFeed> feed = service.subscribe({});
            Style steady = m_style; // its lines are the progress
            steady.quiet = true;
            const Result<app::JobResult> outcome = waitForJob(service, *feed, start(), steady, listeners);
            if (!outcome && outcome.error().code != Code::Canceled)
                return fail(outcome.error());
            return {};
        }

        Result<int> demo(app::Service& service)
        {
            const app::DemoRequest request { m_options.destination, m_options.rate, m_options.seed, m_options.seconds };
            DS_TRY(const app::DemoView demo, service.prepareDemo(request));
            if (!m_options.quiet) {
                writeErr(fmt::format("a small model trains and is published into {}\n", safe(demo.bucket)));
                writeErr("in another terminal: deltascope log " + safe(shellWord(demo.bucket)) + "\n");
            }
            RunPrinter printer(m_style, m_options.json);
            service.watch({ demo.bucket, {}, {} }, app::Depth::Replayed);
            DS_CHECK(untilStopped(service, { [&](const app::RunView& run) { printer.show(run); }, {} }, [&] { return service.demo(request); }));
            return Success;
        }

        Result<int> doctor(app::Service& service)
        {
            std::optional<app::SourceRequest> source;
            if (!m_options.source.empty())
                source = m_options.sourceRequest();
            DS_TRY(const auto view, runJob<app::DoctorView>(service, m_style, [&](app::Service& s) { return s.doctor(source); }));
            print<app::DoctorView>(*view, [&](const app::DoctorView& report) { return doctorText(report, m_style); });
            return view->ok ? Success : Failure;
        }

        int completion() const
        {
            const std::optional<std::string> script = completionScript(m_options.shell, m_words);
            if (!script)
                return report(Error { Code::Usage, "there are completions for bash, zsh and fish", {}, {}, {} });
            writeOut(*script);
            return Success;
        }

        const Options& m_options;
        Style m_style;
        std::vector<CommandWords> m_words;
    };

    void addSourceOptions(CLI::App& command, Options& options)
    {
        command.add_option("--base", options.base, "folder of the checkpoint that the chain starts from, where the layout has none of its own");
        command.add_option("--layout", options.layout, "read the source as this layout instead of detecting it");
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
        program.add_option("--color", options.color, "auto, always or never")->check(CLI::IsMember({ "auto", "always", "never" }));
        program.add_option("--threads", options.threads, "worker threads; default: all of the machine")->check(CLI::Range(0, 1024));

        CLI::App* log = program.add_subcommand("log", "the history of a run: what each step is, changed, costs, and whether it can be rebuilt");
        log->add_option("source", options.source, "folder or URI of the run")->required();
        log->add_flag("--headers-only", options.headersOnly, "read no payload; changed counts stay unknown where nothing was replayed yet");
        log->add_flag("--all", options.all, "every step, also on a terminal");

        CLI::App* show = program.add_subcommand("show", "one step, tensor by tensor");
        show->add_option("version", options.source, "SOURCE@STEP")->required();
        show->add_flag("--headers-only", options.headersOnly, "read no payload");

        CLI::App* list = program.add_subcommand("ls", "the objects of a source and the step that each belongs to");
        list->add_option("source", options.source, "folder or URI")->required();

        CLI::App* verify = program.add_subcommand("verify", "prove a run, a step or a range of steps");
        verify->add_option("source", options.source, "SOURCE, SOURCE@STEP or SOURCE@FIRST..LAST")->required();
        verify->add_option("--level", options.level, "0 listing, 1 headers, 2 all bytes, 3 replay, 4 replay with anchors and roots")->check(CLI::Range(0, 4));
        verify->add_flag("--accept-rewritten", options.acceptRewritten, "trust rewritten objects as they are now, instead of as they were first seen");

        CLI::App* materialize = program.add_subcommand("materialize", "write the full checkpoint of a step");
        materialize->add_option("version", options.source, "SOURCE@STEP")->required();
        materialize->add_option("-o,--output", options.destination, "new folder for the checkpoint")->required();
        materialize->add_option("--shard-size", options.shardSize, "cut into files of this size (5GB); default: as the anchor is");
        materialize->add_option("--read-back", options.readBack, "compare written bytes from the page cache or from the disk")->check(CLI::IsMember({ "cache", "disk" }));
        materialize->add_option("--shard", options.shard, "I/N: be one of N processes that share the rebuild; write every N-th file");
        materialize->add_flag("--commit", options.commit, "finish a rebuild whose parts are all written");
        materialize->add_flag("--across-gap", options.acrossGap, "rebuild although the no-op test proves that a delta is lost");

        CLI::App* diff = program.add_subcommand("diff", "compare any two versions or checkpoints bit by bit");
        diff->add_option("a", options.source, "SOURCE@STEP, checkpoint folder or safetensors file")->required();
        diff->add_option("b", options.other, "the other one")->required();
        diff->add_flag("--exit-code", options.exitCode, "exit with 1 if they differ");

        CLI::App* digest = program.add_subcommand("digest", "hashes of every tensor and of the whole checkpoint");
        digest->add_option("version", options.source, "SOURCE@STEP, checkpoint folder or one safetensors file")->required();
        digest->add_flag("--across-gap", options.acrossGap, "also where the no-op test proves that a delta is lost");

        CLI::App* publish = program.add_subcommand("publish", "publish a step between two checkpoints, or all that a trainer drops into a folder");
        publish->add_option("--into", options.into, "folder of the run; a new or empty one begins a run")->required();
        publish->add_option("--from", options.source, "checkpoint folder or SOURCE@STEP: the state that the run ends with");
        publish->add_option("--to", options.other, "checkpoint folder or SOURCE@STEP: the next state");
        publish->add_option("--watch", options.watchFolder, "folder where a trainer drops checkpoint-N folders; publish each when it is complete");
        publish->add_option("--marker", options.marker, "with --watch: a checkpoint is complete once its folder holds this file");
        publish->add_option("--quiet-seconds", options.quietSeconds, "with --watch, without --marker: complete once nothing changed for so long")->check(CLI::Range(0.0, 86400.0));
        publish->add_flag("--once", options.once, "with --watch: end when all complete checkpoints are published");
        publish->add_option("--anchor-every", options.anchorEvery, "every N-th version is an anchor; 0: only the first")->check(CLI::Range(0, 1'000'000));
        publish->add_flag("--anchor-when-cheaper", options.anchorWhenCheaper, "also an anchor when restores would read more in deltas than it weighs");
        publish->add_option("--restores", options.restoresPerAnchor, "with --anchor-when-cheaper: restores expected until the next anchor")->check(CLI::Range(0.0, 1e9));
        publish->add_flag("--new-epoch", options.newEpoch, "begin another epoch behind the run, with an anchor, instead of going on with it");
        publish->add_option("--encoding", options.encoding, "trl-v2: gap_delta or raw; slime-v2: xor or overwrite");
        publish->add_option("--checksum", options.checksum, "slime-v2: xxh3-128, blake3 or adler32");

        CLI::App* watch = program.add_subcommand("watch", "a line for every step as it is published");
        watch->add_option("source", options.source, "folder or URI of the run")->required();
        watch->add_flag("--headers-only", options.headersOnly, "read no payload");

        CLI::App* cost = program.add_subcommand("cost", "what a run costs per step and per day, and how often an anchor pays");
        cost->add_option("source", options.source, "folder or URI of the run")->required();
        cost->add_option("--price-per-gb", options.cost.pricePerGb, "money per GB moved; default: 0.09");
        cost->add_option("--link-gbps", options.cost.linkGbps, "speed of the link in Gbit/s; default: 10");
        cost->add_option("--steps-per-day", options.cost.stepsPerDay, "default: from publication times");
        cost->add_option("--restores-per-day", options.cost.restoresPerDay, "how often a step is rebuilt; default: 4");
        cost->add_option("--lr", options.cost.learningRate, "learning rate: predicts the changed share; reads up to 64 MiB of weights");
        cost->add_flag("--headers-only", options.headersOnly, "replay nothing; what was never replayed has no changed share");

        CLI::App* demo = program.add_subcommand("demo", "train, publish and follow a small model, with a few incidents, and watch it");
        demo->add_option("--dir", options.destination, "folder for bucket, trainer and replicas; default: under the cache");
        demo->add_option("--rate", options.rate, "training steps per second")->check(CLI::Range(0.01, 100.0));
        demo->add_option("--seed", options.seed, "of weights and steps");
        demo->add_option("--for", options.seconds, "end after so many seconds; default: with Ctrl+C")->check(CLI::Range(0.0, 1e9));

        CLI::App* doctor = program.add_subcommand("doctor", "look at this machine and, if given, at a source");
        doctor->add_option("source", options.source, "folder or URI");

        for (CLI::App* command : { log, show, list, verify, materialize, diff, digest, publish, cost, watch, doctor })
            addSourceOptions(*command, options);
        publish->get_option("--layout")->required()->description("trl-v2 or slime-v2");

        CLI::App* completion = program.add_subcommand("completion", "print a completion script");
        completion->add_option("shell", options.shell, "bash, zsh or fish")->required();
    }

    std::vector<CommandWords> wordsOf(CLI::App& program)
    {
        std::vector<CommandWords> words;
        for (const CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
            CommandWords entry { command->get_name(), command->get_description(), {} };
            for (const CLI::App* from : { command, static_cast<const CLI::App*>(&program) }) {
                for (const CLI::Option* option : from->get_options()) {
                    for (const std::string& name : option->get_lnames())
                        entry.options.push_back("--" + name);
                }
            }
            words.push_back(std::move(entry));
        }
        return words;
    }

    /// What more can be said of arguments that the parser stumbled over: an unknown command, and the known word near it.
    std::string hintFor(const std::vector<std::string>& arguments, const std::vector<CommandWords>& commands)
    {
        std::vector<std::string> names;
        const CommandWords* chosen = nullptr;
        for (const CommandWords& command : commands)
            names.push_back(command.name);
        for (const std::string& argument : arguments) {
            if (!chosen && !argument.starts_with("-")) {
                const auto at = std::find(names.begin(), names.end(), argument);
                if (at == names.end()) {
                    const std::optional<std::string> meant = nearestWord(argument, names);
                    return fmt::format("; {} is no command{}", argument, meant ? ", did you mean " + *meant + "?" : "");
                }
                chosen = &commands[static_cast<std::size_t>(at - names.begin())];
            } else if (chosen && argument.starts_with("--")) {
                const std::string option = argument.substr(0, argument.find('='));
                if (std::find(chosen->options.begin(), chosen->options.end(), option) != chosen->options.end())
                    continue;
                const std::optional<std::string> meant = nearestWord(option, chosen->options);
                return meant ? "; did you mean " + *meant + "?" : "";
            }
        }
        return {};
    }

}

int run(const std::vector<std::string>& arguments)
{
    Options options;
    CLI::App program("Deltascope shows, proves and rebuilds the weight deltas that RL trainers publish.", "deltascope");
    describe(program, options);
    const std::vector<CommandWords> words = wordsOf(program);
    try {
        program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        const std::vector<CLI::App*> chosen = program.get_subcommands();
        writeOut(chosen.empty() ? program.help() : chosen.front()->help(program.get_name()));
        return Success;
    } catch (const CLI::CallForVersion&) {
        writeOut("deltascope " DELTASCOPE_VERSION "\n");
        return Success;
    } catch (const CLI::ParseError& problem) {
        const std::string text = problem.what() + hintFor(arguments, words);
        const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
        options.json = json;
        return Commands(options, Style {}, words).report(Error { Code::Usage, text, {}, {}, "deltascope COMMAND --help shows what it takes" });
    }
    using Choice = Style::ColorChoice;
    const Choice choice = options.plain || options.color == "never" ? Choice::Never : options.color == "always" ? Choice::Always : Choice::Auto;
    return Commands(options, Style::detect(choice, options.quiet, options.plain), words).run(program.get_subcommands().front()->get_name());
}

} // namespace deltascope::cli
