"""Headings of guides in other languages below which errors are listed that may come: none of them came."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TEXT = """# --attention-backend

## {}

- `ValueError: --decode-attention-backend tokenspeed_mla is not supported: it is for prefill alone.`
- `ValueError: Unsupported decode backend: torch_native.`

## python

```bash
python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp 8 --decode-attention-backend triton
```
"""


def _stops(heading: str) -> bool:
    return any("the engine stopped" in each.message for one in ask(TEXT.format(heading)) for each in one.findings)


@pytest.mark.parametrize(
    "heading",
    [
        "Типовые проблемы и диагностика",
        "Частые ошибки",
        "Häufige Fehler",
        "Erreurs courantes",
        "Errores comunes",
        "Problemas frequentes",
        "よくあるエラー",
        "자주 발생하는 오류",
        "Typical errors",
    ],
)
def test_typical_errors_did_not_come(heading: str) -> None:
    assert not _stops(heading)


@pytest.mark.parametrize("heading", ["Что случилось", "Was passiert ist", "What happened"])
def test_what_happened_did(heading: str) -> None:
    assert _stops(heading)
