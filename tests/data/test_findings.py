from countmorl.data.findings import Finding


def test_a_finding_as_json():
    found = Finding("warning", "constant", "'x' never changes", (3,), 1)
    assert found.as_dict() == {
        "level": "warning",
        "kind": "constant",
        "message": "'x' never changes",
        "rows": (3,),
        "count": 1,
    }
