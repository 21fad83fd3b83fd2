// What HTML and htmx don't do by themselves. The page works without it, only less comfortably.
"use strict";

// After a line was changed in its place the focus would be lost: it goes to the first button of the new line, once that works.
document.addEventListener("htmx:afterSettle", (event) => {
  const asked = event.detail.requestConfig;
  if (!asked || asked.verb !== "post") return;
  const line = event.detail.target.id ? document.getElementById(event.detail.target.id) : null;
  const button = line && line.querySelector(".actions button");
  if (button) button.focus();
});

// "/" goes to the search, as people expect, unless they are writing.
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("q");
  if (event.key !== "/" || !search || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
  event.preventDefault();
  search.focus();
});

// The drawn graph: drag to move it, the wheel to look closer; names are links, arrow keys go to the next one that way.
const graph = document.getElementById("graph");
if (graph) {
  const whole = graph.viewBox.baseVal;
  const full = { width: whole.width, height: whole.height };
  const nodes = [...graph.querySelectorAll(".node")];
  const spot = (node) => {
    const circle = node.querySelector("circle");
    return { x: circle.cx.baseVal.value, y: circle.cy.baseVal.value };
  };
  const scale = () => Math.max(whole.width / graph.clientWidth, whole.height / graph.clientHeight);
  let from = null;
  let moved = 0;

  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = event.deltaY > 0 ? 1.15 : 1 / 1.15;
    const width = Math.min(full.width * 2, Math.max(full.width / 12, whole.width * factor));
    const ratio = width / whole.width;
    const box = graph.getBoundingClientRect();
    const left = (event.clientX - box.left) / box.width;
    const top = (event.clientY - box.top) / box.height;
    whole.x += whole.width * left * (1 - ratio);
    whole.y += whole.height * top * (1 - ratio);
    whole.width = width;
    whole.height *= ratio;
  }, { passive: false });
  graph.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY };
    moved = 0;
  });
  graph.addEventListener("pointermove", (event) => {
    if (!from) return;
    const by = scale();
    whole.x -= (event.clientX - from.x) * by;
    whole.y -= (event.clientY - from.y) * by;
    moved += Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y);
    from = { x: event.clientX, y: event.clientY };
    graph.classList.toggle("held", moved > 4);
  });
  for (const end of ["pointerup", "pointerleave", "pointercancel"]) {
    graph.addEventListener(end, () => { from = null; graph.classList.remove("held"); });
  }
  graph.addEventListener("dragstart", (event) => event.preventDefault());
  graph.addEventListener("click", (event) => { if (moved > 4) event.preventDefault(); }, true);

  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  graph.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    const here = event.target.closest(".node");
    if (!way || !here) return;
    event.preventDefault();
    const at = spot(here);
    let best = null;
    let least = Infinity;
    for (const node of nodes) {
      const to = spot(node);
      const ahead = (to.x - at.x) * way[0] + (to.y - at.y) * way[1];
      const aside = Math.abs((to.x - at.x) * way[1]) + Math.abs((to.y - at.y) * way[0]);
      if (node !== here && ahead > 1 && ahead + 2 * aside < least) {
        least = ahead + 2 * aside;
        best = node;
      }
    }
    if (best) best.focus();
  });
}
