#!/usr/bin/env python3
"""Reads every tensor of safetensors files with the package of that name, into memory: deserialize.py FILE...

Prints {"seconds", "tensors"}; the clock runs from the first file on, after Python and its imports are up.
"""

import json
import sys
import time

from safetensors import deserialize

began = time.perf_counter()
tensors = 0
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        tensors += len(deserialize(file.read()))
print(json.dumps({"seconds": time.perf_counter() - began, "tensors": tensors}))
