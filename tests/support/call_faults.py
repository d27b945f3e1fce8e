"""What a sweep does to single system calls of a program that writes: errors of disks, a full disk, and the end of the process.

`FAULTS` are pairs of a call and what becomes of it: the name of an error, or KILLED."""

# What changes a disk, what says where it is, and what reads the states.
WRITES = (
    "pwrite64",
    "write",
    "fsync",
    "fdatasync",
    "linkat",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "ftruncate",
    "fallocate",
)
READS = ("pread64", "getdents64", "newfstatat", "flock")
KILLED = "SIGKILL"
FAULTS = [(call, "EIO") for call in WRITES + READS]
FAULTS += [(call, "ENOSPC") for call in ("pwrite64", "linkat", "mkdirat", "fsync")]
FAULTS += [(call, KILLED) for call in WRITES]
