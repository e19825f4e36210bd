"use strict";
// All text of others goes in by textContent, never as markup. Each series keeps POINTS numbers: memory does not grow.
const POINTS = 300;
const SVG = "http://www.w3.org/2000/svg";
// Key, label, figure, how it is written, and the top of the chart where it is fixed.
const CHARTS = [
  ["running", "requests that run", (e) => e.running, (v) => v.toFixed(0)],
  ["waiting", "requests that wait", (e) => e.waiting, (v) => v.toFixed(0)],
  ["kv", "KV cache in use", (e) => e.kv_usage, (v) => (100 * v).toFixed(0) + " %", 1],
  ["in", "tokens/s in", (e) => e.tokens_per_s.in, (v) => v.toFixed(0)],
  ["out", "tokens/s out", (e) => e.tokens_per_s.out, (v) => v.toFixed(0)],
  ["ttft", "TTFT p90", (e) => e.latency.ttft_s?.p90?.value ?? null, (v) => v.toPrecision(3) + " s"],
];
const shown = new Map();

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function chart(label) {
  const figure = make("figure"), caption = make("figcaption", label), value = make("b", "-");
  caption.append(value);
  const svg = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "polyline");
  svg.setAttribute("viewBox", `0 0 ${POINTS - 1} 100`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.append(line);
  figure.append(caption, svg);
  return { figure, value, line, points: [] };
}

function section(name) {
  if (shown.has(name)) return shown.get(name);
  const root = make("section"), head = make("h2"), about = make("div"), charts = make("div", undefined, "charts");
  const parts = { head, about, charts: new Map() };
  for (const [key, label] of CHARTS) {
    const one = chart(label);
    parts.charts.set(key, one);
    charts.append(one.figure);
  }
  root.append(head, charts, about);
  document.getElementById("endpoints").append(root);
  shown.set(name, parts);
  return parts;
}

function add(parts, endpoint) {
  for (const [key, , read, write] of CHARTS) {
    const one = parts.charts.get(key), value = read(endpoint);
    one.points.push(value);
    if (one.points.length > POINTS) one.points.shift();
    one.value.textContent = value === null ? "-" : write(value);
  }
}

function draw(parts) {
  for (const [key, , , , fixed] of CHARTS) {
    const one = parts.charts.get(key);
    const top = fixed ?? Math.max(1e-9, ...one.points.filter((value) => value !== null));
    const from = POINTS - one.points.length;
    const pairs = one.points.map((value, at) => value === null ? "" : `${from + at},${98 - 95 * value / top}`);
    one.line.setAttribute("points", pairs.join(" ").trim());
  }
}

function seconds(quantile) {
  return quantile ? (quantile.high === null ? ">" : "") + quantile.value.toPrecision(3) : "-";
}

function describe(parts, endpoint) {
  const starts = endpoint.generation === null ? "" : `, generation ${endpoint.generation}, restarts ${endpoint.restarts}`;
  parts.head.replaceChildren(endpoint.name + " ", make("small", `${endpoint.state}${starts}: ${endpoint.because}`));
  const lines = endpoint.alerts.map((alert) => {
    const line = make("p", `${alert.severity}: ${alert.message}`, alert.severity);
    line.append(make("br"), make("small", alert.remedy));
    return line;
  });
  const table = make("table");
  for (const [name, times] of Object.entries(endpoint.latency)) {
    const row = make("tr");
    const over = times.over_s === null ? "since its start" : `last ${times.over_s.toFixed(0)} s`;
    const cells = [name, `p50 ${seconds(times.p50)}`, `p90 ${seconds(times.p90)}`, `p99 ${seconds(times.p99)}`, over];
    row.append(...cells.map((cell) => make("td", cell)));
    table.append(row);
  }
  const devices = endpoint.devices.map((use) => `device ${use.index}: ` +
    `${use.used_bytes === null ? "-" : (use.used_bytes / 2 ** 30).toFixed(1)} GiB, ` +
    `${use.power_w === null ? "-" : use.power_w.toFixed(0)} W, ` +
    `${use.busy === null ? "-" : (100 * use.busy).toFixed(0)} % busy` +
    (use.temperature_c === null ? "" : `, ${use.temperature_c.toFixed(0)} °C`) +
    (use.throttled_by?.length ? `, slowed by ${use.throttled_by.join(", ")}` : ""));
  parts.about.replaceChildren(...lines, table, ...devices.map((text) => make("p", text)), make("pre", endpoint.log.join("\n")));
}

const source = new EventSource("/events");
source.addEventListener("history", (event) => {
  for (const parts of shown.values()) for (const one of parts.charts.values()) one.points = [];
  for (const look of JSON.parse(event.data)) for (const endpoint of look.endpoints) add(section(endpoint.name), endpoint);
});
source.addEventListener("look", (event) => {
  const look = JSON.parse(event.data);
  document.getElementById("status").textContent = look.at;
  for (const endpoint of look.endpoints) {
    const parts = section(endpoint.name);
    add(parts, endpoint);
    draw(parts);
    describe(parts, endpoint);
  }
});
source.onerror = () => { document.getElementById("status").textContent = "no connection; trying again"; };
