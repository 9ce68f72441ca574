"""The README as a package index shows it: alone, so that its links to files of the repository lead nowhere there."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)[^)]*\)")


class Readme(MetadataHookInterface):
    """Links to files become their words, and pictures go; `prudent docs` has the pages."""

    def update(self, metadata: dict[str, object]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        alone = LINK.sub(lambda link: "" if link[1] else link[2], text)
        metadata["readme"] = {"content-type": "text/markdown", "text": alone}
