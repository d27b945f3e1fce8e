"""peak.py REPORT COMMAND…: runs a command and writes "status peak_kib own_kib" to REPORT.

A process inherits the peak resident set of the one that started it, and a test runner is larger than the program under
test. So this small process starts it; support.peak_of() runs it behind a shell, which is smaller still.
"""

import os
import resource
import sys

pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w", encoding="utf-8") as report:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss} {own}")
