import sys

import pytest

from countmorl import doctor
from countmorl.extras import EXTRAS


@pytest.fixture(scope="module")
def report():
    return doctor.examine()


def test_a_sound_installation(report):
    assert report["ok"] is True
    assert report["self-test"]["training"].startswith("works (error 0.0")


def test_versions_devices_extras_and_folders(report, monkeypatch):
    assert report["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert "missing" not in report["versions"].values()
    assert report["devices"]
    assert set(report["extras"]) == set(EXTRAS)
    assert report["extras"]["gymnasium"] == "installed"
    assert set(report["folders"]) == {"D4RL files", "Minari files"}


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "_self_test", lambda: ({"training": "works"}, True))
    monkeypatch.setattr(doctor, "installed", lambda package: package != "minari")
    extras = doctor.examine()["extras"]
    assert extras["minari"] == 'missing: pip install "countmorl[minari]"'
    assert extras["gymnasium"] == "installed"


def test_folders_follow_the_environment(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_self_test", lambda: ({"training": "works"}, True))
    assert doctor.examine()["folders"] == {
        "D4RL files": str(tmp_path / "d4rl"),
        "Minari files": str(tmp_path / "minari"),
    }


def test_a_training_that_fails_is_reported(monkeypatch):
    def broken(*args, **kwargs):
        raise OSError("no disk")

    monkeypatch.setattr(doctor, "train", broken)
    report = doctor.examine()
    assert report["ok"] is False
    assert report["self-test"] == {"training": "failed: OSError: no disk"}


def test_a_training_that_does_not_learn_is_reported(monkeypatch):
    import numpy as np

    class Idle:
        def act(self, obs):
            return np.zeros((len(obs), 2))

    monkeypatch.setattr(doctor, "train", lambda *args, **kwargs: None)
    monkeypatch.setattr(doctor.Policy, "load", lambda path: Idle())
    report = doctor.examine()
    assert report["ok"] is False
    assert report["self-test"]["training"].startswith("does not learn")


def test_a_package_that_is_not_there():
    assert doctor._version("no-such-package-anywhere") == "missing"
