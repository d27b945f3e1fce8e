#include "api_contract.h"
#include "api_fixture.h"

// What the HTTP API makes of garbage in requests, and of names that were chosen to do harm.

namespace deltascope::server {
namespace {

using namespace app;

const std::string& longName()
{
    static const std::string name(300, 'x');
    return name;
}

/// No number that anything takes.
const std::vector<std::string>& noNumbers()
{
    static const std::vector<std::string> values { "-1",
                                                   "x",
                                                   "1.5",
                                                   "1e3",
                                                   " 1",
                                                   "1 ",
                                                   "+1",
                                                   "0x10",
                                                   "NaN",
                                                   "null",
                                                   "[]",
                                                   "1,2",
                                                   "%31",
                                                   "\xff",
                                                   std::string("1\0", 2),
                                                   "1;drop",
                                                   "\xef\xbc\x91",
                                                   "99999999999999999999",
                                                   "-9223372036854775808",
                                                   longName(),
                                                   "<script>",
                                                   "\xe2\x80\xae"
                                                   "1" };
    return values;
}
/// Numbers, but large.
const std::vector<std::string>& hugeNumbers()
{
    static const std::vector<std::string> values { "4294967296", "1099511627776", "9223372036854775807" };
    return values;
}

class HostileRequests : public ApiFixture {
protected:
    HostileRequests()
        : run("runs/" + followed(bucket.source(), 15))
    {
    }
    void expectRefused(const HttpResponse& answer, const std::string& what)
    {
        EXPECT_TRUE(answer.status == 400 || answer.status == 404) << what << ": " << answer.status << answer.body;
        EXPECT_EQ(answer.contentType, "application/problem+json") << what;
        expectShape(Json::parse(answer.body), "ProblemDetails");
    }

