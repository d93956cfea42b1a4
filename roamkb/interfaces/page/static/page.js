// Search as one types, and keys. Without it every view works: the form is a plain GET, and links are links.
"use strict";

const ARROWS = { ArrowDown: 1, ArrowUp: -1 };
const field = document.getElementById("q");
let timer = 0;
let request = null;
let shown = location.pathname + location.search;

// An answer is parsed as a document of its own, in which nothing runs; no string becomes HTML here.
function showAnswer(answer, address) {
  const fresh = answer.getElementById("results");
  // what isn't hits, such as that the session has ended, is shown as the page that it is
  if (!fresh) return location.assign(address);
  const main = document.getElementById("main");
  main.replaceChildren(document.adoptNode(fresh));
  // hits stay as they are while they are read
  delete main.dataset.mark;
  document.getElementById("status").textContent = fresh.dataset.said;
  document.title = answer.title;
  // the first hits are a step of their own, so that Back leads to what one was reading
  if (location.pathname === "/search") history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  shown = address;
  for (const view of document.querySelectorAll("nav [aria-current]")) view.removeAttribute("aria-current");
}

// Said until the server answers again; what can't be asked must not look like a page without news or hits.
function showServer(isThere) {
  const notice = document.getElementById("ended");
  if (isThere && notice) notice.remove();
  if (isThere || notice) return;
  const said = document.createElement("p");
  said.id = "ended";
  said.className = "notice";
  said.setAttribute("role", "alert");
  said.textContent = "The server of this page has ended, so what stands here may be old. Run “roamkb serve --page” "
    + "in the project: it opens a new page.";
  document.querySelector(".top").append(said);
}

function search() {
  const address = "/search?" + new URLSearchParams(new FormData(field.form));
  if (request) request.abort();
  request = new XMLHttpRequest();
  request.responseType = "document";
  request.open("GET", address);
  request.onload = (event) => {
    showServer(true);
    const answer = event.target.responseXML;
    if (answer) showAnswer(answer, address);
  };
  request.onerror = () => showServer(false);
  request.send();
}

function onType() {
  clearTimeout(timer);
  if (field.value.trim() || location.pathname === "/search") timer = setTimeout(search, 120);
}

function step(by) {
  const hits = [...document.querySelectorAll(".hit-title")];
  if (!hits.length) return;
  const now = hits.indexOf(document.activeElement);
  const next = now < 0 ? (by > 0 ? 0 : hits.length - 1) : Math.min(Math.max(now + by, 0), hits.length - 1);
  hits[next].focus();
}

// From a hit an arrow leads to the next one; elsewhere, and past the last one, it moves the page as everywhere.
function stepFromHit(event) {
  const hit = document.activeElement;
  if (!hit.matches(".hit-title")) return;
  step(ARROWS[event.key]);
  if (document.activeElement !== hit) event.preventDefault();
}

// Only what stands at the proposal that has the focus; a button that is disabled says why where it stands.
function decide(key) {
  const proposal = document.activeElement.closest(".proposal");
  const button = proposal && proposal.querySelector(`[data-key=${key}]`);
  if (!button) return;
  if (button.disabled) document.getElementById("status").textContent = button.title;
  else button.click();
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const isTyping = event.target.closest("input, textarea, select");
  if (isTyping) {
    // elsewhere an arrow chooses, or moves in the text
    if (event.target === field && (event.key === "ArrowDown" || event.key === "Escape")) {
      event.preventDefault();
      field.blur();
      if (event.key === "ArrowDown") step(1);
    }
    return;
  }
  if (event.key === "/") {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key in ARROWS && !event.shiftKey) stepFromHit(event);
  else if (event.key === "a" || event.key === "r") decide(event.key);
}

field.addEventListener("input", onType);
// what stood here before the first hits is the server's to show again; a place in the same page is no other page
addEventListener("popstate", () => {
  if (location.pathname + location.search !== shown) location.reload();
});
document.addEventListener("keydown", onKey);
if (location.pathname === "/search" && field.value && document.activeElement === document.body) {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
