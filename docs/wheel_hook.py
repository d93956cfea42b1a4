"""What the wheel holds beside the package: man pages and completion scripts, where man and shells look."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Makes them from the table of commands and from docs/ before the wheel is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write them into a folder of their own: the sources may be read-only."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from docs.man_pages import man_pages
        from roamkb.interfaces.completion.scripts import completion_script

        files = {f"man/man{name[-1]}/{name}": text for name, text in man_pages().items()}
        files |= {
            "bash-completion/completions/roamkb": completion_script("bash"),
            "zsh/site-functions/_roamkb": completion_script("zsh"),
            "fish/vendor_completions.d/roamkb.fish": completion_script("fish"),
        }
        share = Path(tempfile.mkdtemp(prefix="roamkb-share-"))
        for name, text in files.items():
            (share / name).parent.mkdir(parents=True, exist_ok=True)
            (share / name).write_text(text, encoding="utf-8")
        build_data["shared_data"][str(share)] = "share"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove that folder: the files are packed."""
        for folder, place in build_data["shared_data"].items():
            if place == "share":
                shutil.rmtree(folder)
