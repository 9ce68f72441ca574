"""Plans in the browser: what is typed is kept, understood as the command line does, computed beside the service, and
started once."""

import contextlib
import os
import stat
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import msgspec
import pytest
from click.testing import CliRunner

from helpers.service.html_pages import FORM, HERE, HOSTILE, Tags
from helpers.service.served_experiments import InProcessService
from prudent import PrudentError
from prudent.cli import main
from prudent.service.http.reading import read_form, safe_name
from prudent.service.pages.app import POLICY
from prudent.service.pages.planning import started_with
from prudent.service.plans import computing, planner
from prudent.service.plans import drafts as drafts_module
from prudent.service.plans.computing import FOUND
from prudent.service.plans.drafts import LATE, Drafts
from prudent.service.plans.questions import asked, look, rows_of
from prudent.service.problems import RequestError
from prudent.service.work import children as processes

CSV = "variant,revenue\n" + "".join(
    f"{name},{value}\n" for name, start in (("old", 40), ("<b>new", 55)) for value in range(start, start + 24, 3)
)
FIELDS = {
    "title": "Shop", "unit": "EUR", "group": "variant", "outcome": "revenue", "smallest": "0", "largest": "100",
    "less": "5", "steadier": "25", "instead": "30", "people": "60", "draws": "10", "runs": "2", "seed": "3",
    "policies": "exp-exp; mv-lcb",
}  # fmt: skip


def multipart(fields, file=None, name="shop.csv"):
    """A form with a file, as browsers send it; the body and its header."""
    parts = [f'--XX\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{text}' for key, text in fields.items()]
    body = "\r\n".join(parts).encode()
    if file is not None:
        head = f'\r\n--XX\r\nContent-Disposition: form-data; name="pilot"; filename="{name}"\r\nContent-Type: text/csv'
        body += f"{head}\r\n\r\n".encode() + (file if isinstance(file, bytes) else file.encode())
    return body + b"\r\n--XX--\r\n", ("content-type", "multipart/form-data; boundary=XX")


