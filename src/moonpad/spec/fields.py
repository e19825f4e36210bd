"""The kinds of values that the tables of `moonpad.toml` share, with what completes a message about each."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from moonpad.spec.safe_text import parse_duration, refuse_option, shorten
from moonpad.values.deployment import NAME
from moonpad.values.versions import CHANNELS, parse

_COUNT: Final = Field(ge=1, le=2**31 - 1, description="a whole number of 1 or more")
_ZERO_OR_MORE: Final = Field(ge=0, le=2**31 - 1, description="a whole number of 0 or more")
_SWITCH: Final = Field(description="true or false")

Count = Annotated[int, _COUNT]
BytesOrDefault = Annotated[int | None, Field(ge=1, le=2**53, description="a whole number of 1 or more")]
CountOrDefault = Annotated[int | None, _COUNT]
ZeroOrMore = Annotated[int, _ZERO_OR_MORE]
ZeroOrMoreOrDefault = Annotated[int | None, _ZERO_OR_MORE]
Switch = Annotated[bool, _SWITCH]
SwitchOrDefault = Annotated[bool | None, _SWITCH]
SizeOrDefault = Annotated[float | None, Field(gt=0, le=2**31 - 1, description="a number above 0")]
ShareOrDefault = Annotated[float | None, Field(ge=0, le=1, description="a number from 0 to 1")]
Probes = Annotated[
    tuple[Annotated[str, Field(max_length=100)], ...],
    Field(strict=False, description='a list of probes, like ["tool_call", "needle"]'),
]
PortOrDefault = Annotated[int | None, Field(ge=1, le=65535, description="a whole number from 1 to 65535")]
Text = Annotated[str, AfterValidator(refuse_option), Field(description="a text")]


def _version(text: str) -> str:
    if text not in CHANNELS and (parse(text) is None or not text[0].isdigit()):
        raise ValueError(f'must be a version, like "0.11.0", found "{shorten(text)}"')
    return text


Release = Annotated[str, AfterValidator(_version), Field(description='a version as a text, like "0.11.0"')]


def _like(pattern: str, wanted: str, *, secret: bool = False) -> AfterValidator:
    """Refuses a text that does not match; with `secret` it may be one, and the message does not repeat it."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII):
            raise ValueError(f"must be {wanted}" + ("" if secret else f', found "{shorten(text)}"'))
        return text

    return AfterValidator(check)


# A tag moves; what was checked would not be what runs (fault 65).
_DIGEST: Final = _like(r"[\w][\w./:-]*@sha256:[0-9a-f]{64}", "pinned by its digest, name@sha256: and 64 hex digits")
LABEL: Final = _like(NAME.pattern, '1 to 63 of a-z, 0-9 and inner "-"')
_HOST: Final = _like(r"[A-Za-z0-9_][A-Za-z0-9_.@:,%\[\]-]{0,252}", 'a host, like "root@10.0.0.2"')
_RESOURCE: Final = _like(r"[a-z0-9.-]{1,253}/[A-Za-z0-9][A-Za-z0-9._-]{0,62}", 'a resource like "rdma/hca"')
_VARIABLE: Final = _like(
    r"[A-Za-z_][A-Za-z0-9_]*",
    "the name of an environment variable, like MOONPAD_KEY; never the key itself",
    secret=True,
)

PinnedImage = Annotated[str, _DIGEST, Field(description="a container image, name@sha256:…")]
Host = Annotated[Text, _HOST]
Claim = Annotated[str, LABEL]
Variable = Annotated[str, _VARIABLE]
Resource = Annotated[str, _RESOURCE]
NetworkDevices = Annotated[str, _like(r"[A-Za-z0-9_][A-Za-z0-9_.:,-]{0,499}", 'network devices, like "mlx5_0,mlx5_1"')]
EncoderMode = Annotated[str, _like("data|weights", '"data" or "weights"')]
Executor = Annotated[str, _like("ray", '"ray" or absent')]


def _seconds(value: object) -> float:
    if not isinstance(value, str):
        raise ValueError("must be a duration with its unit, like 10s, 500ms or 2m")
    try:
        return parse_duration(value)
    except ValueError:
        raise ValueError(f'must be written like 10s, 500ms or 2m, found "{shorten(value)}"') from None


Duration = Annotated[float, BeforeValidator(_seconds)]


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
