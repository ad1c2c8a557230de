import pytest

from countmorl.algorithms.combo import COMBO
from countmorl.errors import ConfigError


def test_combo_needs_a_real_row_to_raise():
    with pytest.raises(ConfigError, match="no real row"):
        COMBO(real_share=0.001)
