/* The leaderboard: choose metric, aggregation, datasets and algorithms; everything follows. */

/* A sentence in the words of the table: models on tasks where it says so. */
RecAssay.say = (text) => {
  const words = RecAssay.words || { algorithm: "algorithm", dataset: "dataset" };
  return text.replace(/\b(an? )?(algorithm|dataset)(s?)\b/gi, (_, article, word, plural) => {
    const lower = words[word.toLowerCase()], said = word[0] < "a" ? lower[0].toUpperCase() + lower.slice(1) : lower;
    return `${article ? (/^[aeio]/.test(said) ? "an " : "a ") : ""}${said}${plural}`;
  });
};

/* The complete table of a choice: what has no value is left out or filled in, as Results.matrix does. */
RecAssay.select = (data, choice) => {
  const metric = data.metrics[choice.metric];
  let algorithms = choice.algorithms.slice(), datasets = choice.datasets.slice();
  const hole = (a, d) => metric.values[a][d] === null;
  const holes = algorithms.flatMap((a) => datasets.filter((d) => hole(a, d)).map((d) => [a, d]));
  let dropped = [];
  let value = (a, d) => metric.values[a][d];
  if (holes.length && data.missing === "drop-algorithms") {
    dropped = algorithms.filter((a) => datasets.some((d) => hole(a, d))).map((a) => data.algorithms[a].name);
    algorithms = algorithms.filter((a) => !datasets.some((d) => hole(a, d)));
  } else if (holes.length && data.missing === "worst" && datasets.every((d) => algorithms.some((a) => !hole(a, d)))) {
    const worst = (d) => {
      const known = algorithms.filter((a) => !hole(a, d)).map((a) => metric.values[a][d]);
      return metric.up ? Math.min(...known) : Math.max(...known);
    };
    value = (a, d) => (hole(a, d) ? worst(d) : metric.values[a][d]);
  } else if (holes.length) {
    const kept = datasets.filter((d) => !algorithms.some((a) => hole(a, d)));
    dropped = datasets.filter((d) => !kept.includes(d)).map((d) => data.datasets[d]);
    datasets = kept;
  }
  return { metric, algorithms, datasets, dropped, holes, values: algorithms.map((a) => datasets.map((d) => value(a, d))) };
};

/* What Python found on the choice, by its algorithms; null where it judged another selection. */
RecAssay.verdict = (data, table) => {
  const known = table.metric.verdict, names = table.algorithms.map((a) => data.algorithms[a].name);
  const same = (one, other) => one.length === other.length && one.every((name) => other.includes(name));
  if (!known || !same(known.algorithms, names) || !same(known.datasets, table.datasets.map((d) => data.datasets[d]))) return null;
  const places = known.algorithms.map((name) => names.indexOf(name));
  const by = (values) => names.map((name) => values[known.algorithms.indexOf(name)]);
  return {
    enough: known.enough, groups: by(known.groups), could: by(known.could), p: by(known.p),
    bars: known.bars.map(([first, last]) => places.slice(first, last + 1)),
  };
};

/* Scores, ranks and profiles of a choice: the numbers that Python computes on the same rows. */
RecAssay.compute = (data, choice) => {
  const table = RecAssay.select(data, choice);
  const rule = data.rules[choice.rule];
  if (table.algorithms.length < 2 || table.datasets.length < 2) {
    return { ...table, problem: RecAssay.say("A comparison needs at least two algorithms and two datasets with values.") };
  }
  const { rows, member } = RecAssay.ties.copies(table.values); // algorithms with the same values count once
  const contest = RecAssay.rules.contest(rows.map((a) => table.values[a]), table.metric.up);
  const scored = (name) => { const scores = RecAssay.rules.SCORES[name](contest, data.betaMax); return member.map((a) => scores[a]); };
  const negative = table.values.some((row) => row.some((value) => value < 0));
  const meanRanks = scored("mean_rank"), firsts = scored("plurality");
  const order = meanRanks.map((_, a) => a).sort((a, b) => meanRanks[a] - meanRanks[b] || a - b);
  const answer = { ...table, rule, meanRanks, order, firsts, verdict: RecAssay.verdict(data, table) };
  if (!negative) {
    answer.profiles = RecAssay.rules.profiles(table.values, table.metric.up, data.betaMax);
    answer.shares = RecAssay.rules.areaShares(table.values, table.metric.up, data.betaMax);
  }
  if (negative && rule.nonnegative) {
    return { ...answer, problem: `${rule.title} needs values of at least 0, and ${table.metric.label} has negative ones.` };
  }
  answer.scores = scored(rule.name);
  answer.up = rule.best === "metric" ? table.metric.up : rule.best === "highest";
  answer.ranks = RecAssay.rules.scoreRanks(answer.scores, answer.up);
  return answer;
};

