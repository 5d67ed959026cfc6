"""Names in docstrings that their class or function has not are found."""

import sys

import pytest
from paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

import check_docstrings

CLASSES = '''
class Base:
    size: int

    def __init__(self):
        self.name = ""


class Box(Base):
    """A box.

    Attributes:
        size, weight: Of the box,
            lid: included.
        name: Of its owner.
        colour: Unknown.
    """

    @property
    def weight(self):
        return 1
'''
FUNCTION = '''
class Box:
    async def fill(self, what, *more, times=1, **others):
        """Fill it.

        Args:
            what: The content.
            *more: Further content.
            times: How often,
                much: at the most.
            **others: Anything.
            where: Nowhere.

        Returns:
            how: It went.
        """
'''


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CLASSES, ["a.py:9: Box has no colour"]),
        (FUNCTION, ["a.py:3: fill has no where"]),
        ('def f(a):\n    """Attributes: b: no section."""', []),
    ],
)
def test_what_is_named_must_be_there(text: str, found: list[str]) -> None:
    assert list(check_docstrings.faults({"a.py": text})) == found


def test_base_classes_may_be_in_other_files_and_in_a_circle() -> None:
    box = 'class A(B):\n    """It.\n\n    Attributes:\n        size: Known.\n        height: Not.\n    """'
    files = {"a.py": box, "b.py": "class B(A):\n    size = 1"}
    assert list(check_docstrings.faults(files)) == ["a.py:1: A has no height"]
