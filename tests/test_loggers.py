import sys
from types import SimpleNamespace

import pytest

from countmorl.errors import MissingExtraError
from countmorl.loggers import LOGGERS, PACKAGES, check_loggers, make_loggers


def test_every_logger_has_a_package():
    assert set(LOGGERS) == set(PACKAGES) == {"tensorboard", "wandb", "mlflow"}


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_a_missing_package_is_said_early(name, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingExtraError, match=rf"countmorl\[{name}\]"):
        check_loggers((name,))


def test_without_loggers_nothing_is_imported(tmp_path):
    check_loggers(())
    assert make_loggers((), tmp_path, {}) == []


def test_tensorboard_writes_events(tmp_path):
    pytest.importorskip("tensorboardX")
    (logger,) = make_loggers(("tensorboard",), tmp_path, {})
    logger.log({"policy/loss": 0.5}, 3)
    logger.close()
    (events,) = (tmp_path / "tensorboard").iterdir()
    content = events.read_bytes()
    assert b"policy/loss" in content
    assert b"\x00\x00\x00\x3f" in content  # 0.5 as a little-endian float32.


@pytest.mark.usefixtures("unchecked")
def test_wandb_gets_name_config_and_numbers(tmp_path, monkeypatch):
    calls = []
    run = SimpleNamespace(
        log=lambda values, step: calls.append((values, step)), finish=lambda: calls.append("finish")
    )

    def init(**kwargs):
        calls.append(kwargs)
        return run

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    (logger,) = make_loggers(("wandb",), tmp_path / "my-run", {"seed": 1})
    logger.log({"policy/loss": 0.5}, 3)
    logger.close()
    assert calls == [
        {"project": "countmorl", "name": "my-run", "config": {"seed": 1}},
        ({"policy/loss": 0.5}, 3),
        "finish",
    ]


@pytest.mark.usefixtures("unchecked")
def test_mlflow_gets_name_config_and_numbers(tmp_path, monkeypatch):
    calls = []
    module = SimpleNamespace(
        start_run=lambda run_name: calls.append(run_name),
        log_dict=lambda values, name: calls.append((values, name)),
        log_metrics=lambda values, step: calls.append((values, step)),
        end_run=lambda: calls.append("end"),
    )
    monkeypatch.setitem(sys.modules, "mlflow", module)
    (logger,) = make_loggers(("mlflow",), tmp_path / "my-run", {"seed": 1})
    logger.log({"policy/loss": 0.5}, 3)
    logger.close()
    assert calls == ["my-run", ({"seed": 1}, "config.json"), ({"policy/loss": 0.5}, 3), "end"]
