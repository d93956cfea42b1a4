"""Lines travel once, byte for byte, in any order and after any crash, and arrive as somebody else's word."""

import json
import os
import shutil
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import UsageError
from roamkb.core.ids import derived_id
from roamkb.core.model import ProjectKind
from roamkb.log.share.shared_lines import SharedLine
from roamkb.log.share.shared_lines import read_shared_line
from roamkb.log.share.store.postgres import Mark
from roamkb.log.share.store.postgres import PostgresPort
from roamkb.log.share.store.postgres import ServiceAway
from roamkb.log.share.store.settings import save_settings
from roamkb.log.share.sync import NotShared
from roamkb.log.store.project_log import Log
from roamkb.log.store.share_process import is_at_work
from roamkb.log.store.share_process import share_folder
from tests import trusting
from tests.conftest import NOON
from tests.conftest import learn
from tests.human import at_a_terminal
from tests.sharing_machines import Machine
from tests.sharing_machines import SharedProject


def line_of(machine: Machine, text: str) -> SharedLine:
    """Return the line of what a machine learned."""
    (line,) = [line for line in machine.log.read_lines().learnings if text.encode() in line]
    shared = read_shared_line(line)
    assert isinstance(shared, SharedLine)
    return shared


def test_lines_arrive_byte_for_byte_and_unverified(shared: SharedProject) -> None:
    """With clocks a day apart; what counted here counts there as an adopted line does, and back home as before."""
    anna = shared.machine("a", now=NOON + timedelta(days=1))
    bert = shared.machine("b", role="bert", now=NOON - timedelta(days=1))
    id = anna.learn("Deploys are frozen on Fridays", provenance="user-stated")
    log = anna.world.open(now=anna.now).log
    log.recall("deploys")
    log.used(id, outcome="success")
    log.pin(id)
    bert.learn("The staging database is reset each night")
    for machine in (anna, bert, anna, bert):
        machine.sync()
    assert anna.lines() == bert.lines()
    assert anna.replayed() == bert.replayed()
    at_home, abroad = anna.standings()[id], bert.standings()[id]
    assert at_home.confidence > 70
    assert (abroad.confidence, abroad.verdict, abroad.learning.is_adopted) == (50, "unverified", True)
    # also where the state of the lines before was cached in this process
    assert bert.standings()[id].learning.is_adopted
    bert.learn("Lines of one's own count as ever")
    (own,) = [standing for standing in bert.standings().values() if "one's own" in standing.learning.content]
    assert own.confidence == 70


def test_twice_is_once(shared: SharedProject) -> None:
    """Without any memory of what was exchanged, all is offered and read again, and nothing changes."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    for number in range(3):
        anna.learn(("Deploys wait on Fridays", "Invoices carry one key", "Staging sleeps at night")[number])
    anna.sync()
    bert.sync()
    before, rows = bert.lines(), shared.lines()
    for machine in (anna, bert):
        shutil.rmtree(share_folder(machine.log))
        machine.sync()
        machine.sync()
    assert before == anna.lines() == bert.lines()
    assert rows == shared.lines()
    assert len(rows) == len(set(rows)) == 3
    # what came stays somebody else's word, also after the log was adopted anew
    bert.log.record_adoption()
    assert all(standing.learning.is_adopted for standing in bert.standings().values())


def test_lines_that_come_to_a_long_log_are_unverified_where_its_state_is_cached(shared: SharedProject) -> None:
    """Also in a process that had read the log before they came, as a server has."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    id = anna.learn("Deploys are frozen on Fridays")
    anna.sync()
    with bert.log.knowledge.open("a") as file:
        for number in range(200):
            long = {"id": derived_id(f"long {number}"), "type": "fact", "content": f"{number} " + "word " * 80, "v": 1}
            file.write(json.dumps(long) + "\n")
    bert.standings()
    # another log is read meanwhile, so that the next look begins with the cache
    anna.standings()
    bert.log.read_contents()
    bert.sync()
    received = bert.standings()[id]
    assert (received.confidence, received.learning.is_adopted) == (50, True)


def test_nothing_is_seen_before_its_commit_nor_past_an_earlier_one(shared: SharedProject) -> None:
    """Numbers are given out of order: a later line waits for the transaction that began before."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    bert.learn("Said first and committed last")
    anna.learn("Said last and committed first")
    late = line_of(bert, "Said first")
    with psycopg.connect(host=str(shared.server.folder), user="bert", dbname="roamkb") as slow, anna.port() as port:
        slow.execute(
            "insert into roamkb.event (project, id, line, sha256) values (%s, %s, %s, %s)",
            (shared.name, late.row_id, late.text, late.sha256),
        )
        port.offer([line_of(anna, "Said last")])
        assert [] == port.since(Mark())
        assert 1 == port.count_held_back(Mark())
        slow.commit()
        # who asked just before the commit learns that it has to ask again
        assert 2 == port.count_held_back(Mark())
        rows = port.since(Mark())
        assert [late.row_id, line_of(anna, "Said last").row_id] == [row.id for row in rows]
        assert [rows[1].id] == [row.id for row in port.since(Mark(rows[0].xid, rows[0].pos))]


def test_a_notification_wakes_who_waits(shared: SharedProject) -> None:
    """At once; and without one the wait ends by itself."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    anna.learn("Whoever waits is woken")
    with anna.port() as sender, bert.port() as receiver:
        receiver.read_facts()
        assert not receiver.wait(seconds=0.01)
        sender.offer([line_of(anna, "woken")])
        while not receiver.wait(seconds=0.1):
            pass


