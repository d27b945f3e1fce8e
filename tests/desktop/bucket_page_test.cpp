// The page Bucket over real folders, and its list over made ones.

#include "desktop_fixture.h"

#include "pages/bucket/bucket_list.h"
#include "pages/bucket/bucket_page.h"
#include "pages/bucket/bucket_preview.h"
#include "pages/bucket/object_address.h"
#include "widgets/filter_field.h"

#include <QAbstractButton>
#include <QLabel>
#include <QUndoStack>

#include <fstream>

namespace deltascope::desktop {

namespace {

class BucketPageTest : public DesktopFixture {
protected:
    BucketPage* openPage(const char* bucket)
    {
        open(bucket);
        return showPage();
    }
    BucketPage* showPage()
    {
        auto* page = show<BucketPage>("bucket");
        EXPECT_TRUE(waitFor([&] { return page && page->list().objects().rowCount() > 0; }));
        return page;
    }
    static QStringList names(BucketPage& page)
    {
        QStringList names;
        const BucketModel& model = page.list().objects();
        for (int row = 0; row < model.rowCount(); ++row)
            names.append(model.index(row, BucketWish::Name).data().toString());
        return names;
    }
    static void choose(BucketPage& page, const QString& name)
    {
        const int row = static_cast<int>(names(page).indexOf(name));
        ASSERT_GE(row, 0) << name.toStdString();
        page.list().setCurrentIndex(page.list().objects().index(row, 0));
    }
    void enter(BucketPage& page, const QString& folder)
    {
        choose(page, folder);
        QTest::keyClick(&page.list(), Qt::Key_Return);
        ASSERT_TRUE(waitFor([&] { return page.list().objects().picture()->prefix == folder.toStdString(); }));
    }
};

TEST_F(BucketPageTest, FoldersOpenAndCloseByKeys)
{
    BucketPage* page = openPage("trl-v2-gap-in-chain");
    EXPECT_EQ(names(*page), (QStringList { "anchors/", "deltas/" }));
    enter(*page, "deltas/");
    EXPECT_EQ(page->list().objects().rowCount(), 10);
    const BucketModel& model = page->list().objects();
    EXPECT_EQ(model.index(0, BucketWish::Name).data().toString(), "step_000002.safetensors");
    EXPECT_EQ(model.index(0, BucketWish::Kind).data().toString(), "delta");
    EXPECT_EQ(model.index(0, BucketWish::Step).data().toString(), "2");
    EXPECT_EQ(model.index(0, BucketWish::State).data().toString(), QStringLiteral("● complete"));
    QTest::keyClick(&page->list(), Qt::Key_Backspace);
    ASSERT_TRUE(waitFor([&] { return page->list().objects().picture()->prefix.empty(); }));
    EXPECT_EQ(page->folder(), "");
}

TEST_F(BucketPageTest, TypingFiltersAndUndoBringsBack)
{
    BucketPage* page = openPage("trl-v2-gap-in-chain");
    enter(*page, "deltas/");
    page->list().setFocus();
    QTest::keyClick(&page->list(), 's');
    EXPECT_EQ(page->filterField()->text(), "s");
    page->filterField()->setText("step:>10 size:<1M");
    ASSERT_TRUE(waitFor([&] { return page->list().objects().rowCount() == 3; }));
    EXPECT_EQ(page->filterField()->accessibleDescription(), QStringLiteral("✓ 3 of 10"));
    window->actions().trigger("view.undo");
    EXPECT_EQ(page->filterField()->text(), "");
    ASSERT_TRUE(waitFor([&] { return page->list().objects().rowCount() == 10; }));
}

TEST_F(BucketPageTest, SortsByAnyColumn)
{
    BucketPage* page = openPage("trl-v2-gap-in-chain");
    enter(*page, "deltas/");
    page->sortBy(BucketWish::Step, true);
    ASSERT_TRUE(waitFor([&] { return names(*page).front() == "step_000013.safetensors"; }));
    EXPECT_EQ(names(*page).back(), "step_000002.safetensors");
}

TEST_F(BucketPageTest, SaysWhoNeedsAnObject)
{
    BucketPage* page = openPage("trl-v2-gap-in-chain");
    const BucketModel& model = page->list().objects();
    EXPECT_EQ(model.index(0, BucketWish::NeededBy).data().toString(), "") << "a folder";
    enter(*page, "deltas/");
    const auto said = [&](const QString& name, int role) {
        return model.index(static_cast<int>(names(*page).indexOf(name)), BucketWish::NeededBy).data(role).toString();
    };
    EXPECT_EQ(said("step_000002.safetensors", Qt::DisplayRole), "4 steps");
    EXPECT_EQ(said("step_000005.safetensors", Qt::DisplayRole), "1 step");
    EXPECT_EQ(said("step_000007.safetensors", Qt::DisplayRole), QStringLiteral("–"));
    EXPECT_TRUE(said("step_000007.safetensors", Qt::ToolTipRole).startsWith("Its step cannot be rebuilt"));
    page->sortBy(BucketWish::NeededBy, true);
    ASSERT_TRUE(waitFor([&] { return names(*page).indexOf("step_000011.safetensors") == 2; }));
    EXPECT_EQ(names(*page).front(), "step_000002.safetensors");
    EXPECT_EQ(names(*page).back(), "step_000009.safetensors") << "what is not known comes last";
    page->filterField()->setText("needed:>3");
    ASSERT_TRUE(waitFor([&] { return model.rowCount() == 1; }));
    EXPECT_EQ(names(*page), QStringList { "step_000002.safetensors" });
}

TEST_F(BucketPageTest, PreviewShowsTheHeader)
{
    BucketPage* page = openPage("trl-v2-gap-in-chain");
    enter(*page, "deltas/");
    choose(*page, "step_000012.safetensors");
    ASSERT_TRUE(waitFor([&] { return page->preview().header() != nullptr; }));
    const HeaderPointer header = page->preview().header();
    EXPECT_EQ(header->key, "deltas/step_000012.safetensors");
    EXPECT_GT(header->tensorsTotal, 0U);
    EXPECT_EQ(header->metadata.at("model_version"), "12");
    bool shown = false;
    for (const QAbstractItemView* view : page->preview().findChildren<QAbstractItemView*>())
        shown = shown || (view->isVisible() && view->model()->rowCount() == static_cast<int>(header->tensors.size()));
    EXPECT_TRUE(shown) << "its tensors are listed";
    QTest::keyClick(&page->list(), Qt::Key_Space);
    EXPECT_FALSE(page->preview().isVisible());
}

TEST_F(BucketPageTest, WhatIsNoSafetensorsSaysSo)
{
    const app::SourceRequest source = golden("trl-v2-raw");
    std::ofstream(source.source.text() + "/notes.txt") << "hello";
    std::ofstream(source.source.text() + "/deltas/step_000099.safetensors") << "this is no header at all";
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] {
        const RunPointer& run = window->focus().run();
        return run && run->run && run->run->settled;
    }));
    BucketPage* page = showPage();
    const auto said = [&] {
        QString text;
        for (const QLabel* label : page->preview().findChildren<QLabel*>())
            text += label->isVisible() ? label->text() + '\n' : QString();
        return text;
    };
    choose(*page, "notes.txt");
    EXPECT_TRUE(said().contains("Not a safetensors file")) << said().toStdString();
    enter(*page, "deltas/");
    choose(*page, "step_000099.safetensors");
    ASSERT_TRUE(waitFor([&] { return !page->preview().isReading(); }));
    EXPECT_TRUE(said().contains(QStringLiteral("✕ DS-"))) << said().toStdString();
    EXPECT_EQ(page->preview().header(), nullptr);
}

