#pragma once

#include "made_run.h"

#include "deltascope/app/view/heat_view.h"

#include <cmath>
#include <random>
#include <string>

namespace deltascope::desktop {

/// Heatmaps of any size without a bucket: layers of `perLayer` tensors between embeddings and a head.
struct MadeHeat {
    int layers = 2;
    int perLayer = 4;
    std::int64_t firstStep = 0;
    int steps = 20;
    int unknownSteps = 0; ///< the first ones
    unsigned seed = 1;

    static std::shared_ptr<const std::vector<std::uint8_t>> codes(std::size_t rows, std::mt19937& random)
    {
        auto made = std::make_shared<std::vector<std::uint8_t>>(rows);
        for (std::uint8_t& code : *made)
            code = random() % 8 == 0 ? std::uint8_t { 0 } : static_cast<std::uint8_t>(90 + random() % 120);
        return made;
    }

    std::shared_ptr<app::HeatView> view() const
    {
        auto heat = std::make_shared<app::HeatView>();
        const auto add = [&](const std::string& name, std::uint64_t elements) {
            app::TensorRowView row;
            row.name = name;
            row.dtype = "BF16";
            row.shape = { elements };
            row.elements = elements;
            row.bytes = elements * 2;
            row.group = app::tensorGroup(name);
            row.changedElements = elements / 10;
            row.lastChanged = firstStep + steps - 1;
            heat->rows.push_back(std::move(row));
        };
        add("model.embed_tokens.weight", 4096);
        for (int layer = 0; layer < layers; ++layer) {
            for (int at = 0; at < perLayer; ++at)
                add("model.layers." + std::to_string(layer) + ".mlp.w" + std::to_string(at) + ".weight",
                    1000 + static_cast<std::uint64_t>(at) * 500);
        }
        add("lm_head.weight", 4096);
        std::mt19937 random(seed); // NOLINT: the same every time
        for (int at = 0; at < steps; ++at) {
            app::HeatColumnView column;
            column.step = firstStep + at;
            column.kind = column.step % 10 == 0 ? "anchor" : "delta";
            column.state = "complete";
            if (at >= unknownSteps)
                column.codes = codes(heat->rows.size(), random);
            heat->columns.push_back(std::move(column));
        }
        heat->revision = 1;
        return heat;
    }

    /// The same heatmap one step later.
    static std::shared_ptr<app::HeatView> grown(const app::HeatView& heat, unsigned seed)
    {
        auto next = std::make_shared<app::HeatView>(heat);
        std::mt19937 random(seed); // NOLINT: the same every time
        app::HeatColumnView column = heat.columns.back();
        ++column.step;
        column.codes = codes(heat.rows.size(), random);
        next->columns.push_back(std::move(column));
        ++next->revision;
        return next;
    }

    static std::shared_ptr<app::RunSnapshot> snapshot(const std::shared_ptr<const app::HeatView>& heat)
    {
        MadeRun run;
        run.first = heat->columns.front().step;
        run.last = heat->columns.back().step;
        auto snapshot = run.snapshot({ run.epoch() });
        snapshot->heat = heat;
        return snapshot;
    }
};

} // namespace deltascope::desktop
