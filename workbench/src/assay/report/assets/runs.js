(() => {
  "use strict";
  function ticked() {
    return [...document.querySelectorAll("input[name=run]:checked")];
  }

  function settle() {
    const button = document.getElementById("compare");
    if (button) button.disabled = ticked().length < 2;
  }

  document.addEventListener("change", (event) => {
    if (event.target.name === "run") settle();
  });
  settle();

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
          settle();
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
