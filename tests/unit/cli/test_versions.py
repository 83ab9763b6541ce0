"""Services of versions that do not understand each other say so at the start."""

import pytest

from bead.errors import WrongVersion
from bead.wire.health import WIRE, Health
from bead_cli.single import _understood


def test_an_old_proxy_refuses_a_newer_store_and_names_both() -> None:
    store = Health(name="store", version="9.0", ready=True, home_id="h", wire=WIRE + 1)
    with pytest.raises(WrongVersion, match=r"store is bead 9\.0 and this proxy"):
        _understood("proxy", store)


def test_a_store_from_before_the_number_is_understood() -> None:
    told = Health.model_validate({"name": "store", "version": "0.1", "ready": True, "home_id": "h"})
    assert _understood("proxy", told) == told