class Person:
    """Somebody with a token at a browser."""

    def __init__(self, site, scope="admin"):
        self.site = site
        self.cookie = ("cookie", f"prudent={site.session(scope)}")

    def get(self, path, *headers):
        return self.site("GET", path, token=None, headers=[self.cookie, *headers])

    def post(self, path, fields=(), file=None, headers=(HERE,), **about):
        body, kind = multipart(fields, file, **about) if file is not None else (urlencode(fields).encode(), FORM)
        return self.site("POST", path, body, token=None, headers=[kind, *headers, self.cookie])

    def new(self):
        """The address of a new plan."""
        return self.post("/plan").headers["location"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The application with its pages; plans are computed only where a test lets them be."""
    site = InProcessService(str(tmp_path_factory.mktemp("plans") / "a.db"))
    site.pages()
    yield site
    site.app.site.planning.close()
    site.close()


@pytest.fixture(scope="module")
def person(site):
    return Person(site)


@contextlib.contextmanager
def planning(site, nice=0, **settings):
    """Plans are computed, by a planner of this test."""
    page = site.app.site.planning
    page.planner, old = planner.Planner(page.drafts, alone=True, folder=page.planner.folder, **settings), page.planner
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "NICE", nice)
        page.planner.start()
        try:
            yield page.planner
        finally:
            page.planner.close()
            page.planner = old


def until(happened, seconds=240.0):
    """Wait for it."""
    limit = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < limit
        time.sleep(0.02)


def state_of(site, address):
    return site.app.site.planning.drafts.find(address.rpartition("/")[2]).state


@pytest.fixture(scope="module")
def computed(site, person):
    """The address of a plan from a file, computed in a process of its own."""
    address = person.new()
    assert person.post(address, {**FIELDS, "do": "compute"}, CSV).status == 303
    assert state_of(site, address) == "waiting"
    assert "This plan waits" in person.get(address).body.decode()
    with planning(site):
        until(lambda: state_of(site, address) not in ("waiting", "computing"))
    assert state_of(site, address) == "done", site.app.site.planning.drafts.find(address.rpartition("/")[2]).words
    return address


def finished(site, person, computed):
    """Another plan that was computed, with the same result."""
    drafts = site.app.site.planning.drafts
    name = person.new().rpartition("/")[2]
    drafts.enqueue(name)
    drafts.end(drafts.take(), "done", files={FOUND: drafts.file(computed.rpartition("/")[2], FOUND)})
    return f"/plan/{name}"


def test_a_plan_in_the_browser_is_that_of_the_command_line(site, person, computed, tmp_path, monkeypatch):
    """The same page, byte for byte, with its numbers and pictures; and the same experiment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.csv").write_text(CSV)
    words = (
        "--pilot shop.csv --group variant --outcome revenue --unit EUR --support 0 100 --accept 5 25 30 --horizon 60"
    )
    words += " --draws 10 --runs 2 --seed 3 --policy exp-exp --policy mv-lcb --out shop"
    done = CliRunner().invoke(main, ["plan", *words.split()])
    assert done.exit_code == 0, done.output
    file = person.get(f"{computed}/plan.html")
    assert file.body == (tmp_path / "shop/plan.html").read_bytes()
    assert "attachment" in file.headers["content-disposition"]
    page = person.get(computed).body.decode()
    for picture in ("promise", "options", "people"):
        found = person.get(f"{computed}/{picture}.svg")
        assert found.body == (tmp_path / f"shop/figures/{picture}.svg").read_bytes()
        assert f'src="{computed}/{picture}.svg"' in page
        assert "sandbox" in found.headers["content-security-policy"]
    found = msgspec.json.decode(site.app.site.planning.drafts.file(computed.rpartition("/")[2], FOUND))
    assert found["experiment"] == msgspec.json.decode((tmp_path / "shop/experiment.json").read_bytes())
    assert all(line in Tags(page).words for line in found["answer"])


def test_what_a_file_says_is_only_text(person, computed):
    answer = person.get(computed)
    page = Tags(answer.body.decode())
    assert "<b>new" in page.words
    assert "b" not in {tag for tag, _ in page.tags}
    assert answer.headers["content-security-policy"] == POLICY
    assert not any(name.startswith("on") or name == "style" for _, given in page.tags for name in given)


def test_scripts_are_short_and_a_page_needs_five_requests(person):
    scripts = [person.get(f"/static/{name}").body for name in ("script.js", "plan.js")]
    assert 0 < sum(len(script.splitlines()) for script in scripts) <= 160
    page = Tags(person.get(person.new()).body.decode())
    wanted = [given for tag, given in page.tags if tag in ("script", "link", "img") and given.get("href") != "data:,"]
    assert len(wanted) == 4


def test_starting_creates_the_experiment_once(site, person, computed):
    address = finished(site, person, computed)
    refused = person.post(f"{address}/start", {"name": "One Two"})
    assert refused.status == 422
    assert (
        "name: must be up to 63 small letters, digits and hyphens, got 'One Two'" in Tags(refused.body.decode()).words
    )
    assert person.post(f"{address}/start", {"name": "one"}).status == 409, "another experiment has this name"
    given = {"name": "from-a-plan", "fallback": "old", "window": "1 h", "default": "0", "limit": "30", "then": "retire"}
    for again in ({}, {}, {"name": "another"}):
        answer = person.post(f"{address}/start", {**given, **again})
        assert (answer.status, answer.headers["location"]) == (303, "/e/from-a-plan")
    spec = site.service.view("from-a-plan").state.spec
    assert (spec.arms, spec.unit, spec.support, spec.fallback) == (["<b>new", "old"], "EUR", (0.0, 100.0), "old")
    assert (spec.rewards.window, spec.rewards.default) == (3600.0, 0.0)
    assert (spec.guardrails[0].below, spec.guardrails[0].then) == (30.0, "retire")
    assert site.service.store.experiment("another") is None
    page = Tags(person.get(address).body.decode())
    assert ("a", {"href": "/e/from-a-plan"}) in page.tags
    assert "This experiment was started" in page.words


def test_a_start_that_was_cut_off_goes_on_with_the_same_experiment(site, person, computed):
    """The spec is kept first, so that whoever presses again after a crash creates what was meant then."""
    address = finished(site, person, computed)
    drafts = site.app.site.planning.drafts
    found = msgspec.json.decode(drafts.file(address.rpartition("/")[2], FOUND))["experiment"]
    del found["pilot"]
    drafts.start(address.rpartition("/")[2], msgspec.json.encode({**found, "name": "cut-off"}).decode())
    assert person.post(f"{address}/start", {"name": "other"}).headers["location"] == "/e/cut-off"
    assert site.service.view("cut-off").state.status == "running"


def test_begun_from_nothing_the_horizon_is_that_of_people(site, person, computed):
    """The pilot's outcomes are rounds of the policy only if it begins with them."""
    address = finished(site, person, computed)
    drafts = site.app.site.planning.drafts
    found = msgspec.json.decode(drafts.file(address.rpartition("/")[2], FOUND))["experiment"]
    assert found["horizon"] == 60 + sum(map(len, found["pilot"].values()))
    assert found["floor"] == 0.0
    made = started_with(found, {"name": "one", "begin": "nothing"})
    assert (made["horizon"], "pilot" in made) == (60, False)
    assert started_with(found, {"name": "one", "begin": "pilot"})["horizon"] == found["horizon"]


def test_the_form_asks_all_that_the_command_asks():
    """Risk, sum, month, beginning, model and seconds; and a field that is empty is what the command does without it."""
    rows = {"kind": "number", "name-1": "a", "low-1": "1", "least-1": "2", "name-2": "b", "low-2": "2", "least-2": "3"}
    given = {"measure": "cvar(0.05)", "period": "200", "month": "3,000.0".replace(",", ""), "begin": "nothing",
             "model": "normal", "seconds": "90"}  # fmt: skip
    question = asked({**rows, **given})
    assert (str(question.risk), question.seconds) == ("cvar(alpha=0.05)", 90.0)
    assert {name: question.facts[name] for name in ("begin", "model", "period", "month")} == {
        "begin": False, "model": "normal", "period": 200, "month": 3_000,
    }  # fmt: skip
    seen = look({**rows, **given}, None)
    assert (seen.wrong, seen.judged) == ("", True)
    assert any("of the sum of 200 outcomes" in note for note in seen.notes)
    usual = asked(rows)
    assert (usual.risk, usual.facts["begin"], usual.facts["model"], usual.seconds) == (None, True, "pilot", 30.0)
    for wrong in ({"rho": "5"}, {"seconds": "1e6"}, {"period": "half"}):
        assert look({**rows, **given, **wrong}, None).wrong


def test_who_may_plan(site, person, computed):
    assert site("GET", computed, token=None).headers["location"] == f"/login?then={computed}"
    assert site("GET", f"{computed}/live", token=None).status == 401
    for scope in ("read", "decide"):
        assert Person(site, scope).get("/plan").status == 403
        assert Person(site, scope).post("/plan").status == 403
    other = Person(site, site.service.tokens.create(["admin"])[0])
    for answer in (other.get(computed), other.post(computed, {"do": "delete"}), other.post(f"{computed}/start")):
        assert answer.status == 404
    assert computed not in other.get("/plan").body.decode()
    assert computed in person.get("/plan").body.decode()
    assert person.post("/plan", headers=(("sec-fetch-site", "cross-site"),)).status == 403
    some = Person(site, site.service.tokens.create(["admin"], ["mine"])[0])
    address = finished(site, some, computed)
    assert some.post(f"{address}/start", {"name": "yours"}).status == 403
    assert some.post(f"{address}/start", {"name": "mine"}).headers["location"] == "/e/mine"


def test_what_is_typed_is_kept_however_little_it_makes_sense(person):
    address = person.new()
    typed = {"title": HOSTILE[0], "name-1": HOSTILE[1], "low-1": "a lot", "people": "many"}
    assert person.post(address, {**typed, "do": "keep"}, CSV, name="../../x%22'y.csv").status == 204
    page = Tags(person.get(address).body.decode())
    values = {given.get("name"): given.get("value") for tag, given in page.tags if tag == "input"}
    assert {name: values[name] for name in typed} == typed
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "i", "b"})
    assert "x_22_y.csv" in page.words
    assert ".." not in page.words.replace("...", "")
    assert person.post(address, {**typed, "do": "compute"}).status == 422
    for text in ("\0", "a\n\x1b"):
        assert person.post(address, {"laws": text, "do": "keep"}).status == 422
    assert person.post(address, {**typed, "laws": "a: bernoulli(0.1)\r\n\u00a0", "do": "keep"}).status == 204
    assert person.post(address, {**typed, "drop": "yes", "do": "check"}).status == 303
    assert "The file is" not in person.get(address).body.decode()


