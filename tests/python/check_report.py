"""Opens reports in headless Chromium and says what is wrong with them: figures that are not there or not drawn, anything
wider than the window, errors on the console, anything fetched from elsewhere. Of the book that ci/manual makes of the manual it tells pages
that are wider than a phone, figures that are not there, and words that the search does not find.

    check_report.py REPORT.html … [--pictures FOLDER]
    check_report.py --book FOLDER

Chromium is `chromium`, or what the environment variable CHROMIUM names.
"""

import argparse
import glob
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# A desk, a tablet, a phone on its side: headless Chromium has no narrower window.
WIDTHS = (1280, 800, 500)
# No user has to wait for a page that long.
HANGS = 120

# A phone, for the book: its pages are opened in a frame.
PHONE = 390
# Words that any edition of the manual has.
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

# Runs in the page when it is complete. What it finds becomes an attribute of the document, which --dump-dom prints.
PROBE = """
<script>
const problems = [];
window.addEventListener("error", (event) => problems.push("error: " + event.message));
window.addEventListener("load", () => {
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest(".scroll, pre, svg"));
    problems.push("wider than the window: " + wide.map((one) => one.tagName + "#" + one.id).join(", "));
  }
  const figures = [...document.querySelectorAll("figure")].map((figure) => {
    const svg = figure.querySelector("svg");
    const box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
    const view = svg ? svg.viewBox.baseVal : {width: 0, height: 0};
    let outside = [];
    for (const part of svg ? svg.querySelectorAll(":not(title)") : []) {
      const own = part.getBoundingClientRect();
      const fits = own.left >= box.left - 1 && own.right <= box.right + 1 && own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
      if (!fits) outside.push((part.textContent.trim() || part.tagName).slice(0, 40));
    }
    // Texts of one drawing must not cover one another.
    const texts = [...(svg ? svg.querySelectorAll("text") : [])].map((one) => [one.textContent.trim(), one.getBoundingClientRect()]);
    let overlaps = [];
    for (let i = 0; i < texts.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [texts[i][1], texts[j][1]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 0.25 * Math.min(a.height, b.height)) overlaps.push(texts[j][0] + " / " + texts[i][0]);
      }
    }
    return {id: figure.id, width: box.width, height: box.height, ratio: view.width / view.height,
            parts: svg ? svg.querySelectorAll("polyline, rect, polygon, circle, line").length : 0, outside, overlaps};
  });
  const fetched = performance.getEntriesByType("resource").map((one) => one.name).filter((name) => !name.startsWith("data:"));
  root.setAttribute("data-probe", JSON.stringify({width: root.clientWidth, problems, figures, fetched}));
});
</script>
"""


def chromium(arguments, folder):
    """The standard output of Chromium and what it logged."""
    command = [
        os.environ.get("CHROMIUM", "chromium"), "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
        "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
    ]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=HANGS)
    if done.returncode != 0:
        raise SystemExit(f"chromium ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout, done.stderr


def probe(report, width):
    """What the probe found at this width, and the messages of the console."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "report.html"
        text = report.read_text()
        assert text.count("<head>") == 1, report
        page.write_text(text.replace("<head>", "<head>" + PROBE))
        output, log = chromium(["--dump-dom", f"--window-size={width},2000", page.as_uri()], folder)
    found = re.search(r'data-probe="([^"]*)"', output)
    if not found:
        raise SystemExit(f"{report}: the page did not load:\n{log[-2000:]}")
    return json.loads(html.unescape(found.group(1))), [line for line in log.splitlines() if "CONSOLE" in line]


def check(report, width):
    """The complaints about a report in a window of this width."""
    found, console = probe(report, width)
    complaints = console + found["problems"] + [f"fetched {name}" for name in found["fetched"]]
    if found["width"] != width:
        complaints.append(f"the window is {found['width']} wide")
    figures = {figure["id"]: figure for figure in found["figures"]}
    expected = re.findall(r'<figure id="([^"]*)"', report.read_text())
    if not expected:
        complaints.append("no figures")
    for name in expected:
        figure = figures.get(html.unescape(name))
        if figure is None:
            complaints.append(f"{name} is not on the page")
            continue
        height = figure["width"] / figure["ratio"]
        if figure["width"] < 0.6 * min(width, 900) or abs(figure["height"] - height) > 2 or figure["parts"] < 5:
            complaints.append(f"{name} is not drawn: {figure}")
        complaints += [f"{name}: outside of the drawing: {part}" for part in figure["outside"]]
        complaints += [f"{name}: one text over another: {pair}" for pair in figure["overlaps"]]
        for ending in ("svg", "png", "csv"):
            file = report.parent / "figures" / f"{name.removeprefix('figure-')}.{ending}"
            if not file.is_file() or file.stat().st_size == 0:
                complaints.append(f"{file} is not there")
    print(f"{report} at {width}: {len(figures)} figures, {len(complaints)} complaints")
    return complaints


def check_book(book):
    """The complaints about the pages of a book, and about its search."""
    book = os.path.realpath(book)
    pages = sorted(os.path.relpath(page, book) for page in glob.glob(os.path.join(book, "**/*.html"), recursive=True))
    pages = [page for page in pages if page not in ("404.html", "toc.html")]
    assert pages, f"{book} has no pages"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frames.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FRAMES % (json.dumps(f"file://{book}/"), json.dumps(pages), json.dumps(WORDS), PHONE))
        arguments = ["--allow-file-access-from-files", "--virtual-time-budget=60000", "--dump-dom", f"file://{path}"]
        text, log = chromium(arguments, folder)
    found = re.search(r'data-wrong="([^"]*)"', text)
    assert found, f"the pages were not opened: {log[-2000:]}"
    complaints = json.loads(html.unescape(found[1]))
    print(f"{book}: {len(pages)} pages, {len(WORDS)} searches, {len(complaints)} complaints")
    return complaints


def picture(report, width, dark, folder):
    """A screenshot of a report."""
    path = folder / f"{report.parent.name}-{width}{'-dark' if dark else ''}.png"
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    with tempfile.TemporaryDirectory() as profile:
        chromium(scheme + [f"--window-size={width},5200", f"--screenshot={path}", report.resolve().as_uri()], profile)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("reports", nargs="*", type=pathlib.Path)
    parser.add_argument("--book")
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    complaints = check_book(options.book) if options.book else []
    if not options.book and not options.reports:
        parser.error("no report and no book")
    for report in options.reports:
        for width in WIDTHS:
            complaints += check(report, width)
            if options.pictures:
                for dark in (False, True):
                    picture(report, width, dark, options.pictures)
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
