#pragma once

#include "deltascope/engine/object_store.h"

#include "support/temp_dir.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A store in a folder of a test's own.

namespace deltascope::test {

class LocalStoreTest : public testing::Test {
protected:
    using Names = std::vector<std::string>;

    std::vector<std::string> keys(const ListRequest& request = {})
    {
        const auto page = m_store->list(request, m_task);
        if (!page)
            return { "error: " + std::string(word(page.error().code)) };
        std::vector<std::string> names;
        for (const ObjectInfo& object : page->objects)
            names.push_back(object.key);
        return names;
    }

    Code codeOfList()
    {
        const auto page = m_store->list({}, m_task);
        return page ? Code::Internal : page.error().code;
    }

    bool waitFor(StoreWatch& watch, std::chrono::milliseconds timeout = std::chrono::seconds(2))
    {
        const auto outcome = watch.wait(timeout, m_task);
        return outcome && *outcome;
    }

    void settle(StoreWatch& watch)
    {
        while (waitFor(watch, std::chrono::milliseconds(50))) { }
    }

    /// "key: what it is instead of a file"
    std::vector<std::string> oddities()
    {
        std::vector<std::string> all;
        const ListPage page = *m_store->list({}, m_task);
        for (const ObjectInfo& object : page.objects)
            all.push_back(object.key + ": " + object.oddity);
        return all;
    }

    TempDir m_folder;
    std::unique_ptr<ObjectStore> m_store = std::move(*openLocalStore(m_folder.path()));
    TaskContext m_task;
};

} // namespace deltascope::test