    BucketCopy bucket { "trl-v2-gap" };
    std::string run;
};

struct NumberedQuery {
    std::string path;
    std::vector<std::string> keys; ///< that take a number
    std::map<std::string, std::string, std::less<>> rest; ///< that the call needs besides
};

const std::vector<NumberedQuery>& numberedQueries()
{
    static const std::vector<NumberedQuery> queries {
        { "steps", { "from", "to", "limit", "epoch", "cursor" }, {} },
        { "series", { "from", "to", "px", "epoch" }, { { "names", "wire_bytes,sync_ms" } } },
        { "timeline", { "from", "to", "epoch" }, {} },
        { "timeline.trace.json", { "from", "to", "epoch" }, {} },
        { "tensors", { "epoch" }, {} },
        { "heat", { "epoch" }, {} },
        { "heat/cell", { "row", "column", "epoch" }, { { "row", "0" }, { "column", "0" } } },
        { "heat/max/0/0/0/0", { "epoch" }, {} },
        { "touched", { "a", "b" }, { { "a", "11" }, { "b", "12" } } },
        { "objects", { "limit" }, {} },
        { "steps/12/tensors/0/blocks", { "n", "a" }, {} },
        { "steps/12/tensors/0/elements", { "row", "col", "rows", "cols", "a" }, {} },
        { "steps/12/tensors/0/statistics", { "a" }, {} },
        { "steps/12/tensors/0/statistics/history", { "steps" }, {} },
        { "steps/12/tensors/0/statistics/cost", { "steps", "a" }, {} },
    };
    return queries;
}

TEST_F(HostileRequests, ANumberThatIsNoneIsRefused)
{
    for (const NumberedQuery& query : numberedQueries()) {
        for (const std::string& key : query.keys) {
            for (const std::string& value : noNumbers()) {
                Query asked = query.rest;
                asked[key] = value;
                expectRefused(get(run + "/" + query.path, asked), query.path + "?" + key + "=" + value);
            }
        }
    }
}

TEST_F(HostileRequests, AHugeNumberIsRefusedOrAnsweredButNoFailure)
{
    for (const NumberedQuery& query : numberedQueries()) {
        for (const std::string& key : query.keys) {
            for (const std::string& value : hugeNumbers()) {
                Query asked = query.rest;
                asked[key] = value;
                EXPECT_LT(get(run + "/" + query.path, asked).status, 500) << query.path << "?" << key << "=" << value;
            }
        }
    }
    EXPECT_EQ(
        get(run + "/series", { { "names", "wire_bytes" }, { "from", hugeNumbers().back() }, { "to", "0" } }).status,
        200);
}

TEST_F(HostileRequests, APathThatHoldsNoNumberIsRefused)
{
    const std::vector<std::string> paths { "steps/{}",
                                           "steps/{}/tensors/0/blocks",
                                           "steps/{}/tensors/0/elements",
                                           "steps/12/tensors/{}/blocks",
                                           "steps/12/tensors/{}/elements",
                                           "steps/12/tensors/{}/statistics",
                                           "steps/{}/tensors/0/statistics/cost",
                                           "heat/{}/0/0/0/0",
                                           "heat/max/{}/0/0/0",
                                           "heat/max/0/{}/0/0",
                                           "heat/max/0/0/{}/0",
                                           "heat/max/0/0/0/{}" };
    std::vector<std::string> values = noNumbers();
    values.insert(values.end(), hugeNumbers().begin(), hugeNumbers().end());
    values.insert(values.end(), { "", ":", "0:", ":12", "0:12:1", "12:0", ".." });
    for (const std::string& path : paths) {
        for (const std::string& value : values) {
            std::string asked = run + "/" + path;
            asked.replace(asked.find("{}"), 2, value);
            expectRefused(get(asked), asked);
        }
    }
}

TEST_F(HostileRequests, ACursorThatWasNeverGivenIsRefused)
{
    for (const char* cursor : { "x", "5", ":", "5:", ":5", "0:5:5", "0:-1", "-1:0", "\xff" })
        expectRefused(get(run + "/steps", { { "cursor", cursor } }), cursor);
    for (const char* cursor : { "x", "5", "0g", "../", "\xff", "616" })
        expectRefused(get(run + "/objects", { { "cursor", cursor } }), cursor);
}

TEST_F(HostileRequests, AKeyThatClimbsOutIsRefused)
{
    home.write("secret", "secret");
    for (const char* key : { "../x", "../../secret", "/etc/passwd", "anchors/../../secret", "", ".", "a//b" })
        expectRefused(get(run + "/objects/header", { { "key", key } }), key);
    EXPECT_NE(get(run + "/objects/header", {}).body.find("key is missing"), std::string::npos);
    expectRefused(get(run + "/objects/header", { { "key", std::string("anchors/step_000001.safetensors\0x", 33) } }),
                  "NUL");
    EXPECT_TRUE(json(run + "/objects", { { "prefix", "../" } })["objects"].empty());
}

TEST_F(HostileRequests, ARunIsNoPath)
{
    for (const std::string& id : { std::string(".."), std::string("%2e%2e"), longName(), std::string("<script>"),
                                   std::string("\xff"), std::string("bucket\0", 7) })
        expectRefused(get("runs/" + id + "/steps"), id);
}

TEST_F(HostileRequests, ANameThatIsNoTextIsShownAsText)
{
    const auto promise = std::make_shared<std::promise<HttpResponse>>();
    api->handle({ "GET", "/api/v1/capabilities", {}, {}, { "\xff<b>", Scope::Read } },
                [promise](HttpResponse response) { promise->set_value(std::move(response)); });
    const HttpResponse answer = promise->get_future().get();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(Json::parse(answer.body)["principal"], "\xef\xbf\xbd<b>");
}

// --- names -----------------------------------------------------------------------------------------------------------

class HostileNames : public ApiFixture {
protected:
    HostileNames()
    {
        std::vector<TensorInfo> tensors;
        for (const std::string& name : names())
            tensors.push_back({ name, Dtype::BF16, { 2, 3 } });
        home.write(folder() + "/anchors/step_000001.safetensors", trlAnchor(1, tensors));
        for (const char* key : { "<img src=x>",
                                 "\xe2\x80\xae"
                                 "gpj.exe",
                                 "\"';--", "\xff\xfe", "line\nbreak" })
            home.write(folder() + "/" + key, "x");
        SourceRequest source;
        source.source = home.path(folder());
        run = "runs/" + followed(source, 1);
    }
    static std::string folder() { return "it's a \"run\" <script>"; }
    static std::vector<std::string> names()
    {
        return { "<script>alert(1)</script>",
                 "\xe2\x80\xae"
                 "thgiew.0.sreyal",
                 "a\"b\\c'd",
                 "line\nbreak\tand\x01",
                 longName(),
                 "../../x",
                 "&amp;",
                 " ",
                 "\xf0\x9f\x92\xa5" };
    }
    /// Any answer: that it is there, and that it is JSON.
    Json shown(const std::string& path, const Query& query = {})
    {
        const HttpResponse answer = get(run + path, query);
        EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
        EXPECT_TRUE(Json::accept(answer.body)) << path;
        return Json::parse(answer.body, nullptr, false);
    }

