import asyncio

import pytest

from asked import ask
from countmorl.errors import DataError
from countmorl.serving.app import Answer, Limits, make_app


class Doubles:
    """Answers with the sum of an observation; 13 brings bad luck, and 99 the end of memory."""

    def __init__(self):
        self.contract = {"action": ["dose"], "unit": "µg"}

    def numbers(self, obs):
        if [13] in obs:
            raise DataError("13 is no observation.\x1b[31m")
        if [99] in obs:
            raise MemoryError
        return [Answer(action=sum(row), count=4.0, level="thin", fell_back=True) for row in obs]

    def rows(self, rows):
        return [Answer(action=None, count=None, level=None, fell_back=False, why="No.")] * len(rows)


APP = make_app(Doubles())
LOCKED = make_app(Doubles(), token="0123456789abcdef")


def test_one_and_several():
    status, headers, said = ask(APP, "POST", "/act", {"obs": [1, 2]})
    assert (status, said) == (
        200,
        {"action": 3, "count": 4.0, "level": "thin", "fell_back": True},
    )
    assert headers["content-type"] == "application/json"
    _, _, several = ask(APP, "POST", "/act", {"obs": [[1], [2]]})
    assert [each["action"] for each in several["answers"]] == [1, 2]
    _, _, row = ask(APP, "POST", "/act", {"row": {}})
    assert row == {"action": None, "count": None, "level": None, "fell_back": False, "why": "No."}


def test_contract_health_and_metrics():
    app = make_app(Doubles())
    assert ask(app, "GET", "/contract")[2] == Doubles().contract
    assert ask(app, "GET", "/health")[2] == {"ready": True}
    ask(app, "POST", "/act", {"obs": [1]})
    ask(app, "GET", "/nowhere")
    status, headers, text = ask(app, "GET", "/metrics")
    assert (status, headers["content-type"].split(";")[0]) == (200, "text/plain")
    assert 'countmorl_requests_total{route="/act",status="200"} 1.0' in text
    assert 'countmorl_requests_total{route="other",status="404"} 1.0' in text
    assert 'countmorl_actions_total{level="thin"} 1.0' in text
    assert "countmorl_fall_backs_total 1.0" in text


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/act", {"obs": [13]}, 422, "13 is no observation.\\x1b[31m"),
        ("POST", "/act", b"no JSON", 422, "The body is not JSON"),
        ("POST", "/act", {"obs": [99]}, 503, "There is no memory"),
        ("POST", "/act", {}, 422, "got keys none"),
        ("POST", "/act", b'{"obs": [1' + b"0" * 100 + b"]}", 413, "more than 64 bytes"),
        ("GET", "/act", b"", 405, "/act takes POST."),
        ("DELETE", "/contract", b"", 405, "/contract takes GET."),
        ("GET", "/../../etc/passwd", b"", 404, "There is POST /act"),
    ],
)
def test_errors_are_sentences(method, path, body, status, said):
    app = make_app(Doubles(), limits=Limits(most_bytes=64))
    code, _, answer = ask(app, method, path, body)
    assert code == status
    assert said in answer["error"]


def test_a_token_is_asked_for_everywhere_but_for_health():
    assert ask(LOCKED, "GET", "/health")[0] == 200
    for path, method in (("/contract", "GET"), ("/metrics", "GET"), ("/act", "POST")):
        for wrong in ({}, {"Authorization": "Bearer 0123456789abcdee"}, {"Authorization": "0"}):
            status, headers, said = ask(LOCKED, method, path, {"obs": [1]}, headers=wrong)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
            assert "Authorization: Bearer TOKEN" in said["error"]
        right = {"Authorization": "Bearer 0123456789abcdef"}
        assert ask(LOCKED, method, path, {"obs": [1]}, headers=right)[0] == 200


def test_a_body_that_never_ends_in_time():
    async def slowly():
        await asyncio.Event().wait()
        yield b""

    app = make_app(Doubles(), limits=Limits(seconds=0.01))
    status, headers, said = ask(app, "POST", "/act", parts=slowly())
    assert (status, headers["connection"]) == (408, "close")
    assert said["error"] == "The body did not come within 0.01 s."


def test_numbers_that_json_has_not_never_leave():
    class Odd(Doubles):
        def numbers(self, obs):
            return [Answer(action=float("nan"), count=1.0, level="thin", fell_back=False)]

    with pytest.raises(ValueError, match="Out of range float"):
        ask(make_app(Odd()), "POST", "/act", {"obs": [1]})
