/* The two pictures that follow the choice: the critical-difference diagram and the performance profiles. */
RecAssay.diagrams = (() => {
  const INK = "currentColor", FAINT = "var(--soft)", GRID = "var(--line)";
  const shape = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const shorten = (name) => (name.length > 28 ? `${name.slice(0, 27)}…` : name);
  const line = (x1, y1, x2, y2, attributes) => shape("line", { x1, y1, x2, y2, stroke: INK, ...attributes });

  const canvas = (holder, width, height, description) => {
    const svg = shape("svg", {
      viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": description,
      style: `max-width:${width}px;min-width:min(${width}px,36rem)`,
    });
    holder.replaceChildren(svg);
    return svg;
  };

  /* An interval and its value inside a table cell, on an axis that all rows share; filled points are kept for the verdict. */
  const interval = (low, value, high, [least, most]) => {
    const place = (end) => `${most > least ? 3 + (94 * (end - least)) / (most - least) : 50}%`;
    const svg = shape("svg", { "aria-hidden": "true" });
    svg.append(
      shape("line", { x1: place(low), x2: place(high), y1: "50%", y2: "50%" }),
      shape("line", { x1: place(value), x2: place(value), y1: "22%", y2: "78%", class: "value" }));
    return svg;
  };

  /* Mean ranks on a line, best on the left; each name on a row of its own; a bar joins those that `joined.by`
     does not separate. */
  const criticalDifference = (holder, names, test, numbers, joined, most) => {
    const TOP = 58, BAR = 9, ROW = 18, WIDE = 460;
    const order = test.order.slice(0, most), count = order.length, all = test.order.length;
    const rank = (a) => test.meanRanks[a];
    /* The line ends at the last name that is shown. */
    const k = count < all ? Math.min(all, Math.ceil(Math.max(...order.map(rank))) + 1) : all;
    const longest = Math.max(...order.map((a) => shorten(names[a]).length));
    const margin = 66 + 7.6 * longest, width = WIDE + 2 * margin;
    const x = (rank) => margin + ((rank - 1) / (k - 1)) * WIDE;
    const groups = joined.groups.filter((group) => order.includes(group[0]));
    const ends = [], bars = groups.map((group) => {
      const low = x(rank(group[0])) - 5, high = Math.min(x(rank(group[group.length - 1])), x(k)) + 5;
      let row = ends.findIndex((end) => low > end + 12);
      if (row < 0) row = ends.length;
      ends[row] = high;
      return { low, high, y: TOP + BAR * (row + 1), group };
    });
    const first = TOP + BAR * (ends.length + 2), left = Math.ceil(count / 2);
    const height = first + ROW * left + 4;
    const said = order.map((a) => `${names[a]} ${rank(a).toFixed(2)}`).join(", ");
    const svg = canvas(holder, width, height, `Mean ranks, the best first: ${said}.`);
    if (joined.rule === "nemenyi" && test.told) {
      const ruler = Math.min(test.criticalDifference, k - 1) * (WIDE / (k - 1));
      svg.append(line(x(1), 14, x(1) + ruler, 14, { "stroke-width": 1.5 }));
      svg.append(shape("text", { x: x(1), y: 28, "font-size": 11, fill: FAINT },
        `critical difference ${test.criticalDifference.toFixed(2)}`));
    }
    svg.append(line(x(1), TOP, x(k), TOP, { "stroke-width": 1.2 }));
    for (let r = 1; r <= k; r++) {
      svg.append(line(x(r), TOP, x(r), TOP - 6, { "stroke-width": 1.2 }));
      if (k <= 15 || (r - 1) % Math.floor(k / 10) === 0) {
        svg.append(shape("text", { x: x(r), y: TOP - 10, "text-anchor": "middle", "font-size": 11, fill: INK }, r));
      }
    }
    order.forEach((a, i) => {
      const better = i < left, y = first + ROW * (better ? i : count - 1 - i);
      const edge = better ? margin - 14 : width - margin + 14;
      const text = better ? `${shorten(names[a])}  ${rank(a).toFixed(2)}` : `${rank(a).toFixed(2)}  ${shorten(names[a])}`;
      svg.append(shape("path", {
        d: `M${x(rank(a))},${TOP}V${y}H${edge}`, fill: "none", stroke: FAINT, "stroke-width": 1, "data-n": numbers[a],
      }));
      svg.append(shape("text", {
        x: edge + (better ? -5 : 5), y: y + 4, "text-anchor": better ? "end" : "start", "font-size": 12, fill: INK,
        "data-n": numbers[a], "data-tip": `${names[a]}\nmean rank: ${RecAssay.shown(rank(a))}`,
      }, text));
    });
    for (const bar of bars) {
      svg.append(line(bar.low, bar.y, bar.high, bar.y, {
        "stroke-width": 4.5, "stroke-linecap": "round",
        "data-tip": `not separated by ${joined.by}:\n${bar.group.map((a) => names[a]).join("\n")}`,
      }));
    }
  };

  /* Share of datasets within a factor of the best; the legend carries the areas. */
  const profiles = (holder, names, looks, numbers, curves, shares, betaMax, most) => {
    const W = 420, H = Math.max(300, 17 * Math.min(most, names.length)), LEFT = 48, TOP = 16;
    const longest = Math.max(...names.map((name) => shorten(name).length));
    const width = LEFT + W + 90 + 7.2 * longest, height = TOP + H + 44;
    const x = (beta) => LEFT + ((beta - 1) / (betaMax - 1)) * W, y = (share) => TOP + (1 - share) * H;
    const order = names.map((_, a) => a).sort((a, b) => shares[b] - shares[a] || a - b).slice(0, most);
    const said = order.map((a) => `${names[a]} ${shares[a].toFixed(3)}`).join(", ");
    const svg = canvas(holder, width, height, `Performance profiles; share of the area: ${said}.`);
    for (let i = 0; i <= 5; i++) {
      const share = i / 5, beta = 1 + ((betaMax - 1) * i) / 5;
      svg.append(line(LEFT, y(share), LEFT + W, y(share), { stroke: GRID }));
      svg.append(line(x(beta), TOP, x(beta), TOP + H, { stroke: GRID }));
      svg.append(shape("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end", "font-size": 11, fill: INK }, share.toFixed(1)));
      svg.append(shape("text", { x: x(beta), y: TOP + H + 16, "text-anchor": "middle", "font-size": 11, fill: INK }, beta.toFixed(1)));
    }
    svg.append(shape("text", { x: LEFT + W / 2, y: TOP + H + 36, "text-anchor": "middle", "font-size": 11, fill: INK }, "factor beta from the best"));
    svg.append(shape("text", { transform: `translate(12,${TOP + H / 2}) rotate(-90)`, "text-anchor": "middle", "font-size": 11, fill: INK }, RecAssay.say("share of datasets within it")));
    order.forEach((a, place) => {
      const path = curves[a].map(([beta, share], i) => (i ? `H${x(beta)}V${y(share)}` : `M${x(beta)},${y(share)}`)).join("");
      const style = { fill: "none", stroke: looks[a].colour, "stroke-width": 2, "stroke-dasharray": looks[a].dash.join(",") };
      const tip = `${names[a]}\nshare of the area: ${RecAssay.shown(shares[a])}\nfirst on ${(100 * (curves[a][0][0] === 1 ? curves[a][0][1] : 0)).toFixed(0)} % of the ${RecAssay.say("datasets")}`;
      svg.append(shape("path", { d: path, ...style, "data-n": numbers[a], "data-tip": tip }));
      const row = TOP + 12 + 17 * place;
      svg.append(shape("path", { d: `M${LEFT + W + 14},${row - 4}h22`, ...style, "data-n": numbers[a] }));
      svg.append(shape("text", { x: LEFT + W + 42, y: row, "font-size": 11, fill: INK, "data-n": numbers[a], "data-tip": tip },
        `${shares[a].toFixed(3)}  ${shorten(names[a])}`));
    });
  };

  return { interval, criticalDifference, profiles };
})();
