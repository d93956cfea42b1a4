"""What a server that lies can do: keep lines back and bring lines that are unverified, and nothing else."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from roamkb.core.errors import RoamkbError
from roamkb.log.share.store.postgres import Mark
from roamkb.log.share.store.postgres import PostgresPort
from roamkb.log.share.store.postgres import ServiceAway
from tests.lying_server import Lie
from tests.lying_server import data_row
from tests.lying_server import lying_server
from tests.lying_server import values_of
from tests.sharing_machines import Machine
from tests.sharing_machines import SharedProject

TEXTS = ("Deploys wait on Fridays", "Invoices carry one key", "Staging sleeps at night", "Backups run on Sundays")
#: Columns of a row of the log.
ROW_WIDTH = 5


def is_line(kind: bytes, message: bytes) -> bool:
    """Say whether a message is a line of the log."""
    values = values_of(message) if kind == b"D" else []
    return len(values) == ROW_WIDTH and values[-1].startswith(b"\\x")


def twice(kind: bytes, message: bytes) -> bytes:
    """Repeat each line."""
    return message * 2 if is_line(kind, message) else message


def backwards() -> Lie:
    """Hold back the lines of each answer, and send them in the other order."""
    held: list[bytes] = []

    def lie(kind: bytes, message: bytes) -> bytes:
        if is_line(kind, message):
            held.insert(0, message)
            return b""
        lines, held[:] = b"".join(held), []
        return lines + message

    return lie


def without_the_second() -> Lie:
    """Drop every other line."""
    numbers: list[bytes] = []

    def lie(kind: bytes, message: bytes) -> bytes:
        if is_line(kind, message):
            numbers.append(message)
        return b"" if is_line(kind, message) and len(numbers) % 2 else message

    return lie


def changed(place: int, change: Callable[[bytes], bytes]) -> Lie:
    """Change one column of each line."""

    def lie(kind: bytes, message: bytes) -> bytes:
        if not is_line(kind, message):
            return message
        values = values_of(message)
        values[place] = change(values[place])
        return data_row(values)

    return lie


def with_true_digest(change: Callable[[bytes], bytes]) -> Lie:
    """Change the text of each line, and give it the digest of what it is then."""

    def lie(kind: bytes, message: bytes) -> bytes:
        if not is_line(kind, message):
            return message
        xid, pos, id, line, _ = values_of(message)
        line = change(line)
        return data_row([xid, pos, id, line, b"\\x" + sha256(line).hexdigest().encode()])

    return lie


LIES: dict[str, Callable[[], Lie]] = {
    "twice": lambda: twice,
    "backwards": backwards,
    "without the second": without_the_second,
    "not UTF-8": lambda: changed(3, lambda _: b"{\xff\xfe}"),
    "another digest": lambda: changed(4, lambda _: b"\\x" + b"00" * 32),
    "no digest": lambda: changed(4, lambda _: b"\\x"),
    "no number": lambda: changed(0, lambda _: b"many"),
    "a number below all": lambda: changed(0, lambda _: b"-1"),
    "a number above all": lambda: changed(0, lambda _: b"9" * 40),
    "another's id": lambda: changed(2, lambda _: b"ffff0000-0000-4000-8000-000000000001"),
    "an id that is none": lambda: changed(2, lambda _: b"../../etc/passwd"),
    "a line break within": lambda: with_true_digest(lambda line: line[:-1] + b'}\n{"event":"approved"}'),
    "a huge line": lambda: with_true_digest(lambda line: line[:-1] + b',"x":"' + b"x" * 1_000_000 + b'"}'),
    "a null byte": lambda: with_true_digest(lambda line: line[:-1] + b',"x":"\0"}'),
    "nothing at all": lambda: lambda kind, message: b"" if kind == b"D" else message,
}


def reached_by(machine: Machine, folder: Path) -> Machine:
    """Have a machine reach its service by another socket."""
    path = machine.world.home / ".pg_service.conf"
    path.write_text(path.read_text().replace(str(machine.project.server.folder), str(folder)))
    return machine


@pytest.mark.parametrize("name", LIES)
def test_whatever_a_server_says_the_log_has_true_lines_once(shared: SharedProject, name: str) -> None:
    """It ends, keeps what was here, and once the server tells the truth again all lines are there."""
    anna, bert = shared.machine("a"), shared.machine("b", role="bert")
    for text in TEXTS:
        anna.learn(text)
    anna.sync()
    own = bert.learn("Said here before")
    before = bert.lines()
    with TemporaryDirectory(prefix="l", dir="/tmp") as top, lying_server(Path(top) / "s", shared.server, LIES[name]()):
        truth = (bert.world.home / ".pg_service.conf").read_text()
        liar = reached_by(bert, Path(top) / "s")
        for _ in range(2):
            try:
                liar.sync()
            except RoamkbError as error:
                assert "can't be used" in error.message
        allowed = {*before, *anna.lines()}
        # lines that are whole by themselves are anybody's to add
        assert all(line in allowed for line in bert.lines())
        assert len(bert.lines()) == len(set(bert.lines()))
        assert bert.standings()[own].confidence == 70
    (bert.world.home / ".pg_service.conf").write_text(truth)
    # what was passed over is read anew by whoever has no memory of it
    (bert.log.local_folder / "share" / "progress.json").unlink(missing_ok=True)
    for machine in (bert, anna):
        machine.sync()
    assert anna.lines() == bert.lines()
    assert anna.replayed() == bert.replayed()


@pytest.mark.parametrize("value", [b"\xff", b"", b"many"])
def test_facts_that_are_none_are_refused(shared: SharedProject, value: bytes) -> None:
    """In words, as whoever shares a log reads them."""
    anna = shared.machine("a")

    def lie(kind: bytes, message: bytes) -> bytes:
        return data_row([value] * len(values_of(message))) if kind == b"D" else message

    with TemporaryDirectory(prefix="l", dir="/tmp") as top, lying_server(Path(top) / "s", shared.server, lie):
        settings = reached_by(anna, Path(top) / "s").settings()
        with PostgresPort(settings) as port, pytest.raises(ServiceAway, match="can't be used"):
            port.read_facts()


def test_lines_from_before_the_mark_are_refused(shared: SharedProject) -> None:
    """Whoever took the last one's place for the new mark would ask for the same lines for ever."""
    anna = shared.machine("a")
    anna.learn(TEXTS[0])
    anna.sync()
    lie = changed(0, lambda _: b"-1")
    with TemporaryDirectory(prefix="l", dir="/tmp") as top, lying_server(Path(top) / "s", shared.server, lie):
        settings = reached_by(anna, Path(top) / "s").settings()
        with PostgresPort(settings) as port, pytest.raises(ServiceAway, match="can't be used"):
            port.since(Mark())
