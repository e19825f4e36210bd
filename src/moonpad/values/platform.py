"""What a device is programmed with: the word that engines, images and rules are chosen by."""

from __future__ import annotations

from enum import StrEnum


class Platform(StrEnum):
    CUDA = "cuda"
    ROCM = "rocm"
    ASCEND = "ascend"
    CPU = "cpu"
