"""avx512.txt was recorded where the tests were written; the others are what these processors print, shortened."""

from pathlib import Path

import pytest

from moonpad.facts.probe import Unknown
from moonpad.facts.processor import Processor, parse_cpuinfo

CPUINFO = Path(__file__).parent / "cpuinfo"


def parsed(name: str) -> Processor:
    return parse_cpuinfo((CPUINFO / f"{name}.txt").read_text())


@pytest.mark.parametrize(
    ("name", "model", "threads", "physical_cores", "has", "lacks"),
    [
        ("avx512", "AMD EPYC", 2, 2, {"avx512f", "avx512_bf16", "avx2"}, {"amx_tile"}),
        ("avx2", "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", 8, 4, {"avx2"}, {"avx512f"}),
        ("neither", "Common KVM processor", 2, 2, {"sse2"}, {"avx", "avx2", "avx512f"}),
        (
            "aarch64",
            "0x41",
            4,
            Unknown("/proc/cpuinfo does not show which threads share a core"),
            {"asimd", "asimddp"},
            {"avx2"},
        ),
    ],
)
def test_recorded(name: str, model: str, threads: int, physical_cores: object, has: set[str], lacks: set[str]) -> None:
    processor = parsed(name)
    assert (processor.model, processor.threads, processor.physical_cores) == (model, threads, physical_cores)
    assert has <= processor.flags
    assert not lacks & processor.flags


def test_only_what_every_thread_has_counts() -> None:
    text = "processor : 0\nflags : avx2 fma\n\nprocessor : 1\nflags : fma\n"
    assert parse_cpuinfo(text).flags == {"fma"}


def test_no_processor_is_an_error() -> None:
    with pytest.raises(ValueError, match="names no processor"):
        parse_cpuinfo("vendor_id : none\n")