def test_nobody_is_woken_by_another_project(shared: SharedProject) -> None:
    """A busy one would keep the lines of all others waiting; and many notifications wake once."""
    anna, other = shared.machine("a"), replace(shared, name=f"{shared.name}x").machine("b")
    with shared.server.connect() as admin:
        admin.execute("insert into roamkb.member values ('anna', %s)", (other.project.name,))
    for machine in (anna, other):
        machine.learn("Whoever waits is woken")
    with other.port() as stranger, anna.port() as receiver, anna.port() as sender:
        receiver.read_facts()
        stranger.offer([line_of(other, "woken")])
        # what was sent before an answer comes with it
        receiver.count_held_back(Mark())
        assert not receiver.wait(seconds=0)
        for _ in range(5):
            sender.offer([line_of(anna, "woken")])
            receiver.count_held_back(Mark())
        assert receiver.wait(seconds=0)
        assert not receiver.wait(seconds=0)


def test_the_same_id_with_other_bytes_is_an_alarm(shared: SharedProject) -> None:
    """On both sides; neither line is changed, and the other one is kept aside."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    anna.learn("Deploys are frozen on Fridays")
    (line,) = anna.log.read_lines().learnings
    bert.log.knowledge.write_bytes(line.replace(b"Fridays", b"Mondays") + b"\n")
    anna.sync()
    before = bert.lines()
    for _ in range(2):
        bert.sync()
        anna.sync()
    assert [("the service has other bytes under this id", True)] == bert.aside()
    assert before == bert.lines()
    assert shared.lines() == [line.decode()]
    report = bert.world.open().log.share()
    assert report.aside == (("the service has other bytes under this id", 1),)
    assert report.aside_file == share_folder(bert.log) / "aside.jsonl"


def test_what_was_forgotten_is_not_taken_in_again(shared: SharedProject) -> None:
    """The tombstone travels; the service keeps the row, of which `forget` speaks."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    id = anna.learn("The password is on the wiki")
    anna.sync()
    bert.sync()
    ran, _ = at_a_terminal(anna.world, "forget", id)
    assert ran.status == 0, ran.err
    for machine in (anna, bert):
        machine.sync()
        assert id not in machine.standings()
    shutil.rmtree(share_folder(anna.log))
    anna.sync()
    assert not any(b"wiki" in line for line in anna.lines())
    assert any("wiki" in line for line in shared.lines())
    new = shared.machine("c")
    new.sync()
    assert not any(b"wiki" in line for line in new.lines())
    assert [] == anna.aside()


def test_lines_that_may_not_travel_stay(shared: SharedProject) -> None:
    """What was learned at work, what is too long, and what isn't a line of this version."""
    anna = shared.machine("a")
    anna.learn("Deploys are frozen on Fridays")
    line = line_of(anna, "Fridays")
    work = line.text.replace('"kind":"personal"', '"kind":"work"').replace("Fridays", "Mondays")
    assert work != line.text
    long = line.text.replace("Fridays", "x" * 70_000)
    newer = line.text.replace('"v":1', '"v":9')
    with anna.log.knowledge.open("a") as file:
        for number, text in enumerate((work, long, newer)):
            file.write(text.replace(line.entry.id[-4:], f"{number:04x}") + "\n")
        file.write("not JSON\n")
    anna.sync()
    assert shared.lines() == [line.text]


def test_only_projects_of_the_services_class_are_shared(shared: SharedProject) -> None:
    """Neither work nor what is unknown, whatever the settings say; nor by a service that isn't the one agreed to."""
    anna = shared.machine("a")
    anna.learn("Deploys are frozen on Fridays")
    for kind in (ProjectKind.WORK, ProjectKind.UNKNOWN):
        with pytest.raises(NotShared, match="nothing is exchanged"):
            anna.sync(kind=kind)
    with shared.server.connect() as admin:
        admin.execute("delete from roamkb.member where role = 'anna' and project = %s", (shared.name,))
    with pytest.raises(NotShared, match="has no project"):
        anna.sync()
    assert [] == shared.lines()


