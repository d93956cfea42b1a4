"""The user's browser, opened at the page's one-time address."""

import os
import sys
import threading
import webbrowser


def show_page(entrance: str, address: str) -> None:
    """Open the page in the browser, and print where it is; where there is no browser, print the one-time address."""
    if not _has_browser():
        _print_entrance(entrance)
        return
    print(f"page at {address}, opened in the browser", flush=True)
    # a browser may run in the foreground until it is closed, and waits for the server meanwhile
    threading.Thread(target=_open_browser, args=(entrance,), daemon=True).start()


def _has_browser() -> bool:
    """Say whether a browser can be opened that isn't one of this terminal."""
    names = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in names)


def _open_browser(entrance: str) -> None:
    if not webbrowser.open(entrance):
        _print_entrance(entrance)


def _print_entrance(entrance: str) -> None:
    print(f"page at {entrance} (it opens once, within ten minutes)", flush=True)
