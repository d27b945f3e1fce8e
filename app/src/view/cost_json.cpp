#include "deltascope/app/view/json.h"

#include "json_parts.h"

namespace deltascope::app {

namespace {

ordered_json json(const std::optional<CostRowView>& row)
{
    if (!row)
        return nullptr;
    return { { "bytes", row->bytes },
             { "requests", row->requests },
             { "price", row->price },
             { "link_seconds", row->linkSeconds },
             { "bytes_per_day", orNull(row->bytesPerDay) },
             { "price_per_day", orNull(row->pricePerDay) },
             { "times_smaller", orNull(row->timesSmaller) } };
}

ordered_json json(const CadenceView& cadence)
{
    return { { "every", cadence.every },
             { "own", cadence.own },
             { "recommended", cadence.recommended },
             { "published_bytes_per_day", orNull(cadence.publishedBytesPerDay) },
             { "restore_bytes", cadence.restoreBytes },
             { "restore_link_seconds", cadence.restoreSeconds },
             { "bytes_per_day", orNull(cadence.bytesPerDay) },
             { "price_per_day", orNull(cadence.pricePerDay) } };
}

ordered_json json(const std::optional<PredictionView>& prediction)
{
    if (!prediction)
        return nullptr;
    return { { "learning_rate", prediction->learningRate },
             { "changed_frac", orNull(prediction->fraction) },
             { "sigma", orNull(prediction->sigma) },
             { "elements", prediction->elements },
             { "elements_outside", prediction->elementsOutside },
             { "sampled_bytes", prediction->sampledBytes } };
}

}

std::string toJson(const CostView& view)
{
    ordered_json out;
    out["source"] = view.source;
    out["layout"] = view.layout;
    out["epoch"] = view.epoch;
    out["versions"] = view.versions;
    out["anchors"] = view.anchors;
    out["deltas"] = view.deltas;
    out["price_per_gb"] = view.pricePerGb.value;
    out["price_assumed"] = view.pricePerGb.assumed;
    out["price_per_1000_requests"] = view.pricePerThousandRequests.value;
    out["link_gbps"] = view.linkGbps.value;
    out["link_assumed"] = view.linkGbps.assumed;
    out["restores_per_day"] = view.restoresPerDay.value;
    out["restores_assumed"] = view.restoresPerDay.assumed;
    out["steps_per_day"] = orNull(view.stepsPerDay);
    out["steps_given"] = view.stepsPerDayGiven;
    out["seconds_per_step"] = orNull(view.secondsPerStep);
    out["delta"] = json(view.delta);
    out["published"] = json(view.published);
    out["full_sync"] = json(view.full);
    out["full_sync_is_base"] = view.fullIsBase;
    out["newest_restore"] = view.restoreBytes ? ordered_json { { "deltas", view.restoreDeltas },
                                                               { "bytes", *view.restoreBytes },
                                                               { "link_seconds", orNull(view.restoreSeconds) } }
                                              : ordered_json(nullptr);
    ordered_json cadences = ordered_json::array();
    for (const CadenceView& cadence : view.cadences)
        cadences.push_back(json(cadence));
    out["cadences"] = std::move(cadences);
    out["own_cadence"] = orNull(view.ownCadence);
    out["recommended_cadence"] = orNull(view.recommendedCadence);
    out["recommendation"] = view.recommendation;
    out["observed_changed_frac"] = orNull(view.changedFraction);
    out["observed_deltas"] = view.replayedDeltas;
    out["prediction"] = json(view.prediction);
    return dump(out);
}

} // namespace deltascope::app
