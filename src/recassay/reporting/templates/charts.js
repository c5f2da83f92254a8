/* Values on hover, and one algorithm or dataset highlighted across pictures; at first the one that a page is about. */
RecAssay.startCharts = (names, about) => {
  const find = RecAssay.find, tip = find("tip"), select = find("highlight");
  let pinned = "";

  const light = (number, scope) => {
    for (const chart of scope) {
      const own = number === "" ? [] : chart.querySelectorAll(`[data-n="${number}"]`);
      chart.querySelectorAll(".lit").forEach((mark) => mark.classList.remove("lit"));
      own.forEach((mark) => mark.classList.add("lit"));
      chart.classList.toggle("dimmed", own.length > 0);
    }
  };
  const everywhere = () => document.querySelectorAll("svg.chart, #board-table");
  const pin = (number) => {
    pinned = number;
    select.value = number;
    light(number, everywhere());
  };
  RecAssay.relight = () => light(pinned, everywhere());

  /* A linear scale read off an axis: [slope, offset] from pixels to values, or null where labels are not numbers. */
  const scaleOf = (axis, across) => {
    const points = [...axis.querySelectorAll(".role-axis-label text")].flatMap((label) => {
      const place = /translate\(([-\d.]+),([-\d.]+)/.exec(label.getAttribute("transform") || "");
      const value = Number(label.textContent.replace("−", "-").replace(/,/g, ""));
      return place && label.textContent.trim() && Number.isFinite(value) ? [[Number(place[across ? 1 : 2]), value]] : [];
    });
    if (points.length < 3) return null;
    const [first, last] = [points[0], points[points.length - 1]];
    const slope = (last[1] - first[1]) / (last[0] - first[0]);
    const straight = points.every(([pixel, value]) =>
      Math.abs(value - first[1] - slope * (pixel - first[0])) < 0.06 * Math.abs(last[1] - first[1]));
    return straight && Number.isFinite(slope) ? (pixel) => first[1] + slope * (pixel - first[0]) : null;
  };

  /* The two axes of the panel that a line belongs to, with their titles. */
  const axesOf = (mark) => {
    for (let group = mark.parentElement; group && group.tagName === "g"; group = group.parentElement) {
      const axes = [...group.querySelectorAll(".role-axis")].filter((axis) => axis.querySelector(".role-axis-title"));
      if (axes.length >= 2) {
        const upright = (axis) => /rotate/.test(axis.querySelector(".role-axis-title text").getAttribute("transform") || "");
        const [x, y] = [axes.find((axis) => !upright(axis)), axes.find(upright)];
        return x && y && axes.length === 2 ? [x, y] : null;
      }
    }
    return null;
  };

  /* Where on a curve the pointer is, in the units of its axes. */
  const valueOn = (mark, event) => {
    const axes = axesOf(mark);
    const [xOf, yOf] = axes ? [scaleOf(axes[0], true), scaleOf(axes[1], false)] : [null, null];
    if (!xOf || !yOf) return "";
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(mark.getScreenCTM().inverse());
    const title = (axis) => axis.querySelector(".role-axis-title text").textContent;
    return `\n${title(axes[0])}: ${xOf(point.x).toPrecision(3)}\n${title(axes[1])}: ${yOf(point.y).toPrecision(3)}`;
  };

  /* What a mark stands for: its group names the values, the mark holds them; #3 is the fourth known name. */
  const meaning = (mark) => {
    if (mark.hasAttribute("data-tip")) return mark.getAttribute("data-tip");
    const keys = mark.parentElement.getAttribute("data-keys").split("|");
    return mark.getAttribute("data-v").split("|").flatMap((value, i) => {
      const name = /^#(\d+)$/.exec(value);
      return value === "" ? [] : [`${keys[i]}: ${name ? names[Number(name[1])] : value}`];
    }).join("\n");
  };

  const say = (mark, event) => {
    const curve = mark.parentElement.classList.contains("mark-line");
    const number = mark.getAttribute("data-n");
    const read = curve ? valueOn(mark, event) : "";
    const told = mark.hasAttribute("data-tip") || mark.hasAttribute("data-v");
    tip.textContent = number !== null && (curve || !told) ? names[number] + read : meaning(mark);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    const above = event.clientY + 18 + box.height > window.innerHeight;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${Math.max(8, above ? event.clientY - box.height - 12 : event.clientY + 18)}px`;
  };

  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest ? event.target.closest("svg.chart [data-tip], svg.chart [data-v], svg.chart [data-n]") : null;
    if (!mark) {
      if (!tip.hidden) {
        tip.hidden = true;
        RecAssay.relight();
      }
      return;
    }
    const number = mark.getAttribute("data-n");
    say(mark, event);
    light(number === null ? pinned : number, [mark.closest("svg.chart")]);
  });
  document.addEventListener("click", (event) => {
    const mark = event.target.closest ? event.target.closest("svg.chart [data-n]") : null;
    if (mark) pin(mark.getAttribute("data-n") === pinned ? "" : mark.getAttribute("data-n"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      tip.hidden = true;
      pin("");
    }
  });
  names.forEach((name, i) => select.append(RecAssay.make("option", { value: i }, name)));
  select.addEventListener("change", () => pin(select.value));
  if (about !== undefined) pin(String(about));
};

/* A link to something behind a fold opens the fold. */
RecAssay.startFolds = () => {
  const open = () => {
    const target = location.hash.length > 1 ? RecAssay.find(decodeURIComponent(location.hash.slice(1))) : null;
    if (!target) return;
    for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", open);
  open();
  /* Print shows the verdict with its reasons, the leaderboard and the answer of each section; on demand everything. */
  let closed = [];
  window.addEventListener("beforeprint", () => {
    const wanted = document.documentElement.classList.contains("print-all") ? ".folds details, details.section" : ".folds details";
    closed = [...document.querySelectorAll(wanted)].filter((fold) => !fold.open);
    closed.forEach((fold) => (fold.open = true));
  });
  RecAssay.find("print-all").addEventListener("click", () => {
    document.documentElement.classList.add("print-all");
    window.print();
    document.documentElement.classList.remove("print-all");
  });
  const phone = window.matchMedia("(max-width: 40rem)");
  const choose = RecAssay.find("board-choose");
  if (choose && phone.matches) choose.open = false;
  const cue = () => document.querySelectorAll(".picture").forEach((box) => box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 2));
  window.addEventListener("resize", cue);
  document.addEventListener("toggle", cue, true);
  cue();
  window.addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));
};

/* A search box above a long table hides the rows that do not contain what is typed. */
RecAssay.startFind = () => {
  for (const holder of document.querySelectorAll(".searched")) {
    const label = holder.querySelector(".find"), rows = [...holder.querySelectorAll("tbody tr")];
    label.hidden = false;
    label.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }
};
