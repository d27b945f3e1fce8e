#include "source_events.h"

#include <algorithm>

namespace deltascope {

void keepEvents(Workbench& bench, const ObjectStore& store, const std::vector<Error>& happened)
{
    if (!bench.records || happened.empty())
        return;
    std::vector<Records::Event> events;
    for (const Error& event : happened)
        events.push_back(Records::Event { bench.nowUs(), event });
    static_cast<void>(bench.records->addEvents(store.uri(), events));
}

void keepEventsOnce(Workbench& bench, const ObjectStore& store, std::vector<Error> told)
{
    if (!bench.records)
        return;
    constexpr std::size_t Last = 20;
    const Result<std::vector<Records::Event>> before = bench.records->events(store.uri(), Last);
    if (!before)
        return;
    std::erase_if(told, [&](const Error& error) {
        return std::any_of(before->begin(), before->end(), [&](const Records::Event& event) {
            return event.what.text == error.text && event.what.where == error.where;
        });
    });
    keepEvents(bench, store, told);
}

} // namespace deltascope