RecAssay.startBoard = (data) => {
  const find = RecAssay.find, make = RecAssay.make, shown = RecAssay.shown, say = RecAssay.say;
  RecAssay.words = data.words;
  const everything = (names) => names.map((_, i) => i);
  const start = Math.max(0, data.metrics.findIndex((metric) => metric.label === data.metric));
  const firstRule = data.rules.findIndex((rule) => rule.name === "mean_rank");
  const choice = { metric: start, rule: firstRule, datasets: everything(data.datasets), algorithms: everything(data.algorithms) };
  let sorted = { key: "rank", down: false };
  let wanted = "";

  /* Intervals, probabilities and Friedman's test exist for the analysed metric on the selection that Python saw. */
  const whole = (answer) => {
    const known = data.computed;
    const same = (names, places, all) => names.length === places.length && places.every((p, i) => all(p) === names[i]);
    return Boolean(known) && answer.metric.label === data.metric
      && same(known.algorithms, answer.algorithms, (a) => data.algorithms[a].name)
      && same(known.datasets, answer.datasets, (d) => data.datasets[d]);
  };

  const intervals = (answer) =>
    (!answer.problem && whole(answer) && data.computed.again && data.computed.rules[answer.rule.name]) || null;

  /* Those that tie share their places: 3 to 5 where the rank of three is 4. */
  const placesOf = (rank, ranks) => {
    const tied = ranks.filter((other) => other === rank).length, first = rank - (tied - 1) / 2;
    return tied > 1 && Number.isInteger(first) ? `${first} to ${first + tied - 1}` : shown(rank);
  };

  const rowsOf = (answer, sure) => {
    const judged = answer.verdict;
    return answer.algorithms.map((a, i) => ({
      number: a, name: data.algorithms[a].name, rank: answer.ranks[i], places: placesOf(answer.ranks[i], answer.ranks),
      score: answer.scores[i],
      low: sure && sure.interval[i][0], high: sure && sure.interval[i][1],
      rankLow: sure && sure.ranks[i][0], rankHigh: sure && sure.ranks[i][1], share: sure && sure.share[i],
      again: sure && data.computed.again[i], meanRank: answer.meanRanks[i], firsts: answer.firsts[i],
      groups: judged && judged.groups[i], could: judged && judged.could[i], p: judged && judged.p[i],
    }));
  };

  const COLUMNS = [
    { key: "rank", title: "Rank", text: (r) => r.places },
    { key: "name", title: say("Algorithm") },
    { key: "score", title: (answer) => answer.rule.title, text: (r, even) => even.score(r.score), down: (answer) => answer.up },
    { key: "low", title: "Interval", text: (r, even) => `${even.score(r.low)} to ${even.score(r.high)}`, sure: true },
    { key: "drawn", title: "", draw: true, sure: true },
    { key: "rankLow", title: "Rank between", text: (r) => `${shown(r.rankLow)} and ${shown(r.rankHigh)}`, sure: true },
    { key: "share", title: "Share resampled", text: (r) => r.share.toFixed(2), sure: true, down: () => true },
    { key: "could", title: "Could be best", text: (r) => (r.could ? "yes" : "no"), judged: true, rule: "mean_rank", down: () => true },
    { key: "again", title: "P(first again)", text: (r) => r.again.toFixed(2), sure: true, rule: "mean_rank", down: () => true },
    { key: "meanRank", title: "Mean rank", text: (r, even) => even.meanRank(r.meanRank), unless: "mean_rank" },
    { key: "firsts", title: "Best on", text: (r, even) => even.firsts(r.firsts), down: () => true },
    { key: "groups", title: "Groups", text: (r) => r.groups, judged: true },
    { key: "p", title: "p against the first", text: (r) => (r.p === null ? "" : RecAssay.shownP(r.p)), judged: true, rule: "mean_rank" },
  ];

  const UNTESTED = "Ranks of your selection; no test was made for it.";

  const drawTable = (answer) => {
    const table = find("board-table"), sure = intervals(answer), judged = answer.verdict && answer.verdict.enough;
    const [caption, head, body] = [table.querySelector("caption"), table.querySelector("thead"), table.querySelector("tbody")];
    head.replaceChildren();
    body.replaceChildren();
    if (answer.problem) {
      caption.textContent = answer.problem;
      return;
    }
    const columns = COLUMNS.filter((column) => (sure || !column.sure) && (judged || !column.judged)
      && (!column.rule || column.rule === answer.rule.name) && column.unless !== answer.rule.name);
    if (!columns.some((column) => column.key === sorted.key)) sorted = { key: "rank", down: false };
    caption.textContent = `${answer.metric.label}, ${answer.rule.title}: ${answer.rule.definition} (${answer.up ? "higher" : "lower"} is better)`;
    const rows = rowsOf(answer, sure).sort((one, other) => {
      const a = one[sorted.key], b = other[sorted.key];
      const order = typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : (a === null) - (b === null) || a - b;
      return (sorted.down ? -order : order) || one.rank - other.rank || one.number - other.number;
    });
    const even = {
      score: RecAssay.even(rows.flatMap((row) => [row.score, row.low, row.high])),
      meanRank: RecAssay.even(rows.map((row) => row.meanRank)),
      firsts: RecAssay.even(rows.map((row) => row.firsts)),
    };
    const ends = sure ? rows.flatMap((row) => [row.low, row.high, row.score]) : [];
    const axis = [Math.min(...ends), Math.max(...ends)];
    const titleOf = (column) => (typeof column.title === "function" ? column.title(answer) : column.title);
    head.append(make("tr", {}, ...columns.map((column) => {
      if (column.draw) return make("th", { scope: "col", "aria-hidden": "true" });
      const active = column.key === sorted.key;
      const button = make("button", { type: "button", "data-key": column.key }, titleOf(column));
      button.addEventListener("click", () => {
        sorted = { key: column.key, down: active ? !sorted.down : Boolean(column.down && column.down(answer)) };
        drawTable(answer);
        head.querySelector(`[data-key="${column.key}"]`).focus();
      });
      return make("th", { scope: "col", "aria-sort": active ? (sorted.down ? "descending" : "ascending") : null }, button);
    })));
    const found = rows.filter((one) => one.name.toLowerCase().includes(wanted));
    const few = !wanted && rows.length > data.many.from ? found.slice(0, data.many.shown) : found;
    if (few.length < found.length) caption.textContent += `. Shown are ${few.length} of ${found.length}: type part of a name above to find others`;
    for (const row of few) {
      const look = data.algorithms[row.number];
      const swatch = make("span", { class: "swatch", style: `background:${look.colour}`, "aria-hidden": "true" });
      body.append(make("tr", { "data-n": row.number, "data-name": row.name }, ...columns.map((column) =>
        column.key === "name"
          ? make("th", { scope: "row" }, swatch, row.name)
          : column.draw
            ? make("td", { class: "drawn", "aria-hidden": "true" }, RecAssay.diagrams.interval(row.low, row.score, row.high, axis))
            : make("td", { class: "n", "data-key": column.key, "data-title": titleOf(column) }, column.text(row, even)))));
    }
    RecAssay.relight();
  };

  const drawNotes = (answer) => {
    const left = answer.dropped.length
      ? ` ${answer.holes.length} cells have no value; left out for that: ${answer.dropped.join(", ")}.`
      : answer.holes.length ? say(` ${answer.holes.length} cells have no value and took the worst one on their dataset.`) : "";
    find("board-note").textContent = (intervals(answer)
      ? say(`Intervals (${100 * data.computed.confidence} %), ranks between and the share of first places come from a bootstrap over datasets`)
        + `; P(first again) is the probability of the best mean rank in a new benchmark; could be best: not shown to be behind the best (${100 * data.computed.confidence} %).`
      : `Intervals and probabilities exist for ${data.metric} on the whole selection only, and from ${data.fewest} ${say("datasets")} on.`) + left;
    if (answer.problem) {
      find("board-status").textContent = answer.problem;
      return;
    }
    const leaders = answer.algorithms.filter((_, i) => answer.ranks[i] === Math.min(...answer.ranks));
    const names = leaders.map((a) => data.algorithms[a].name).join(" and ");
    find("board-status").textContent =
      `${names} ${leaders.length > 1 ? "share the first place" : "is first"} ${say(`of ${answer.algorithms.length} algorithms over ${answer.datasets.length} datasets.`)}${answer.verdict ? (answer.verdict.enough ? "" : say(" Too few datasets for a test.")) : ` ${UNTESTED}`}`;
  };

  const drawPictures = (answer) => {
    const difference = find("board-difference"), profiles = find("board-profiles");
    const names = answer.algorithms.map((a) => data.algorithms[a].name), many = names.length > data.many.from;
    const only = many ? say(` Shown are the best ${data.many.shown} of ${names.length} algorithms.`) : "";
    find("board-difference-caption").textContent = "";
    find("board-profiles-caption").textContent = "";
    difference.replaceChildren();
    profiles.replaceChildren();
    if (answer.order) {
      const judged = answer.verdict;
      RecAssay.diagrams.meanRanks(difference, names, answer, judged ? judged.bars : [], many ? data.many.shown : names.length);
      const p = whole(answer) ? data.computed.friedman : null;
      find("board-difference-caption").textContent = "Mean ranks (further left is better)" + (!judged ? "." : judged.enough
        ? say(`; a bar joins algorithms that the test of all pairs (flipped signs) does not decide at the ${data.alpha} level.`)
          + (p === null ? "" : ` As a whole: Friedman, p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`}.`)
        : say("; too few datasets for a test.")) + only;
    }
    if (answer.profiles) {
      RecAssay.diagrams.profiles(profiles, names, answer.algorithms.map((a) => data.algorithms[a]), answer.algorithms, answer.profiles, answer.shares, data.betaMax, many ? data.many.shown : names.length);
      find("board-profiles-caption").textContent =
        say("Share of the datasets on which an algorithm is within a factor of the best: higher and further left is better.") + only;
    }
  };

  const draw = () => {
    const answer = RecAssay.compute(data, choice);
    find("count-datasets").textContent = `${choice.datasets.length} of ${data.datasets.length}`;
    find("count-algorithms").textContent = `${choice.algorithms.length} of ${data.algorithms.length}`;
    drawTable(answer);
    drawNotes(answer);
    drawPictures(answer);
    RecAssay.answer = answer;
  };

  const boxes = (kind, names) => {
    const field = find(`choose-${kind}`);
    const all = make("button", { type: "button" }, "all"), none = make("button", { type: "button" }, "none");
    const inputs = names.map((name, i) => make("input", { type: "checkbox", value: i, checked: true }));
    const read = () => {
      choice[kind] = inputs.filter((input) => input.checked).map((input) => Number(input.value));
      draw();
    };
    const set = (on) => {
      inputs.forEach((input) => (input.checked = on));
      read();
    };
    all.addEventListener("click", () => set(true));
    none.addEventListener("click", () => set(false));
    field.append(make("p", { class: "all" }, all, none), ...names.map((name, i) => make("label", {}, inputs[i], name)));
    field.addEventListener("change", read);
    return () => inputs.forEach((input) => (input.checked = true));
  };

  data.metrics.forEach((metric, i) => find("board-metric").append(make("option", { value: i }, metric.label)));
  data.rules.forEach((rule, i) => find("board-rule").append(make("option", { value: i }, rule.title)));
  const resets = [boxes("datasets", data.datasets), boxes("algorithms", data.algorithms.map((a) => a.name))];
  const restore = () => {
    Object.assign(choice, { metric: start, rule: firstRule, datasets: everything(data.datasets), algorithms: everything(data.algorithms) });
    resets.forEach((reset) => reset());
    find("board-metric").value = start;
    find("board-rule").value = firstRule;
    find("board-find").value = wanted = "";
    sorted = { key: "rank", down: false };
    draw();
  };
  find("board-metric").addEventListener("change", (event) => {
    choice.metric = Number(event.target.value);
    draw();
  });
  find("board-rule").addEventListener("change", (event) => {
    choice.rule = Number(event.target.value);
    draw();
  });
  find("board-find").addEventListener("input", (event) => {
    wanted = event.target.value.trim().toLowerCase();
    drawTable(RecAssay.answer);
  });
  find("board-reset").addEventListener("click", restore);
  find("board").hidden = false;
  restore();
};
