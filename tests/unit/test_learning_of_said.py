"""What people and agents say in passing, as they type it, is learnt, and nothing near it."""

from __future__ import annotations

import pytest

from metaagents.learning.patterns import stated


def told(said: str) -> list[str]:
    """Return what is learnt of a message of Ada's."""
    return [one.text for one in stated(said, "Ada")]


# Parts of codes, addresses and paths are nobody.


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("The staging db runs in us-east-1.", "the staging db runs in us-east-1"),
        ("Our main region is us-east-1.", "Ada's main region is us-east-1"),
        ("We use us-central1 for everything.", "Ada uses us-central1 for everything"),
        ("The backups bucket is called my-bucket.", "the backups bucket is called my-bucket"),
        ("My email is me@anna.de", "Ada's email is me@anna.de"),
        ("My email is my.name@anna.de", "Ada's email is my.name@anna.de"),
        ("You can reach me at me@anna.de", "Ada's e-mail is me@anna.de"),
        ("Our site is about.me/ada", "Ada's site is about.me/ada"),
        (
            "Remember that the reports are in /srv/my/reports.",
            "the reports are in /srv/my/reports",
        ),
        ("The template is in /home/me/forms.", "the template is in /home/me/forms"),
    ],
)
def test_a_part_of_a_code_or_an_address_is_not_who_speaks(said: str, learnt: str) -> None:
    """``us-east-1`` is no place of Ada's."""
    assert told(said) == [learnt]


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("My father lives with us.", "Ada's father lives with Ada"),
        ("My sister lives with me - always has.", "Ada's sister lives with Ada"),
    ],
)
def test_who_speaks_is_still_told_by_name(said: str, learnt: str) -> None:
    """Before a full stop, a dash or an end."""
    assert learnt in " ".join(told(said))
