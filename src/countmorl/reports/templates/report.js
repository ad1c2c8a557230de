"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function dressed(layout) {
    const axis = { gridcolor: css("--line"), linecolor: css("--line"), tickcolor: css("--line") };
    return {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--ink") },
      hoverlabel: { bgcolor: css("--paper"), bordercolor: css("--line"), font: { color: css("--ink") } },
      xaxis: { ...axis, ...layout.xaxis },
      yaxis: { ...axis, ...layout.yaxis },
    };
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const halfway = (part) => Math.round((parseInt(part, 16) + 255) / 2).toString(16);

  // Colours are made for paper; half of the way to white they can be told apart on a dark ground.
  function tinted(traces) {
    const lines = traces.every((trace) => trace.type === "scatter");
    if (!dark.matches || !lines) return traces;
    const color = /"#(..)(..)(..)(26)?"/g;
    const light = (_, r, g, b, a) => `"#${halfway(r)}${halfway(g)}${halfway(b)}${a ?? ""}"`;
    return JSON.parse(JSON.stringify(traces).replace(color, light));
  }

  const options = { responsive: true, displaylogo: false, displayModeBar: false, doubleClick: false };
  function draw() {
    for (const [id, figure] of Object.entries(figures)) {
      const place = document.getElementById(id);
      Plotly.react(place, tinted(figure.data), dressed(figure.layout), options);
    }
  }
  draw();
  dark.addEventListener("change", draw);

  function value(row, column) {
    const text = row.cells[column].dataset.sort;
    const number = Number(text);
    return text !== "" && Number.isFinite(number) ? number : text;
  }

  function before(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table, head) {
    const column = head.cellIndex;
    const rows = [...table.tBodies[0].rows];
    const numbers = rows.some((row) => typeof value(row, column) === "number");
    const now = head.getAttribute("aria-sort");
    // What is best stands on top first: numbers fall, names rise.
    const rising = now === "none" ? !numbers : now === "descending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const empty = (row) => value(row, column) === "";
    rows.sort((a, b) => {
      if (empty(a) || empty(b)) return empty(a) - empty(b);
      const order = before(value(a, column), value(b, column));
      return rising ? order : -order;
    });
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      const first = table.tBodies[0].rows[0];
      if (first && first.cells[head.cellIndex].classList.contains("number")) head.classList.add("right");
      head.querySelector("button").addEventListener("click", () => sort(table, head));
    }
  }

  const reference = document.getElementById("reference");
  if (reference) {
    reference.addEventListener("change", () => {
      for (const row of document.querySelector("table.improvement").tBodies[0].rows) {
        row.hidden = reference.value !== "" && row.cells[1].textContent.trim() !== reference.value;
      }
    });
  }
})();
