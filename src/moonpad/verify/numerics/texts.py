"""What is asked: text of several kinds, so that tokens of several kinds are met. Any change of a text makes the
recordings of it worthless, so a new one gets a new name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TEXTS: Final[Mapping[str, str]] = {
    "prose-1": (
        "The ferry leaves the northern pier at six in the morning and reaches the island before eight. In winter it "
        "goes only twice a week, on Tuesdays and on Saturdays, and whoever misses it has to wait in the small hotel "
        "behind the harbour, where there is soup, a stove, and a shelf of books that other people have left. The "
        "captain knows most of the passengers by name. He says that the sea has no timetable, but that he has one, "
        "and so far the two have always come to an agreement."
    ),
    "dialogue-1": (
        "User: What is the capital of France?\nAssistant: The capital of France is Paris.\n"
        "User: And how many people live there?\nAssistant: About two million in the city itself, and more than ten "
        "million in the whole region.\nUser: Thank you. Who are you?\n"
        "Assistant: I am an assistant that answers questions."
    ),
    "code-1": (
        "def merge(left, right):\n    result = []\n    while left and right:\n        if left[0] <= right[0]:\n"
        "            result.append(left.pop(0))\n        else:\n            result.append(right.pop(0))\n"
        "    return result + left + right\n\n\ndef merge_sort(items):\n    if len(items) < 2:\n        return items\n"
        "    middle = len(items) // 2\n    return merge(merge_sort(items[:middle]), merge_sort(items[middle:]))\n"
    ),
    "numbers-1": (
        "1 + 1 = 2\n2 + 2 = 4\n4 + 4 = 8\n8 + 8 = 16\n16 + 16 = 32\n32 + 32 = 64\n64 + 64 = 128\n128 + 128 = 256\n"
        "3 * 7 = 21\n12 * 12 = 144\n84 * 3 / 2 = 126\n1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610"
    ),
    "json-1": (
        '{"name": "get_weather", "arguments": {"city": "Lisbon", "unit": "celsius", "days": [1, 2, 3]}}\n'
        '{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius", "days": [1, 2, 3]}}\n'
        '{"name": "get_weather", "arguments": {"city": "Lima", "unit": "celsius", "days": [1, 2, 3]}}'
    ),
    "chinese-1": (
        "早上六点，渡船从北边的码头出发，八点以前到达小岛。冬天每个星期只有两班船，星期二一班，星期六一班。没有赶上船的人，"
        "只好在港口后面的小旅馆里等待，那里有热汤、炉子和一架别人留下的书。"
    ),
    "repeat-1": "red apple moon river " * 24,
    "table-1": (
        "| engine | version | tokens per second |\n|---|---|---|\n| a | 0.11 | 1,204 |\n| b | 0.12 | 1,310 |\n"
        "| c | 0.13 | 1,422 |\n| d | 0.14 | 1,398 |\n| e | 0.15 | 1,507 |\n| f | 0.16 | 1,611 |\n"
    ),
    "letter-1": (
        "Dear Ms Okafor,\n\nthank you for your letter of 3 May. The pump that you have sent us works again: a seal had "
        "worn out, and a bearing was dry. Both have been replaced. We have run it for twelve hours at full load, and "
        "the temperature stayed at 41 °C. Please find our bill enclosed. It can be fetched from Monday on, between "
        "nine and five.\n\nYours sincerely,\nThe workshop"
    ),
    "steps-1": (
        "To change the filter: 1. Switch the machine off and wait until the fan stands still. 2. Open the flap on the "
        "left side. 3. Pull the old filter out by its handle. 4. Put the new one in, with the arrow upwards. 5. Close "
        "the flap until it clicks. 6. Switch the machine on. The lamp is yellow for a minute and then green. If it "
        "stays yellow, the filter is the wrong way round: begin again at step 1."
    ),
}
