import pytest

from countmorl.agents.sac_config import SACConfig
from countmorl.errors import ConfigError


@pytest.mark.parametrize(
    "wrong",
    [
        {"discount": 1.0},
        {"actor_rate": 0.0},
        {"polyak": 0.0},
        {"average_share": 1.5},
        {"log_std_min": 2.0},
        {"critics": 0},
        {"diversity": -1.0},
        {"diversity": 1.0, "critics": 1},
        {"target_entropy": float("nan")},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SACConfig(**wrong)
