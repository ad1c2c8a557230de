from countmorl.reports.groups import group
from countmorl.reports.settings import settings_of, versions_of
from countmorl.runs.manifest import DataOrigin
from made_runs import make_facts


def facts(algorithm, config, own=(), data="toy"):
    origin = DataOrigin(name=data, hash="")
    return make_facts(1.0, algorithm=algorithm, config=config, own=own, data=origin)


def test_shared_ones_once_and_others_per_method():
    study = group(
        [
            facts("bc", {"epochs": 10, "rate": 1e-3}),
            facts("mopo", {"epochs": 10, "rate": 3e-4, "model": {"width": 200}}),
        ]
    )
    settings = settings_of(study)
    assert settings.shared == {"epochs": "10"}
    assert settings.differing == {"model.width": ("-", "200"), "rate": ("0.001", "0.0003")}


def test_a_setting_of_ones_own_is_never_shared_by_two_algorithms():
    runs = [facts("td3-bc", {"weight": 2.5}, ("weight",)), facts("mopo", {"weight": 2.5})]
    assert settings_of(group(runs)).differing == {"weight": ("2.5", "2.5")}
    assert settings_of(group(runs[:1])).shared == {"weight": "2.5"}


def test_values_that_go_by_dataset():
    runs = [facts("bc", {"rate": 1}), facts("bc", {"rate": 2}, data="other")]
    assert settings_of(group(runs)).shared == {"rate": "2 / 1"}


def test_versions():
    one = make_facts(1.0, versions={"jax": "1", "numpy": "2"})
    two = make_facts(1.0, versions={"jax": "3", "numpy": "2"})
    assert versions_of([one, one]) == ({"jax": "1", "numpy": "2"}, [])
    assert versions_of([two, one]) == ({"jax": "1, 3", "numpy": "2"}, ["jax"])
    older = make_facts(1.0, versions={"jax": "1"})
    assert versions_of([one, older])[1] == ["numpy"]
