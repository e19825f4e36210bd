"""Run by the engine's own Python: what vLLM's kimi_k2 parser makes of texts, whole and token by token.

On standard input a list of [folder of a tokenizer, text, names of tools…]; on standard output, in their order,
{"pieces": the text by tokens, "whole": …, "deltas": one list of a chat's tool-call deltas and contents a piece}.
"""

from judging import answer  # before the engine: what is imported then logs
from transformers import PreTrainedTokenizerFast
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.tool_parsers.kimi_k2_tool_parser import KimiK2ToolParser


def judge(case: list[str]) -> dict[str, object]:
    folder, text, *names = case
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]
    request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "?"}], tools=tools)
    complete = KimiK2ToolParser(tokenizer, request.tools).extract_tool_calls(text, request)
    calls = [[call.id, call.function.name, call.function.arguments] for call in complete.tool_calls]
    parser = KimiK2ToolParser(tokenizer, request.tools)
    ids = tokenizer.encode(text, add_special_tokens=False)
    pieces: list[str] = []
    deltas: list[object] = []
    before = ""
    for end in range(1, len(ids) + 1):
        now = tokenizer.decode(ids[:end], skip_special_tokens=False)
        piece = now[len(before) :]
        increment = parser.extract_tool_calls_streaming(
            before, now, piece, ids[: end - 1], ids[:end], ids[end - 1 : end], request
        )
        pieces.append(piece)
        deltas.append({} if increment is None else increment.model_dump(exclude_none=True))
        before = now
    return {"pieces": pieces, "whole": {"content": complete.content or "", "calls": calls}, "deltas": deltas}


answer(judge)
