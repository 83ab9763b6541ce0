"""What somebody outside tries on a bead that runs: one list of cases, for containers and for `bead up`."""

import pytest

pytest.register_assert_rewrite("tests.outside.cases", "tests.outside.hostile")
