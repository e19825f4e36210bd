"""Keys of JSON options and of options with dots, by release; words that no option takes."""

from __future__ import annotations

import pytest

from moonpad.catalog.options import newest
from moonpad.catalog.options.config_keys import config_key, keys_of
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one, message

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8"
RAGGED = "--attention-config.use_trtllm_ragged_deepseek_prefill"
CONFIG = "--compilation-config"


@pytest.mark.parametrize(
    ("words", "version", "code", "mended"),
    [
        # vllm/config/attention.py of PyPI: 0.21.0 has the key, 0.22.0 has mla_prefill_backend in its place.
        (f"{RAGGED}=True", "0.21.0", None, ""),
        (f"{RAGGED}=True", "0.22.0", Code.REMOVED_FLAG, ""),
        (f"{RAGGED} True", "0.32.0", Code.REMOVED_FLAG, ""),
        (f"{RAGGED.replace('_', '-')}=True", "0.32.0", Code.REMOVED_FLAG, ""),
        ('-ac \'{"use_trtllm_ragged_deepseek_prefill":true,"backend":"FLASHMLA"}\'', "0.32.0", Code.REMOVED_FLAG,
         '-ac {"backend":"FLASHMLA"}'),
        (f'{CONFIG} \'{{"pass_config":{{"fuse_allreduce_rms":true}}}}\'', "0.32.0", None, ""),
        (f'{CONFIG}=\'{{"cudagraph_mode":"NONE","pass_config":{{"no_such_pass":1}}}}\'', "0.32.0", Code.UNKNOWN_FLAG,
         f'{CONFIG}={{"cudagraph_mode":"NONE"}}'),
        (f"{CONFIG}.pass_config.no_such_pass 1", "0.32.0", Code.UNKNOWN_FLAG, ""),
        (f"{CONFIG} 3 --trust-remote-code", "0.10.0", None, ""),
    ],
)  # fmt: skip
def test_keys(words: str, version: str, code: Code | None, mended: str) -> None:
    judged = ask_one(f"{SERVE} {words}", "8xH200", version)
    errors = [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    assert [finding.code for finding in errors] == ([code] if code else [])
    if code:
        line = " ".join(judged.corrected[0].argv)
        assert mended in line
        assert "ragged" not in line
        assert "no_such_pass" not in line


def test_a_key_that_older_releases_have_is_a_warning_where_no_version_is_named() -> None:
    judged = ask_one(f"{SERVE} {RAGGED}=True", "8xH200")
    assert "which 0.13.0 to 0.21.0 have" in message(judged, Code.REMOVED_FLAG)
    assert all(finding.severity is not Severity.ERROR for finding in judged.findings)


def test_a_slip_has_the_right_name_as_its_remedy() -> None:
    judged = ask_one(f"{SERVE} --speculative-config.modell m", "8xH200", "0.32.0")
    assert message(judged, Code.UNKNOWN_FLAG).endswith("did you mean model?")
    assert judged.corrected == judged.better == (), "which key is meant is not certain"


def test_what_is_recorded() -> None:
    assert config_key("vllm serve", "--attention-config", "backend", "0.10.0") is None, "it has no such option yet"
    known = config_key("vllm serve", "--attention-config", "backend", newest("vllm serve"))
    assert known is not None
    assert (known.known, known.first) == (True, "0.13.0")
    assert "mla_prefill_backend" in keys_of("vllm serve", "--attention-config", "0.32.0")
    assert config_key("sglang", "--attention-config", "backend", None) is None


@pytest.mark.parametrize(
    ("line", "stray"),
    [
        (f"{SERVE} --no-enable-prefix-caching KeyError:", "KeyError:"),
        (f"{SERVE} more", "more"),
        ("vllm serve moonshotai/Kimi-K2-Thinking other/model -tp 8", "other/model"),
        (f'{SERVE} "$@"', ""),
        (f"{SERVE} <more options>", ""),
        (f"{SERVE} --no-such-option one two", ""),
        ("python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 more", "more"),
        ("trtllm-serve moonshotai/Kimi-K2-Thinking --tp_size 8", ""),
    ],
)
def test_words_that_nothing_takes(line: str, stray: str) -> None:
    judged = ask_one(line, "8xB200", "0.5.23" if "sglang" in line else "")
    found = [finding.where for finding in judged.findings if "takes no such argument" in finding.message]
    assert found == ([stray] if stray else [])
    if stray:
        assert judged.corrected == ()


GUIDE = "vLLM {least} or later is needed.\n\n```bash\n{line} --attention-config.use_fp4_indexer_cache=True\n```\n"


def test_key_of_the_least_release_that_the_text_asks_for_is_a_note() -> None:
    (judged,) = ask(GUIDE.format(least="0.21.0", line=SERVE))
    (note,) = [each for each in judged.findings if "use_fp4_indexer_cache" in each.message]
    assert note.severity is Severity.NOTE
    assert "in 0.21.0, for which the text asks" in note.message


@pytest.mark.parametrize(
    "text", [GUIDE.format(least="0.30.0", line=SERVE), f"{SERVE} --attention-config.use_fp4_indexer_cache=True"]
)
def test_key_that_no_release_meant_has_stays_a_warning(text: str) -> None:
    (judged,) = ask(text)
    (warned,) = [each for each in judged.findings if "use_fp4_indexer_cache" in each.message]
    assert warned.severity is Severity.WARNING
