"""Follow every link inside a built guide: ``python docs/check_links.py docs/_build/html``.

Nothing is asked of the network: of links to elsewhere only the form is looked at.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The places in a page that can be linked to, and what it links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value for name, value in attrs if value}
        self.places.update(said[name] for name in ("id", "name") if name in said)
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        elif tag == "link" and said.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(said["href"])
        elif tag in ("img", "script", "iframe") and "src" in said:
            self.loaded.append(said["src"])


def _pages(root: Path) -> list[Path]:
    """Those of the guide; among a theme's own files are pieces of pages."""
    return sorted(path for path in root.rglob("*.html") if "_static" not in path.parts)


def broken_links(root: Path) -> list[str]:
    """One line for each link that leads nowhere, and for each part of a page that comes from the network."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in _pages(root)}
    found = []
    for path, page in pages.items():
        found += [f"{path}: loads {one} from the network" for one in page.loaded if urlsplit(one).netloc]
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data") or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            there = there / "index.html" if there.is_dir() else there
            place = unquote(parts.fragment)
            if not there.is_file():
                found.append(f"{path}: {link}: no such file")
            elif place and there in pages and place not in pages[there].places:
                found.append(f"{path}: {link}: no such place in {there.name}")
    return found


if __name__ == "__main__":
    trouble = broken_links(Path(sys.argv[1]).resolve())
    print("\n".join(trouble) or "every link leads somewhere")
    raise SystemExit(bool(trouble))
