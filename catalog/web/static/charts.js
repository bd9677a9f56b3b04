// Draws a package's Vega-Lite figures: no eval, no style written by the library, nothing loaded from anywhere.

const charts = document.querySelectorAll(".chart[data-spec]");
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// A specification is somebody's file: it may hold data, and may not fetch, link or set our options.
const refuse = () => Promise.reject(new Error("A chart may only show the data that it holds."));
const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

function theme(box) {
  const style = getComputedStyle(box);
  const colour = (name) => style.getPropertyValue(name).trim();
  const text = { labelColor: colour("--muted"), titleColor: colour("--ink") };
  const font = style.fontFamily;
  return {
    background: "transparent",
    font,
    view: { stroke: "transparent" },
    axisY: { titleAngle: 0, titleAlign: "left", titleAnchor: "end", titleX: -22, titleY: -14, titleBaseline: "bottom" },
    axis: { ...text, gridColor: colour("--line"), domainColor: colour("--line-strong"), tickColor: colour("--line-strong"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
    legend: { ...text, labelFontSize: 12, titleFontSize: 12, orient: "bottom", symbolBaseFillColor: colour("--muted"), symbolBaseStrokeColor: colour("--muted"), labelLimit: 400, ...(box.clientWidth < 620 ? { direction: "vertical", columns: 1 } : {}) },
    header: text,
    title: { color: colour("--ink"), subtitleColor: colour("--muted"), anchor: "start" },
    range: { category: [colour("--ok"), colour("--saved"), colour("--machine"), colour("--link"), colour("--bad"), colour("--muted")] },
    point: { size: 40 },
  };
}

// A figure may name our light colours outright; in the dark they become the dark ones.
const LIGHT = { "#0f58a8": "--link", "#8a5a00": "--saved", "#7d5200": "--saved", "#0a6b5d": "--ok", "#a8261b": "--bad", "#5b3fb0": "--machine", "#1c1b19": "--ink", "#6a665e": "--muted" };
function recoloured(node, colour) {
  if (typeof node === "string") return LIGHT[node.toLowerCase()] ? colour(LIGHT[node.toLowerCase()]) : node;
  if (Array.isArray(node)) return node.map((item) => recoloured(item, colour));
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, item]) =>
    [key, key === "data" || key === "datasets" ? item : recoloured(item, colour)]));
}

// A label that stays inside the window. Values come as the file holds them: no digit rounded away.
function labeller() {
  const label = document.createElement("table");
  label.className = "chart-label";
  label.hidden = true;
  document.body.append(label);
  return (_handler, event, _item, value) => {
    label.hidden = value === null || value === undefined || value === "";
    if (label.hidden) return;
    const entries = typeof value === "object" ? Object.entries(value) : [["", value]];
    label.replaceChildren(...entries.map(([name, item]) => {
      const row = document.createElement("tr");
      row.append(document.createElement("th"), document.createElement("td"));
      row.firstChild.textContent = name;
      row.lastChild.textContent = typeof item === "object" ? JSON.stringify(item) : String(item);
      return row;
    }));
    const { width, height } = label.getBoundingClientRect();
    const beside = (at, size, room) => Math.max(4, at + 14 + size > room ? at - 14 - size : at + 14);
    label.style.left = `${beside(event.clientX, width, document.documentElement.clientWidth)}px`;
    label.style.top = `${beside(event.clientY, height, window.innerHeight)}px`;
  };
}
const showLabel = labeller();

// The library's own words for a mark round its numbers; what its label shows doesn't.
function exactly(mark) {
  const shown = mark.__data__?.tooltip;
  if (typeof shown !== "object" || shown === null) return mark.getAttribute("aria-label");
  return Object.entries(shown).map(([name, value]) => `${name} ${value}`).join(", ");
}

// One stop of the Tab key for each chart; arrows move from mark to mark, and the line beneath says what it is.
function readable(box, canvas, reading) {
  const marks = [...canvas.querySelectorAll('[role="graphics-symbol"][aria-label]')]
    .filter((mark) => !/axis|legend|title|line|trail|area/.test(mark.getAttribute("aria-roledescription")));
  if (!marks.length) return;
  let current = 0;
  const say = (mark) => { reading.textContent = mark.getAttribute("aria-label"); };
  const move = (to) => {
    marks[current].setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(marks.length - 1, to));
    marks[current].setAttribute("tabindex", "0");
    marks[current].focus();
  };
  marks.forEach((mark, index) => {
    mark.setAttribute("aria-label", exactly(mark));
    mark.setAttribute("tabindex", index ? "-1" : "0");
    mark.addEventListener("focus", () => { current = index; say(mark); });
    mark.addEventListener("mouseenter", () => say(mark));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step) move(current + step);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(marks.length - 1);
    else return;
    event.preventDefault();
  });
  reading.textContent = "Point at a mark, or press Tab and the arrow keys, to read exact values here.";
}

async function draw(box, vegaEmbed) {
  const answer = await fetch(box.dataset.spec);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const style = getComputedStyle(box);
  const spec = recoloured(await answer.json(), (name) => style.getPropertyValue(name).trim());
  // The page prints title and description; the rest would choose another library or our options.
  for (const name of ["$schema", "usermeta", "title", "description"]) delete spec[name];
  // A single view is as wide as the page; several keep the widths that they state.
  if (spec.mark || spec.layer) Object.assign(spec, { width: "container", autosize: { type: "fit-x", contains: "padding" } });
  const own = spec.config ?? {};
  const ours = theme(box);
  spec.config = { ...own, ...ours, axis: { ...own.axis, ...ours.axis }, axisY: { ...own.axisY, ...ours.axisY }, legend: { ...own.legend, ...ours.legend } };

  const canvas = document.createElement("div");
  canvas.className = "vega";
  const reading = document.createElement("p");
  reading.className = "reading";
  reading.setAttribute("role", "status");
  box.replaceChildren(canvas, reading);
  const { view } = await vegaEmbed(canvas, spec, {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, loader,
    tooltip: showLabel,
  });
  const svg = canvas.querySelector("svg");
  svg?.setAttribute("aria-label", `Chart: ${box.dataset.title}`);
  readable(box, canvas, reading);
  return view;
}

async function drawAll() {
  let library;
  try {
    library = await import("./vega.js");
  } catch {
    charts.forEach((box) => fail(box, "the drawing library could not be loaded"));
    return;
  }
  for (const box of charts) {
    try {
      (await box.view)?.finalize();
      box.view = await draw(box, library.vegaEmbed);
    } catch (problem) {
      fail(box, problem.message);
    }
  }
}

function fail(box, why) {
  const note = document.createElement("p");
  note.className = "notice";
  note.textContent = `The chart can't be drawn (${why}). The table beneath holds the same numbers.`;
  box.replaceChildren(note);
}

drawAll();
dark.addEventListener("change", drawAll);
