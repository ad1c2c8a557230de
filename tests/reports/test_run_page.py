"""The page of one run: everything that it was asked, and what it was not."""

import re
import shutil
from html import unescape

import pytest

from countmorl.errors import RunError
from countmorl.reports.dossier import KEPT, read_dossier
from countmorl.reports.run_page import render_run_page
from made_dossier import COVERAGE, GUARD, JUDGEMENT, PARTS, asked_run, point

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
FIGURES = ("gains", "ways", "errors", "guard-rates", "guard-values", "curve")


def rendered(folder, **changes):
    return render_run_page(read_dossier(asked_run(folder / "run", **changes)))


def visible(page):
    """What a person reads: the page without styles, scripts and tags."""
    text = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return rendered(tmp_path_factory.mktemp("asked"))


def test_everything_that_was_asked_is_there(page):
    text = visible(page)
    for words in (
        "The policy is better than the log, by at least 1.5.",
        "Set aside: 1 of 12 episodes",
        "<b>glucose</b> observation mg/dL 40 60 120 300 400 200",
        "warning Odd.",
        "2.0 % of its way lies where nothing like it was logged",
        "model gives no number of the policy: it is lost.",
        "glucose above 380 with dose above 2 a decision 3 41",
        "dose above what was logged nearby 40.0 % 7",
        "row 17 (glucose 310.0, ward B)",
        "Counts predict the model's error.",
        "fewer than 2 logged rows near to it, a clone of whoever logged the data acts, for 1,000",
        "guarded, chosen 9.0 %",
        "glucose observation 40 400 121 50.0 % - 34 points",
        "is made to raise a false alarm for 1 % of the logs of the same kind",
    ):
        assert words in text, words
    for name in FIGURES:
        assert f'<div class="plot" id="{name}"' in page


def test_what_cannot_be_judged_is_said_in_a_sentence(tmp_path):
    said = {"verdict": "cannot be judged", "sentence": "cannot be judged: 62% was never logged."}
    text = visible(rendered(tmp_path, judgement=JUDGEMENT | said))
    assert "The policy cannot be judged: 62% was never logged." in text
    assert "By the log alone, the policy cannot be judged: 62% was never logged." in text


def test_what_nobody_asked_is_named_with_its_command(tmp_path):
    text = rendered(tmp_path, **dict.fromkeys(PARTS))
    assert "Nobody has judged this policy yet." in text
    for name in ("coverage", "judge", "guard"):
        assert f"countmorl {name} {tmp_path / 'run'}" in text
    for name in ("data", "judged", "coverage", "guard", "monitor"):
        assert f'<section id="{name}"' not in text
    assert '<section id="calibration"' in text


def test_a_judgement_of_an_earlier_policy_is_not_what_the_page_begins_with(tmp_path):
    text = visible(rendered(tmp_path, judgement=JUDGEMENT | {"policy": "another's"}))
    assert "Nobody has judged this policy yet." in text
    assert "trained on since it was told whether its policy is better than the log" in text


def test_the_same_run_gives_the_same_bytes(tmp_path, page):
    first, again = (rendered(tmp_path / name) for name in ("a", "b"))
    assert first.replace(str(tmp_path / "a"), "") == again.replace(str(tmp_path / "b"), "")


def test_a_run_without_a_way_and_a_guard_that_abstains(tmp_path):
    settings = GUARD["settings"] | {"fall_back": "abstain", "dwell": 1, "counts": "codes"}
    points = [point("unguarded", value=1.0), point("guarded", threshold=2.0, held_out=0.1)]
    guard = {**GUARD, "settings": settings, "points": points, "chosen": points[1]}
    coverage = {**COVERAGE, "ways": [], "ways_out": [], "log_next": [], "notes": ["no model"]}
    found = rendered(tmp_path, guard=guard, coverage=coverage)
    text = visible(found)
    assert "logged pairs of its code, nobody acts, for 1 step at least" in text
    assert "no model" in text
    assert 'id="guard-values"' not in found
    assert 'id="ways"' not in found


@pytest.mark.parametrize("name", KEPT)
def test_damaged_parts_end_in_a_sentence(tmp_path, name):
    broken = {key: None for key in PARTS[name]}
    with pytest.raises(RunError, match=rf"{KEPT[name][0]} is damaged.*Remove it, and ask again"):
        rendered(tmp_path, **{name: broken})


@pytest.fixture
def opened(page, tmp_path):
    if BROWSER is None:
        pytest.skip("no Chromium or Chrome is installed to open the page in")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = tmp_path / "run.html"
    path.write_text(page, encoding="utf-8")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        shown, told = browser.new_page(viewport={"width": 1200, "height": 900}), []
        shown.on("console", lambda message: told.append(message.text))
        shown.on("pageerror", lambda error: told.append(str(error)))
        shown.on("request", lambda request: told.append(request.url))
        shown.goto(path.as_uri())
        shown.wait_for_selector("#curve svg")
        yield shown, [each for each in told if each != path.as_uri()]
        browser.close()


def test_it_opens_in_a_browser_with_all_its_figures(opened, tmp_path):
    page, told = opened
    for name in FIGURES:
        place = page.locator(f"#{name} svg.main-svg").first.bounding_box()
        assert place["width"] > 200, name
        # Every figure stands below the heading of its own section.
        heading = page.locator(f"section:has(#{name}) h2").bounding_box()
        assert heading["y"] < place["y"], name
    for width in (400, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    head = page.locator("#data table").nth(1).locator("thead th").first
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert told == []
