/* Tests over datasets, as recassay.analysis.inference computes them. */
RecAssay.tests = (() => {
  const { beats } = RecAssay.ties;
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  /* Ranks of the sizes of differences; neighbours that are equal but for rounding share the mean of their places. */
  const sizeRanks = (differences) => {
    const sizes = differences.map(Math.abs);
    const order = sizes.map((_, i) => i).sort((i, j) => sizes[i] - sizes[j] || i - j);
    const ranks = new Array(sizes.length);
    for (let start = 0; start < order.length; ) {
      let end = start + 1;
      while (end < order.length && !beats(sizes[order[end]], sizes[order[end - 1]])) end++;
      for (let i = start; i < end; i++) ranks[order[i]] = (start + 1 + end) / 2;
      start = end;
    }
    return ranks;
  };

  /* The exact two-sided p of a sum of ranks under all signs: the chance of every sum, ranks doubled to be whole. */
  const exactP = (ranks, smaller) => {
    const doubled = ranks.map((rank) => Math.round(2 * rank));
    let chances = new Float64Array(sum(doubled) + 1), reach = 0;
    chances[0] = 1;
    for (const rank of doubled) {
      for (let s = reach; s >= 0; s--) {
        chances[s] /= 2;
        chances[s + rank] += chances[s];
      }
      reach += rank;
    }
    return Math.min(1, 2 * sum(Array.from(chances.subarray(0, Math.round(2 * smaller) + 1))));
  };

  const EXACT = 200;

  /* Two-sided Wilcoxon signed-rank p; zero differences are dropped. Exact up to 200 datasets, ties included; else the
     normal approximation with the variance of these ranks. */
  const wilcoxon = (differences) => {
    const kept = differences.filter((difference) => difference !== 0);
    if (!kept.length) return 1;
    const ranks = sizeRanks(kept);
    const positive = sum(ranks.filter((_, i) => kept[i] > 0)), negative = sum(ranks) - positive;
    if (kept.length <= EXACT) return exactP(ranks, Math.min(positive, negative));
    return RecAssay.special.normalTwoSided((positive - negative) / Math.sqrt(sum(ranks.map((rank) => rank * rank))));
  };

  const holm = (pValues) => {
    const order = pValues.map((_, i) => i).sort((i, j) => pValues[i] - pValues[j] || i - j);
    const adjusted = new Array(pValues.length);
    let highest = 0;
    order.forEach((place, i) => {
      highest = Math.max(highest, pValues[place] * (pValues.length - i));
      adjusted[place] = Math.min(highest, 1);
    });
    return adjusted;
  };

  /* Maximal runs of neighbours in `order` in which no pair differs. */
  const runs = (order, differ) => {
    const found = [];
    let reach = 0;
    order.forEach((_, start) => {
      let end = start + 1;
      while (end < order.length && !order.slice(start, end).some((one) => differ(one, order[end]))) end++;
      if (end > reach && end - start > 1) found.push(order.slice(start, end));
      reach = Math.max(reach, end);
    });
    return found;
  };

  /* All of it on one table: `order` by mean rank, pairs with adjusted p, groups by Wilcoxon-Holm and by Nemenyi. */
  const compare = (contest, alpha, criticalDifference) => {
    const mean = contest.ranks.map((row) => sum(row) / contest.n);
    const order = mean.map((_, a) => a).sort((a, b) => mean[a] - mean[b] || a - b);
    const pairs = [];
    order.forEach((left, i) => order.slice(i + 1).forEach((right) => {
      const gap = contest.values[left].map((value, d) => {
        const other = contest.values[right][d];
        const apart = beats(value, other) || beats(other, value);
        return apart ? (contest.up ? value - other : other - value) : 0;
      });
      pairs.push({ left, right, p: wilcoxon(gap) });
    }));
    holm(pairs.map((pair) => pair.p)).forEach((p, i) => (pairs[i].pHolm = p));
    const differing = new Set(pairs.filter((pair) => pair.pHolm < alpha).map((pair) => `${pair.left} ${pair.right}`));
    return {
      meanRanks: mean,
      order,
      pairs,
      criticalDifference,
      groups: {
        wilcoxonHolm: runs(order, (a, b) => differing.has(`${a} ${b}`)),
        nemenyi: runs(order, (a, b) => Math.abs(mean[a] - mean[b]) > criticalDifference),
      },
    };
  };

  return { compare, wilcoxon };
})();
