/* The aggregations over datasets, as recassay.analysis.aggregation.rules computes them; values are algorithms x datasets. */
RecAssay.rules = (() => {
  const { beats: larger, ranks: scoreRanks } = RecAssay.ties;
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  /* Who beats whom on each dataset: how many are better, how many share the value (itself included), and the rank. */
  const contest = (values, up) => {
    const k = values.length, n = values[0].length;
    const beats = (a, b, d) => (up ? larger(values[a][d], values[b][d]) : larger(values[b][d], values[a][d]));
    const better = values.map((_, a) => range(n).map((d) => range(k).filter((b) => beats(b, a, d)).length));
    const tied = values.map((_, a) =>
      range(n).map((d) => k - better[a][d] - range(k).filter((b) => beats(a, b, d)).length));
    const ranks = values.map((_, a) => range(n).map((d) => better[a][d] + (tied[a][d] + 1) / 2));
    const won = range(k).map((a) => range(k).map((b) => range(n).filter((d) => beats(a, b, d)).length));
    return { values, up, k, n, better, tied, ranks, won };
  };

  /* How many times worse than `best`: see recassay.analysis.aggregation.contest.ratio_to_best. */
  const ratioToBest = (value, best, up) => {
    const above = up ? best : value, below = up ? value : best;
    const ratio = below > 0 ? above / below : above === below ? 1 : Infinity;
    return larger(ratio, 1) ? ratio : 1;
  };

  const ratios = (values, up) => {
    const best = range(values[0].length).map((d) => {
      const column = values.map((row) => row[d]);
      return up ? Math.max(...column) : Math.min(...column);
    });
    return values.map((row) => row.map((value, d) => ratioToBest(value, best[d], up)));
  };

  const area = (row, betaMax) => sum(row.map((ratio) => (larger(betaMax, ratio) ? betaMax - ratio : 0)));

  const areaShares = (values, up, betaMax) => {
    const areas = ratios(values, up).map((row) => area(row, betaMax));
    const whole = sum(areas);
    return areas.map((one) => one / whole);
  };

  const leaveBestOut = (values, up, betaMax) => {
    let alive = range(values.length), removed = 0;
    const ranks = values.map(() => 0);
    while (alive.length) {
      const rows = ratios(alive.map((a) => values[a]), up);
      const areas = rows.map((row) => area(row, betaMax));
      const top = Math.max(...areas);
      const leaving = alive.filter((_, i) => !larger(top, areas[i]));
      for (const a of leaving) ranks[a] = removed + (leaving.length + 1) / 2;
      removed += leaving.length;
      alive = alive.filter((a) => !leaving.includes(a));
    }
    return ranks;
  };

  /* Points of a positional vote; ties share the mean of the positions they occupy. */
  const vote = (c, byPosition) => {
    const total = [0];
    for (const points of byPosition) total.push(total[total.length - 1] + points);
    return c.better.map((row, a) =>
      sum(row.map((better, d) => (total[better + c.tied[a][d]] - total[better]) / c.tied[a][d])));
  };

  const powerMean = (c, inside, outside) =>
    c.values.map((row) => (row.includes(0) ? 0 : outside(sum(row.map(inside)) / c.n)));

  const SCORES = {
    dm_auc: (c, betaMax) => areaShares(c.values, c.up, betaMax),
    dm_lbo: (c, betaMax) => leaveBestOut(c.values, c.up, betaMax),
    mean_rank: (c) => c.ranks.map((row) => sum(row) / c.n),
    mean: (c) => c.values.map((row) => sum(row) / c.n),
    geometric_mean: (c) => powerMean(c, Math.log, Math.exp),
    harmonic_mean: (c) => powerMean(c, (v) => 1 / v, (m) => 1 / m),
    copeland: (c) => c.won.map((row, a) =>
      sum(row.map((won, b) => Math.sign(won - c.won[b][a])))),
    minimax: (c) => c.won.map((_, a) =>
      0 - Math.max(...c.won.map((row, b) => (row[a] > c.won[a][b] ? row[a] : 0)))),
    borda: (c) => vote(c, range(c.k).map((place) => c.k - 1 - place)),
    plurality: (c) => vote(c, range(c.k).map((place) => (place === 0 ? 1 : 0))),
    dowdall: (c) => vote(c, range(c.k).map((place) => 1 / (place + 1))),
  };

  /* Corner points of the profiles: [ratio, share of datasets within it]. */
  const profiles = (values, up, betaMax) =>
    ratios(values, up).map((row) => {
      const within = row.filter((ratio) => ratio <= betaMax).sort((a, b) => a - b);
      const corners = [];
      within.forEach((ratio, i) => {
        if (i + 1 === within.length || larger(within[i + 1], ratio)) corners.push([ratio, (i + 1) / row.length]);
      });
      if (!corners.length || corners[0][0] > 1) corners.unshift([1, 0]);
      corners.push([betaMax, corners[corners.length - 1][1]]);
      return corners;
    });

  return { SCORES, contest, scoreRanks, profiles, areaShares };
})();
