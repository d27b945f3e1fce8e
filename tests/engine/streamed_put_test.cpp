#include "publish/version_build.h"
#include "support/any_task.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"
#include "version_writer_fixture.h"

#include "deltascope/engine/memory_state.h"

#include <atomic>
#include <thread>

// An anchor that is put while it is made: the same bytes, seen by nobody before its end.

namespace deltascope {
namespace {

using namespace layout_test;
using namespace std::chrono_literals;
using test::anyTask;

constexpr const char* AnchorKey = "anchors/step_000010.safetensors";
constexpr std::uint64_t PartBytes = 4096;

/// Puts parts as they come, the first one last.
class ComingStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits = ForwardingStore::traits();
        traits.putsWhatComes = true;
        return traits;
    }
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        Result<ObjectInfo> outcome = putParts(key, bytes, mode, task);
        ended = true;
        return outcome;
    }

    std::atomic<std::uint64_t> got = 0;
    std::atomic<bool> ended = false;
    std::atomic<bool> refuses = false;

private:
    Result<ObjectInfo> putParts(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
    {
        if (refuses)
            return fail(Code::Auth, "may not put");
        std::vector<std::byte> whole(bytes.sizeBytes());
        const std::uint64_t parts = (whole.size() + PartBytes - 1) / PartBytes;
        for (std::uint64_t i = 0; i < parts; ++i) {
            const std::uint64_t at = (i + 1) % parts * PartBytes;
            const MutableByteSpan part =
                MutableByteSpan(whole).subspan(at, std::min<std::uint64_t>(PartBytes, whole.size() - at));
            DS_CHECK(bytes.await(at, part.size(), task));
            DS_TRY(const std::size_t count, bytes.read(at, part));
            EXPECT_EQ(count, part.size());
            got += count;
        }
        return ForwardingStore::put(key, MemoryPayload(whole), mode, task);
    }
};

