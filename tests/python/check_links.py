"""Checks that relative links of the manual lead to files, and their anchors to headings.

usage: check_links.py [BOOK]

Reads README.md, CONTRIBUTING.md, docs/**/*.md and other pages of the repository that link to each other. Examples and
code in a line are left out. docs/SUMMARY.md, the order of the book, must name every page in docs/.

With BOOK, the folder of the book that ci/manual builds, checks instead that its links lead to files and anchors in that
folder.
"""

import glob
import html.parser
import os
import re
import sys
import urllib.parse

PAGES = ["*.md", "docs/**/*.md", "tests/**/*.md", "containers/*.md", "python/*.md", "fuzz/*.md"]
LINK = re.compile(r"\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")


def lines_of(text):
    """Line numbers and lines outside of examples."""
    example = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            example = not example
        elif not example:
            yield number, line


def anchors_of(text):
    """The anchors that GitHub gives to the headings of a page."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    count = {}
    for _, line in lines_of(text):
        heading = re.match(r"#{1,6} +(.*?)(?: +#+)?$", line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = count.get(name, 0)
        count[name] = again + 1
        found.add(f"{name}-{again}" if again else name)
    return found


def wrong_links(pages):
    anchors = {}
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for number, line in lines_of(text):
            for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not os.path.exists(target):
                    yield f"{page}:{number}: {link}: there is no {target}"
                elif anchor and target.endswith(".md"):
                    if target not in anchors:
                        with open(target, encoding="utf-8") as file:
                            anchors[target] = anchors_of(file.read())
                    if anchor not in anchors[target]:
                        yield f"{page}:{number}: {link}: {target} has no heading #{anchor}"


def pages_without_place(order):
    """Pages of docs/ that the order of the book does not name."""
    with open(order, encoding="utf-8") as file:
        named = {os.path.normpath(os.path.join(os.path.dirname(order), link)) for link in LINK.findall(file.read())}
    for page in sorted(glob.glob("docs/**/*.md", recursive=True)):
        if page not in named:
            yield f"{order} does not name {page}"


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page of the book."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((self.getpos()[0], urllib.parse.unquote(value)))


def wrong_links_of_book(paths, book):
    pages = {path: Page(path) for path in paths}
    for path, page in pages.items():
        for number, link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            # The page for addresses that do not exist is shown anywhere: its links begin at the root.
            base = book if name.startswith("/") or path == os.path.join(book, "404.html") else os.path.dirname(path)
            target = os.path.normpath(os.path.join(base, name.lstrip("/"))) if name else path
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if os.path.relpath(target, book).startswith("..") or not os.path.isfile(target):
                yield f"{path}:{number}: {link}: there is no {target}"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path}:{number}: {link}: {target} has no #{anchor}"


def main(book=None):
    if book is None:
        pages = sorted({page for pattern in PAGES for page in glob.glob(pattern, recursive=True)})
        wrong = [*wrong_links(pages), *pages_without_place("docs/SUMMARY.md")]
    else:
        pages = sorted(glob.glob(os.path.join(book, "**/*.html"), recursive=True))
        wrong = list(wrong_links_of_book(pages, os.path.normpath(book)))
        wrong += [] if pages else [f"{book} has no pages"]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"the links of {len(pages)} pages are good")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
