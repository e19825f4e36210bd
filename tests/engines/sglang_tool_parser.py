"""Run by the engine's own Python: what SGLang's kimi_k2 parser makes of texts, whole and token by token.

Input and output are those of `vllm_tool_parser.py`, but for the calls: SGLang's parser gives no ids, its server makes
them; a piece's delta is {"content": …, "calls": [[index, name or null, arguments]…]}.
"""

import moonpad_sglang_cpu  # noqa: F401 - what the wheel lacks on a processor
from judging import answer  # before the engine: what is imported then logs
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.kimik2_detector import KimiK2Detector
from transformers import PreTrainedTokenizerFast


def judge(case: list[str]) -> dict[str, object]:
    folder, text, *names = case
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    tools = [Tool(type="function", function={"name": name, "parameters": {"type": "object"}}) for name in names]
    complete = KimiK2Detector().detect_and_parse(text, tools)
    detector = KimiK2Detector()
    ids = tokenizer.encode(text, add_special_tokens=False)
    pieces: list[str] = []
    deltas: list[object] = []
    before = ""
    for end in range(1, len(ids) + 1):
        now = tokenizer.decode(ids[:end], skip_special_tokens=False)
        increment = detector.parse_streaming_increment(now[len(before) :], tools)
        calls = [[call.tool_index, call.name, call.parameters] for call in increment.calls]
        pieces.append(now[len(before) :])
        deltas.append({"content": increment.normal_text, "calls": calls})
        before = now
    calls = [[call.name, call.parameters] for call in complete.calls]
    return {"pieces": pieces, "whole": {"content": complete.normal_text, "calls": calls}, "deltas": deltas}


answer(judge)
