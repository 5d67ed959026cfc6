(() => {
  "use strict";
  const PAGE = 200; // rows of a long table that are shown at first

  // Tables: sort by a click on a heading, filter by text and by value.
  function key(cell, number) {
    if (!number) return cell.textContent.toLowerCase();
    const value = cell.dataset.v === undefined ? parseFloat(cell.textContent.replaceAll(",", "")) : Number(cell.dataset.v);
    return Number.isNaN(value) ? null : value;
  }

  function compare(a, b) {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  }

  function equip(box) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows];
    const words = rows.map((row) => row.textContent.toLowerCase());
    const place = new Map(rows.map((row, index) => [row, index]));
    let order = rows;
    let limit = PAGE;

    const tools = document.createElement("div");
    tools.className = "tools";
    const search = document.createElement("input");
    Object.assign(search, { type: "search", placeholder: "Filter …" });
    search.setAttribute("aria-label", "Filter rows by words");
    const count = document.createElement("output");
    const more = document.createElement("button");
    more.type = "button";
    more.addEventListener("click", () => { limit = Infinity; show(); });
    tools.append(search);
    const choices = heads.flatMap((head, column) => {
      if (!("facet" in head.dataset)) return [];
      const values = [...new Set(rows.map((row) => row.cells[column].textContent))];
      if (values.length < 2 || values.length > 40) return [];
      const select = document.createElement("select");
      const name = head.firstChild.textContent;
      select.setAttribute("aria-label", name);
      select.add(new Option(`${name}: all`, ""));
      for (const value of values) select.add(new Option(value, value));
      select.addEventListener("change", show);
      tools.append(select);
      return [{ select, column }];
    });
    tools.append(count, more);
    box.prepend(tools);

    function show() {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let hits = 0;
      for (const row of order) {
        const text = words[place.get(row)];
        const hit = wanted.every((word) => text.includes(word))
          && choices.every(({ select, column }) => !select.value || row.cells[column].textContent === select.value);
        hits += hit;
        row.hidden = !hit || hits > limit;
      }
      count.value = hits === rows.length ? `${hits.toLocaleString("en")} rows` : `${hits.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
      more.hidden = hits <= limit;
      more.textContent = `Show all (${limit} shown)`;
    }

    heads.forEach((head, column) => {
      head.dataset.sort = "";
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        const number = "number" in head.dataset;
        const keys = new Map(rows.map((row) => [row, key(row.cells[column], number)]));
        const sign = down ? -1 : 1;
        order = [...rows].sort((a, b) => {
          const [x, y] = [keys.get(a), keys.get(b)];
          return x === null || y === null ? compare(x, y) : sign * compare(x, y);
        });
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...order);
        show();
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
      });
    });
    search.addEventListener("input", show);
    show();
  }

  // Contents: mark the section in view, and fold the list on small screens.
  function follow() {
    if (document.querySelector("nav") === null) return;
    const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
    if (matchMedia("(max-width: 1020px)").matches) document.querySelector("nav details").open = false;
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
      const first = [...document.querySelectorAll("main>section")].find((section) => seen.has(section.id));
      for (const [id, link] of links) link.classList.toggle("here", first !== undefined && id === first.id);
    }, { rootMargin: "-10% 0px -60% 0px" });
    for (const section of document.querySelectorAll("main>section")) watch.observe(section);
  }

  // Open the fold that a link leads to.
  function unfold() {
    const found = location.hash && document.getElementById(location.hash.slice(1));
    if (found && found.tagName === "DETAILS") found.open = true;
  }

  document.querySelectorAll(".table.interactive").forEach(equip);
  addEventListener("hashchange", unfold);
  unfold();
  follow();
})();