def test_the_form_grows_and_a_plan_can_be_deleted(person):
    address = person.new()
    full = {f"name-{i}": f"option {i}" for i in range(1, 5)}
    person.post(address, {**full, "do": "more"})
    assert 'name="name-6"' in person.get(address).body.decode()
    assert rows_of({}) == 4
    assert person.post(address, {"do": "delete"}).headers["location"] == "/plan"
    assert person.get(address).status == 404


def test_without_rho_the_page_says_who_wins_and_asks(person):
    address = person.new()
    given = {"kind": "number", "name-1": "calm", "low-1": "4", "least-1": "1", "name-2": "bold", "low-2": "5",
             "least-2": "3"}  # fmt: skip
    answer = person.post(address, {**given, "do": "compute"})
    words = Tags(answer.body.decode()).words
    assert answer.status == 422
    assert "How much risk do you tolerate?" in words
    assert "Below ρ = 8 the steadiest option wins: calm." in words


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"name-1": "a", "low-1": "0.1", "high-1": "0,4"}, ["a: bernoulli(0.1..0.4)"]),
        (
            {"kind": "number", "name-2": "a", "low-2": "-1", "least-2": "0.1", "most-2": "2"},
            ["a: gaussian(-1, 0.01..4)"],
        ),
        ({"laws": "2 * bernoulli(0.5)\n\nx: uniform(0, 1)"}, ["2 * bernoulli(0.5)", "x: uniform(0, 1)"]),
        ({"low-7": "0.5"}, ["option 7: bernoulli(0.5)"]),
    ],
)
def test_rows_are_guesses_as_the_command_line_takes_them(fields, texts):
    assert asked(fields).texts == texts


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name-1": "a"}, "a: its share of successes is missing"),
        ({"name-1": "a", "low-1": "x"}, "a, share of successes: 'x' is no number"),
        ({"name-1": "a", "low-1": "1,234"}, "may mean two numbers; write 1234 or 1,2340"),
        ({"name-1": "a(b"}, r"option 1: its name must be without \( and :"),
        ({"kind": "number", "name-1": "a", "low-1": "1", "least-1": "-1"}, "must not be negative"),
        ({"smallest": "1"}, "give both, or neither"),
        ({"less": "1"}, "the smaller standard deviation is missing"),
        ({"less": "1", "rho": "1"}, "but not both"),
        ({"people": "1 2.5"}, "must be a whole number, got '2.5'"),
        ({"people": "1e9"}, "from 1 to 1,000,000"),
        ({"draws": "5"}, "at least 10 draws"),
        ({"draws": "1e6"}, "at most 20,000 trials"),
    ],
)
def test_what_cannot_be_understood_is_named_as_the_form_does(fields, words):
    with pytest.raises(PrudentError, match=words):
        asked(fields)