TEST_F(BucketPageTest, NewObjectsAppear)
{
    const app::SourceRequest source = golden("trl-v2-raw");
    const std::filesystem::path deltas = std::filesystem::path(source.source.text()) / "deltas";
    std::filesystem::path newest;
    for (const auto& file : std::filesystem::directory_iterator(deltas))
        newest = std::max(newest, file.path());
    const std::filesystem::path aside = home.path("aside.safetensors");
    std::filesystem::rename(newest, aside);
    window->openSource(source);
    ASSERT_TRUE(waitFor([this] {
        const RunPointer& run = window->focus().run();
        return run && run->run && run->run->settled;
    }));
    BucketPage* page = showPage();
    enter(*page, "deltas/");
    choose(*page, "step_000003.safetensors");
    const int before = page->list().objects().rowCount();
    std::filesystem::rename(aside, newest);
    ASSERT_TRUE(waitFor([&] { return page->list().objects().rowCount() == before + 1; }));
    ASSERT_TRUE(page->list().current());
    EXPECT_EQ(page->list().current()->key, "deltas/step_000003.safetensors") << "the selection stays";
}

TEST_F(BucketPageTest, ABucketThatVanishesIsAnErrorInThePage)
{
    BucketPage* page = openPage("trl-v2-raw");
    std::filesystem::remove_all(home.path("trl-v2-raw"));
    window->actions().trigger("view.refresh");
    const auto said = [&] {
        for (const QLabel* label : page->findChildren<QLabel*>()) {
            if (label->isVisible() && label->text().startsWith(QStringLiteral("✕")))
                return true;
        }
        return false;
    };
    EXPECT_TRUE(waitFor(said));
    EXPECT_EQ(names(*page), (QStringList { "anchors/", "deltas/" })) << "the last good listing stays";
}

