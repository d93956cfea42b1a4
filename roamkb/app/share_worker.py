"""The process that exchanges a shared log's lines with its service, beside whatever started it.

Run as `python -m roamkb.app.share_worker ROOT STATE ACCOUNT_HOME PARENT`. Without a parent to live as long as, it stays
some seconds after the last line, since who learned one thing soon learns another. It judges the boundary by itself,
again and again, since a project may become work while it runs.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

from roamkb.app.environment import ProcessEnvironment
from roamkb.boundary import classify
from roamkb.core.errors import RoamkbError
from roamkb.core.model import ProjectKind
from roamkb.fs.locks import hold_lock
from roamkb.log.share import sync
from roamkb.log.share.store import postgres
from roamkb.log.share.store import settings as share_settings
from roamkb.log.store import share_process
from roamkb.log.store.project_log import Log

_TRIAL_LOCK: Final = "shared.lock"
#: Seconds without a line after which it ends.
_LINGER_SECONDS: Final = 10.0
#: Seconds between two looks at the log's files, and between two at the service when nothing wakes.
_FILE_SECONDS, _SERVICE_SECONDS = 0.1, 2.0
#: Seconds from one exchange to the next that others wake us for; twice as many after each for nothing.
_LEAST_SECONDS = 0.05
#: Seconds after which a service that keeps a connection and says nothing counts as away; what was done by then stays.
_SILENT_SECONDS = 60


class ShareWorker:
    """A process at work for one log."""

    def __init__(self, log: Log, *, parent: int) -> None:
        """Take the process to live as long as; 0 for none."""
        self._environment = ProcessEnvironment.from_process()
        self._log = log
        self._folder = share_process.share_folder(self._log)
        self._parent = parent
        self._sync: sync.LogSync | None = None

    def run(self) -> None:
        """Exchange lines until nobody needs it."""
        while self._is_wanted:
            with share_process.worker_lock(self._folder) as is_free:
                has_failed = is_free and not self._work()
            if not self._parent and (has_failed or not is_free or self._sync is None or not self._sync.has_news):
                return
            time.sleep(_FILE_SECONDS)

    @property
    def _is_wanted(self) -> bool:
        is_parent_there = not self._parent or os.getppid() == self._parent
        return is_parent_there and self._log.shared_settings.exists() and self._log.local_folder.is_dir()

    def _work(self) -> bool:
        """Exchange lines for a while; return whether the service could be used."""
        if share_process.read_backoff(self._folder)[0] > time.time():
            return False
        try:
            # who may not write there can't put down what came, either; that says nothing of the service
            with hold_lock(self._log.shared_settings.parent / _TRIAL_LOCK):
                settings = share_settings.find_settings(self._log.shared_settings)
        except RoamkbError:
            return False
        try:
            if settings is not None:
                self._follow(settings)
        except RoamkbError as error:
            share_process.keep_backoff(self._folder, error.message)
            return False
        except Exception as error:  # noqa: BLE001 - nobody else would hear of a bug, or of a library that is gone
            share_process.keep_backoff(self._folder, f"{type(error).__name__} in the process at work: {error}")
            return False
        finally:
            signal.alarm(0)
        return True

    def _follow(self, settings: share_settings.ShareSettings) -> None:
        self._log.require_adopted()
        if self._log.is_vouched_only:
            raise sync.NotShared("only part of this log counts here, by what is trusted; nothing is exchanged")
        signal.signal(signal.SIGALRM, self._give_up)
        signal.alarm(_SILENT_SECONDS)
        with postgres.PostgresPort(settings) as port:
            facts = port.read_facts()
            self._sync = log_sync = sync.LogSync(self._log, settings, port, facts)
            self._exchange(settings, facts)
            share_process.drop_backoff(self._folder)
            self._watch(port, log_sync, settings, facts)

    def _watch(
        self,
        port: postgres.PostgresPort,
        log_sync: sync.LogSync,
        settings: share_settings.ShareSettings,
        facts: postgres.ServiceFacts,
    ) -> None:
        """Exchange lines when some came, here or there, for as long as they may be needed and the settings stay."""
        looked = active = time.monotonic()
        pause, is_woken = _LEAST_SECONDS, False
        while self._is_wanted and (self._parent or time.monotonic() - active < _LINGER_SECONDS):
            if is_woken:
                time.sleep(_LEAST_SECONDS)
            is_woken = port.wait(0.0 if is_woken else _FILE_SECONDS) or is_woken
            since = time.monotonic() - looked
            # what was learned here doesn't wait for those who wake us for nothing
            if not (log_sync.has_news or (is_woken and since >= pause) or since >= _SERVICE_SECONDS):
                continue
            if share_settings.find_settings(self._log.shared_settings) != settings:
                return
            before = log_sync.progress
            self._exchange(settings, facts)
            looked = time.monotonic()
            has_progressed = before != log_sync.progress
            active = looked if has_progressed else active
            pause = min(2 * pause, _SERVICE_SECONDS) if is_woken and not has_progressed else _LEAST_SECONDS
            # lines that wait for a transaction come without another word
            is_woken = log_sync.progress.held_back > 0

    def _give_up(self, *_: object) -> None:
        """End the process as a kill would, which loses nothing: the next one goes on where this one was."""
        share_process.keep_backoff(self._folder, f"the service didn't answer for {_SILENT_SECONDS} seconds")
        os._exit(1)

    def _exchange(self, settings: share_settings.ShareSettings, facts: postgres.ServiceFacts) -> None:
        signal.alarm(_SILENT_SECONDS)
        environment = self._environment
        project = classify.classify(self._log.home, home=environment.home, account_home=environment.account_home)
        sync.require_shareable(settings, facts, project.kind)
        if self._sync is not None:
            self._sync.sync()


def main() -> int:
    """Work for the log that the arguments name."""
    *folders, parent = sys.argv[1:5]
    os.chdir("/")
    root, state, account_home = map(Path, folders)
    environment = ProcessEnvironment.from_process()
    kind = classify.classify(root, home=environment.home, account_home=environment.account_home).kind
    stays_in_tree = kind is not ProjectKind.PERSONAL
    log = Log(root, state, account_home=account_home, stays_in_tree=lambda: stays_in_tree)
    ShareWorker(log, parent=int(parent)).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