@pytest.mark.parametrize(
    ("data", "fields", "words"),
    [
        (b"a,b\n1,2\n3,x\n4,5\n", {}, "shop.csv, line 3: b is 'x', not a finite number"),
        (CSV.encode(), {}, "shop.csv: column 'variant' holds no outcomes but old, <b>new"),
        (CSV.encode(), {}, "give “column that names the option”: variant, “column of outcomes”: revenue"),
        ("a,b\n1,ü\n".encode("latin-1"), {}, "cannot read shop.csv, line 2: not UTF-8 text"),
        (b"\x00\x01", {}, "cannot read shop.csv: it holds zero bytes"),
        (b"", {}, "shop.csv: must hold a line of names"),
        (CSV.encode(), {"group": "varian"}, "shop.csv: no column 'varian'; did you mean variant?"),
        (b"a\n1\n2\n4\n", {}, "options: give from 2 to 50, as guesses or in a file, got 1"),
        (b"a\x07,b\n1,2\n3,4\n5,7\n", {}, "must be text without control characters"),
        (b"a,b\n1,2\n3,4\n5,7\n", {"smallest": "0", "largest": "6"}, "must lie in the support"),
        (b"a,b\n1,2\n3,4\n5,7\n", {"policies": "mv-lbc"}, "did you mean mv-lcb"),
    ],
)
def test_a_file_is_read_as_the_command_line_reads_it(data, fields, words, tmp_path, monkeypatch):
    seen = looked(fields, data, tmp_path, monkeypatch)
    assert words in seen.wrong
    assert "/" not in seen.wrong.replace("n/a", "")
    assert "--" not in seen.wrong


