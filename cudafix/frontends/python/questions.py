"""Questions about a program that lead to other questions, each answered once, however long the way to an answer is.

A name may lead through thousands of assignments and imports. Past some questions inside each other the innermost one is
answered first, and the one that led there is asked again: Python's stack does not grow with the length of the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

_MOST = 30  # questions inside each other on Python's stack; each takes some ten frames

T = TypeVar("T")


class _First(BaseException):
    """Raised where another question has to be answered first. `asking` are those on the way to it."""

    def __init__(self, key: object, default: object, answer: Callable[[], object]) -> None:
        self.question = key, default, answer
        self.asking: list[object] = []


class Questions:
    """What is known. A question that leads back to itself has its `default` as answer there."""

    def __init__(self) -> None:
        self._answers: dict[object, object] = {}
        self._depth = 0

    def ask(self, key: object, default: T, answer: Callable[[], T]) -> T:
        """The answer, which must follow from the key alone."""
        if key in self._answers:
            return cast("T", self._answers[key])
        if self._depth == 0:
            return cast("T", self._from_the_start(key, default, answer))
        if self._depth == _MOST:
            raise _First(key, default, answer)
        return cast("T", self._find(key, default, answer))

    def _from_the_start(self, key: object, default: object, answer: Callable[[], object]) -> object:
        questions = [(key, default, answer)]
        ways: list[list[object]] = []  # those between each question and the one that has to be answered first
        try:
            while True:
                try:
                    found = self._find(*questions[-1])
                except _First as first:
                    questions.append(first.question)
                    ways.append(first.asking)
                    continue
                questions.pop()
                if not questions:
                    return found
                self._forget(ways.pop())
        except BaseException:
            for way in ways:
                self._forget(way)
            raise

    def _find(self, key: object, default: object, answer: Callable[[], object]) -> object:
        self._answers[key] = default
        self._depth += 1
        try:
            found = answer()
        except _First as first:
            first.asking.append(key)  # it keeps the default until the other one is answered
            raise
        except BaseException:
            del self._answers[key]
            raise
        finally:
            self._depth -= 1
        self._answers[key] = found
        return found

    def _forget(self, keys: list[object]) -> None:
        for key in keys:
            del self._answers[key]
