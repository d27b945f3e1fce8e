#include "format/common/read_chunks.h"

#include "support/any_task.h"
#include "support/forwarding_store.h"
#include "support/generated_store.h"
#include "support/sizes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

// Whole objects from front to back, with several requests at once where they take time.

namespace deltascope {
namespace {

using test::anyTask;
using test::GeneratedStore;
using test::MiB;

/// Its requests take time. It takes down how many come together, and can refuse one.
class BatchStore final : public test::ForwardingStore {
public:
    explicit BatchStore(std::shared_ptr<ObjectStore> inner)
        : ForwardingStore(std::move(inner))
    {
    }
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits = ForwardingStore::traits();
        traits.requestBytes = 4 * MiB;
        return traits;
    }
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        batches.push_back(reads.size());
        std::vector<Result<void>> outcomes = inner().readMany(reads, task);
        for (std::size_t i = 0; i < reads.size(); ++i) {
            if (refusedOffset == reads[i].offset)
                outcomes[i] = fail(Code::Auth, "not yours", std::string(reads[i].object.key));
        }
        return outcomes;
    }

    mutable std::vector<std::size_t> batches;
    std::uint64_t refusedOffset = UINT64_MAX;
};

class ReadChunks : public testing::Test {
protected:
    Result<void> read(const ObjectStore& store, const ObjectInfo& object, std::uint64_t begin, std::uint64_t bytes)
    {
        shown.clear();
        return readChunks(store, object.key, begin, bytes, anyTask(), spare,
                          [&](ByteSpan chunk) { shown.insert(shown.end(), chunk.begin(), chunk.end()); });
    }
    void expectShown(const ObjectInfo& object, std::uint64_t begin, std::uint64_t bytes)
    {
        std::vector<std::byte> expected(bytes);
        GeneratedStore::fill(object.key, begin, expected);
        EXPECT_TRUE(shown == expected);
    }

    std::shared_ptr<GeneratedStore> generated = std::make_shared<GeneratedStore>();
    BatchStore slow { generated };
    SpareRequests spare { 5 };
    std::vector<std::byte> shown;
};

TEST_F(ReadChunks, ShowsAnyStretchFromFrontToBack)
{
    const ObjectInfo object = generated->add("object", 61 * MiB + 7);
    for (const auto& [begin, bytes] : { std::pair<std::uint64_t, std::uint64_t> { 0, object.sizeBytes },
                                        { 5, 3 },
                                        { 4 * MiB - 1, 8 * MiB + 2 },
                                        { MiB, 4 * MiB },
                                        { object.sizeBytes, 0 } }) {
        ASSERT_TRUE(read(slow, object, begin, bytes));
        expectShown(object, begin, bytes);
        ASSERT_TRUE(read(*generated, object, begin, bytes)); // where requests take no time
        expectShown(object, begin, bytes);
    }
}

TEST_F(ReadChunks, AsksForAsManyChunksAsThereAreSpareRequests)
{
    const ObjectInfo object = generated->add("object", 61 * MiB + 7); // 16 chunks
    ASSERT_TRUE(read(slow, object, 0, object.sizeBytes));
    EXPECT_EQ(slow.batches, (std::vector<std::size_t> { 6, 6, 4 }));
    slow.batches.clear();
    EXPECT_EQ(spare.take(4), 4U); // another reader has them
    ASSERT_TRUE(read(slow, object, 0, 12 * MiB));
    EXPECT_EQ(slow.batches, (std::vector<std::size_t> { 2, 1 }));
    EXPECT_EQ(spare.take(100), 1U);
    ASSERT_TRUE(read(slow, object, 0, 8 * MiB)); // one at a time is always allowed
}

TEST_F(ReadChunks, GivesItsRequestsBackWhereOneFails)
{
    const ObjectInfo object = generated->add("object", 61 * MiB);
    slow.refusedOffset = 28 * MiB;
    const Result<void> outcome = read(slow, object, 0, object.sizeBytes);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Auth);
    expectShown(object, 0, 24 * MiB); // nothing of the batch with a hole
    EXPECT_EQ(spare.take(100), 5U);
}

} // namespace
} // namespace deltascope
