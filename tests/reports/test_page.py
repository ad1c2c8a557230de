import json
import re
import shutil
import subprocess
import sys
from html import unescape

import pytest

from countmorl.errors import MissingExtraError
from countmorl.reports.page import TEMPLATES, embedded, render_page
from countmorl.reports.report import make_report
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.options import RunOptions
from made_runs import HOSTILE, make_run, make_study

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()


def visible(page):
    """What a person reads: the page without styles, scripts and tags."""
    text = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def figures(page):
    (text,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', page)
    return json.loads(text)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a whole study, with a model that several share."""
    folder = make_study(tmp_path_factory.mktemp("study"))
    make_run(folder / "model", algorithm="model", scores=())
    return render_page(make_report([folder]))


class TestContent:
    def test_every_part_is_there(self, page):
        text = visible(page)
        for words in (
            "12 runs side by side",
            "3 methods, 2 datasets",
            "Last five evaluations",
            "Best evaluation (peeking) peeks",
            "Every number is over 2 seeds",
            "All runs were made with the same versions: countmorl",
            "The paper has five seeds per number; ours here have as few as 2 seeds.",
            "not put beside ours on toy",
            "Learning curves",
            "Interquartile mean",
            "P(X > Y)",
            "models and codes, shared",
            "Counts predict the model's error.",
            "Settings that all methods share",
        ):
            assert words in text, words
        assert set(figures(page)) == {"curve-0", "curve-1", "iqm", "profiles", "improvement"}

    def test_the_same_runs_give_the_same_bytes(self, tmp_path):
        report = make_report([make_study(tmp_path, seeds=1)])
        assert render_page(report) == render_page(make_report([tmp_path]))

    def test_what_is_not_there_has_no_section(self, tmp_path):
        make_run(tmp_path / "run", algorithm="bc", scores=(), counted=False)
        text = render_page(make_report([tmp_path]))
        assert 'id="costs"' in text
        for name in ("scores", "paper", "curves", "tasks", "counts"):
            assert f'id="{name}"' not in text
        assert figures(text) == {}

    def test_returns_have_no_statistics_over_tasks(self, tmp_path):
        for seed in range(2):
            run = make_run(tmp_path / str(seed), scores=(), seed=seed)
            run.append("metrics.jsonl", {"stage": "policy", "epoch": 1, "return": 300.0})
        text = render_page(make_report([tmp_path]))
        assert "Judged by return" in visible(text)
        assert 'id="tasks"' not in text

    def test_damage_and_other_versions_are_told(self, tmp_path):
        make_run(tmp_path / "one", versions={"jax": "1"})
        make_run(tmp_path / "two", versions={"jax": "2"}, seed=1)
        make_run(tmp_path / "bad").append("metrics.jsonl", {"stage": 1})
        text = visible(render_page(make_report([tmp_path])))
        assert "The versions of jax differ between runs. jax 1, 2." in text
        assert "bad is left out" in text

    def test_settings_that_differ_are_open_where_they_are_few(self, tmp_path):
        for name, beta in (("a", 1.0), ("b", 2.0)):
            make_run(tmp_path / name, beta=beta)
        text = render_page(make_report([tmp_path]))
        assert "<details open>" in text
        assert "Settings that differ (2)" in visible(text)


def test_names_cannot_act(tmp_path):
    options = RunOptions(label=HOSTILE)
    data = DataOrigin(name='"><img src=x onerror=alert(2)> {{ 7 * 7 }}', hash="<b>" * 4)
    make_run(tmp_path / "one", options=options, data=data)
    make_run(tmp_path / "two", algorithm="bc", config={"</script>": "<i>"}, data=data)
    text = render_page(make_report([tmp_path]))
    assert text.lower().count("<script") == 3
    assert text.count("</script>") == 3
    for tag in ("<img", "<i>", "<b><b>"):
        assert tag not in text.split("plotly.js v")[0]
    assert HOSTILE in visible(text)
    assert "{{ 7 * 7 }}" in visible(text)


def test_json_stands_in_a_page():
    text = embedded({"a": "</script><!-- & >"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!-- & >"}


@pytest.mark.parametrize("package", ["jinja2", "plotly"])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package):
    make_run(tmp_path / "run")
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r'pip install "countmorl\[report\]"'):
        render_page(make_report([tmp_path]))


def test_a_page_needs_no_jax(tmp_path):
    make_run(tmp_path / "run")
    program = (
        "import sys, pathlib, countmorl.cli.report as command; "
        f"command.report((pathlib.Path({str(tmp_path)!r}),), out=pathlib.Path('page.html')); "
        "print(sorted({'jax', 'equinox', 'optax', 'h5py', 'gymnasium'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["Written: page.html", "[]"]


class Opened:
    """A page in a browser, with everything that it asked for or complained of."""

    def __init__(self, page, path):
        self.page, self.asked, self.errors = page, [], []
        page.route("**/*", self._answer)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("#curve-0 .legendtoggle")

    def _answer(self, route):
        if route.request.url.split(":")[0] in ("file", "data", "blob"):
            route.continue_()
        else:
            self.asked.append(route.request.url)
            route.abort()

    def _heard(self, message):
        if message.type in ("error", "warning", "trace"):
            self.errors.append(message.text)

    def column(self, table, number):
        cells = f"{table} tbody tr > :nth-child({number})"
        return [text.strip() for text in self.page.locator(cells).all_inner_texts()]


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("no Chromium or Chrome is installed to open the page in")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory, page):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser, file):
    """One page for all tests: opening it takes longer than they do."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    yield Opened(page, file)
    page.close()


class TestBrowser:
    @pytest.mark.parametrize("size", [(400, 800), (1400, 900)], ids=str)
    def test_it_never_scrolls_sideways(self, opened, size, tmp_path):
        opened.page.set_viewport_size({"width": size[0], "height": size[1]})
        opened.page.locator("summary").last.click()
        opened.page.wait_for_timeout(100)
        widths = opened.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1] == size[0]
        opened.page.screenshot(path=tmp_path / f"page-{size[0]}.png", full_page=True)

    def test_tables_sort_by_a_click_on_a_header(self, opened):
        table, page = "table.scores >> nth=0", opened.page
        head = page.locator(table).locator("thead th").nth(1)
        before = opened.column("#scores .protocol:first-child table", 2)
        order = []
        for _ in range(2):
            head.locator("button").click()
            order.append(head.get_attribute("aria-sort"))
            order.append(opened.column("#scores .protocol:first-child table", 2))
        falling = sorted(before, key=lambda text: -float(text.split()[0]))
        assert order == ["descending", falling, "ascending", falling[::-1]]
        assert before != falling

    def test_names_sort_as_names_and_by_the_keyboard(self, opened):
        head = opened.page.locator("#run table").first.locator("thead th").first
        head.locator("button").focus()
        opened.page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        opened.page.keyboard.press("Enter")
        assert opened.column("#run .pair > :first-child table", 1) == ["mopo", "count-morl", "bc"]
        others = opened.page.locator("#run table").first.locator("th[aria-sort=none]")
        assert others.count() == 5

    def test_a_click_on_the_legend_hides_a_curve_and_its_band(self, opened):
        assert self.shown(opened) == [True] * 6
        opened.page.locator("#curve-0 .legendtoggle").first.click()
        for _ in range(100):  # Plotly waits a moment: a second click would show the curve alone.
            if not all(self.shown(opened)):
                break
            opened.page.wait_for_timeout(50)
        assert self.shown(opened) == [False] * 2 + [True] * 4

    def shown(self, opened):
        traces = "document.getElementById('curve-0').data.map(t => t.visible ?? true)"
        return [each is True for each in opened.page.evaluate(traces)]

    def test_a_reference_method_is_chosen(self, opened):
        rows = opened.page.locator("table.improvement tbody tr")
        assert rows.count() == 6
        opened.page.select_option("#reference", "bc")
        visible = [row for row in rows.all() if row.is_visible()]
        assert len(visible) == 2
        assert [row.locator("td").first.inner_text() for row in visible] == ["bc", "bc"]

    def test_hostile_names_are_shown_as_they_are(self, browser, tmp_path):
        for seed in range(2):
            options = RunOptions(label=HOSTILE, seed=seed)
            make_run(tmp_path / str(seed), options=options)
        path = tmp_path / "page.html"
        path.write_text(render_page(make_report([tmp_path])), encoding="utf-8")
        page = browser.new_page()
        page.on("dialog", lambda dialog: pytest.fail("a name was run"))
        opened = Opened(page, path)
        assert opened.column("#run .pair > :first-child table", 1) == [HOSTILE]
        legend = page.locator("#curve-0 .legendtext").first.text_content()
        assert (legend, opened.errors, opened.asked) == (f"{HOSTILE} †", [], [])
        page.close()

    def test_in_the_dark_colours_are_lighter(self, opened):
        color = "document.getElementById('curve-0').data[0].line.color"
        assert opened.page.evaluate(color) == "#1f4e79"
        opened.page.emulate_media(color_scheme="dark")
        # Half of the way to ff: (1f + ff) / 2 = 8f, (4e + ff) / 2 = a7, (79 + ff) / 2 = bc.
        # The page is told of the change a moment later.
        for _ in range(100):
            if opened.page.evaluate(color) == "#8fa7bc":
                break
            opened.page.wait_for_timeout(20)
        assert opened.page.evaluate(color) == "#8fa7bc"

    def test_after_all_that_nothing_was_asked_for_and_nothing_failed(self, opened, tmp_path):
        opened.page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert (tmp_path / "page.png").stat().st_size > 10_000
        assert (opened.asked, opened.errors) == ([], [])


def test_the_templates_are_files_of_the_package():
    assert sorted(path.name for path in TEMPLATES.iterdir()) == [
        "auto.html",
        "macros.html",
        "report.css",
        "report.html",
        "report.js",
        "run.html",
    ]
