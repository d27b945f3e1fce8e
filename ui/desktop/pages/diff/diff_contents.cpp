#include "pages/diff/diff_contents.h"

#include "look/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("DiffContents", text); }

double shareOrZero(std::uint64_t part, std::uint64_t all)
{
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// A column of counts, written out; `of`: a member of a row.
template <class Rows, class Of> DiffTable::Column countColumn(const QString& title, const Rows& rows, Of of)
{
    return { title, [rows, of](std::size_t row) { return exactText(of(rows(row))); },
             [rows, of](std::size_t row) { return static_cast<double>(of(rows(row))); } };
}

/// The same of counts that may be missing.
template <class Rows, class Of> DiffTable::Column measuredColumn(const QString& title, const Rows& rows, Of of)
{
    return { title,
             [rows, of](std::size_t row) {
                 const std::optional<std::uint64_t> count = of(rows(row));
                 return count ? exactText(*count) : unknownText();
             },
             [rows, of](std::size_t row) {
                 const std::optional<std::uint64_t> count = of(rows(row));
                 return count ? static_cast<double>(*count) : -1.0;
             } };
}

/// The same of small numbers that may be missing.
template <class Rows, class Of> DiffTable::Column smallColumn(const QString& title, const Rows& rows, Of of)
{
    return { title,
             [rows, of](std::size_t row) {
                 const std::optional<double> number = of(rows(row));
                 return number ? smallText(*number) : unknownText();
             },
             [rows, of](std::size_t row) { return of(rows(row)).value_or(-1.0); } };
}

template <class Rows> DiffTable::Column nameColumn(const Rows& rows)
{
    return { tr("tensor"), [rows](std::size_t row) { return shortened(safeName(rows(row).name)); }, nullptr, false };
}

QString tensorText(const std::string& dtype, const std::vector<std::uint64_t>& shape)
{
    return QStringLiteral("%1, %2").arg(safeName(dtype), shapeText(shape));
}

}

QString smallText(double value)
{
    if (value == 0)
        return QStringLiteral("0");
    if (!std::isfinite(value))
        return std::isnan(value) ? QStringLiteral("NaN") : QStringLiteral("∞");
    QString text = QString::number(value, 'e', 1); // "3.1e-03"
    text.replace(QStringLiteral("e-0"), QStringLiteral("e-")).replace(QStringLiteral("e+0"), QStringLiteral("e"));
    return text;
}

const app::TensorDiffView* largestDifference(const app::DiffView& diff)
{
    const auto most = std::max_element(diff.tensors.begin(), diff.tensors.end(),
                                       [](const auto& x, const auto& y) { return x.maxAbs < y.maxAbs; });
    return most == diff.tensors.end() || !most->maxAbs ? nullptr : &*most;
}

DiffTable::Content differentTensors(DiffPointer diff)
{
    using Row = app::TensorDiffView;
    const auto rows = [diff](std::size_t row) -> const Row& { return diff->tensors[row]; };
    const auto share = [rows](std::size_t row) { return shareOrZero(rows(row).different, rows(row).elements); };
    DiffTable::Content content;
    content.rows = diff->tensors.size();
    content.name = [rows](std::size_t row) { return rows(row).name; };
    content.tip = [rows](std::size_t row) {
        return QStringLiteral("%1\n%2").arg(safeName(rows(row).name), tensorText(rows(row).dtype, rows(row).shape));
    };
    content.dtype = [rows](std::size_t row) { return rows(row).dtype; };
    content.number = [rows](std::size_t row, DiffTable::Field field) -> std::optional<double> {
        const Row& tensor = rows(row);
        if (field == DiffTable::Elements)
            return static_cast<double>(tensor.elements);
        if (field == DiffTable::Different)
            return static_cast<double>(tensor.different);
        return tensor.touched ? std::optional(static_cast<double>(*tensor.touched)) : std::nullopt;
    };
    content.columns.push_back(nameColumn(rows));
    content.columns.push_back(countColumn(tr("elements"), rows, [](const Row& row) { return row.elements; }));
    content.columns.push_back(countColumn(tr("different"), rows, [](const Row& row) { return row.different; }));
    content.sortColumn = static_cast<int>(content.columns.size());
    content.sortOrder = Qt::DescendingOrder;
    content.columns.push_back(
        { tr("share"), [share](std::size_t row) { return percentText(share(row)); }, share, true, true });
    content.columns.push_back({ tr("touched"),
                                [rows](std::size_t row) {
                                    const Row& tensor = rows(row);
                                    return tensor.touched ? percentText(shareOrZero(*tensor.touched, tensor.elements))
                                                          : unknownText();
                                },
                                [rows](std::size_t row) {
                                    const Row& tensor = rows(row);
                                    return tensor.touched ? shareOrZero(*tensor.touched, tensor.elements) : -1.0;
                                } });
    content.columns.back().tip = tr("By the deltas between A and B, also where a value came back");
    content.columns.push_back(smallColumn(tr("max |Δ|"), rows, [](const Row& row) { return row.maxAbs; }));
    content.columns.push_back(smallColumn(tr("relative L2"), rows, [](const Row& row) { return row.relativeNorm; }));
    content.columns.back().tip = tr("L2 norm of B − A over that of A");
    content.columns.push_back(measuredColumn(tr("max ULP"), rows, [](const Row& row) { return row.maxUlp; }));
    content.columns.back().tip = tr("Representable numbers between the values, at most");
    content.columns.push_back(measuredColumn(tr("sign flips"), rows, [](const Row& row) { return row.signFlips; }));
    content.columns.push_back(measuredColumn(tr("NaN"), rows, [](const Row& row) { return row.nanInvolved; }));
    content.columns.back().tip = tr("Different elements of which one is no number");
    return content;
}

