#pragma once

#include "deltascope/app/view/operation_view.h"
#include "deltascope/base/bytes.h"

#include "reads_description.h"

namespace deltascope::app {

// Written alone: the command line shows it.

template <class Io> void describe(Io& io, const TensorDigestView& tensor)
{
    io.type("TensorDigest", "Digests of the bytes of a tensor.");
    io("name", tensor.name);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("xxh3_128", toHex(tensor.xxh3), "canonical: high half first");
    const std::string sha256 = tensor.sha256 ? toHex(*tensor.sha256) : std::string();
    io("sha256", nullIfEmpty(sha256), "null: not asked for");
}

template <class Io> void describe(Io& io, const DigestView& digest)
{
    io.type("Digest", "Digests of a state.");
    io("root", digest.root, "fast DSM1 root, the one that materialize prints");
    io("strong_root", digest.strongRoot);
    io("chosen", nullIfEmpty(digest.chosen), "which step `latest` has meant, where a higher number exists");
    io("tensors", digest.tensors);
    describeReads(io, digest.reads);
}

} // namespace deltascope::app
