#include "heat/layer_heat.h"

#include "look/format.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostAlone = 8; ///< neighbors outside of layers that stand alone; more are one row

std::uint8_t codeOf(double share)
{
    constexpr double Whole = 1e12;
    return app::heatCode(static_cast<std::uint64_t>(std::llround(share * Whole)), static_cast<std::uint64_t>(Whole));
}

/// "embed_tokens" of "model.embed_tokens.weight".
QString aloneLabel(const std::string& name)
{
    QString label = safeName(name);
    if (label.startsWith(QLatin1String("model.")))
        label.remove(0, 6);
    if (label.endsWith(QLatin1String(".weight")))
        label.chop(7);
    return label;
}

std::vector<LayerHeat::Layer> layersOf(const std::vector<app::TensorRowView>& rows)
{
    std::vector<LayerHeat::Layer> layers;
    for (std::size_t begin = 0; begin < rows.size();) {
        std::size_t end = begin + 1;
        while (end < rows.size() && rows[end].group == rows[begin].group)
            ++end;
        if (!rows[begin].group.empty()) {
            layers.push_back({ safeName(rows[begin].group), begin, end - begin, 0 });
        } else if (end - begin > MostAlone) {
            layers.push_back({ aloneLabel(rows[begin].name) + QChar(u'…'), begin, end - begin, 0 });
        } else {
            for (std::size_t i = begin; i < end; ++i)
                layers.push_back({ aloneLabel(rows[i].name), i, 1, 0 });
        }
        begin = end;
    }
    return layers;
}

std::shared_ptr<const std::vector<std::uint8_t>> meansOf(const std::vector<std::uint8_t>& tensors,
                                                         const std::vector<LayerHeat::Layer>& layers,
                                                         const std::vector<app::TensorRowView>& rows)
{
    auto codes = std::make_shared<std::vector<std::uint8_t>>();
    codes->reserve(layers.size());
    for (const LayerHeat::Layer& layer : layers) {
        double changed = 0;
        double elements = 0;
        for (std::size_t row = layer.first; row < layer.first + layer.count && row < tensors.size(); ++row) {
            changed += app::heatShare(tensors[row]) * static_cast<double>(rows[row].elements);
            elements += static_cast<double>(rows[row].elements);
        }
        codes->push_back(elements > 0 ? codeOf(changed / elements) : std::uint8_t { 0 });
    }
    return codes;
}

bool sameLayers(const std::vector<LayerHeat::Layer>& a, const std::vector<LayerHeat::Layer>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && x.count == y.count && x.label == y.label;
    });
}

}

std::optional<std::size_t> LayerHeat::columnOf(std::int64_t step) const
{
    if (columns.empty())
        return std::nullopt;
    const auto after = std::lower_bound(columns.begin(), columns.end(), step,
                                        [](const Column& column, std::int64_t wanted) { return column.step < wanted; });
    if (after == columns.end())
        return columns.size() - 1;
    const auto at = static_cast<std::size_t>(after - columns.begin());
    return at > 0 && after->step != step && step - columns[at - 1].step < after->step - step ? at - 1 : at;
}

std::shared_ptr<const LayerHeat> makeLayerHeat(const app::HeatView& heat, int epoch, StepRange range,
                                               const std::shared_ptr<const LayerHeat>& before)
{
    auto made = std::make_shared<LayerHeat>();
    made->epoch = epoch;
    made->layers = layersOf(heat.rows);
    std::unordered_map<const void*, const LayerHeat::Column*> known;
    if (before && sameLayers(before->layers, made->layers)) {
        for (const LayerHeat::Column& column : before->columns) {
            if (column.codes)
                known.emplace(column.tensors.get(), &column);
        }
    }
    std::vector<double> sums(made->layers.size(), 0.0);
    double count = 0;
    const auto [first, last] = heat.columnsOf(epoch);
    for (std::size_t i = first; i < last; ++i) {
        const app::HeatColumnView& column = heat.columns[i];
        if (column.step < range.first || column.step > range.second)
            continue;
        LayerHeat::Column& mine = made->columns.emplace_back();
        mine.step = column.step;
        mine.anchor = column.kind == "anchor";
        mine.damaged = column.damaged;
        mine.tensors = column.codes;
        if (!column.codes)
            continue;
        const auto same = known.find(column.codes.get());
        mine.codes = same != known.end() ? same->second->codes : meansOf(*column.codes, made->layers, heat.rows);
        ++count;
        for (std::size_t layer = 0; layer < sums.size(); ++layer)
            sums[layer] += app::heatShare((*mine.codes)[layer]);
    }
    for (std::size_t layer = 0; layer < sums.size() && count > 0; ++layer)
        made->layers[layer].mean = sums[layer] / count;
    return made;
}

LayerPicture makeLayerPicture(const LayerHeat& heat, std::size_t most)
{
    LayerPicture picture;
    const std::size_t columns = heat.columns.size();
    picture.width = std::min(columns, std::max<std::size_t>(1, most));
    picture.codes.assign(picture.width * heat.layers.size(), 0);
    picture.known.assign(picture.codes.size(), false);
    std::vector<double> sums(heat.layers.size());
    for (std::size_t x = 0; x < picture.width; ++x) {
        const std::size_t begin = x * columns / picture.width;
        const std::size_t end = std::max(begin + 1, (x + 1) * columns / picture.width);
        std::fill(sums.begin(), sums.end(), 0.0);
        const std::vector<std::uint8_t>* only = nullptr;
        double count = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (!heat.columns[i].codes)
                continue;
            only = heat.columns[i].codes.get();
            ++count;
            for (std::size_t layer = 0; layer < sums.size(); ++layer)
                sums[layer] += app::heatShare((*only)[layer]);
        }
        for (std::size_t layer = 0; layer < sums.size() && only; ++layer) {
            const std::size_t at = layer * picture.width + x;
            picture.codes[at] = count > 1 ? codeOf(sums[layer] / count) : (*only)[layer];
            picture.known[at] = true;
        }
    }
    return picture;
}

} // namespace deltascope::desktop
