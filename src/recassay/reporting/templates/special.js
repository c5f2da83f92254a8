/* The tail of the normal distribution, from the incomplete gamma function. */
RecAssay.special = (() => {
  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];

  /* Logarithm of the gamma function for x > 0 (Lanczos' approximation, g = 7). */
  const logGamma = (x) => {
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    const shifted = x - 1;
    let sum = LANCZOS[0];
    for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (shifted + i);
    const t = shifted + 7.5;
    return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
  };

  const TINY = 1e-300;

  /* A continued fraction b0 + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method. */
  const fraction = (b0, term) => {
    let value = b0 || TINY, c = value, d = 0;
    for (let i = 1; i < 10000; i++) {
      const [a, b] = term(i);
      d = b + a * d || TINY;
      c = b + a / c || TINY;
      d = 1 / d;
      value *= c * d;
      if (Math.abs(c * d - 1) < 1e-16) break;
    }
    return value;
  };

  /* The upper regularised incomplete gamma function Q(a, x). */
  const gammaQ = (a, x) => {
    if (x <= 0) return 1;
    if (!Number.isFinite(x)) return 0;
    const front = Math.exp(a * Math.log(x) - x - logGamma(a));
    if (x < a + 1) {
      let term = 1 / a, sum = term;
      for (let n = 1; n < 10000 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
        term *= x / (a + n);
        sum += term;
      }
      return 1 - front * sum;
    }
    return front / fraction(x + 1 - a, (i) => [-i * (i - a), x + 2 * i + 1 - a]);
  };

  return { normalTwoSided: (z) => gammaQ(0.5, (z * z) / 2) };
})();
