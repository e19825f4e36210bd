"""What the published images of the engines bring, by name and release, and what files do where they bring it not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

WITHOUT_RAY: Final = re.compile(r"(?:[\w.-]+/)*vllm/vllm-openai(?::[\w.-]+)?(?:@.*)?")
WITHOUT_RAY_SINCE: Final = "0.18.0"
"""The first release whose official images do not bring Ray."""
HEARING_MODELS: Final = re.compile(r"(?:^|/)(?:whisper-|ultravox-|qwen2-audio-)[^/]*$", re.IGNORECASE)
"""Models whose requests are sound."""
WITHOUT_AUDIO: Final = re.compile(r"(?<![\w./-])vllm/vllm-openai:v?[0-9][\w.]*(?![\w./-])")
WITHOUT_AUDIO_IN: Final = ("0.7.3", "0.9.2")
"""The first and the last release whose official images were seen to lack what reads sound."""
ADDS_AUDIO: Final = re.compile(r"\[[\w,]*audio[\w,]*\]|librosa|soundfile|^[ \t]*FROM[ \t]", re.IGNORECASE)
STARTS_RAY: Final = re.compile(r"multi-node-serving\.sh leader|\bray start --head")
ADDS_RAY: Final = re.compile(r"install[^#]*[\s'\"=]ray\b|PYPI_PACKAGES_INSTALL=ray")
OUTSIDE_PATH: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "llama-server": (re.compile(r"ghcr\.io/gg(?:ml-org|erganov)/llama\.cpp:(?:server|full)[\w.-]*(?:@.*)?"), "/app"),
    "vllm": (re.compile(r"(?:docker\.io/)?lmcache/vllm-openai:(?:nightly-)?2025-0[1-8]-\d\d[\w.-]*"), "/opt/venv/bin"),
}
"""Programs that images have in a folder that is not in their PATH: the images and the folder."""
WITHOUT_PROGRAM: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "sglang": (re.compile(r"(?:docker\.io/)?lmsysorg/sglang(?:-rocm)?(?:[:@].*)?"), "python3 -m sglang.launch_server"),
    "vllm-ascend": (re.compile(r"(?:[\w.-]+/)?quay\.io/ascend/vllm-ascend(?:[:@].*)?"), "vllm serve"),
}
"""Images that start no server by themselves, by engine, and what starts it in them."""
STARTS_SERVER: Final = re.compile(r"(?:docker\.io/)?vllm/vllm-openai[:@].*")
"""Images whose every tag has the server as its entrypoint: docker/Dockerfile, the last stages."""
MODEL_OF_NO_ARGUMENTS: Final = re.compile(r"(?:(?:docker\.io/)?vllm/)?vllm-openai(?:-rocm|-cpu)?(?:[:@].*)?")
"""Images of the same makers, also where a person leaves their name out; their server has a model of its own."""
TAKES_MODEL_FIRST: Final = re.compile(r"(?:[\w.-]+(?::\d+)?/)*vllm-openai(?:-rocm|-cpu)?(?:[:@].*)?")
"""Images of the same makers, also out of other registries: their server takes the model without an option."""
PULLED_FOR_CUDA: Final = re.compile(
    r"(?<![\w./-])(?:docker\.io/)?(?:vllm/vllm-openai|lmsysorg/sglang)[:@](?!\S*(?:rocm|mi[23]\d|cpu|xpu|npu|cann))",
    re.IGNORECASE,
)
"""Images that are made for NVIDIA's devices where their tag names no other platform: `latest` too."""
ASKS_USER_NAME: Final = re.compile(r"(?:docker\.io/)?vllm/vllm-openai(?:[:@].*)?")
"""Images whose torch asks for the name of its user when it is imported."""
ASKS_USER_NAME_IN: Final = ("0.22.0", "0.27.0")
"""From the first of these releases to before the second: torch 2.13 no longer needs one."""
NAMED_USERS: Final = frozenset({"0", "2000", "65534"})
"""Of these images."""
WITHOUT_HEALTHCHECK: Final = re.compile(
    r"(?:docker\.io/)?(?:vllm/vllm-openai(?:-rocm|-cpu)?|lmsysorg/sglang(?:-rocm)?|quay\.io/ascend/vllm-ascend)(?:[:@].*)?"
)
"""Images whose Dockerfiles have no HEALTHCHECK: what waits for their health waits for nothing."""
ENGINES_OF_IMAGES: Final[Mapping[str, str]] = {
    "vllm": r"\bvllm\b",
    "sglang": r"\bsglang\b",
    "tensorrt-llm": r"\btensorrt[-_]llm\b",
}
"""Engines with images of their own, and what a line that installs them has in it."""
TITLES: Final[Mapping[str, str]] = {"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}
_TAGGED: Final = r"(?:[:@].*)?"
OF_ENGINE: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(rf"(?:docker\.io/)?lmsysorg/sglang{_TAGGED}"), "sglang"),
    (re.compile(rf"(?:docker\.io/)?vllm/vllm-openai{_TAGGED}"), "vllm"),
    (re.compile(rf"nvcr\.io/nvidia/tensorrt-llm/release{_TAGGED}"), "tensorrt-llm"),
    (re.compile(rf"nvcr\.io/nvidia/ai-dynamo/sglang-runtime{_TAGGED}"), "sglang"),
    (re.compile(rf"nvcr\.io/nvidia/ai-dynamo/vllm-runtime{_TAGGED}"), "vllm"),
    (re.compile(rf"nvcr\.io/nvidia/ai-dynamo/tensorrtllm-runtime{_TAGGED}"), "tensorrt-llm"),
)
"""Published images with one engine in them."""
OWNED_NAMES: Final[Mapping[str, str]] = {
    **{f"vllm-openai{kind}": f"vllm/vllm-openai{kind}" for kind in ("", "-cpu", "-rocm")},
    "vllm-ascend": "quay.io/ascend/vllm-ascend",
}
"""Names that are published by their owners, and never without."""
ALSO_BROUGHT: Final = ("vllm", "sglang")
ALSO_BROUGHT_BEFORE: Final = "0.4.6"
"""vLLM was a requirement of SGLang's before this release, and the images for ROCm were made on those of vLLM."""
INDEXES_OF_FEW: Final = re.compile(
    r"https://(?P<host>flashinfer\.ai/whl|docs\.(?:sglang|flashinfer)\.ai/whl|wheels\.vllm\.ai|download\.pytorch\.org/whl)"
    r"[\w./{}$-]*"
)
"""Indexes that hold what their makers build, and nothing of what others publish."""
NOT_ON_THEM: Final = frozenset({
    *("transformers", "accelerate", "huggingface-hub", "datasets", "openai", "fastapi", "uvicorn", "ray", "modelscope"),
    *("peft", "sglang", "hf-transfer", "gradio", "langchain", "pydantic"),
})  # fmt: skip
"""Packages of others, which stand on PyPI."""
CHARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "vllm-project.github.io/production-stack": ("vllm-stack",),
    "llm-d-incubation.github.io/llm-d-modelservice": ("llm-d-modelservice",),
    "llm-d-incubation.github.io/llm-d-infra": ("llm-d-infra",),
}
"""Repositories of Helm → the charts that they have (index.yaml of each)."""
CHART_OF_OTHERS: Final[Mapping[str, str]] = {"vllm/production-stack": "vllm/vllm-stack"}
"""Names of charts that are those of their repositories."""
OF_NO_ENGINE: Final = re.compile(r"inference-sim|sidecar|router|gateway|proxy|scheduler", re.IGNORECASE)
"""Images whose programs have some of an engine's options and are none: https://github.com/llm-d/llm-d-inference-sim."""
OF_UTILITIES: Final = re.compile(
    r"^(?:[\w.-]+(?::\d+)?/)*(?:busybox|alpine|toybox|curl|bash|kubectl|git|aws-cli|rclone|socat|netshoot|pause|fluent-bit"
    r"|prometheus|grafana|node-exporter|redis|etcd|nginx|haproxy|traefik|envoy)(?:@|:(?!.*(?:vllm|sglang))|$)"
)
"""Images of usual programs, which stand beside a server and hold no engine."""
OF_MAKERS: Final = re.compile(
    r"(?:^|/)(?:vllm/vllm-openai(?:-rocm)?|lmsysorg/sglang(?:-rocm)?|ascend/vllm-ascend):(?P<tag>[a-z][\w.-]{3,60})"
    r"(?:@sha256:[0-9a-f]{1,64})?$"
)
"""Images of the makers whose tag begins with a word."""
OF_A_COMMIT: Final = re.compile(
    r":(?=[a-z])[\w.-]{0,100}?(?:[-_]v?(?P<version>0\.\d{1,2}\.\d{1,2}))?-(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}"
    r"(?:@sha256:[0-9a-f]{1,64})?$"
)
"""A tag that begins with a word and ends in the short name of a commit, `:vllm-x86_64-cu13-0.25.1-7a33ba9`: a build of
a branch, with the release that the branch was made from where it is named."""
MAKERS_IN_TEXT: Final = re.compile(
    r"(?<![\w/.-])(?:docker\.io/)?(?:(?:vllm/vllm-openai|lmsysorg/sglang)(?:-rocm)?|(?:quay\.io/)?ascend/vllm-ascend)"
    r"(?::[a-zA-Z0-9][\w.-]{0,60})?"
)
"""Images of the makers in a line of prose, with a tag or without."""
ONE_PROCESS: Final = frozenset({"llama-server", "llama-cli"})
"""Programs that compute with all devices in one process: ranks that share /dev/shm are none of theirs."""
PROCESSOR_ALONE: Final = re.compile(
    r"ghcr\.io/gg(?:ml-org|erganov)/llama\.cpp:(?P<kind>server|full|light)(?:-b\d{3,6})?(?:@\S*)?"
)
"""Images whose build has no backend for devices: its options for them are taken and do nothing."""
CHOOSES_PROGRAM: Final = re.compile(r"ghcr\.io/gg(?:ml-org|erganov)/llama\.cpp:full(?:-[\w.-]+)?(?:@\S*)?")
"""Images whose entry point is a script that takes the program from its first argument."""
PROGRAMS_OF_SCRIPT: Final = frozenset({
    *("--run", "-r", "--run-legacy", "-l", "--server", "-s", "--convert", "-c", "--quantize", "-q"),
    *("--bench", "-b", "--perplexity", "-p", "--all-in-one", "-a"),
})  # fmt: skip
"""What that script knows as a first argument: https://github.com/ggml-org/llama.cpp/blob/master/.devops/tools.sh."""
LEFT_PLACES: Final[Mapping[str, tuple[str, str]]] = {
    "ghcr.io/ggerganov/llama.cpp": ("ghcr.io/ggml-org/llama.cpp", "February 2025"),
}
"""Where images were published before their project moved: where they are now, and since when."""
LAYERS_ON_DEVICES: Final = ("--n-gpu-layers", "--gpu-layers", "-ngl")

FILE: Final = r"[-_+](?=v?[0-9][\w.+-]{1,60}\.(?:sif|simg|sqsh|squashfs)(?![\w.]))"
"""Between the name and the tag of an image that was made into one file: `vllm-openai_v0.11.2.sif` of Apptainer,
`vllm+vllm-openai+v0.11.2.sqsh` of enroot."""
