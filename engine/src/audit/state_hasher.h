#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// Hashes a whole state in each form that a publisher's digest of it may have. Tensors come in byte order of names, the
/// bytes of each from front to back.
class StateHasher {
public:
    explicit StateHasher(const StateDigest& recorded);

    void beginTensor(const TensorInfo& tensor);
    void update(ByteSpan bytes);
    /// Ends the state. Whether one of the forms gives the recorded digest.
    bool matches();
    /// Of the first form; after matches().
    const std::string& actual() const noexcept { return m_actual; }

private:
    struct Candidate {
        StateDigestForm form;
        std::unique_ptr<StreamingDigest> digest;
    };
    std::string m_recorded;
    std::vector<Candidate> m_candidates;
    std::string m_actual;
};

} // namespace deltascope
