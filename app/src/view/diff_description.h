#pragma once

#include "deltascope/app/view/operation_view.h"

#include "reads_description.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, TensorDiffView>& tensor)
{
    io.type("TensorDiff", "How one tensor differs between A and B.");
    io("name", tensor.name);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("elements", tensor.elements);
    io("elements_different", tensor.different);
    io("elements_touched", tensor.touched);
    io("sign_flips", tensor.signFlips, "null: no distances are measured of this dtype");
    io("nan_involved", tensor.nanInvolved, "differing elements where a side is NaN; null as above");
    if (io.has("not_finite_a")) { // a server of an earlier version does not count them
        io("not_finite_a", tensor.notFiniteA, "NaN or infinite elements");
        io("not_finite_b", tensor.notFiniteB);
    }
    io("max_abs", tensor.maxAbs, "over finite values; null: none differ, none are measured, or F64 has no such number");
    io("max_ulp", tensor.maxUlp, "over what is not NaN; null: none differs, of integers, and where none are measured");
    io("relative_norm", tensor.relativeNorm, "L2 of B − A over that of A; null: no element that differs is finite");
}

template <class Io> void describe(Io& io, Of<Io, ReshapedTensorView>& tensor)
{
    io.type("ReshapedTensor", "A tensor whose dtype or shape differs between A and B.");
    io("name", tensor.name);
    io("dtype_a", tensor.dtypeA);
    io("dtype_b", tensor.dtypeB);
    io("shape_a", tensor.shapeA);
    io("shape_b", tensor.shapeB);
}

template <class Io> void describe(Io& io, Of<Io, SettingDiffView>& setting)
{
    io.type("SettingDiff", "A setting of two adapters that changes what they do.");
    io("name", setting.name);
    io("a", jsonText(setting.a), "null: it is not given");
    io("b", jsonText(setting.b));
}

inline constexpr WordSet FormKinds { "", { "names", "wrappers", "adapters", "dtypes", "fused" } };

template <class Io> void describe(Io& io, Of<Io, FormDifferenceView>& form)
{
    io.type("FormDifference", "How two states differ as a whole; their values are compared all the same.");
    io("kind", word(form.kind, FormKinds));
    io("a", form.a);
    io("b", form.b);
    io("tensors", form.tensors, "that it concerns");
    io("text", form.text);
}

template <class Io> void describe(Io& io, Of<Io, DiffView>& diff)
{
    io.type("Diff", "How two checkpoints differ.");
    io("equal", nullAs(true, diff.equal, diff.equal && (diff.tensorsLeftOut > 0 || !diff.adapters.empty())),
       "of the whole checkpoints; null: what was compared is equal, and not all was");
    if (io.has("tensor_globs")) { // a server of an earlier version compares all
        io("tensor_globs", diff.globs, "names that were to be compared; empty: all");
        io("tensors_left_out", diff.tensorsLeftOut);
    }
    io("tensors_total", diff.tensorsTotal, "in both and comparable");
    io.computed(
        "nothing_compared", [&] { return textOrNull(nothingComparedText(diff)); }, "why; null: something was");
    io("tensors_different", diff.tensorsDifferent);
    io("elements_total", diff.elementsTotal);
    io("elements_different", diff.elementsDifferent);
    io("elements_touched", diff.elementsTouched);
    if (io.has("not_finite_a")) { // likewise
        io("not_finite_a", diff.notFiniteA, "NaN or infinite elements of all tensors that were compared");
        io("not_finite_b", diff.notFiniteB);
    }
    io("relative_norm", diff.relativeNorm, "over all tensors that were compared");
    io("bytes_compared", diff.bytesCompared);
    io("only_in_a", diff.onlyInA);
    io("only_in_b", diff.onlyInB);
    if (io.has("settings")) // a server of an earlier version compares tensors alone
        io("settings", diff.settings, "that differ between the configs of two adapters");
    if (io.has("adapters")) // likewise
        io("adapters", nullIfEmpty(diff.adapters),
           "what is to be known where a side is an adapter: that its settings are not known, or that the other one is "
           "none");
    if (io.has("form_differences")) // likewise
        io("form_differences", diff.forms, "what was taken out of account before tensors were compared");
    io("tensors", diff.tensors, "different or touched ones");
    io("changed_dtype_or_shape", diff.reshaped, "not compared");
    describeReads(io, diff.reads);
    io("seconds", diff.seconds);
}

} // namespace deltascope::app
