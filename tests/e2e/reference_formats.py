"""Run in the engine's environment: what torch and compressed-tensors, which engines read checkpoints with, make of
stored numbers.

Reads {"fp8": [[code, …], …], "int4": {"packed": [[…]], "scale": [[…]]}}; writes the values of both.
"""

import json
import sys

import torch
from compressed_tensors.compressors.pack_quantized.helpers import unpack_from_int32


def main() -> None:
    job = json.load(sys.stdin)
    codes = torch.tensor(job["fp8"], dtype=torch.uint8)
    packed = torch.tensor(job["int4"]["packed"], dtype=torch.int32)
    scale = torch.tensor(job["int4"]["scale"], dtype=torch.float64)
    shape = torch.Size((packed.shape[0], packed.shape[1] * 8))
    unpacked = unpack_from_int32(packed, 4, shape).to(torch.float64)
    values = unpacked.reshape(shape[0], -1, 32) * scale[:, :, None]
    print(
        json.dumps({"fp8": codes.view(torch.float8_e4m3fn).double().tolist(), "int4": values.reshape(shape).tolist()})
    )


if __name__ == "__main__":
    main()
