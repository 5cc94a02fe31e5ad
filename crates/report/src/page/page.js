// Tables are sorted by a click on the head of a column, and the other way round by another one. Numbers with units by what they are.
const scale = {
  ps: 1e-12, ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600,
};
for (const [power, letter] of ["", "k", "M", "G", "T"].entries()) {
  const [thousands, kibi] = [1000 ** power, 1024 ** power];
  const bytes = { [letter + "B"]: thousands, [letter + "B/s"]: thousands };
  Object.assign(scale, bytes, { [letter || "1"]: thousands, [letter + "bps"]: thousands / 8 });
  if (power > 0) {
    const prefix = letter.toUpperCase() + "i";
    Object.assign(scale, { [prefix + "B"]: kibi, [prefix + "B/s"]: kibi });
  }
}
const keyOf = (text) => {
  const words = text.replace(/,/g, "").replace(/^[≥>] ?/, "").trim().split(/\s+/);
  const number = words[0] === "" ? undefined : Number(words[0]);
  return Number.isFinite(number) ? number * (scale[words[1]] ?? 1) : null;
};
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const sort = () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const body = table.tBodies[0];
      const cell = (row) => row.cells[column] ? row.cells[column].textContent : "";
      const rows = [...body.rows].map((row) => ({ row, text: cell(row), key: keyOf(cell(row)) }));
      rows.sort((a, b) => {
        // What has no number comes last in either direction.
        if (a.key === null || b.key === null) {
          if (a.key !== b.key) return a.key === null ? 1 : -1;
          return (falling ? -1 : 1) * a.text.localeCompare(b.text);
        }
        return (falling ? -1 : 1) * (a.key - b.key);
      });
      body.append(...rows.map((one) => one.row));
    };
    head.tabIndex = 0;
    head.title = "sort";
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  });
}
