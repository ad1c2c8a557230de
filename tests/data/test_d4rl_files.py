from countmorl.data.d4rl_files import FILES
from countmorl.data.names import D4RL


def test_the_files_are_those_of_the_names():
    assert set(FILES) == {known.file_name for known in D4RL.values()}


def test_no_two_files_are_the_same():
    assert len({digest for _, digest in FILES.values()}) == len(FILES)
