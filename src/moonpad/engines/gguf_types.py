"""Types of GGUF tensors that one fork alone can read, as files and folders are called after them.

ik_llama.cpp numbers its own types from 133 on (IQ2_K to IQ6_K, IQ2_KS to IQ5_KS, IQ4_KSS, IQ2_KL, IQ1_KT to IQ4_KT) and
stores others with their rows interleaved (Q4_K_R4, IQ4_XS_R8, Q8_0_R8): https://github.com/ikawrakow/ik_llama.cpp,
ggml/include/ggml.h. Those of llama.cpp (IQ2_XXS, IQ4_NL, Q4_K_M …) are read by all.
"""

from __future__ import annotations

import re
from typing import Final

OF_FORK: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:IQ[1-6]_K(?:S|SS|L|T)?(?:_R[48])?|I?Q[1-8]_(?:0|1|K|NL|XXS|XS|S|M)(?:_[SML])?_R(?:4|8|16))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
FORK: Final = "ik_llama.cpp"
FILES: Final = ("--gguf_path", "--gguf-path", "--model", "--hf-repo", "--hf-file", "--kt-weight-path")
"""Options that name files, folders or repositories of such weights."""
