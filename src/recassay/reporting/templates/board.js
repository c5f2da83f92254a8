"use strict";
const all = JSON.parse(document.getElementById("board-data").textContent);
const at = id => document.getElementById(id);
const median = list => { const s = [...list].sort((a, b) => a - b), h = s.length >> 1; return s.length ? (s.length % 2 ? s[h] : (s[h - 1] + s[h]) / 2) : null; };
const brief = v => v === null || v === undefined ? "" : Math.abs(v) >= 1000 || Number.isInteger(v) ? Math.round(v).toLocaleString("en") : String(Number(v.toPrecision(v < 0.1 ? 1 : 2)));
const between = (low, high) => `${low.toFixed(1)} to ${high.toFixed(1)}`;
const element = (kind, text, parent) => { const made = document.createElement(kind); if (text !== undefined) made.textContent = text; if (parent) parent.append(made); return made; };
const shape = (kind, facts, parent) => { const made = document.createElementNS("http://www.w3.org/2000/svg", kind); for (const [k, v] of Object.entries(facts)) made.setAttribute(k, v); if (parent) parent.append(made); return made; };
const KINDS = ["baseline", "neighbours", "linear", "factors", "network", "sequential", "sequential network", "submitted", "other"];
const colour = kind => `var(--k${Math.max(KINDS.indexOf(kind), 0)})`;
const HELP = { rank: "mean rank over the datasets", bar: "95 % interval of the mean rank, of each algorithm alone", could: "no other algorithm is shown to be better; the test corrects for all pairs, the intervals do not", again: "probability of the best mean rank on another such set of datasets", share: "median over the datasets: nDCG@10 as a share of the best algorithm's there", seconds_fit: "median seconds of training; with \u2264 on a shared GPU: upper bounds; with ~ on the machine of its author", seconds_predict: "median seconds for the lists of all judged users", trials: "median number of trials of tuning" };
const SIGNS = { gpu: "\u2264 ", own: "~ " };
const COLUMNS = [["place", "place"], ["name", "algorithm"], ["rank", "mean rank"], ["bar", "interval"], ["could", "could be best"], ["again", "leads again"], ["share", "of the best"], ["seconds_fit", "training, s"], ["trials", "trials"]];
const MORE = [["seconds_predict", "lists, s"], ["memory", "memory, MB"]];
let data, names, order = ["rank", 1], kinds = new Set(), families = new Set();
function choose(board) {
  data = board; names = Object.keys(data.datasets); order = ["rank", 1];
  for (const button of at("boards").children) button.setAttribute("aria-pressed", button.value === board.name);
  at("metric").replaceChildren(...data.metrics.map(m => { const one = document.createElement("option"); one.value = m; one.textContent = data.metricNames[m]; return one; }));
  const present = KINDS.filter(k => Object.keys(data.values[data.metrics[0]]).some(n => data.algorithms[n].kind === k));
  const groups = [...new Set(names.map(d => data.datasets[d].family))].sort();
  kinds = new Set(present); families = new Set(groups);
  at("legend").replaceChildren(...present.flatMap(kind => { const one = element("span"), dot = element("span", undefined, one); one.className = "kind"; dot.className = "dot"; dot.style.background = colour(kind); one.append(kind); return [one, " "]; }));
  boxes("kinds", present, kinds); boxes("families", groups, families);
  draw(); drawData(); drawText();
}
function boxes(place, values, chosen) {
  const set = at(place), legend = set.querySelector("legend"); set.replaceChildren(legend);
  for (const value of values) {
    const label = element("label", undefined, set), box = element("input", undefined, label);
    box.type = "checkbox"; box.checked = true; label.append(` ${value}`);
    box.onchange = () => { box.checked ? chosen.add(value) : chosen.delete(value); draw(); };
  }
}
function ranksOn(values) {
  const sorted = Object.entries(values).sort((a, b) => b[1] - a[1]), ranks = {};
  for (let i = 0; i < sorted.length;) {
    let j = i; while (j < sorted.length && sorted[j][1] === sorted[i][1]) j++;
    for (let k = i; k < j; k++) ranks[sorted[k][0]] = (i + j + 1) / 2;
    i = j;
  }
  return ranks;
}
function compute() {
  const metric = at("metric").value, table = data.values[metric];
  const sets = names.map((d, i) => [d, i]).filter(([d]) => families.has(data.datasets[d].family)).map(([, i]) => i);
  // On fewer datasets those without a place on the board may be complete, too.
  const from = sets.length === names.length ? data.placed : Object.keys(table);
  const shown = from.filter(n => kinds.has(data.algorithms[n].kind) && sets.length && sets.every(i => (table[n] ?? [])[i] !== null && table[n] !== undefined));
  const whole = shown.length === data.placed.length && sets.length === names.length, verdict = whole ? data.verdicts[metric] : undefined;
  const sum = Object.fromEntries(shown.map(n => [n, 0]));
  for (const i of sets) { const ranks = ranksOn(Object.fromEntries(shown.map(n => [n, table[n][i]]))); for (const n of shown) sum[n] += ranks[n]; }
  const best = sets.map(i => Math.max(...shown.map(n => data.values["ndcg@10"][n][i])));
  const rows = shown.map(n => {
    const v = verdict ? verdict.order.indexOf(n) : -1, row = { name: n, kind: data.algorithms[n].kind, rank: v >= 0 ? verdict.ranks[v] : sum[n] / sets.length };
    row.low = v >= 0 && verdict.interval ? verdict.interval[v][0] : null; row.high = v >= 0 && verdict.interval ? verdict.interval[v][1] : null; row.bar = row.low;
    row.could = v >= 0 ? verdict.could.includes(n) : null; row.again = v >= 0 && verdict.again ? verdict.again[v] : null;
    row.share = whole ? data.ofBest[n] : median(sets.map((i, at) => data.values["ndcg@10"][n][i] / best[at]));
    for (const c of ["seconds_fit", "seconds_predict", "memory"]) { const of = sets.map(i => (data.values[c][n] ?? [])[i]); row[c] = of.some(v => v === null || v === undefined) ? null : median(of); }
    row.trials = data.algorithms[n].trials; row.device = data.algorithms[n].device;
    return row;
  });
  rows.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1)).forEach((row, i) => { row.place = i && row.rank - rows[i - 1].rank < 1e-6 ? rows[i - 1].place : i + 1; });
  return { rows, sets, whole, verdict, metric };
}
function compare(a, b) {
  const x = a[order[0]], y = b[order[0]];
  if (x === null || x === undefined) return 1;
  if (y === null || y === undefined) return -1;
  return (x < y ? -1 : x > y ? 1 : 0) * order[1];
}
function header(place, columns, now, click) {
  at(place).replaceChildren(...columns.map(([key, title]) => {
    const cell = element("th"); cell.scope = "col"; if (key === "name") cell.className = "name";
    if (now[0] === key) cell.setAttribute("aria-sort", now[1] > 0 ? "ascending" : "descending");
    const button = element("button", title, cell); if (HELP[key]) button.title = HELP[key];
    button.onclick = () => click(key);
    return cell;
  }));
}
function cellText(row, key) {
  if (key === "rank") return row.rank.toFixed(1);
  if (key === "could") return row.could ? "yes" : "";
  if (key === "again") return row.again === null ? "" : row.again < 0.005 ? "0.00" : row.again.toFixed(2);
  if (key === "share") return `${Math.round(100 * row.share)} %`;
  if (key === "seconds_fit" && row[key] !== null) return `${SIGNS[row.device] ?? ""}${brief(row[key])}`;
  return typeof row[key] === "number" ? brief(row[key]) : row[key] ?? "";
}
function draw() {
  const { rows, sets, whole, verdict, metric } = compute();
  at("headline").textContent = !rows.length ? "Nothing is left." : (verdict && data.headlines[metric]) || `${rows[0].name} has the best mean rank by ${data.metricNames[metric]} here: ${rows[0].rank.toFixed(1)} of ${rows.length}.`;
  at("second").textContent = whole && metric === "ndcg@10" ? data.second.join(" ") : "";
  at("said").textContent = !rows.length ? "" : verdict ? `${rows.length} algorithms ran on all ${names.length} datasets. ${names.length < 15 ? `${names.length} datasets can show large differences only.` : ""}` : `Ranks of your selection (${data.metricNames[metric]}, ${rows.length} algorithms on ${sets.length} of ${names.length} datasets); not tested.`;
  const columns = [...COLUMNS.filter(([key]) => verdict || !["bar", "could", "again"].includes(key)), ...(at("more").checked ? MORE : [])];
  header("head", columns, order, key => { order = [key, order[0] === key ? -order[1] : 1]; draw(); });
  const most = Math.max(rows.length, 2);
  at("rows").replaceChildren(...[...rows].sort(compare).map(row => {
    const line = element("tr"); if (row.could && verdict.could.length < rows.length) line.className = "could";
    for (const [key] of columns) {
      const cell = element("td", undefined, line);
      if (key === "name") {
        cell.className = "name"; const dot = element("span", undefined, cell); dot.className = "dot"; dot.style.background = colour(row.kind); dot.title = row.kind;
        element("button", row.name, cell).onclick = () => algorithmCard(row.name);
      } else if (key === "bar") {
        if (row.low === null) continue;
        const svg = shape("svg", { class: "whisker", viewBox: "0 0 100 12", preserveAspectRatio: "none", role: "img", "aria-label": between(row.low, row.high) }, cell), x = v => 2 + 96 * (v - 1) / (most - 1);
        shape("title", {}, svg).textContent = between(row.low, row.high);
        shape("line", { x1: x(row.low), x2: x(row.high), y1: 6, y2: 6, stroke: colour(row.kind), "stroke-width": 2 }, svg); shape("rect", { x: x(row.rank) - 1.5, y: 2, width: 3, height: 8, fill: colour(row.kind) }, svg);
      } else cell.textContent = cellText(row, key);
    }
    return line;
  }));
  picture(rows.filter(r => r.seconds_fit > 0));
}
function picture(rows) {
  const width = 520, height = 400, left = 38, bottom = 34, box = at("picture"); box.replaceChildren();
  if (!rows.length) return;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": "Mean rank against seconds of training" }, box);
  const logs = rows.map(r => Math.log10(r.seconds_fit)), low = Math.floor(Math.min(...logs)), high = Math.ceil(Math.max(...logs) + 1e-9), most = Math.max(...rows.map(r => r.rank));
  const x = s => left + (width - left - 60) * (Math.log10(s) - low) / Math.max(high - low, 1), y = r => 12 + (height - bottom - 20) * (r - 1) / Math.max(most - 1, 1);
  for (let e = low; e <= high; e++) { shape("line", { class: "grid", x1: x(10 ** e), x2: x(10 ** e), y1: 8, y2: height - bottom }, svg); shape("text", { class: "axis", x: x(10 ** e), y: height - bottom + 14, "text-anchor": "middle" }, svg).textContent = `${e >= 0 ? 10 ** e : (10 ** e).toFixed(-e)} s`; }
  for (let r = 1; r <= most; r += most > 20 ? 5 : most > 10 ? 3 : 1) { shape("line", { class: "grid", x1: left, x2: width - 56, y1: y(r), y2: y(r) }, svg); shape("text", { class: "axis", x: left - 6, y: y(r) + 4, "text-anchor": "end" }, svg).textContent = r; }
  const core = rows.filter(r => !SIGNS[r.device]), front = [...core].sort((a, b) => a.seconds_fit - b.seconds_fit || a.rank - b.rank).filter((row, i, list) => list.slice(0, i).every(other => other.rank > row.rank));
  shape("polyline", { points: front.map(r => `${x(r.seconds_fit)},${y(r.rank)}`).join(" "), fill: "none", stroke: "var(--mark)", "stroke-width": 1.5, "stroke-dasharray": "4 3" }, svg);
  const taken = rows.map(r => [x(r.seconds_fit) - 4, y(r.rank) + 4, 8]);
  for (const row of [...rows].sort((a, b) => front.includes(b) - front.includes(a) || a.rank - b.rank)) {
    const cx = x(row.seconds_fit), cy = y(row.rank), size = front.includes(row) ? 5 : 4;
    const dot = shape("circle", { cx, cy, r: size, fill: SIGNS[row.device] ? "var(--ground)" : colour(row.kind), stroke: colour(row.kind), "stroke-width": 1.5 }, svg);
    shape("title", {}, dot).textContent = `${row.name}: mean rank ${row.rank.toFixed(1)}, ${SIGNS[row.device] ?? ""}${brief(row.seconds_fit)} s`;
    const wide = 6.6 * row.name.length + 3, free = (px, py) => taken.every(t => Math.abs(t[1] - py) > 9 || px > t[0] + t[2] || px + wide < t[0]);
    const spot = [[cx + 7, cy + 4], [cx - 7 - wide, cy + 4], [cx - wide / 2, cy - 8], [cx - wide / 2, cy + 15]].find(([px, py]) => px > left && px + wide < width && free(px, py));
    if (spot) { taken.push([...spot, wide]); shape("text", { x: spot[0], y: spot[1] }, svg).textContent = row.name; }
  }
  shape("text", { class: "axis", x: width / 2, y: height - 4, "text-anchor": "middle" }, svg).textContent = "seconds of training (left is better)";
  shape("text", { class: "axis", x: 10, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 10 ${height / 2})` }, svg).textContent = "mean rank (top is better)";
}
function card(title, facts, columns, rows) {
  const box = at("card-body"), list = document.createElement("dl"); box.replaceChildren(); element("h3", title, box);
  for (const [name, value, link] of facts) if (value !== "" && value !== undefined && value !== null) { element("dt", name, list); const dd = element("dd", link ? undefined : value, list); if (link) { const a = element("a", value, dd); a.href = link; } }
  box.append(list);
  const wrap = element("div", undefined, box), table = element("table", undefined, wrap), head = element("tr", undefined, element("thead", undefined, table)), body = element("tbody", undefined, table); wrap.className = "scroll";
  columns.forEach((c, i) => { const th = element("th", c, head); th.scope = "col"; if (!i) th.className = "name"; if (c === "parameters") th.className = "text"; });
  for (const row of rows) { const line = element("tr", undefined, body); row.forEach((v, i) => { const td = element("td", v, line); if (!i) td.className = "name"; if (columns[i] === "parameters") td.className = "text"; }); }
  at("card").showModal();
}
function withSpread(metric, name, i) {
  const spread = (data.spread[metric][name] ?? [])[i];
  return data.values[metric][name][i].toFixed(4) + (typeof spread === "number" ? ` \u00b1 ${spread.toFixed(4)}` : "");
}
const SPREAD = "\u00b1 is the standard deviation over seeds; values are their means";
function algorithmCard(name) {
  const one = data.algorithms[name], metric = at("metric").value, table = data.values[metric], own = table[name] ?? [], verdict = data.verdicts[metric], v = verdict ? verdict.order.indexOf(name) : -1;
  const rows = names.map((d, i) => {
    const there = Object.keys(table).filter(n => table[n][i] !== null), value = own[i] ?? null;
    return value === null ? null : [d, withSpread(metric, name, i), `${1 + there.filter(n => table[n][i] > value).length} of ${there.length}`, brief((data.values.seconds_fit[name] ?? [])[i]), one.parameters[d] ?? ""];
  }).filter(Boolean);
  card(name, [["Kind", one.kind], ["Source", one.source, all.documentation ? one.page : undefined], ["Handed in", one.handed_in], ["Mean rank", v >= 0 ? `${verdict.ranks[v].toFixed(1)}${verdict.interval ? ` (${between(...verdict.interval[v])})` : ""} of ${verdict.order.length}` : data.placed.includes(name) ? "" : "no place: values are missing"],
    ["Could be best", v >= 0 ? (verdict.could.includes(name) ? "yes: no other is shown to be better" : "no") : ""], ["Missing", (data.gaps[name] ?? []).join("; ")], ["Ran on", { cpu: "one core", gpu: "a shared GPU", own: "the machine of its author" }[one.device]], ["Trials", brief(one.trials)], ["Seeds", (data.spread[metric][name] ?? []).some(v => v !== null) ? SPREAD : ""]], ["dataset", data.metricNames[metric], "rank there", "training, s", "parameters"], rows);
}
function datasetCard(name) {
  const one = data.datasets[name], metric = at("metric").value, i = names.indexOf(name), table = data.values[metric];
  const rows = Object.keys(table).filter(n => table[n][i] !== null).sort((a, b) => table[b][i] - table[a][i]).map((n, place) => [n, String(place + 1), withSpread(metric, n, i), brief((data.values.seconds_fit[n] ?? [])[i])]);
  card(name, [["Kind", one.family], ["What it is", one.source], ["Get it from", one.link.replace("https://", ""), one.link], ["Licence", one.licence], ["Split", `${one.split}; hash ${one.hash}`], ["Judged users", brief(one.users)], ["Difficulty", brief(one.difficulty)], ["Discrimination", brief(one.discrimination)], ["Seeds", Object.values(data.spread[metric]).some(of => of[i] !== null) ? SPREAD : ""]],
    ["algorithm", "rank", data.metricNames[metric], "training, s"], rows);
}
const DATA = [["name", "dataset"], ["family", "kind"], ["split", "split"], ["users", "judged users"], ["difficulty", "difficulty"], ["discrimination", "discrimination"], ["leader", "best by nDCG@10"]];
let dataOrder = ["name", 1];
function drawData() {
  header("data-head", DATA, dataOrder, key => { dataOrder = [key, dataOrder[0] === key ? -dataOrder[1] : 1]; drawData(); });
  const table = data.values["ndcg@10"], rows = names.map((name, i) => ({ ...data.datasets[name], name, leader: Object.keys(table).filter(n => table[n][i] !== null).sort((a, b) => table[b][i] - table[a][i])[0] ?? "" }));
  const [key, way] = dataOrder;
  rows.sort((a, b) => a[key] === b[key] ? 0 : a[key] === undefined ? 1 : b[key] === undefined ? -1 : (a[key] < b[key] ? -1 : 1) * way);
  at("data-rows").replaceChildren(...rows.map(row => {
    const line = element("tr");
    for (const [field] of DATA) {
      const cell = element("td", undefined, line);
      if (field === "name") { cell.className = "name"; element("button", row.name, cell).onclick = () => datasetCard(row.name); } else cell.textContent = typeof row[field] === "number" ? brief(row[field]) : row[field] ?? "";
    }
    return line;
  }));
}
function drawText() {
  at("findings").replaceChildren(); at("lacking").replaceChildren(); at("notes").replaceChildren();
  for (const [board, sentence, grade, change] of all.findings) if (board === "both" || board === data.name) { const one = element("li", undefined, at("findings")); element("span", grade, one).className = "tag"; one.append(` ${sentence} `); element("span", change, one).className = "soft"; }
  const gaps = Object.entries(data.gaps);
  at("lacking-said").textContent = gaps.length ? `${gaps.length} algorithms have no place, because they lack a value on at least one dataset.` : "Every algorithm has a place.";
  at("lacking-table").hidden = !gaps.length;
  for (const [name, reasons] of gaps) { const line = element("tr", undefined, at("lacking")), cell = element("td", undefined, line); cell.className = "name"; element("button", name, cell).onclick = () => algorithmCard(name); element("td", reasons.join("; "), line).className = "text"; }
  for (const line of data.notes) element("li", line, at("notes"));
}
at("docs").hidden = !all.documentation;
for (const board of all.boards) { const button = element("button", `${board.title}: ${Object.keys(board.datasets).length} datasets`, at("boards")); button.value = board.name; button.onclick = () => { history.replaceState(null, "", `#${board.name}`); choose(board); }; }
at("metric").onchange = draw; at("more").onchange = draw;
choose(all.boards.find(board => `#${board.name}` === location.hash) ?? all.boards[0]);
