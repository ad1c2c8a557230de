import pytest

from countmorl.errors import RunError
from countmorl.runs.place import claim, discard, drop_leftovers, refuse_links


class TestClaim:
    def test_a_new_folder_is_made(self, tmp_path):
        assert claim(tmp_path / "deep" / "run") is True
        assert (tmp_path / "deep" / "run").is_dir()

    @pytest.mark.parametrize("name", [".lock", ".config.json.7-0123456789abcdef.tmp"])
    def test_a_blank_one_is_taken_and_not_ours(self, tmp_path, name):
        (tmp_path / name).touch()
        assert claim(tmp_path) is False

    @pytest.mark.parametrize("name", ["notes", "x.tmp", "config.json", ".config.json.x.tmp"])
    def test_any_other_is_taken_already(self, tmp_path, name):
        (tmp_path / name).touch()
        with pytest.raises(RunError, match="exists already"):
            claim(tmp_path)

    def test_a_file_in_the_way_is_said(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(RunError, match="is not a folder"):
            claim(tmp_path / "file" / "run")


class TestDiscard:
    @pytest.fixture
    def folder(self, tmp_path):
        for name in ("config.json", "stages/model.safetensors", "tensorboard/events"):
            path = tmp_path / "run" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path / "run"

    def test_a_folder_that_was_made_goes_too(self, folder):
        discard(folder, made=True)
        assert not folder.exists()

    def test_a_folder_that_was_there_stays(self, folder):
        discard(folder, made=False)
        assert list(folder.iterdir()) == []

    def test_files_of_others_stay(self, folder):
        (folder / "notes").touch()
        discard(folder, made=True)
        assert [path.name for path in folder.iterdir()] == ["notes"]

    def test_what_a_link_points_to_stays(self, folder, tmp_path):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious" / "file").touch()
        (folder / "policies").symlink_to(tmp_path / "precious")
        discard(folder, made=True)
        assert (tmp_path / "precious" / "file").exists()


def test_links_are_found_wherever_we_write(tmp_path):
    run = tmp_path / "run"
    (run / "policies").mkdir(parents=True)
    (run / "wandb").mkdir()
    (run / "wandb" / "latest").symlink_to(tmp_path)  # We never write there.
    refuse_links(run)
    (run / "policies" / "epoch-1.safetensors").symlink_to(tmp_path / "x")
    with pytest.raises(RunError, match=r"epoch-1.safetensors is a link.*Put a copy"):
        refuse_links(run)


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path):
    ours = [
        ".config.json.12.tmp",
        ".config.json.12-0123456789abcdef.tmp",
        ".policy.safetensors.7-0123456789abcdef.tmp",
        "stages/.model.safetensors.9-0123456789abcdef.tmp",
        "policies/.epoch-3.safetensors.9.tmp",
    ]
    others = [
        "notes.tmp",
        ".curve.png.3.tmp",
        ".config.json.tmp",
        "policy.safetensors",
        "a/b/.x.tmp",
    ]
    for name in ours + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    drop_leftovers(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(others)
