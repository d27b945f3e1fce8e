#include "deltascope/base/code.h"

namespace deltascope {

namespace {

struct Meaning {
    std::string_view word;
    std::string_view remedy;
};

// The words are on disk and in scripts: never change one.
constexpr Meaning meaningOf(Code code) noexcept
{
    switch (code) {
    case Code::Usage:
        return { "DS-USAGE", "Correct the command line or the request; --help shows what each command takes." };
    case Code::NotFound:
        return { "DS-NOT-FOUND", "Check the address and the version number; ls shows the objects, log the versions." };
    case Code::Layout:
        return { "DS-LAYOUT",
                 "Point at the folder that holds the checkpoints and deltas themselves; ls shows what is there." };
    case Code::Auth:
        return { "DS-AUTH",
                 "Check owner and mode of the file or the credentials of the store; the account that runs this program "
                 "needs access." };
    case Code::Io:
        return { "DS-IO", "Check the disk or the mount (dmesg, df) and run the command again; doctor tests a store." };
    case Code::NoSpace:
        return { "DS-NOSPACE",
                 "Free some space or raise the quota or file size limit, or choose a destination on another disk." };
    case Code::Exists:
        return { "DS-EXISTS", "Choose another destination, or move away what is there; nothing was overwritten." };
    case Code::Truncated:
        return { "DS-TRUNCATED", "Fetch the object again from where it was published; it is not whole here." };
    case Code::Malformed:
        return { "DS-MALFORMED",
                 "Fetch the object again from where it was published, or have its writer save it again; it is not what "
                 "its name says." };
    case Code::Hostile:
        return {
            "DS-HOSTILE",
            "Do not load this object anywhere; fetch it again from a source you trust, and check it with verify."
        };
    case Code::Digest:
        return { "DS-DIGEST",
                 "Fetch the object again, for its bytes were damaged or replaced; where tensors are compared, verify "
                 "names the first that fails and says how many do." };
    case Code::ChainGap:
        return {
            "DS-CHAIN-GAP",
            "Restore what is missing if it exists elsewhere, or materialize a version that does not need it; log shows "
            "what each version builds on."
        };
    case Code::BaseMissing:
        return { "DS-BASE-MISSING", "Give the checkpoint that the run started from with --base DIR." };
    case Code::BaseMismatch:
        return { "DS-BASE-MISMATCH",
                 "Give the exact checkpoint that the run started from with --base DIR; verify names the first version "
                 "that does not fit." };
    case Code::Noop:
        return { "DS-NOOP",
                 "Suspect a wrong base, a lost version or a delta applied twice; run verify over the whole chain." };
    case Code::AnchorDrift:
        return {
            "DS-ANCHOR-DRIFT",
            "Run diff between the anchor and the version before it to see which tensors moved; a delta may be missing."
        };
    case Code::Missed:
        return {
            "DS-MISSED",
            "Materialize the anchor itself where the trainer's own weights matter; replicas that follow the deltas "
            "have the states without these changes."
        };
    case Code::PartialAnchor:
        return {
            "DS-PARTIAL-ANCHOR",
            "Nothing to do if the trainer froze or left out the other tensors; show lists what the version holds."
        };
    case Code::DuplicateName:
        return { "DS-DUPLICATE-NAME",
                 "Look at the objects of the version with show and remove leftovers of an earlier upload." };
    case Code::Unfinished:
        return {
            "DS-UNFINISHED",
            "Wait if it is still being written, else copy what is missing from where it was saved, or use an earlier "
            "version; log shows the newest complete one."
        };
    case Code::Publishing:
        return { "DS-PUBLISHING",
                 "Wait until the trainer has finished writing this version; watch tells when it is complete." };
    case Code::Unproven:
        return {
            "DS-UNPROVEN",
            "Check with the trainer's log that no version was lost; the next complete anchor needs no such trust."
        };
    case Code::Fork:
        return { "DS-FORK",
                 "Give every run a prefix of its own; log shows where the two incarnations of the trainer part." };
    case Code::Rewritten:
        return { "DS-REWRITTEN",
                 "Find out who replaced the object; verify --accept-rewritten trusts its new bytes from then on." };
    case Code::Mirror:
        return { "DS-MIRROR",
                 "Copy what the source lacks back into it; until then, what is rebuilt needs the mirror." };
    case Code::Lossy:
        return { "DS-LOSSY",
                 "Use the next full version where bits matter; nothing was lost, but nothing can be proven either." };
    case Code::Claim:
        return { "DS-CLAIM", "Do not rely on the header of this object; verify compares its claims with its content." };
    case Code::FormsDiffer:
        return { "DS-FORMS-DIFFER",
                 "Compare both with what the trainer has of this step; diff shows the tensors of its neighbors." };
    case Code::MissingTensor:
        return { "DS-MISSING-TENSOR",
                 "Fetch the version again from where it was published; what is rebuilt from it lacks tensors or holds "
                 "older ones." };
    case Code::SuspectValues:
        return { "DS-SUSPECT-VALUES",
                 "Look at the tensor with stats and at the trainer's log of this step; a version before it is free of "
                 "what is reported." };
    case Code::Stray:
        return { "DS-STRAY", "Remove the object if nothing else needs it; no version here does." };
    case Code::Unsupported:
        return { "DS-UNSUPPORTED",
                 "Use a newer version of this program if one can do this; where a store or server cannot, copy the "
                 "objects to a local folder and open that." };
    case Code::Unlisted:
        return { "DS-UNLISTED",
                 "Nothing to do if readers take whole files, as most do; else have the index written again." };
    case Code::Infinite:
        return { "DS-INFINITE",
                 "Nothing to do for masks and the ranges of observers; else look at the tensor with stats." };
    case Code::TwoModels:
        return { "DS-TWO-MODELS",
                 "Remove the files of the model that is not meant, so that every reader takes the same one." };
    case Code::ListSuspect:
        return { "DS-LIST-SUSPECT",
                 "Repeat the listing before you trust it; if objects are really gone, log shows what has been lost." };
    case Code::Vanished:
        return {
            "DS-VANISHED",
            "Put it back if there is a copy of it; if it was removed on purpose, verify --accept-rewritten accepts "
            "that."
        };
    case Code::Reverted:
        return {
            "DS-REVERTED",
            "Find out whether the trainer was rolled back to that step; if not, an old file was saved or copied in "
            "its place."
        };
    case Code::Repeated:
        return { "DS-REPEATED",
                 "Nothing to do if these tensors are frozen; else the trainer did not save them again." };
    case Code::Retired:
        return { "DS-RETIRED",
                 "Nothing to do if old versions are removed by habit; verify --accept-rewritten ends this notice." };
    case Code::Catalog:
        return { "DS-CATALOG",
                 "Move the catalog file away; the next command builds a new one from the objects themselves." };
    case Code::Transient:
        return { "DS-NETWORK", "Try again in a moment; doctor tests whether the store answers." };
    case Code::Refetched:
        return { "DS-REFETCHED", "Nothing to do for these bytes; look at the network if it happens often." };
    case Code::Canceled:
        return { "DS-CANCELED", "Start the command again; it goes on with what is already there." };
    case Code::Internal:
        break;
    }
    return { "DS-INTERNAL", "Report this as a defect of Deltascope, with the command and the output of doctor." };
}

} // namespace

std::string_view word(Code code) noexcept { return meaningOf(code).word; }

std::string_view remedy(Code code) noexcept { return meaningOf(code).remedy; }

bool isNotice(Code code) noexcept
{
    switch (code) {
    case Code::Stray:
    case Code::Unlisted:
    case Code::Infinite:
    case Code::Missed:
    case Code::PartialAnchor:
    case Code::Publishing:
    case Code::Noop:
    case Code::Fork:
    case Code::Mirror:
    case Code::Retired:
    case Code::Repeated:
    case Code::Refetched:
        return true;
    default:
        return false;
    }
}

bool forbidsTrust(Code code) noexcept
{
    return code == Code::MissingTensor || code == Code::Claim || code == Code::DuplicateName
        || code == Code::FormsDiffer || code == Code::Reverted;
}

std::optional<Code> parseCode(std::string_view text) noexcept
{
    for (unsigned i = 0; i <= static_cast<unsigned>(Code::Internal); ++i) {
        if (word(static_cast<Code>(i)) == text)
            return static_cast<Code>(i);
    }
    return std::nullopt;
}

} // namespace deltascope
