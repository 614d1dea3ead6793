import pytest
from papermill.translators import PythonTranslator

from signalbook.papermill_lists import ListsOfWords


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("[16, 32]", [16, 32]),
        ("[]", []),
        ('["relu", "tanh"]', ["relu", "tanh"]),
        ("[0.5, -1e9]", [0.5, -1e9]),
        ("[[1], [2]]", [[1], [2]]),
    ],
)
def test_lists_are_lists(words, value):
    assert eval(ListsOfWords.translate(words)) == value


@pytest.mark.parametrize(
    "words", ["relu", "(1, 2)", "[a", "[f(1)]", "{'a': 1}", 'a "quoted" word', "__import__('os')"]
)
def test_all_else_stays_words(words):
    assert eval(ListsOfWords.translate(words)) == words


@pytest.mark.parametrize("value", [3, 0.5, True, None, [1, 2], {"a": [1]}])
def test_what_is_no_text_is_written_as_papermill_does(value):
    assert ListsOfWords.translate(value) == PythonTranslator.translate(value)
