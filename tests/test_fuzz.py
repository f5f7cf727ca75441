"""Every target of the fuzzers, briefly: changed bytes of good files give a result or one line."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.seeds import seeds
from fuzz.targets import TARGETS
from mercer.kernels import parse

SEEDS = seeds()


def mutated(data, chance):
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(out) + 1)
        how = chance.randrange(4)
        if how == 0 and place < len(out):
            out[place] = chance.choice(b"\0\xff,;:\"'{}[]()\n\r\t -+.0919eE>#@?")
        elif how == 1:
            out[place:place] = bytes(chance.choices(b"\0\xff,;:{}[]\n 19", k=chance.randint(1, 8)))
        elif how == 2:
            del out[place : place + chance.randint(1, 20)]
        else:
            out[place:place] = out[place : place + chance.randint(1, 40)]
    return bytes(out)


@pytest.mark.parametrize("target", TARGETS)
def test_changed_files_get_one_line(target):
    chance = random.Random(target)
    for _ in range(8 if target in ("excel", "sqlite", "model") else 25):
        TARGETS[target](mutated(chance.choice(SEEDS[target]), chance))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="gausinler(=0.5)+*,[]'on 1e9-_p", max_size=60))
def test_texts_that_are_hardly_kernels_get_one_line(text):
    TARGETS["kernel"](text.encode())


@pytest.mark.parametrize("text", ["linear**99999999999999999999", "polynomial(degree=99999999999999999999)"])
def test_whole_numbers_beyond_64_bits_get_one_line(text):
    with pytest.raises(ValueError, match="of at most"):
        parse(text)