class StreamedAnchor : public testing::Test {
protected:
    StreamedAnchor()
    {
        for (int i = 0; i < 5; ++i)
            addTensor(model, tensor("layer." + std::to_string(i), { 10'000 }), noise(20'000, i));
    }
    std::unique_ptr<VersionWriter> makeWriter() const
    {
        std::vector<TensorInfo> tensors;
        for (const auto& [name, each] : model)
            tensors.push_back(each.info);
        TrlV2WriterOptions options;
        options.step = 10;
        auto writer = makeTrlV2AnchorWriter(options, tensors);
        EXPECT_TRUE(writer);
        return std::move(*writer);
    }
    std::unique_ptr<VersionWriter> makeStreaming()
    {
        auto writer = makeWriter();
        EXPECT_TRUE(writer->putWhileAdding(store, { { "ds.root", "????" } }));
        return writer;
    }
    static Result<void> add(VersionWriter& writer, const TensorInfo& info, std::string_view data)
    {
        DS_TRY(const auto out, writer.begin(info));
        for (std::size_t at = 0; at < data.size(); at += 3000)
            DS_CHECK(out->add({ {}, asBytes(data.substr(at, 3000)), {} }));
        return out->end(anyTask());
    }
    void addAll(VersionWriter& writer) const
    {
        for (auto each = model.rbegin(); each != model.rend(); ++each) // not as they stand in the file
            EXPECT_TRUE(add(writer, each->second.info, each->second.data));
    }
    static Result<std::vector<ObjectInfo>> finish(VersionWriter& writer, ObjectStore& into)
    {
        EXPECT_TRUE(writer.addFact("ds.root", "abcd"));
        return writer.finish(into, anyTask());
    }
    /// As it is without streaming.
    std::string expected() const
    {
        test::MemoryStore other;
        const auto writer = makeWriter();
        EXPECT_FALSE(writer->putWhileAdding(other, {})) << "this store cannot";
        addAll(*writer);
        EXPECT_TRUE(finish(*writer, other));
        return readObject(other, AnchorKey);
    }
    static bool soon(const std::function<bool()>& holds)
    {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
    bool isThere() { return store.stat(AnchorKey, anyTask()).has_value(); }

    Model model;
    ComingStore store { std::make_shared<test::MemoryStore>() };
};

TEST_F(StreamedAnchor, IsPutWhileItIsMade)
{
    const std::string whole = expected();
    const auto writer = makeStreaming();
    addAll(*writer);
    EXPECT_TRUE(soon([&] { return store.got >= whole.size() - PartBytes; })) << store.got;
    EXPECT_FALSE(store.ended);
    EXPECT_FALSE(isThere()) << "seen before its end";
    const auto objects = finish(*writer, store);
    ASSERT_TRUE(objects) << objects.error().text;
    EXPECT_EQ(store.got, whole.size()) << "was put once";
    EXPECT_TRUE(readObject(store, AnchorKey) == whole);
}

TEST_F(StreamedAnchor, OfASuspectStateEndsWithTheFirstSuspectTensor)
{
    model["layer.0"].data.replace(0, 2, "\xc0\x7f"); // NaN
    std::vector<BorrowedTensor> tensors;
    for (const auto& [name, each] : model)
        tensors.push_back({ each.info, asBytes(each.data) });
    const auto state = stateOfMemory("memory", tensors);
    ASSERT_TRUE(state) << state.error().text;
    const std::shared_ptr<const Backend> backend = Backends::builtin().all().front();
    VersionBuild build({ 1, {}, backend });
    StateJudge judge(nullptr, backend);
    auto writer = makeStreaming();
    const auto built = build.anchor(*writer, **state, &judge, anyTask());
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, Code::SuspectValues) << built.error().text;
    EXPECT_EQ(built.error().where, "layer.0") << "tensors stand in the file by name";
    EXPECT_EQ(judge.take().suspects.size(), 1U);
    writer.reset();
    EXPECT_TRUE(store.ended);
    EXPECT_LT(store.got, 2 * model["layer.0"].data.size()) << "what follows was sent all the same";
    EXPECT_FALSE(isThere());
}

TEST_F(StreamedAnchor, IsGivenUpWithItsWriter)
{
    auto writer = makeStreaming();
    addAll(*writer);
    writer.reset();
    EXPECT_TRUE(store.ended);
    EXPECT_FALSE(isThere());
}

TEST_F(StreamedAnchor, EndsWhenItsTaskIsToStop)
{
    const auto writer = makeStreaming();
    addAll(*writer);
    EXPECT_TRUE(writer->addFact("ds.root", "abcd"));
    TaskContext stopped;
    stopped.requestStop();
    const auto objects = writer->finish(store, stopped);
    EXPECT_EQ(isThere(), objects.has_value());
    EXPECT_TRUE(objects || objects.error().code == Code::Canceled);
}

TEST_F(StreamedAnchor, OldBytesOfATensorThatComesAnewAreNotSent)
{
    const std::string whole = expected();
    const auto writer = makeStreaming();
    const TensorInfo& first = model.begin()->second.info;
    {
        const auto out = writer->begin(first);
        ASSERT_TRUE(out);
        ASSERT_TRUE((*out)->add({ {}, asBytes(noise(20'000, 99)), {} })); // is not ended
    }
    EXPECT_TRUE(soon([&] { return store.got > 0; }));
    addAll(*writer);
    ASSERT_TRUE(finish(*writer, store));
    EXPECT_TRUE(readObject(store, AnchorKey) == whole);
}

TEST_F(StreamedAnchor, APutThatFailsIsToldWhileItIsMade)
{
    store.refuses = true;
    const auto writer = makeStreaming();
    const auto out = writer->begin(model.begin()->second.info);
    ASSERT_TRUE(out);
    Result<void> told;
    EXPECT_TRUE(soon([&] {
        told = (*out)->add({ {}, asBytes(std::string_view("ab")), {} });
        return !told;
    }));
    EXPECT_EQ(told.error().code, Code::Auth);
    EXPECT_FALSE(isThere());
}

TEST_F(StreamedAnchor, AHeaderOfAnotherLengthIsPutAnew)
{
    const auto writer = makeWriter();
    ASSERT_TRUE(writer->putWhileAdding(store, { { "ds.root", std::string(100, '?') } }));
    addAll(*writer);
    ASSERT_TRUE(finish(*writer, store));
    EXPECT_TRUE(readObject(store, AnchorKey) == expected());
}

TEST_F(StreamedAnchor, SomebodyElsesIsNotReplaced)
{
    const auto writer = makeStreaming();
    ASSERT_TRUE(test::putText(store, AnchorKey, "theirs"));
    addAll(*writer);
    const auto objects = finish(*writer, store);
    ASSERT_FALSE(objects);
    EXPECT_EQ(objects.error().code, Code::Exists);
    EXPECT_EQ(readObject(store, AnchorKey), "theirs");
}

} // namespace
} // namespace deltascope
