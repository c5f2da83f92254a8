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

  return { beats, ranks };
})();
