"""Texts of a Kimi with tool calls, as it writes them: what the engines' own parsers are asked about."""

from moonpad.verify.tool_calls import ARGUMENTS_BEGIN, CALL_BEGIN, CALL_END, SECTION_BEGIN, SECTION_END

TOOLS = ("get_weather", "get-time", "write_file", "search_orders")


def calls(*pairs: tuple[str, str]) -> str:
    inside = "".join(f"{CALL_BEGIN}{id_}{ARGUMENTS_BEGIN}{arguments}{CALL_END}" for id_, arguments in pairs)
    return f"{SECTION_BEGIN}{inside}{SECTION_END}"


SOUND = (
    "No tool is needed for this.",
    calls(("functions.get_weather:0", '{"city": "Paris"}')),
    "Let me look." + calls(("functions.get_weather:7", '{"city": "Paris", "days": 3}')),
    calls(("functions.get_weather:0", '{"city": "Oslo"}'), ("functions.get_weather:1", '{"city": "Lima"}')),
    calls(("functions.get-time:12", "{}")),
    calls(("functions.search_orders:3", '{"filter": {"status": ["open", "late"], "of": {"id": 17}}, "page": [1]}')),
    calls(("functions.write_file:0", '{"path": "a.py", "text": "x = {\\"a\\": [1, 2]}\\nprint(x[0]) }"}')),
    calls(("functions.search_orders:0", '{"a": [[], [{}]], "b": [{"c": "]"}], "d": null, "e": -1.5e3}')),
    calls(
        ("functions.get-time:0", "{}"), ("functions.get_weather:1", '{"city":"Rome"}'), ("functions.get-time:2", "{}")
    ),
    calls(("functions.write_file:0", '{"path": "b", "text": "' + "lorem ipsum " * 40 + '"}')),
)

IN_A_STRING = calls(("functions.write_file:0", '{"path": "p", "text": "it ends with <|tool_call_end|> as text"}'))
"""Where the engines end the call: this one is what a model that writes about its own format makes."""
CUT = calls(("functions.write_file:0", '{"path": "p", "text": "as far as max_tok')).partition(CALL_END)[0]
NO_SECTION = calls(("functions.get-time:0", "{}")).removeprefix(SECTION_BEGIN)
FOREIGN_ID = calls(("call_00003", '{"city": "Paris"}'))
BROKEN = {"in a string": IN_A_STRING, "cut": CUT, "no section": NO_SECTION, "foreign id": FOREIGN_ID}