    std::string run;
};

TEST_F(HostileNames, OfTensorsComeOutAsTheyAre)
{
    std::set<std::string> shownNames;
    const Json table = shown("/tensors");
    for (const Json& tensor : table["tensors"])
        shownNames.insert(tensor["name"]);
    const std::vector<std::string> all = names();
    EXPECT_EQ(shownNames, std::set<std::string>(all.begin(), all.end()));
    EXPECT_EQ(shown("/steps/1")["tensors"].size(), all.size());
    EXPECT_EQ(shown("/objects/header", { { "key", "anchors/step_000001.safetensors" } })["tensors"].size(), all.size());
}

TEST_F(HostileNames, OfTensorsCanBeLookedInto)
{
    for (std::size_t row = 0; row < names().size(); ++row) {
        const std::string tensor = "/steps/1/tensors/" + std::to_string(row);
        const Json window = shown(tensor + "/elements");
        EXPECT_EQ(window["new_bits"].size(), 6U);
        const HttpResponse blocks = get(run + tensor + "/blocks");
        EXPECT_EQ(blocks.status, 200);
        EXPECT_EQ(Json::parse(blocks.body.substr(0, blocks.body.find('\n')))["tensor"], window["tensor"]);
        EXPECT_EQ(shown("/heat/cell", { { "row", std::to_string(row) }, { "column", "0" } })["tensor"],
                  window["tensor"]);
    }
}

TEST_F(HostileNames, OfObjectsComeOutAsText)
{
    std::set<std::string> keys;
    const Json listing = shown("/objects");
    for (const Json& row : listing["objects"])
        keys.insert(row["key"]);
    EXPECT_EQ(keys,
              (std::set<std::string> { "<img src=x>",
                                       "\xe2\x80\xae"
                                       "gpj.exe",
                                       "\"';--", "\xef\xbf\xbd\xef\xbf\xbd", "line\nbreak", "anchors/" }));
}

TEST_F(HostileNames, EveryAnswerIsJson)
{
    for (const char* path :
         { "", "/steps", "/lineage", "/timeline", "/timeline.trace.json", "/replicas", "/heat", "/steps/1" })
        shown(path);
    EXPECT_TRUE(Json::accept(get("runs").body));
    EXPECT_TRUE(Json::accept(get("alerts").body));
}

TEST_F(HostileNames, OfARunAreQuotedInCommandLines)
{
    const std::string quoted = "'" + home.path("it'\\''s a \"run\" <script>@0:1") + "'";
    const Json plan = post(run + "/plans", { { "kind", "materialize" }, { "args", { { "step", "1" } } } });
    EXPECT_NE(plan["cli"].get<std::string>().find(quoted), std::string::npos) << plan["cli"];
    const Json cli = shown("/steps/1")["cli"];
    EXPECT_EQ(cli.size(), 3U);
    for (const Json& line : cli)
        EXPECT_NE(line.get<std::string>().find(quoted), std::string::npos) << line;
}

} // namespace
} // namespace deltascope::server
