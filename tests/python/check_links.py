"""Checks that relative links of the manual lead to files, and their anchors to headings.

usage: check_links.py

Reads README.md, CONTRIBUTING.md, docs/**/*.md and other pages of the repository that link to each other. Examples and
code in a line are left out.
"""

import glob
import os
import re
import sys

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


def main():
    pages = sorted({page for pattern in PAGES for page in glob.glob(pattern, recursive=True)})
    wrong = list(wrong_links(pages))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"the links of {len(pages)} pages are good")


if __name__ == "__main__":
    main()
