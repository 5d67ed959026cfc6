(() => {
  "use strict";
  // At most two runs are ticked: a third one replaces the first.
  let order = [];

  function ticked() {
    return [...document.querySelectorAll("input[name=run]:checked")];
  }

  function settle(changed) {
    order = order.filter((value) => ticked().some((box) => box.value === value));
    if (changed && changed.checked && !order.includes(changed.value)) order.push(changed.value);
    while (order.length > 2) {
      const value = order.shift();
      for (const box of ticked()) if (box.value === value) box.checked = false;
    }
    const button = document.getElementById("compare");
    if (button) button.disabled = ticked().length !== 2;
  }

  document.addEventListener("change", (event) => {
    if (event.target.name === "run") settle(event.target);
  });
  for (const box of ticked()) settle(box);
  settle(null);

  // Replace the table when it has changed; ticks stay.
  let due = Number(document.body.dataset.every) * 1000;

  async function look() {
    try {
      if (!document.hidden) {
        const answer = await fetch(location.href);
        const next = new DOMParser().parseFromString(await answer.text(), "text/html");
        const [old, fresh] = [document.getElementById("runs"), next.getElementById("runs")];
        if (answer.ok && old && fresh) {
          const chosen = ticked().map((box) => box.value);
          old.replaceWith(fresh);
          for (const box of document.querySelectorAll("input[name=run]")) box.checked = chosen.includes(box.value);
          settle(null);
        } else if (answer.ok && fresh) {
          location.reload();
        }
        due = Number(next.body.dataset.every) * 1000 || due;
      }
    } catch {
      // The server does not answer now; it may later.
    }
    setTimeout(look, due);
  }

  if (due) setTimeout(look, due);
})();
