// deltascope-make-run: writes a synthetic run for tests and benchmarks. Nothing of the engine's readers or appliers is
// in it.

#include "run_writers.h"
#include "spool.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

using namespace deltascope;
using namespace deltascope::support;

constexpr const char* Usage =
    R"(usage: deltascope-make-run --layout trl-v2|slime-v2|hf --out DIR [--base-out DIR] --tensors N --elements E --steps S
       [--anchor-every A] [--density P] [--encoding gap_delta|raw|xor|overwrite] [--seed N] [--dtype BF16|F32] [--shards N]
       [--expected FILE] [--start SECONDS] [--period SECONDS]

Writes a run of N tensors with E elements each, S steps, changes of one ulp at uniformly drawn positions. Equal options give
equal bytes. File times are START (since 1970) plus PERIOD for each step, so a run looks old unless told otherwise.
FILE gets the XXH3-128 of every tensor at every step, in the form of tests/golden/*/expected.json.
)";

using Arguments = std::map<std::string, std::string>;

Arguments parseArguments(int argc, char** argv)
{
    Arguments out { { "base-out", "" },        { "anchor-every", "0" }, { "density", "0.01" }, { "encoding", "" },
                    { "seed", "1" },           { "dtype", "BF16" },     { "shards", "1" },     { "expected", "" },
                    { "start", "1760000000" }, { "period", "30" },      { "layout", "" },      { "out", "" },
                    { "tensors", "" },         { "elements", "" },      { "steps", "" } };
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if (name.rfind("--", 0) != 0 || out.find(name.substr(2)) == out.end() || i + 1 >= argc)
            throw std::invalid_argument("unknown or incomplete option " + name);
        out[name.substr(2)] = argv[i + 1];
    }
    for (const char* needed : { "layout", "out", "tensors", "elements", "steps" })
        if (out[needed].empty())
            throw std::invalid_argument(std::string("missing --") + needed);
    if (out["encoding"].empty())
        out["encoding"] = out["layout"] == "slime-v2" ? "xor" : "gap_delta";
    return out;
}

/// expected.json, written step by step so that long runs need no memory.
class ExpectedFile {
public:
    ExpectedFile(const std::string& path, const RunOptions& options, const SyntheticModel& model)
        : m_file(path)
        , m_model(model)
    {
        const nlohmann::json base =
            options.layout == "slime-v2" ? nlohmann::json(options.baseFolder) : nlohmann::json(nullptr);
        m_file.write(asBytes(fmt::format("{{\"layout\":{},\"source\":{},\"base\":{},\"problems\":[],\"steps\":[",
                                         nlohmann::json(options.layout).dump(), nlohmann::json(options.folder).dump(),
                                         base.dump())));
    }

    void add(const StepRecord& record)
    {
        nlohmann::json step { { "epoch", 0 },
                              { "step", record.step },
                              { "kind", record.anchor ? "anchor" : "delta" },
                              { "base_step", nullptr },
                              { "changed_elems", record.anchor ? m_model.elements() : record.changed },
                              { "total_elems", m_model.elements() },
                              { "wire_bytes", record.wireBytes },
                              { "restorable", true } };
        if (record.baseStep)
            step["base_step"] = *record.baseStep;
        if (record.anchor && record.changed > 0)
            step["differs_from_previous_state"] = record.changed;
        for (std::size_t i = 0; i < m_model.tensors().size(); ++i) {
            const TensorInfo& tensor = m_model.tensors()[i];
            step["tensors"][tensor.name] = { { "dtype", word(tensor.dtype) },
                                             { "shape", tensor.shape },
                                             { "xxh3_128", m_model.digestOf(i) } };
        }
        m_file.write(asBytes((m_first ? "\n" : ",\n") + step.dump()));
        m_first = false;
    }

    void finish(std::int64_t seconds)
    {
        m_file.write(asBytes("\n]}\n"));
        m_file.close(seconds);
    }

private:
    SequentialFile m_file;
    const SyntheticModel& m_model;
    bool m_first = true;
};

void makeRun(Arguments arguments)
{
    namespace fs = std::filesystem;
    const auto dtype = parseDtype(arguments["dtype"]);
    if (!dtype)
        throw std::invalid_argument("unknown dtype " + arguments["dtype"]);
    const fs::path folder = fs::absolute(arguments["out"]).lexically_normal();
    fs::create_directories(folder);
    RunOptions run;
    run.layout = arguments["layout"];
    run.encoding = arguments["encoding"];
    run.folder = folder.string();
    run.baseFolder = arguments["base-out"].empty() ? "" : fs::absolute(arguments["base-out"]).string();
    run.spaceFolder = folder.parent_path().string();
    run.anchorEvery = std::stoull(arguments["anchor-every"]);
    run.shards = std::stoull(arguments["shards"]);
    run.startSeconds = std::stoll(arguments["start"]);
    run.secondsPerStep = std::stoll(arguments["period"]);
    ModelOptions shape;
    shape.tensors = std::stoull(arguments["tensors"]);
    shape.elements = std::stoull(arguments["elements"]);
    shape.dtype = *dtype;
    shape.density = std::stod(arguments["density"]);
    shape.seed = std::stoull(arguments["seed"]);
    shape.digests = run.layout == "slime-v2" || !arguments["expected"].empty();
    shape.spaceFolder = run.spaceFolder;

    SyntheticModel model(shape);
    const auto writer = makeRunWriter(run, model);
    std::unique_ptr<ExpectedFile> expected;
    if (!arguments["expected"].empty())
        expected = std::make_unique<ExpectedFile>(arguments["expected"], run, model);
    const std::uint64_t steps = std::stoull(arguments["steps"]);
    for (std::uint64_t step = 1; step <= steps; ++step) {
        const StepRecord record = writer->write(step);
        if (expected)
            expected->add(record);
    }
    if (expected)
        expected->finish(run.startSeconds);
}

} // namespace

int main(int argc, char** argv)
{
    try {
        makeRun(parseArguments(argc, argv));
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "deltascope-make-run: %s\n\n%s", error.what(), Usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "deltascope-make-run: %s\n", error.what());
        return 1;
    }
}
