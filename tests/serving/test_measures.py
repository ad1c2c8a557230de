from countmorl.serving.measures import Measures


def test_everything_is_counted():
    measures = Measures()
    measures.request("/act", 200, 0.004)
    measures.request("/act", 422, 0.0001)
    measures.action("thin", True)
    measures.action("covered", False)
    measures.action(None, False)
    text = measures.text().decode()
    for line in (
        'countmorl_requests_total{route="/act",status="200"} 1.0',
        'countmorl_requests_total{route="/act",status="422"} 1.0',
        'countmorl_actions_total{level="thin"} 1.0',
        'countmorl_actions_total{level="unknown"} 1.0',
        "countmorl_fall_backs_total 1.0",
        'countmorl_seconds_bucket{le="0.005",route="/act"} 2.0',
        'countmorl_seconds_bucket{le="0.0005",route="/act"} 1.0',
    ):
        assert line in text.splitlines()


def test_two_services_do_not_share_their_counts():
    one, other = Measures(), Measures()
    one.action("thin", True)
    assert "thin" not in other.text().decode()
