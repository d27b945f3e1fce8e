#pragma once

#include "deltascope/app/acts.h"

#include "io/forms.h"

namespace deltascope::app {

inline constexpr WordSet ActFieldTypes { "",
                                         { "text", "step", "steps", "folder", "place", "whole", "flag", "choice" } };

template <class Io> void describe(Io& io, const ActField& field)
{
    io.type("ActField", "One argument of an act.");
    io("name", field.name);
    io("type", word(field.type, ActFieldTypes));
    io("label", field.label);
    io("help", field.help);
    io("standard", field.standard, "as text; of a choice: the first one");
    io("required", field.isRequired);
    io("most", absentIfEmpty(field.most), "of a whole number, which is at least 0");
    io("choices", absentIfEmpty(field.choices));
}

template <class Io> void describe(Io& io, const ActInfo& act)
{
    io.type("ActInfo", "An act that a plan can be made of.");
    io("kind", act.kind);
    io("title", act.title, "\"Name this step\"");
    io("fields", act.fields);
}

} // namespace deltascope::app
