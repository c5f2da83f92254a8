"use strict";
/* One name for all of the page's script, and the switch between light and dark. */
const RecAssay = {};

RecAssay.find = (id) => document.getElementById(id);

/* An element with attributes and children; text is only ever set as text. */
RecAssay.make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
};

/* A number at four digits, as the tables of the page write it. */
RecAssay.shown = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(3);
  return size >= 1e4 ? value.toFixed(0) : Number(value.toPrecision(4)).toString();
};

/* A p-value as the tables write it. */
RecAssay.shownP = (p) => (p < 0.001 ? "< .001" : p >= 0.9995 ? "> .999" : p.toFixed(3).slice(1));

/* How the numbers of a column are written: the same decimals for all, four digits for the largest. */
RecAssay.even = (values) => {
  const known = values.filter((value) => value !== null && value !== undefined && Number.isFinite(value));
  const largest = Math.max(0, ...known.map(Math.abs));
  if (!known.length || known.every(Number.isInteger) || largest === 0 || largest >= 1e6) return RecAssay.shown;
  const halves = known.every((value) => Number.isInteger(2 * value));
  const decimals = halves ? 1 : Math.min(8, Math.max(1, 3 - Math.floor(Math.log10(largest))));
  return (value) => (Number.isFinite(value) && value !== null ? value.toFixed(decimals) : RecAssay.shown(value));
};

RecAssay.startTheme = () => {
  const button = RecAssay.find("theme");
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try {
      return localStorage.getItem("recassay-theme");
    } catch {
      return null;
    }
  };
  const show = (dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  const chosen = remembered();
  show(chosen ? chosen === "dark" : system.matches);
  system.addEventListener("change", (event) => {
    if (!remembered()) show(event.matches);
  });
  button.addEventListener("click", () => {
    const dark = root.dataset.theme !== "dark";
    show(dark);
    try {
      localStorage.setItem("recassay-theme", dark ? "dark" : "light");
    } catch {
      /* a page opened from disk may have no memory; the switch still works */
    }
  });
};
