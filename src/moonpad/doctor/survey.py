"""One host's answer to `question_of`, with what is not known as `Unknown`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from moonpad.doctor.question import HEALTH
from moonpad.facts import amd, ascend, nvidia
from moonpad.facts.device import DeviceFacts
from moonpad.facts.probe import Unknown, parsed
from moonpad.values.records import replace


@dataclass(frozen=True, slots=True)
class Survey:
    """`answer` is what host_survey.py gives. `clock_off_s`: how far the host's clock is ahead of this one's, at least;
    None for this host. `took_s`: the whole look."""

    node: str
    answer: Mapping[str, Any]
    clock_off_s: float | None = None
    took_s: float = 0.0

    @property
    def host(self) -> str:
        return str(self.answer["host"])

    def text(self, path: str) -> str | Unknown:
        content = self.answer["files"].get(path)
        if content is None:
            return Unknown(f"there is no {path}")
        return content if isinstance(content, str) else Unknown(f"{path}: {content['error']}")

    def texts(self, pattern: str) -> Iterator[tuple[str, str]]:
        """Paths that match, each with its text, without blanks around it; those that cannot be read are left out."""
        for path, content in self.answer["files"].items():
            if isinstance(content, str) and fnmatchcase(path, pattern):
                yield path, content.strip()

    def output(self, name: str) -> str | Unknown:
        """What a command printed, whatever its exit code says, where it printed anything."""
        result = self.answer["commands"].get(name)
        if result is None:
            return Unknown("not asked")
        if "error" in result:
            return Unknown(str(result["error"]))
        if result["returncode"] and not result["stdout"].strip():
            words = (result["stderr"].strip() or "no output").splitlines()
            return Unknown(f"exit code {result['returncode']}: {words[-1][:300]}")
        return str(result["stdout"])

    def has_tool(self, name: str) -> bool:
        return not self.answer["commands"].get(name, {}).get("missing", False)

    def hangs(self, name: str) -> bool:
        return bool(self.answer["commands"].get(name, {}).get("late", False))

    def folder(self, path: str) -> Mapping[str, Any] | Unknown:
        folder = self.answer["folders"].get(path)
        if folder is None or "error" in folder:
            return Unknown(folder["error"] if folder else "not asked")
        return dict(folder)

    def variable(self, name: str) -> str:
        """ "" where it is not set."""
        return str(self.answer["environment"].get(name, ""))

    def devices(self) -> DeviceFacts | Unknown:
        """As facts/devices.py reads them on this host: the first vendor whose tool is there."""
        if self.has_tool("nvidia"):
            return self._nvidia()
        if self.has_tool("amd"):
            facts = parsed(self.output("amd"), amd.parse_static)
            if isinstance(facts, Unknown):
                return facts
            return amd.join(facts, parsed(self.output("amd metric"), amd.parse_metric))
        if self.has_tool("rocm"):
            return parsed(self.output("rocm"), amd.parse_rocm_smi)
        if self.has_tool("ascend"):
            return parsed(self.output("ascend"), ascend.parse_npu_smi)
        return DeviceFacts()

    def _nvidia(self) -> DeviceFacts | Unknown:
        facts = parsed(self.output("nvidia"), nvidia.parse_nvidia_smi)
        if isinstance(facts, Unknown):  # a driver that does not know all the fields
            basic = parsed(self.output("nvidia basic"), lambda text: nvidia.parse_nvidia_smi(text, nvidia.BASIC))
            return facts if isinstance(basic, Unknown) else basic
        return facts

    def nvidia_rows(self, name: str = "nvidia health", fields: tuple[str, ...] = HEALTH) -> list[dict[str, str]]:
        """The rows of a query, by field; [] where it failed."""
        text = self.output(name)
        if isinstance(text, Unknown):
            return []
        rows = [[value.strip() for value in line.split(",")] for line in text.splitlines()]
        return [dict(zip(fields, row, strict=True)) for row in rows if len(row) == len(fields) and row[0].isdigit()]

    def with_answer(self, **changes: Any) -> Survey:
        return replace(self, answer={**self.answer, **changes})
