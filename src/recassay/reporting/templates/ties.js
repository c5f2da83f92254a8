/* When two results are equal, as recassay.core.ties has it: |a - b| <= 1e-9 max(|a|, |b|). */
RecAssay.ties = (() => {
  const RELATIVE_TIE = 1e-9;

  /* Whether `left` is larger than `right` and does not tie with it. */
  const beats = (left, right) =>
    (left > 0 ? left * (1 - RELATIVE_TIE) : left) > (right < 0 ? right * (1 - RELATIVE_TIE) : right);

  /* Ranks, 1 the best; those that tie share the mean of their positions. */
  const ranks = (values, up) => {
    const signed = values.map((value) => (up ? value : -value));
    return signed.map((mine) => {
      const above = signed.filter((other) => beats(other, mine)).length;
      const below = signed.filter((other) => beats(mine, other)).length;
      return (signed.length + 1 + above - below) / 2;
    });
  };

  /* The first row of each set of rows that tie in every column, and for each row the number of its set. */
  const copies = (values) => {
    const rows = [], same = (left, right) => !beats(left, right) && !beats(right, left);
    const member = values.map((row, i) => {
      const known = rows.findIndex((first) => values[first].every((value, d) => same(value, row[d])));
      return known < 0 ? rows.push(i) - 1 : known;
    });
    const all = values.map((_, i) => i);
    return rows.length > 1 ? { rows, member } : { rows: all, member: all };
  };

  return { beats, copies, ranks };
})();
