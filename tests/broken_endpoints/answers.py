"""What a broken endpoint makes of the scripted Kimi's answers: the prompt that it renders, the tokens, their fields."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from tests.broken_endpoints.kimi import FILLER, SPECIAL, Call, Turn, answer, rendered, text_of, tokens_of


def logprob_at(place: int) -> float:
    """Of the token that was taken; the next likeliest have -9 and -11."""
    return -0.25 if place % 3 else -2.5


@dataclass
class Piece:
    """One token of an answer: where it is shown ("" nowhere), and as what."""

    channel: str
    text: str
    call: int = -1


def shown_tokens(pieces: list[Piece]) -> list[Piece]:
    """Without those that only mark the beginning of a call."""
    return [piece for piece in pieces if piece.text]


@dataclass
class Answers:
    """`faults` are switches of `faults.py`; with none of them the answers are sound."""

    faults: frozenset[str] = frozenset()
    request_count: int = field(default=0, kw_only=True)

    def on(self, fault: str) -> bool:
        return fault in self.faults

    def prompt(self, body: dict[str, Any]) -> str:
        messages = [dict(message) for message in body["messages"]]
        if self.on("system message is dropped"):
            messages = [message for message in messages if message["role"] != "system"]
        if self.on("history is dropped"):
            messages = messages[-1:]
        if self.on("parts are dropped"):
            messages = [
                {**message, "content": message["content"] if isinstance(message.get("content"), str) else ""}
                for message in messages
            ]
        if self.on("thinking is not read back"):
            messages = [{k: v for k, v in message.items() if not k.startswith("reasoning")} for message in messages]
        if self.on("thinking is read back by the other name"):
            messages = [{k: v for k, v in message.items() if k != "reasoning"} for message in messages]
        if self.on("empty content is rendered as a list"):
            messages = [
                {**message, "content": "[]" if message.get("content") == "" else message.get("content")}
                for message in messages
            ]
        tools = () if body.get("tool_choice") == "none" else body.get("tools") or ()
        return rendered(messages, tools, opened=not self.on("no turn of the assistant"))

    # - the answer, token by token -

    def turn(self, body: dict[str, Any]) -> Turn:
        request = dict(body)
        if self.on("the results of tools are lost"):
            request["messages"] = [message for message in body["messages"] if message["role"] != "tool"]
        choice = body.get("tool_choice")
        if self.on("tool_choice none is ignored") and choice == "none":
            request["tool_choice"] = "auto"
        if self.on("tool_choice required is ignored") and choice == "required":
            request["tool_choice"] = "auto"
        if self.on("a named tool is ignored") and isinstance(choice, dict):
            request["tool_choice"] = "auto"
        if self.on("temperature is ignored"):
            request["temperature"] = 0
        if self.on("n is ignored"):
            request["n"] = 1
        for name in ("json_object", "json_schema"):
            if self.on(f"{name} is ignored") and (body.get("response_format") or {}).get("type") == name:
                request.pop("response_format")
        if self.on("regex is ignored"):
            request.pop("structured_outputs", None)
        shown = not self.on("the parser drops the calls of tool_choice none")
        if choice == "none" and body.get("tools") and body.get("skip_special_tokens") is False and shown:
            return self.raw(answer({**request, "tool_choice": "auto"}))
        turn = answer(request, salt=str(self.request_count))
        if body.get("parallel_tool_calls") is False:
            turn.calls = turn.calls[:1]
        return self.spoiled(turn, body)

    def raw(self, turn: Turn) -> Turn:
        """What the model itself writes where it sees tools, and nobody parses."""
        if self.on("tools are not in the prompt"):
            return Turn(turn.reasoning, "I have no tool for this.")
        if self.on("the model's calls have no section"):
            inside = "".join(f"{call.id}{call.arguments}" for call in turn.calls)
            return Turn(turn.reasoning, inside)
        if self.on("the model's calls are no JSON"):
            turn.calls = [Call(call.name, call.arguments.replace('"', "'"), call.number) for call in turn.calls]
        inside = "".join(
            f"<|tool_call_begin|>{call.id}<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|>"
            for call in turn.calls
        )
        return Turn(turn.reasoning, f"<|tool_calls_section_begin|>{inside}<|tool_calls_section_end|>")

    def spoiled(self, turn: Turn, body: dict[str, Any]) -> Turn:
        user = text_of(body["messages"][-1].get("content"))
        if self.on("!!!! behind a long text") and len(user) > 2000:
            return Turn("", "!" * 60)
        if self.on("repeats itself behind a long text") and len(user) > 2000:
            return Turn("", "It leaves at nine and then. " * 20)
        if self.on("answers of others under load") and self.running > 8:
            turn.content = "The result of this is 36, dear friend." if "36" not in turn.content else turn.content
            turn.reasoning = "12 * 3 is 36."
        if self.on("nothing behind the thinking") and not turn.calls:
            turn.content = ""
        if self.on("the end token is visible") and not turn.calls:
            turn.content += "<|im_end|>"
        if self.on("a special token in the thinking"):
            turn.reasoning += "<|tool_calls_section_begin|>"
        if self.on("a call of a tool that was not offered"):
            turn.calls = [Call("search_web", call.arguments, call.number) for call in turn.calls]
        if self.on("calls are merged") and len(turn.calls) > 1:
            turn.calls = turn.calls[:1]
        if self.on("ids begin again"):
            turn.calls = [Call(call.name, call.arguments, number) for number, call in enumerate(turn.calls)]
        if self.on("forgets at turn 137") and [call.number for call in turn.calls] == [136]:
            turn.calls = [Call(call.name, '{"page": "elsewhere"}', call.number) for call in turn.calls]
        for call in turn.calls:
            self.spoil_call(call)
        return turn

    def spoil_call(self, call: Call) -> None:
        if self.on("arguments are cut at 8 KB"):
            call.arguments = call.arguments[:8192]
        if self.on("the last brace is lost"):
            call.arguments = call.arguments.removesuffix("}")
        if self.on("arguments break the schema"):
            call.arguments = call.arguments.replace('"city"', '"town"').replace('"first"', '"business"')
        if self.on("empty arguments are an empty text") and call.arguments == "{}":
            call.arguments = ""
        if self.on("letters beyond ASCII are lost"):
            call.arguments = call.arguments.encode("ascii", "replace").decode()

    def pieces(self, turn: Turn, body: dict[str, Any]) -> tuple[list[Piece], str]:
        """The answer's tokens, and why it ended."""
        pieces = [Piece("", "<think>"), *(Piece("reasoning", token) for token in tokens_of(turn.reasoning))]
        pieces.append(Piece("", "</think>"))
        raw = self.unparsed(turn, body)
        content = raw if raw is not None else turn.content
        channel = "reasoning" if self.on("all in the reasoning") else "content"
        pieces += [Piece(channel, token) for token in tokens_of(content)]
        if raw is None and turn.calls:
            pieces.append(Piece("", "<|tool_calls_section_begin|>"))
            for number, call in enumerate(turn.calls):
                pieces += [
                    Piece("", f"<|tool_call_begin|>{call.id}<|tool_call_argument_begin|>"),
                    Piece("call", "", number),
                ]
                pieces += [Piece("call", token, number) for token in tokens_of(call.arguments)]
                pieces.append(Piece("", "<|tool_call_end|>"))
            pieces.append(Piece("", "<|tool_calls_section_end|>"))
        finish = "tool_calls" if turn.calls and raw is None else "stop"
        pieces.append(Piece("", "<|im_end|>"))
        bias = body.get("logit_bias") or {}
        for token, number in SPECIAL.items():
            if bias.get(str(number), 0) >= 100 and not self.on(f"{token} does not end"):
                return [Piece("", token)], "stop"
        if self.on("no end is known"):
            pieces[-1:] = [Piece("content", f" {FILLER[n % 8]}") for n in range(2000)]
        if body.get("ignore_eos"):
            least = self.limit(body) or 100
            pieces[-1:] = [Piece("content", f" {FILLER[n % 8]}") for n in range(max(0, least - len(pieces) + 1))]
        return self.cut(pieces, finish, body)

    def unparsed(self, turn: Turn, body: dict[str, Any]) -> str | None:
        """The calls as text, where a fault leaves them so."""
        if not turn.calls:
            return None
        call = turn.calls[0]
        foreign = any(
            not str(call["id"]).startswith("functions.")
            for message in body["messages"]
            for call in message.get("tool_calls") or ()
        )
        inside = f"<|tool_call_begin|>{call.id}<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|>"
        if (
            self.on("no tool parser")
            or (self.on("foreign ids spoil later calls") and foreign)
            or (self.on("hyphens are not parsed") and "-" in call.name)
        ):
            return f"<|tool_calls_section_begin|>{inside}<|tool_calls_section_end|>"
        if self.on("ids without functions. are not parsed"):
            return f"<|tool_call_begin|>{call.name}:0<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|>"
        if self.on("ids without signs are not parsed"):
            return f"functions{call.name}0{call.arguments}"
        if self.on("calls of foreign ids are dropped") or self.on("a line break in the id drops the call"):
            return ""
        if self.on("a call inside the thinking is lost"):
            turn.reasoning += f"functions.{call.name}:0{call.arguments}"
            return ""
        return None

    def limit(self, body: dict[str, Any]) -> int | None:
        limits = [
            body.get(name)
            for name in ("max_tokens", "max_completion_tokens")
            if not self.on(f"{name} is ignored") and body.get(name) is not None
        ]
        return min(limits) if limits else None

    def cut(self, pieces: list[Piece], finish: str, body: dict[str, Any]) -> tuple[list[Piece], str]:
        stops = body.get("stop") or []
        for stop in [] if self.on("stop is ignored") else ([stops] if isinstance(stops, str) else stops):
            for end in range(1, len(pieces) + 1):
                if stop in "".join(piece.text for piece in pieces[:end] if piece.channel == "content"):
                    shown = self.on("the stop string is shown") or body.get("include_stop_str_in_output")
                    pieces = pieces[: end if shown else end - 1]
                    finish = "stop"
                    break
        if body.get("stop_token_ids"):  # the probes have only that of "8"
            eights = [place for place, piece in enumerate(pieces) if piece.text.strip() == "8"]
            pieces, finish = (pieces[: eights[0]], "stop") if eights else (pieces, finish)
        limit = self.limit(body)
        if limit is not None and len(pieces) > limit:
            pieces, finish = pieces[:limit], "stop" if self.on("a cut answer ends with stop") else "length"
            if self.on("calls are dropped at the limit"):
                pieces = [piece for piece in pieces if piece.channel != "call"]
            if self.on("cut thinking is content") and not any(piece.text == "</think>" for piece in pieces):
                pieces = [Piece("content", piece.text) for piece in pieces]
        if self.on("finish_reason is always length"):
            finish = "length"
        if self.on("a call ends with stop") and finish == "tool_calls":
            finish = "stop"
        return pieces, finish

    # - sent -

    @property
    def field(self) -> str:
        return "thinking" if self.on("thinking under another name") else "reasoning"

    def usage(self, prompt: int, pieces: list[Piece]) -> dict[str, Any]:
        completion = sum(bool(piece.text) for piece in pieces)
        if self.on("usage counts the prompt wrongly"):
            prompt += 9
        if self.on("usage counts the answer twice"):
            completion *= 2
        total = completion if self.on("usage does not add up") else prompt + completion
        thought = sum(piece.channel == "reasoning" for piece in pieces)
        details = {"completion_tokens_details": {"reasoning_tokens": thought}}
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, **details}

    def call_id(self, call: Call) -> str:
        return f"chatcmpl-tool-{call.number:032x}" if self.on("ids of another make") else call.id

    def message(self, turn: Turn, pieces: list[Piece]) -> dict[str, Any]:
        def text(channel: str, call: int = -1) -> str:
            return "".join(piece.text for piece in pieces if piece.channel == channel and piece.call == call)

        message: dict[str, Any] = {"role": "assistant", "content": text("content") or None}
        reasoning = text("reasoning")
        if self.on("thinking is in the content") or (
            turn.calls and self.on("thinking is in the content beside a call")
        ):
            message["content"] = f"<think>{reasoning}</think>{message['content'] or ''}"
        elif reasoning and not self.on("thinking is dropped"):
            message[self.field] = reasoning
        begun = {piece.call for piece in pieces if piece.channel == "call"}
        calls = [
            {
                "id": self.call_id(call),
                "type": "function",
                "function": {"name": call.name, "arguments": text("call", number)},
            }
            for number, call in enumerate(turn.calls)
            if number in begun
        ]
        if calls:
            message["tool_calls"] = calls
        return message

    def logprobs(self, pieces: list[Piece], body: dict[str, Any]) -> dict[str, Any] | None:
        if not body.get("logprobs") or self.on("no logprobs"):
            return None
        return {"content": [self.logprob(piece, place) for place, piece in enumerate(shown_tokens(pieces))]}

    def logprob(self, piece: Piece, place: int) -> dict[str, Any]:
        value = math.nan if self.on("logprobs are NaN") else logprob_at(place)
        best = -0.01 if self.on("greedy is not the likeliest") else -9.0
        likeliest = {piece.text: value, "x": best, "y": -11.0}
        top = [{"token": text, "logprob": of} for text, of in likeliest.items()]
        return {"token": piece.text, "logprob": value, "top_logprobs": top}

    def delta(self, piece: Piece, turn: Turn, named: set[int]) -> dict[str, Any]:
        dropped = self.on("no thinking in the stream") or (
            turn.calls and self.on("no thinking beside a call in the stream")
        )
        if piece.channel == "reasoning" and not dropped:
            return {self.field: piece.text}
        if piece.channel == "content":
            text = re.sub(r"\d", "7", piece.text) if self.on("the stream differs") else piece.text
            return {"content": text}
        if piece.channel != "call":
            return {}
        call = turn.calls[piece.call]
        function: dict[str, Any] = {"arguments": piece.text}
        row: dict[str, Any] = {"index": piece.call, "function": function}
        if piece.call not in named or self.on("the name comes with each piece"):
            function["name"] = call.name
            row |= {"type": "function"} | ({} if self.on("no id in the stream") else {"id": self.call_id(call)})
            named.add(piece.call)
        if self.on("the stream loses a piece of the arguments") and piece.text == ":":
            function["arguments"] = ""
        if self.on("all calls have index 0 in the stream"):
            row["index"] = 0
        return {"tool_calls": [row]}
