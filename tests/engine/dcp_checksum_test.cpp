#include "format/dcp/dcp_layout.h"

#include "golden_copy.h"

#include <algorithm>

namespace deltascope {
namespace {

using namespace layout_test;

/// What comparing the checksums of a recorded checkpoint says after `damage` to its first data file.
Result<void> checkedAfter(const std::function<void(std::string& file)>& damage)
{
    const GoldenCopy golden("dcp");
    TaskContext task;
    const DcpLayout layout;
    const auto listing = listAll(*golden.store, "", task);
    VersionObjects version = layout.group(*listing).front();
    const auto data = std::find_if(version.objects.begin(), version.objects.end(),
                                   [](const ObjectInfo& object) { return object.key.ends_with(".distcp"); });
    std::string file = golden.read(data->key);
    damage(file);
    golden.write(data->key, file);
    const auto index = layout.index(*golden.store, version, task);
    if (!index)
        return fail(index.error());
    return layout.checkPayload(*golden.store, version, *index, task);
}

/// Where the first storage lies: behind its name and what pads it.
std::size_t firstStorage(const std::string& file)
{
    const std::size_t name = file.find("/data/0");
    const std::size_t header = file.rfind("PK\x03\x04", name);
    const auto extra =
        static_cast<unsigned char>(file[header + 28]) + 256U * static_cast<unsigned char>(file[header + 29]);
    return name + std::string("/data/0").size() + extra;
}

TEST(DcpChecksums, MatchInARecordedCheckpoint)
{
    EXPECT_TRUE(checkedAfter([](std::string&) {}));
}

TEST(DcpChecksums, TellADamagedStorage)
{
    const Result<void> checked = checkedAfter([](std::string& file) { file[firstStorage(file)] ^= 1; });
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::Digest);
    EXPECT_NE(checked.error().text.find("CRC-32"), std::string::npos) << checked.error().text;
    EXPECT_TRUE(checked.error().where.ends_with(".distcp"));
}

TEST(DcpChecksums, TellADamagedDescription)
{
    const Result<void> checked =
        checkedAfter([](std::string& file) { file[file.find("cpu", file.find("_rebuild_tensor_v2"))] ^= 1; });
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::Digest) << checked.error().text;
}

TEST(DcpChecksums, OfZeroWereNotComputed)
{
    const Result<void> checked = checkedAfter([](std::string& file) {
        for (std::size_t at = file.find("PK\x01\x02"); at != std::string::npos; at = file.find("PK\x01\x02", at + 4))
            file.replace(at + 16, 4, 4, '\0');
        file[firstStorage(file)] ^= 1;
    });
    EXPECT_TRUE(checked) << checked.error().text;
}

} // namespace
} // namespace deltascope
