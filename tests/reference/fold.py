"""torch.hash_tensor as slime v1 and prime-rl use it: exclusive or of the elements as 64-bit patterns."""

import numpy

from tensors import Broken, Tensor


def doubles(tensor: Tensor) -> numpy.ndarray:
    if tensor.dtype == "BF16":
        halves = numpy.frombuffer(tensor.data, "<u2").astype("<u4")
        return (halves << 16).view("<f4").astype("<f8")
    kinds = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
    if tensor.dtype not in kinds:
        raise Broken(f"no sum over {tensor.dtype}")
    with numpy.errstate(invalid="ignore"):
        return numpy.frombuffer(tensor.data, kinds[tensor.dtype]).astype("<f8")


def fold(tensor: Tensor) -> int:
    """Integers are extended with their sign, floats become doubles."""
    if tensor.dtype[0] in "IU":
        kind = {"I": "i", "U": "u"}[tensor.dtype[0]]
        patterns = numpy.frombuffer(tensor.data, f"<{kind}{tensor.item}").astype(numpy.int64).view(numpy.uint64)
    else:
        patterns = doubles(tensor).view(numpy.uint64)
    return int(numpy.bitwise_xor.reduce(patterns)) if len(patterns) else 0
