#pragma once

#include "deltascope/engine/publish.h"
#include "deltascope/engine/publish_step.h"
#include "deltascope/engine/roll_back.h"

#include "read_hook_store.h"
#include "support/any_task.h"
#include "support/times.h"
#include "version_writer_fixture.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::layout_test {

/// A trainer with a small model, the checkpoints that it drops, and a run to publish them into. All in memory, on one
/// thread.
struct Publishing {
    explicit Publishing(std::string layout = "trl-v2")
    {
        options.layout = std::move(layout);
        options.anchorEvery = 0;
        bench.layouts = builtinLayouts();
        bench.threads = 1;
        bench.nowUs = [this] { return now; };
        base.layout = options.layout;
        if (options.layout == "slime-v2") {
            const auto store = std::make_shared<MemoryStore>();
            EXPECT_TRUE(putText(*store, "model.safetensors", fileOf(0)));
            base.base = store;
        }
    }

    /// The model behind `step` steps. Each step changes some elements of both tensors.
    static std::vector<FileTensor> tensorsOf(std::int64_t step)
    {
        std::vector<FileTensor> tensors { { tensor("a", { 64, 8 }), noise(1024, 1) },
                                          { tensor("b", { 300 }), noise(600, 2) } };
        for (FileTensor& one : tensors) {
            const auto elements = static_cast<std::int64_t>(one.info.elements());
            for (std::int64_t j = 1; j <= step; ++j) {
                for (std::int64_t i = 0; i < 5; ++i)
                    one.data[static_cast<std::size_t>((j * 37 + i * 11) % elements * 2)] ^=
                        static_cast<char>(1 + j % 7);
            }
        }
        return tensors;
    }
    static std::string fileOf(std::int64_t step) { return safetensorsFile(tensorsOf(step)); }
    /// Whether a read from this offset of such a file is one of weights.
    static bool isPayload(std::uint64_t offset) { return offset > 8; }
    static std::string keyOf(std::int64_t step) { return fmt::format("checkpoint-{}/model.safetensors", step); }
    static std::string originOf(std::int64_t step) { return fmt::format("checkpoint-{}", step); }
    void drop(std::int64_t step) { EXPECT_TRUE(putText(*checkpoints, keyOf(step), fileOf(step))); }

    /// Chooses a step as an act does.
    static ChooseVersion step(std::int64_t number)
    {
        return [number](const Run& of) -> Result<const Version*> {
            const Version* version = of.find(number);
            return version ? Result<const Version*>(version) : fail(Code::NotFound, "no such step");
        };
    }

    Result<Run> tryOpen(std::shared_ptr<ObjectStore> store, const OpenOptions& how)
    {
        return openRun(bench, std::move(store), how, task);
    }
    Run view()
    {
        auto opened = tryOpen(run, base);
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? std::move(*opened) : Run();
    }
    Result<PathPtr> pathOf(const Run& of, std::int64_t step)
    {
        const Version* version = of.find(step);
        if (!version)
            return fail(Code::NotFound, "no such step");
        DS_TRY(const Plan plan, planFor(of, *version));
        return openPath(of, plan, { 2 }, task);
    }
    /// A checkpoint, dropped if it is not there yet, read from `from`.
    PathPtr state(std::int64_t step, std::shared_ptr<ObjectStore> from = {})
    {
        if (!checkpoints->stat(keyOf(step), test::anyTask()))
            drop(step);
        OpenOptions plain;
        plain.layout = "hf";
        auto opened = tryOpen(from ? std::move(from) : checkpoints, plain);
        EXPECT_TRUE(opened);
        const auto path = pathOf(*opened, step);
        EXPECT_TRUE(path);
        return path.value_or(nullptr);
    }
    /// The same as publishStep() takes it.
    StepState stepState(std::int64_t step, std::shared_ptr<ObjectStore> from = {})
    {
        if (!checkpoints->stat(keyOf(step), test::anyTask()))
            drop(step);
        OpenOptions plain;
        plain.layout = "hf";
        auto opened = tryOpen(from ? std::move(from) : checkpoints, plain);
        EXPECT_TRUE(opened);
        const auto read = std::make_shared<const Run>(std::move(*opened));
        const auto plan = std::make_shared<const Plan>(planFor(*read, *read->find(step)).value_or(Plan()));
        const auto path = std::make_shared<PathPtr>(); // null: not open yet
        StepState state = StepState::of({ *read, *read->find(step), *plan });
        state.origin = originOf(step);
        state.open = [read, plan, path](TaskContext& openTask) -> Result<const State*> {
            if (!*path) {
                DS_TRY(*path, openPath(*read, *plan, { 2 }, openTask));
            }
            return path->get();
        };
        return state;
    }
    StepToPublish between(std::int64_t from, std::int64_t to, const std::shared_ptr<ObjectStore>& read = {})
    {
        return { run->uri(), stepState(from, read), stepState(to, read) };
    }
    Result<std::string> rootOf(const State& state)
    {
        DS_TRY(const CheckpointDigest digest, digestState(bench, state, task));
        return toHex(digest.root.fast);
    }
    std::string rootOfCheckpoint(std::int64_t step) { return rootOf(*state(step)).value_or("no root"); }
    /// By replay of what was published.
    Result<std::string> rootOfStep(std::int64_t step)
    {
        const Run now = view();
        DS_TRY(const PathPtr path, pathOf(now, step));
        return rootOf(*path);
    }

    Result<Publisher> open() { return Publisher::open(bench, run, base, options, task); }
    Result<PublishedVersion> publish(Publisher& publisher, std::int64_t to, std::optional<std::int64_t> from = {})
    {
        const PathPtr next = state(to);
        if (!from)
            return publisher.publish(nullptr, *next, originOf(to), task);
        const PathPtr before = state(*from);
        return publisher.publish(before.get(), *next, originOf(to), task);
    }
    /// Publishes checkpoints first…last with one publisher.
    void publishAll(std::int64_t first, std::int64_t last)
    {
        auto publisher = open();
        ASSERT_TRUE(publisher) << publisher.error().text;
        for (std::int64_t step = first; step <= last; ++step) {
            const auto version = publish(*publisher, step);
            ASSERT_TRUE(version) << version.error().text;
        }
    }

    VersionIndex indexOf(std::int64_t step)
    {
        const Run now = view();
        const Version* version = now.find(step);
        EXPECT_NE(version, nullptr) << step;
        auto index = version ? now.layout->index(*run, version->objects, task) : Result<VersionIndex>(VersionIndex());
        EXPECT_TRUE(index);
        return index ? std::move(*index) : VersionIndex();
    }
    std::string factOf(std::int64_t step, std::string_view key) { return std::string(indexOf(step).fact(key)); }

    /// Keys of the run itself, without leases and spans.
    std::vector<std::string> keys()
    {
        std::vector<std::string> keys;
        for (const ObjectInfo& object : listAll(*run, "", task).value_or(std::vector<ObjectInfo>())) {
            if (!object.key.starts_with(".deltascope/"))
                keys.push_back(object.key);
        }
        return keys;
    }

    Workbench bench;
    TaskContext task;
    std::int64_t now = test::LongAfter;
    PublishOptions options;
    OpenOptions base;
    std::shared_ptr<MemoryStore> run = std::make_shared<MemoryStore>();
    std::shared_ptr<MemoryStore> checkpoints = std::make_shared<MemoryStore>();
};

} // namespace deltascope::layout_test
