#include "pages/bucket/bucket_picture.h"

#include "look/format.h"
#include "look/marks.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>

namespace deltascope::desktop {

namespace {

using Row = app::ListingRowView;

enum Field : std::size_t { KindField, StateField, StepField, SizeField, NeededByField };

/// A row as a filter reads it.
struct QueriedRow {
    const Row& row;

    std::optional<double> number(std::size_t field) const
    {
        if (field == StepField)
            return row.step ? std::optional(static_cast<double>(*row.step)) : std::nullopt;
        if (field == NeededByField)
            return row.neededBy ? std::optional(static_cast<double>(*row.neededBy)) : std::nullopt;
        return row.folder ? std::nullopt : std::optional(static_cast<double>(row.sizeBytes));
    }
    bool hasWord(std::size_t field, const Query::WordTest& test) const
    {
        if (field == StateField)
            return test(QString::fromStdString(row.state));
        return test(row.folder             ? QStringLiteral("folder")
                        : row.kind.empty() ? QStringLiteral("other")
                                           : QString::fromStdString(row.kind));
    }
    bool contains(const QString& text) const { return safeName(row.key).contains(text, Qt::CaseInsensitive); }
};

/// Below zero: `x` comes first. What has no value comes last, whichever way is sorted.
template <class T> int compareKnown(const std::optional<T>& x, const std::optional<T>& y, bool descending)
{
    if (!x || !y)
        return static_cast<int>(y.has_value()) - static_cast<int>(x.has_value());
    const int order = *x < *y ? -1 : *y < *x ? 1 : 0;
    return descending ? -order : order;
}

bool comesFirst(const Row& x, const Row& y, const BucketWish& wish)
{
    if (x.folder != y.folder)
        return x.folder;
    int order = 0;
    switch (wish.sort) {
    case BucketWish::Kind:
    case BucketWish::State: {
        const std::string& a = wish.sort == BucketWish::Kind ? x.kind : x.state;
        const std::string& b = wish.sort == BucketWish::Kind ? y.kind : y.state;
        const auto known = [](const std::string& s) { return s.empty() ? std::nullopt : std::optional(s); };
        order = compareKnown(known(a), known(b), wish.descending);
        break;
    }
    case BucketWish::Step:
        order = compareKnown(x.step, y.step, wish.descending);
        break;
    case BucketWish::Size:
        order = compareKnown(std::optional(x.sizeBytes), std::optional(y.sizeBytes), wish.descending);
        break;
    case BucketWish::NeededBy:
        order = compareKnown(x.neededBy, y.neededBy, wish.descending);
        break;
    case BucketWish::Modified: {
        const auto known = [](const Row& row) {
            return row.modifiedUs == 0 ? std::nullopt : std::optional(row.modifiedUs);
        };
        order = compareKnown(known(x), known(y), wish.descending);
        break;
    }
    default:
        return wish.descending ? y.key < x.key : x.key < y.key;
    }
    return order != 0 ? order < 0 : x.key < y.key;
}

}

const std::vector<QueryField>& bucketFields()
{
    static const std::vector<QueryField> fields { { QStringLiteral("kind"), false },
                                                  { QStringLiteral("state"), false },
                                                  { QStringLiteral("step"), true },
                                                  { QStringLiteral("size"), true },
                                                  { QStringLiteral("needed"), true } };
    return fields;
}

std::string nameInFolder(const Row& row, const std::string& prefix)
{
    return row.key.starts_with(prefix) ? row.key.substr(prefix.size()) : row.key;
}

QString objectKindText(const Row& row)
{
    if (row.folder)
        return QCoreApplication::translate("Bucket", "folder");
    return row.kind.empty() ? QCoreApplication::translate("Bucket", "other") : kindText(row.kind);
}

QString neededByText(const Row& row)
{
    if (!row.neededBy)
        return row.folder ? QString() : unknownText();
    return pluralText(*row.neededBy, QCoreApplication::translate("Bucket", "step"));
}

QString whyNeededText(const Row& row)
{
    if (row.folder)
        return {};
    if (row.neededBy)
        return *row.neededBy == 0
            ? QCoreApplication::translate("Bucket", "Another form of its step makes up for it")
            : QCoreApplication::translate("Bucket", "So many steps cannot be rebuilt any more if this object is lost");
    return row.step
        ? QCoreApplication::translate("Bucket", "Its step cannot be rebuilt, or an older bundle does not say")
        : QCoreApplication::translate("Bucket", "It belongs to no step");
}

BucketPointer makeBucketPicture(const app::ListingView& listing, const app::RunView& run, const BucketWish& wish)
{
    auto picture = std::make_shared<BucketPicture>();
    const std::size_t most = wish.needsAll() ? std::numeric_limits<std::size_t>::max() : wish.most;
    app::ListingPage page = app::makeListingPage(listing, run, wish.prefix, {}, most);
    picture->prefix = wish.prefix;
    picture->listed = page.rows.size();
    picture->complete = page.nextCursor.empty();
    picture->totals = page.totals;
    picture->rows = std::move(page.rows);
    if (!wish.query.isEmpty())
        std::erase_if(picture->rows, [&](const Row& row) { return !wish.query.matches(QueriedRow { row }); });
    // Pages come in the order of keys; cut in the middle, that order is the only right one.
    if (picture->complete)
        std::stable_sort(picture->rows.begin(), picture->rows.end(),
                         [&](const Row& x, const Row& y) { return comesFirst(x, y, wish); });
    return picture;
}

} // namespace deltascope::desktop
