"""Where memory works: lists of projects and folders."""

import pytest

from bead.settings import ProjectsSettings
from bead_proxy.permission import allows

OFF = ProjectsSettings(off=("secret", "/work/nda/"))
ONLY = ProjectsSettings(default="off", on=("shop", "/work/mine"), off=("/work/mine/not",))


@pytest.mark.parametrize(
    ("projects", "scope", "directory", "answer"),
    [
        (ProjectsSettings(), "", None, True),
        (OFF, "secret", None, False),
        (OFF, "secret-2", None, True),
        (OFF, "shop", "/work/nda", False),
        (OFF, "shop", "/work/nda/deep", False),
        (OFF, "shop", "/work/nda-2", True),
        (OFF, "", None, True),
        (ONLY, "", None, False),
        (ONLY, "shop", None, True),
        (ONLY, "x", "/work/mine/a", True),
        (ONLY, "x", "/work/mine/not/a", False),
        (ONLY, "x", "/work", False),
    ],
)
def test_what_is_listed_decides(projects: ProjectsSettings, scope: str, directory: str | None, answer: bool) -> None:
    assert allows(projects, scope, directory) is answer


def test_a_list_in_a_variable_has_commas() -> None:
    assert ProjectsSettings.model_validate({"off": "a, /b ,"}).off == ("a", "/b")
