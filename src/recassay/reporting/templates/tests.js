/* Tests over datasets, as recassay.analysis.inference.significance computes them. */
RecAssay.tests = (() => {
  const { beats } = RecAssay.ties;
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  const friedman = (ranks) => {
    const k = ranks.length, n = ranks[0].length;
    const mean = ranks.map((row) => sum(row) / n);
    const plain = ((12 * n) / (k * (k + 1))) * (sum(mean.map((m) => m * m)) - (k * (k + 1) ** 2) / 4);
    let ties = 0;
    for (let d = 0; d < n; d++) {
      const counts = new Map();
      for (const row of ranks) counts.set(row[d], (counts.get(row[d]) || 0) + 1);
      for (const count of counts.values()) ties += count ** 3 - count;
    }
    const correction = 1 - ties / (n * k * (k ** 2 - 1));
    const chi = Math.max(correction > 0 ? plain / correction : 0, 0);
    const most = n * (k - 1);
    const f = beats(most, chi) ? ((n - 1) * chi) / (most - chi) : Infinity;
    return {
      chiSquare: chi,
      p: RecAssay.special.chiSquareTail(chi, k - 1),
      f,
      fP: RecAssay.special.fTail(f, k - 1, (k - 1) * (n - 1)),
    };
  };

  /* Ranks of absolute differences, ties (and chains of them) sharing, and the sizes of the ties. */
  const absoluteRanks = (differences) => {
    const order = differences.map((_, i) => i).sort((i, j) => Math.abs(differences[i]) - Math.abs(differences[j]));
    const ranks = new Array(differences.length), sizes = [];
    for (let start = 0; start < order.length; ) {
      let end = start + 1;
      const size = (i) => Math.abs(differences[order[i]]);
      while (end < order.length && !beats(size(end), size(end - 1))) end++;
      for (let i = start; i < end; i++) ranks[order[i]] = (start + 1 + end) / 2;
      sizes.push(end - start);
      start = end;
    }
    return { ranks, sizes };
  };

  /* The exact two-sided p of a sum of ranks under all signs: counts of every sum, ranks doubled to be whole. */
  const exactP = (ranks, positive) => {
    const doubled = ranks.map((rank) => Math.round(2 * rank)), whole = sum(doubled);
    const counts = new Array(whole + 1).fill(0);
    counts[0] = 1;
    let reach = 0;
    for (const rank of doubled) {
      for (let s = reach; s >= 0; s--) if (counts[s]) counts[s + rank] += counts[s];
      reach += rank;
    }
    const observed = Math.round(2 * positive), all = 2 ** ranks.length;
    const below = sum(counts.slice(0, observed + 1)) / all, above = sum(counts.slice(observed)) / all;
    return Math.min(1, 2 * Math.min(below, above));
  };

  /* Two-sided Wilcoxon signed-rank p; equal values are dropped. Exact without ties up to 50 datasets, and with ties
     up to 13; else the normal approximation with the correction for ties. */
  const wilcoxon = (differences) => {
    const kept = differences.filter((difference) => difference !== 0);
    if (!kept.length) return 1;
    const { ranks, sizes } = absoluteRanks(kept);
    const positive = sum(ranks.filter((_, i) => kept[i] > 0));
    const clean = kept.length === differences.length && sizes.every((size) => size === 1);
    if (clean ? differences.length <= 50 : differences.length <= 13) return exactP(ranks, positive);
    const n = kept.length, ties = sum(sizes.map((size) => size ** 3 - size));
    const spread = Math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24);
    return RecAssay.special.normalTwoSided((positive - (n * (n + 1)) / 4) / spread);
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
        if (!beats(value, other) && !beats(other, value)) return 0;
        return contest.up ? value - other : other - value;
      });
      pairs.push({ left, right, p: wilcoxon(gap) });
    }));
    holm(pairs.map((pair) => pair.p)).forEach((p, i) => (pairs[i].pHolm = p));
    const differing = new Set(pairs.filter((pair) => pair.pHolm < alpha).map((pair) => `${pair.left} ${pair.right}`));
    return {
      meanRanks: mean,
      order,
      pairs,
      friedman: friedman(contest.ranks),
      criticalDifference,
      groups: {
        wilcoxonHolm: runs(order, (a, b) => differing.has(`${a} ${b}`)),
        nemenyi: runs(order, (a, b) => Math.abs(mean[a] - mean[b]) > criticalDifference),
      },
    };
  };

  return { compare, wilcoxon, friedman };
})();