def looked(fields, data, folder, monkeypatch):
    """What the child process understands, in its folder."""
    monkeypatch.chdir(folder)
    Path("shop.csv").write_bytes(data)
    return look(fields, Path("shop.csv"))


def test_a_file_has_a_thousand_columns_at_most(person):
    """More would take the square of their number, and make a page that nobody can choose from."""
    rows = [",".join(f"{kind}{i}" for i in range(1001)) for kind in ("a", "1", "2", "4")]
    address = person.new()
    assert person.post(address, {"do": "check"}, "\n".join(rows)).status == 303
    page = person.get(address).body.decode()
    assert "must have at most 1,000 columns, got 1,001; leave out those that are not needed" in page
    assert len(page) < 20_000


def test_remarks_on_a_file_and_its_columns_are_shown(tmp_path, monkeypatch):
    data = b"variant,x\na,1\na,\na,2\na,4\nb,1\nb,2\nb,5\n"
    seen = looked({"group": "variant"}, data, tmp_path, monkeypatch)
    assert (seen.wrong, seen.columns, seen.notes[0]) == ("", ["variant", "x"], "shop.csv: x: 1 of 7 missing")


def test_a_file_that_is_too_large_is_refused_in_words(person):
    address = person.new()
    answer = person.post(address, {"do": "check"}, b"a,b\n" + b"1,2\n" * 270_000)
    assert answer.status == 413
    assert "must have at most 1,048,576 bytes" in Tags(answer.body.decode()).words
    answer = person.post(address, {"do": "check"}, b"1,2\n" * 600_000)
    assert answer.status == 413
    assert "<h1>The body is too large</h1>" in answer.body.decode()


@pytest.mark.parametrize(
    "body", [b"", b"--XX", b"--XX\r\n\r\nx\r\n--XX--", multipart({"a": "b"})[0][:-4], b"--XX\r\n" * 400]
)
def test_a_form_that_is_cut_short_is_refused(body):
    with pytest.raises(RequestError, match="cannot be read"):
        read_form({b"content-type": b"multipart/form-data; boundary=XX"}, body)


def test_a_form_is_read_with_its_file():
    body, (_, kind) = multipart({"a": "ü\r\n1"}, b"\x00\r\n\xff", name="C:\\x\\y.txt")
    assert read_form({b"content-type": kind.encode()}, body) == (
        {"a": "ü\r\n1"},
        {"pilot": ("y.txt.csv", b"\x00\r\n\xff")},
    )
    assert [safe_name(name) for name in ("", "..", "/a/b.csv", "ü 1.CSV", ".csv")] == [
        "pilot.csv", "pilot.csv", "b.csv", "ü 1.CSV", "csv.csv",
    ]  # fmt: skip


# The queue


def test_drafts_wait_for_their_turn_and_one_is_computed_at_a_time(service, clock):
    drafts = Drafts(service.store, service.write, clock)
    first, second = (drafts.create(1) for _ in range(2))
    for name in (second, first):
        drafts.enqueue(name)
    assert drafts.ahead(drafts.find(first)) == 1
    taken = drafts.take()
    assert (taken.id, taken.state, drafts.take()) == (second, "computing", None)
    assert [drafts.ahead(each) for each in (taken, drafts.find(first))] == [0, 1]
    assert drafts.going_on(taken, 3, 10)
    assert drafts.find(second).done == 3
    drafts.cancel(second)
    assert not drafts.going_on(taken, 4, 10)
    drafts.end(taken, "done", files={"x": b"y"})
    assert (drafts.find(second).state, drafts.file(second, "x")) == ("editing", None)
    lost = drafts.take()
    assert lost.id == first
    clock.advance(LATE / 1000 + 1)
    again = drafts.take()
    assert (again.id, again.attempt) == (first, 2)
    drafts.end(lost, "editing", "too late")
    assert drafts.find(first).state == "computing"
    drafts.end(again, "done", files={"x": b"\x00"})
    assert (drafts.find(first).state, drafts.file(first, "x")) == ("done", b"\x00")