DiffTable::Content tensorsOfOneSide(DiffPointer diff)
{
    const auto inA = [diff](std::size_t row) { return row < diff->onlyInA.size(); };
    const auto name = [diff, inA](std::size_t row) -> const std::string& {
        return inA(row) ? diff->onlyInA[row] : diff->onlyInB[row - diff->onlyInA.size()];
    };
    DiffTable::Content content;
    content.rows = diff->onlyInA.size() + diff->onlyInB.size();
    content.name = name;
    content.columns.push_back(
        { tr("tensor"), [name](std::size_t row) { return shortened(safeName(name(row))); }, nullptr, false });
    content.columns.push_back({ tr("only in"),
                                [inA](std::size_t row) { return inA(row) ? QStringLiteral("A") : QStringLiteral("B"); },
                                nullptr, false });
    return content;
}

DiffTable::Content reshapedTensors(DiffPointer diff)
{
    const auto rows = [diff](std::size_t row) -> const app::ReshapedTensorView& { return diff->reshaped[row]; };
    DiffTable::Content content;
    content.rows = diff->reshaped.size();
    content.name = [rows](std::size_t row) { return rows(row).name; };
    content.columns.push_back(nameColumn(rows));
    content.columns.push_back({ tr("in A"),
                                [rows](std::size_t row) { return tensorText(rows(row).dtypeA, rows(row).shapeA); },
                                nullptr, false });
    content.columns.push_back({ tr("in B"),
                                [rows](std::size_t row) { return tensorText(rows(row).dtypeB, rows(row).shapeB); },
                                nullptr, false });
    return content;
}

DiffTable::Content touchedTensors(TouchedPointer touched)
{
    using Row = app::TouchedTensorView;
    const auto rows = [touched](std::size_t row) -> const Row& { return touched->tensors[row]; };
    const auto share = [rows](std::size_t row) { return shareOrZero(rows(row).atMost, rows(row).elements); };
    DiffTable::Content content;
    content.rows = touched->tensors.size();
    content.name = [rows](std::size_t row) { return rows(row).name; };
    content.dtype = [rows](std::size_t row) { return rows(row).dtype; };
    content.number = [rows](std::size_t row, DiffTable::Field field) -> std::optional<double> {
        if (field == DiffTable::Different)
            return std::nullopt;
        return static_cast<double>(field == DiffTable::Elements ? rows(row).elements : rows(row).atMost);
    };
    content.columns.push_back(nameColumn(rows));
    content.columns.push_back({ tr("shape"), [rows](std::size_t row) { return shapeText(rows(row).shape); },
                                [rows](std::size_t row) { return static_cast<double>(rows(row).elements); } });
    content.columns.push_back(
        { tr("dtype"), [rows](std::size_t row) { return safeName(rows(row).dtype); }, nullptr, false });
    content.columns.push_back(countColumn(tr("elements"), rows, [](const Row& row) { return row.elements; }));
    content.columns.push_back(countColumn(tr("touched at most"), rows, [](const Row& row) { return row.atMost; }));
    content.sortColumn = static_cast<int>(content.columns.size());
    content.sortOrder = Qt::DescendingOrder;
    content.columns.push_back(
        { tr("share"), [share](std::size_t row) { return percentText(share(row)); }, share, true, true });
    return content;
}

} // namespace deltascope::desktop
