"""Prompts of random words. The same seed and index give the same text, on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

# Short, common and unrelated, so that most tokenizers have each as one token or two, and no prompt looks like the next.
_TEXT: Final = """
able acid age air alarm angle ant apple arch arm art ash aunt baby back bag ball band bank bar base bath beach
bean bear bed bell belt bench bird blade block blood blue board boat body bolt bone book boot bowl box boy
brain branch bread brick bridge brush bus butter button cake camp canal card care cart case cat cause cell
chain chair chalk chance cheese chest chin city class clay clock cloth cloud coal coat coin color comb copper
cord cork corn cotton cough cover cow crack credit crime crop cross crowd crown cup current curve dance day
debt deep desk dirt dog door doubt drain drawer dress drink drop dust ear earth edge egg engine event eye face
fact fall farm fat father fear feather field fire fish flag flame flight floor flower fly fog food foot force
fork form fowl frame friend fruit garden girl glass glove goat gold grain grass green grip group guide gun
hair hammer hand harbor hat head heart heat hill history hole home hook horn horse hour house ice idea ink
insect iron island jewel join judge jump kettle key kick kiss knee knife knot land laugh leaf leg letter level
light line lip list lock look love machine man map mark mass meal meat metal milk mind mine mist money moon
morning mother motion mouth move music nail name neck needle nerve net news night noise nose note number nut
offer office oil orange order oven owner page pain paint paper part past pen pencil pipe place plane plant
plate play plow point pot power price print prison pull pump push rail rain range rat ray rest rice ring river
road rock roll roof room root rub rule run sail salt sand scale school sea seat seed sense shade shake shame
sheep shelf ship shirt shock shoe side sign silk silver sister size skin skirt sky sleep slip slope smash
smell smile smoke snake snow soap sock song sort sound soup space spade spring square stage stamp star start
state steam steel stem step stick stone stop store story street stretch string sugar summer sun swim table
tail talk taste tax tent test thing thought thread throat thumb thunder ticket time tin toe top touch town
trade train tray tree trick trouble turn twist unit use value verse vessel view voice walk wall war wash watch
water wave wax way weather week weight wheel whip wind window wine wing winter wire wood wool word work worm
wound year
"""
WORDS: Final = tuple(_TEXT.split())


FIRST: Final = "year"
"""Begins a prompt of known weights: a text's first word has no space before it, and may be other tokens than later."""


def random_prompt(seed: int, index: int, words: int) -> str:
    """`words` words. A negative index is a request that is not measured: warm-up, calibration."""
    return random_words(f"prompt {seed} {index}", words)


def random_words(name: str, words: int) -> str:
    """The same name gives the same."""
    return " ".join(_picker(name).choices(WORDS, k=words))


def text_of(places: Sequence[int]) -> str:
    """A text of its own, with these words (places in `WORDS`)."""
    return " ".join((FIRST, *(WORDS[place] for place in places)))


def weighed(name: str, tokens: int, weights: Sequence[int]) -> list[int]:
    """Words (places in `WORDS`) that are so many tokens behind a space each; the same name gives the same, and fewer
    tokens of it nearly the same beginning. `weights`: the tokens of each word; one of them is 1.
    """
    picker, found, left = _picker(f"text {name}"), list[int](), tokens
    ones = [place for place, weight in enumerate(weights) if weight == 1]
    while left > 0:
        place = picker.randrange(len(weights))
        if weights[place] > left:
            place = picker.choice(ones)
        found.append(place)
        left -= weights[place]
    return found


def _picker(name: str) -> Random:
    return Random(f"moonpad {name}")  # noqa: S311 - must repeat; nothing secret hangs on it