def test_a_copy_has_what_was_typed_and_the_file(service, clock, monkeypatch):
    drafts = Drafts(service.store, service.write, clock)
    name = drafts.create(1)
    drafts.save(name, {"title": "x"}, ("a.csv", b"1"))
    copy = drafts.find(drafts.create(1, drafts.find(name)))
    assert (copy.form, copy.file, drafts.file(copy.id, "pilot")) == ({"title": "x"}, "a.csv", b"1")
    monkeypatch.setattr(drafts_module, "MOST", 2)
    with pytest.raises(RequestError, match="there are 2 plans already; delete some"):
        drafts.create(1)
    assert drafts.create(2)
    monkeypatch.setattr(drafts_module, "LONGEST_QUEUE", 1)
    drafts.enqueue(name)
    with pytest.raises(RequestError, match="1 plans are waiting already"):
        drafts.enqueue(copy.id)
    with pytest.raises(RequestError, match="it is being computed"):
        drafts.save(name, {}, None)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Lets a shell script stand for the process that computes in $folder."""

    def put(text):
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\nread job folder\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(processes, "sys", SimpleNamespace(executable=str(path)))
        monkeypatch.setattr(planner, "SAY", 0.0)

    return put


@pytest.fixture
def waiting(site, person):
    """The address of a plan that waits."""
    address = person.new()
    assert person.post(address, {**FIELDS, "do": "compute"}, CSV).status == 303
    yield address
    person.post(address, {"do": "delete"})


needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


@needs_shell
def test_progress_is_shown_and_cancelling_ends_the_process(site, person, waiting, program, tmp_path):
    program(f'echo $$ > {tmp_path}/pid; echo "30 120" > "$folder/progress.txt"; exec sleep 600')
    with planning(site):
        until(lambda: "30 of 120 simulations are done, 25 %" in person.get(waiting).body.decode())
        live = person.get(f"{waiting}/live")
        assert "25 %" in live.body.decode()
        assert person.get(f"{waiting}/live", ("if-none-match", live.headers["etag"])).status == 304
        assert person.post(waiting, {"do": "cancel"}).status == 303
        assert "The computation was cancelled" in person.get(waiting).body.decode()
        assert 'value="Shop"' in person.get(f"{waiting}/live", ("if-none-match", live.headers["etag"])).body.decode()
        pid = int((tmp_path / "pid").read_text())
        until(lambda: not is_alive(pid))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_shell
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('echo "too few <b>" > "$folder/.refusal"; echo 1; sleep 600', "too few &lt;b&gt;"),
        ("echo broken >&2; exit 7", "An error of the service, which its log describes."),
        ("exec sleep 600", "took more than 0.01 minutes"),
    ],
    ids=["refused", "broken", "too long"],
)
def test_a_plan_that_fails_says_why_and_can_be_changed(site, person, waiting, program, text, words):
    program(text)
    with planning(site, longest=0.6 if "exec sleep" in text else 600.0):
        until(lambda: state_of(site, waiting) == "editing")
    page = person.get(waiting).body.decode()
    assert words in page
    assert 'value="Shop"' in page


@needs_shell
def test_a_database_that_does_not_answer_for_a_moment_ends_no_plan(site, waiting, program, monkeypatch):
    program('sleep 1; echo "after all" > "$folder/.refusal"; echo 1')
    refused = []

    def busy(*given):
        refused.append(given)
        raise RequestError("busy", "many requests are waiting")

    monkeypatch.setattr(site.app.site.planning.drafts, "going_on", busy)
    with planning(site):
        until(lambda: state_of(site, waiting) == "editing")
    assert refused
    assert site.app.site.planning.drafts.find(waiting.rpartition("/")[2]).words == "after all\n"


def test_whoever_computes_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    computing.keep_progress(0.4)
    computing.keep_progress(0.9)
    assert (tmp_path / "progress.txt").read_text() == "900 1000"


@needs_shell
def test_a_service_that_stops_goes_on_with_the_plan_at_its_next_start(site, person, waiting, program):
    program('echo half > "$folder/half"; echo "1 2" > "$folder/progress.txt"; exec sleep 600')
    with planning(site):
        until(lambda: "1 of 2 simulations" in person.get(waiting).body.decode())
    assert state_of(site, waiting) == "waiting"
    drafts = site.app.site.planning.drafts
    assert drafts.take() is not None  # and is killed
    program('cat "$folder/half" > "$folder/.refusal"; echo 1')
    with planning(site):
        until(lambda: state_of(site, waiting) == "editing")
    assert drafts.find(waiting.rpartition("/")[2]).words == "half\n"  # it went on with what was there
    assert list(site.app.site.planning.planner.folder.iterdir()) == []
