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
    axis: { ...text, gridColor: colour("--line"), domainColor: colour("--line-strong"), tickColor: colour("--line-strong"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
    legend: { ...text, labelFontSize: 12, titleFontSize: 12, orient: "top", symbolStrokeWidth: 2, labelLimit: 400 },
    header: text,
    title: { color: colour("--ink"), subtitleColor: colour("--muted"), anchor: "start" },
    range: { category: [colour("--ok"), colour("--saved"), colour("--machine"), colour("--link"), colour("--bad"), colour("--muted")] },
    point: { size: 40 },
  };
}

// Values come exactly as the file holds them: no digit rounded away.
function tooltip(value, sanitize) {
  if (typeof value !== "object" || value === null) return sanitize(String(value));
  const rows = Object.entries(value).map(([key, item]) =>
    `<tr><td class="key">${sanitize(key)}</td><td class="value">${sanitize(typeof item === "object" ? JSON.stringify(item) : String(item))}</td></tr>`);
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

// One stop of the Tab key for each chart; arrows move from mark to mark, and the line beneath says what it is.
function readable(box, canvas, reading) {
  const marks = [...canvas.querySelectorAll('[role="graphics-symbol"][aria-label]')];
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
  const spec = await answer.json();
  delete spec.usermeta;
  delete spec.title;
  delete spec.description;
  if (spec.width === undefined && spec.layer === undefined && spec.mark === undefined) spec.autosize ??= "pad";
  else spec.width = "container";
  spec.autosize = spec.width === "container" ? { type: "fit-x", contains: "padding" } : spec.autosize;
  const own = spec.config ?? {};
  const ours = theme(box);
  spec.config = { ...own, ...ours, axis: { ...own.axis, ...ours.axis }, legend: { ...own.legend, ...ours.legend } };

  const canvas = document.createElement("div");
  canvas.className = "vega";
  const reading = document.createElement("p");
  reading.className = "reading";
  reading.setAttribute("role", "status");
  box.replaceChildren(canvas, reading);
  const { view } = await vegaEmbed(canvas, spec, {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, loader,
    tooltip: { disableDefaultStyle: true, formatTooltip: tooltip },
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
