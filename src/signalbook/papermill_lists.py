"""How papermill writes the parameters of a chapter: lists given as words are lists."""

from __future__ import annotations

import ast

from papermill.translators import PythonTranslator

__all__ = ["ListsOfWords"]


class ListsOfWords(PythonTranslator):  # type: ignore[misc]
    """Writes ``-p widths "[16, 32]"`` as a list, which papermill takes for words.

    >>> ListsOfWords.translate("[16, 32]"), ListsOfWords.translate("[a")
    ('[16, 32]', '"[a"')
    """

    @classmethod
    def translate_str(cls, val: str) -> str:
        """Return the literal, of a list as one."""
        try:
            found = ast.literal_eval(val) if val.startswith("[") else val
        except (SyntaxError, ValueError):
            found = val
        literal = super().translate_str(val) if found is val else cls.translate(found)
        return str(literal)
