"""GGUF files that are larger than any Mac of the kind that a text names."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "llama-server -hf unsloth/Kimi-K2.6-GGUF:UD-Q4_K_XL -c 8192"
SMALL = "llama-server -hf unsloth/Kimi-K2.6-GGUF:UD-Q2_K_XL -c 8192"


def told(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if "read from the disk" in each.message]


@pytest.mark.parametrize(
    ("says", "size"),
    [
        ("For a quick local test on a Mac:", "512"),
        ("Lokaler Mac-Versuch, nur als Probe:", "512"),
        ("On my M2 Ultra:", "192"),
        ("Runs on a Mac Studio:", "512"),
        ("I have an M3 Ultra here:", "512"),
        ("Running it on the MacBook Pro:", "128"),
        ("Mac Studio with 512 GB:", "512"),
    ],
)
def test_weights_larger_than_any_of_its_kind(says: str, size: str) -> None:
    (finding,) = told(f"{says}\n\n```bash\n{SERVE}\n```\n")
    assert finding.severity is Severity.WARNING
    assert f"{size} GB" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        f"On my M3 Ultra:\n\n```bash\n{SMALL}\n```\n",
        f"Query it from your Mac:\n\n```bash\n{SERVE}\n```\n",
        f"Runs locally on Mac, Linux and Windows:\n\n```bash\n{SERVE}\n```\n",
        f"A server with 768 GB of RAM; my Mac runs the local editor:\n\n```bash\n{SERVE}\n```\n",
        f"Two Mac Studio M3 Ultra, tied together:\n\n```bash\n{SERVE} --rpc 10.0.0.2:50052\n```\n",
        f"Serve:\n\n```bash\n{SERVE}\n```\n",
        f"It runs on macOS too.\n\n```bash\n{SERVE}\n```\n",
    ],
)
def test_where_it_fits_or_the_mac_is_not_the_server(text: str) -> None:
    assert not told(text)