TEST_F(BucketPageTest, AllThatTakesTheFocusHasAName)
{
    BucketPage* page = openPage("trl-v2-raw");
    enter(*page, "deltas/");
    choose(*page, "step_000003.safetensors");
    ASSERT_TRUE(waitFor([&] { return page->preview().header() != nullptr; }));
    for (const QWidget* widget : page->findChildren<QWidget*>()) {
        // Of buttons and labels the text is the name.
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const auto* label = qobject_cast<const QLabel*>(widget);
        const bool speaks = (button && !button->text().isEmpty()) || (label && !label->text().isEmpty());
        if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible() && !speaks) {
            EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->metaObject()->className();
        }
    }
}

app::ListingView longListing(int objects)
{
    app::ListingView listing;
    for (int at = 0; at < objects; ++at) {
        app::ListingEntryView entry;
        entry.object.key = QStringLiteral("deltas/step_%1").arg(at, 6, 10, QLatin1Char('0')).toStdString();
        entry.object.sizeBytes = 1000 + static_cast<std::uint64_t>(at);
        entry.step = at;
        entry.kind = "delta";
        listing.objects.push_back(std::move(entry));
    }
    return listing;
}

TEST(BucketModelTest, RowsComeByPages)
{
    const app::ListingView listing = longListing(2500);
    const app::RunView run;
    BucketModel model;
    BucketWish wish;
    wish.prefix = "deltas/";
    model.show(makeBucketPicture(listing, run, wish));
    EXPECT_EQ(model.rowCount(), 1000);
    ASSERT_TRUE(model.canFetchMore({}));
    QSignalSpy wanted(&model, &BucketModel::moreWanted);
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    model.fetchMore({});
    EXPECT_EQ(wanted.count(), 1);
    EXPECT_FALSE(model.canFetchMore({})) << "not asked twice";
    wish.most = 3000;
    model.show(makeBucketPicture(listing, run, wish));
    EXPECT_EQ(model.rowCount(), 2500);
    EXPECT_FALSE(model.canFetchMore({}));
    EXPECT_EQ(reset.count(), 0);
}

TEST(BucketModelTest, AFilterOrASortLooksAtAllRowsNotAtThoseLoaded)
{
    const app::ListingView listing = longListing(2500);
    const app::RunView run;
    BucketWish wish;
    wish.prefix = "deltas/";
    wish.query = Query::parse("step:>2490", bucketFields());
    EXPECT_EQ(makeBucketPicture(listing, run, wish)->rows.size(), 9U);
    wish.query = {};
    wish.descending = true;
    const BucketPointer picture = makeBucketPicture(listing, run, wish);
    EXPECT_EQ(picture->rows.front().step, 2499);
    EXPECT_TRUE(picture->complete);
}

TEST(ObjectAddressTest, FitsTheScheme)
{
    const auto local = objectAddress("file:///data/my%20run", "deltas/a'b.safetensors");
    ASSERT_TRUE(local);
    EXPECT_EQ(local->path, "/data/my run/deltas/a'b.safetensors");
    EXPECT_EQ(local->uri, "file:///data/my%20run/deltas/a'b.safetensors");
    EXPECT_FALSE(local->aws || local->hf);
    const auto s3 = objectAddress("s3://bucket/run/", "deltas/a b");
    EXPECT_EQ(s3->aws, "aws s3 cp 's3://bucket/run/deltas/a b' .");
    EXPECT_FALSE(s3->path || s3->hf);
    const auto hf = objectAddress("hf://buckets/acme/wordle", "x");
    EXPECT_EQ(hf->hf, "hf buckets cp hf://buckets/acme/wordle/x .");
    EXPECT_FALSE(objectAddress("s3://bucket", "\xff\xfe")) << "bytes that are no text have no name to copy";
    EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
}

}

} // namespace deltascope::desktop
