"""Nothing from a data file reaches a browser, a spreadsheet or a terminal as anything but text."""

import csv
import io

import pytest

from benchmarks.fault_trials._hostile_words import WORDS, in_html, in_spreadsheet, in_terminal
from benchmarks.fault_trials.escaping import reached, reached_in_report
from mercer.cli.output import csv_of
from mercer.presentation import tag

#: All that can be said in one word, twice: as a formula, and as what may come before one.
ALL = [beginning + "".join(word for name, word in WORDS.items() if name != "long") for beginning in ("=", "\t\r@")]


def test_no_command_lets_a_word_through():
    assert {place: found for place, found in reached(ALL) if found} == {}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_cells_come_back_and_are_no_formulas(word):
    text = csv_of({word: [word, f"a{word}"], "row": [-1, 2.5]})
    assert in_spreadsheet(text) == []
    head, first, second = csv.reader(io.StringIO(text, newline=""))
    assert (head[0], first[0]) in [(word, word), (f"'{word}", f"'{word}")]
    assert second == [f"a{word}", "2.5"]


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_elements_hold_words_as_text(word):
    assert in_html(tag("p", word, title=word), tag("p", "plain", title="plain")) == []


@pytest.mark.parametrize("word", ["a\r=1+1", "\u200b=1", "-1_0", "\n@x"])
def test_what_spreadsheets_skip_before_a_formula(word):
    assert in_spreadsheet(csv_of({"prediction": [word]})) == []


def test_plain_numbers_stay_as_they_are():
    cells = ["-1", "+2.5", "-.5e-3", "-7e+12"]
    assert csv_of({"label": cells}).split() == ["label", *cells]


def test_the_detectors_see_what_they_should():
    assert in_terminal("a\x1b\x9b\u202e\n") == ["\x1b", "\x9b", "\u202e"]
    assert in_spreadsheet('a,=1\n"\t=2",-3\n') == ["=1", "\t=2"]
    assert in_html("<p><img onerror=1></p>", "<p></p>") == ["img", "img onerror"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["long", "image", "link"])
def test_no_command_lets_one_word_through(name):
    assert {place: found for place, found in reached([WORDS[name], "x"]) if found} == {}


@pytest.mark.thorough
def test_no_report_lets_a_word_through():
    assert {place: found for place, found in reached_in_report(list(WORDS.values())) if found} == {}