def test_variables_lead_to_no_other_service(shared: SharedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's shell sets them; the human's service file decides."""
    anna = shared.machine("a")
    monkeypatch.setenv("PGHOST", "/nowhere")
    monkeypatch.setenv("PGUSER", "postgres")
    monkeypatch.setenv("PGSERVICEFILE", "/nowhere/service.conf")
    anna.sync()
    with anna.port() as port:
        assert shared.name in port.read_facts().projects
    assert ("/nowhere", "postgres") == (os.environ["PGHOST"], os.environ["PGUSER"])


def test_only_what_a_human_agreed_to_is_shared_and_there(shared: SharedProject) -> None:
    """Whoever sets a variable, copies the machine's key or changes the service file starts no exchange."""
    anna = shared.machine("a")
    with anna.port() as port:
        settings = anna.settings(service_id=port.read_facts().id)
        settings = replace(settings, section=port.section)
    save_settings(anna.log.shared_settings, settings)
    forged = anna.world.home / "forged" / "roamkb"
    shutil.copytree(anna.world.state, forged)
    log = Log(anna.world.personal, forged, account_home=anna.world.home)
    save_settings(forged / "shared" / anna.log.shared_settings.name, settings)
    assert anna.log.shared_settings.exists()
    assert log.is_adopted
    assert not log.shared_settings.exists()
    assert not Log(anna.world.personal, anna.world.state).shared_settings.exists()
    path = anna.world.home / ".pg_service.conf"
    text = path.read_text()
    path.write_text(f"# mine\n{text}password=changed each month\n")
    PostgresPort(settings).read_facts()
    for other in (
        "host=/tmp/mallory\n" + text,
        text.replace("user=anna", "user=mallory"),
        text + "hostaddr=203.0.113.9\n",
    ):
        path.write_text(text.partition("\n")[0] + "\n" + other)
        with pytest.raises(UsageError, match="agreed to"):
            PostgresPort(settings)


def test_a_server_that_was_restored_is_read_anew(shared: SharedProject) -> None:
    """Its transactions are numbered again, and a mark of before would hide what comes."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    anna.learn("Said before the restore")
    anna.sync()
    bert.sync()
    progress = share_folder(bert.log) / "progress.json"
    progress.write_text(progress.read_text().replace('"xid": ', '"xid": 99'))
    anna.learn("Told after the database came back")
    anna.sync()
    bert.sync()
    assert anna.lines() == bert.lines()


def test_without_the_service_nothing_is_lost_and_nobody_waits(shared: SharedProject) -> None:
    """It stops; what is learned meanwhile goes there once it is back."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    shared.server.stop()
    try:
        anna.learn("Learned while the service was away")
        with pytest.raises(ServiceAway):
            anna.sync()
    finally:
        shared.server.start()
    anna.sync()
    bert.sync()
    assert anna.lines() == bert.lines() != []


def test_a_process_of_its_own_carries_the_lines(shared: SharedProject) -> None:
    """A human turns it on, the commands go on at once, and the next question elsewhere is answered by it."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    said = ("share", "--service", "lantern", "--name", shared.name)
    refused = trusting.run(anna.world, *said)
    assert refused.status == 2
    assert not anna.log.shared_settings.exists()
    for machine in (anna, bert):
        ran, shown = trusting.say_at_terminal(machine.world, *said)
        assert ran.status == 0, ran.err
        assert "can't be taken back" in shown
    learned = trusting.run(anna.world, "learn", "Deploys are frozen on Fridays")
    assert learned.status == 0
    while not (found := trusting.run(bert.world, "recall", "deploys", "--json").json["learnings"]):
        pass
    assert [50] == [round(100 * each["confidence"]) for each in found]
    status = trusting.run(bert.world, "share", "status", "--json").json
    assert (status["state"], status["received"], status["project"]) == ("shared", 1, shared.name)
    assert "ok shared log" in trusting.run(bert.world, "doctor").out
    for machine in (anna, bert):
        assert trusting.run(machine.world, "share", "off").out == "this log isn't shared\n"


def test_beside_a_server_lines_come_by_themselves(shared: SharedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any command there, as long as it lives; and no longer than the log is shared."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    with bert.port() as port:
        save_settings(bert.log.shared_settings, bert.settings(service_id=port.read_facts().id))
    monkeypatch.setenv("HOME", str(bert.world.home))
    ServedKnowledgeBase(bert.world.open().environment).follow_shared_log()
    anna.learn("Deploys are frozen on Fridays")
    anna.sync()
    while anna.lines() != bert.lines():
        pass
    bert.log.shared_settings.unlink()
    while is_at_work(share_folder(bert.log)):
        pass
    before = bert.lines()
    anna.learn("Deploys are possible on Mondays")
    anna.sync()
    assert anna.lines() != before == bert.lines()


def test_the_boundary_refuses_to_share_work_by_a_personal_service(shared: SharedProject) -> None:
    """Nobody is asked."""
    anna = shared.machine("a")
    assert anna.world.run("init", cwd=anna.world.work).status == 0
    learn(anna.world.open(anna.world.work).log, "Invoices are signed with one key")
    for words in (("--class", "personal"), ()):
        ran, shown = at_a_terminal(
            anna.world, "share", "--service", "lantern", "--name", shared.name, *words, cwd=anna.world.work
        )
        assert (ran.status, shown) == (2, "")
        assert "nothing is exchanged" in ran.err
