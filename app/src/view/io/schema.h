#pragma once

#include "forms.h"

#include <string>
#include <vector>

namespace deltascope::app {

// The described values as data, of which TypeScript and OpenAPI are made.

struct SchemaType {
    enum class Kind { Any, Truth, Whole, Count, Number, Text, Words, Object, List, Map };

    Kind kind = Kind::Text;
    bool nullable = false;
    std::vector<std::string> names; ///< Words: these. Object: its name, and those of its variants. Whole: words instead
    std::string alias; ///< Words: name of their set, if it has one
    std::vector<SchemaType> item; ///< List, Map: what it holds, one

    bool operator==(const SchemaType&) const = default;
};

struct SchemaField {
    std::string key;
    SchemaType type;
    std::string note; ///< a sentence for its readers, may be empty
    bool mayBeAbsent = false;

    bool operator==(const SchemaField&) const = default;
};

struct SchemaObject {
    std::string name;
    std::string note;
    std::vector<SchemaField> fields;

    bool operator==(const SchemaObject&) const = default;
};

struct Schema {
    std::vector<SchemaType> words; ///< the sets that have a name
    std::vector<SchemaObject> objects; ///< a value comes behind those that it holds
};

} // namespace deltascope::app
