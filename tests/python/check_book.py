"""Opens the pages of the book in headless Chromium, as wide as a phone, and searches in it.

usage: check_book.py BOOK

Tells pages that are wider than the window, figures that are not there, and words that the search does not find. Chromium is
`chromium`, or what the environment variable CHROMIUM names.
"""

import glob
import html
import json
import os
import re
import sys
import tempfile

from check_report import chromium

WIDTH = 390
# Each is in the title of a section.
WORDS = ("saturation", "exit codes", "incast", "vcs")

# Pages are opened one after the other in a frame of that width. What is wrong becomes an attribute, which --dump-dom prints.
FRAMES = """<!DOCTYPE html><body><script>
const book = %s, pages = %s, words = %s, width = %d;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function open(address) {
  const frame = document.createElement("iframe");
  frame.width = width;
  frame.height = 800;
  frame.src = address;
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  return frame;
}
async function look() {
  const wrong = [];
  for (const page of pages) {
    const frame = await open(book + page);
    // Tables and examples scroll by themselves.
    const wide = [...frame.contentDocument.querySelectorAll("body *")]
      .find((one) => one.getBoundingClientRect().right > width + 1 && !one.closest(".table-wrapper > *, pre > *, nav"));
    if (wide) wrong.push(`${page} is too wide: ${wide.tagName} ${wide.textContent.trim().slice(0, 40)}`);
    for (const image of frame.contentDocument.images) {
      if (!image.naturalWidth) wrong.push(`${page} has no ${image.src}`);
    }
    frame.remove();
  }
  for (const word of words) {
    const frame = await open(book + "index.html?search=" + encodeURIComponent(word));
    let found = "";
    for (let wait = 0; wait < 100 && !/^[1-9]/.test(found); wait++) {
      await sleep(100);
      found = frame.contentDocument.querySelector("#mdbook-searchresults-header")?.textContent.trim() ?? "no search";
    }
    if (!/^[1-9]/.test(found)) wrong.push(`the search for ${word} finds ${found}`);
    frame.remove();
  }
  document.body.setAttribute("data-wrong", JSON.stringify(wrong));
}
look().catch((error) => document.body.setAttribute("data-wrong", JSON.stringify(["" + error])));
</script>"""


def main(book):
    book = os.path.realpath(book)
    pages = sorted(os.path.relpath(page, book) for page in glob.glob(os.path.join(book, "**/*.html"), recursive=True))
    pages = [page for page in pages if page not in ("404.html", "toc.html")]
    assert pages, f"{book} has no pages"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frames.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FRAMES % (json.dumps(f"file://{book}/"), json.dumps(pages), json.dumps(WORDS), WIDTH))
        arguments = ["--allow-file-access-from-files", "--virtual-time-budget=60000", "--dump-dom", f"file://{path}"]
        text, log = chromium(arguments, folder)
    found = re.search(r'data-wrong="([^"]*)"', text)
    assert found, f"the pages were not opened: {log[-2000:]}"
    wrong = json.loads(html.unescape(found[1]))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(pages)} pages fit, {len(WORDS)} searches find something")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
