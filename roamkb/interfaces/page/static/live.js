// What agents do meanwhile appears by itself; while the human reads on, types or has begun a form, it is only said.
const EVERY = 4000, LONGEST_PAUSE = 60000;
const main = document.getElementById("main");
let pause = EVERY;
let timer = 0;
let asked = null;
// What would be shown, once the human asks for it or has done with what stands there.
let waiting = null;
let button = null;

const textOf = (part) => part.textContent.replace(/\s+/g, " ").trim();
const titles = (part) => [...part.querySelectorAll("a.hit-title")].map((title) => title.getAttribute("href"));

function isChanged(control) {
  if (control.tagName === "SELECT") return [...control.options].some((option) => option.selected !== option.defaultSelected);
  return control.value !== control.defaultValue || control.checked !== control.defaultChecked;
}

function isInUse() {
  const active = document.activeElement;
  const isTyping = active && active.matches("input, textarea, select");
  const isIn = main.contains(active) && active !== main;
  const isSelected = !getSelection().isCollapsed;
  const isOpen = main.querySelector("details[open], dialog[open], .outcome");
  return isTyping || isIn || isSelected || scrollY > 40 || isOpen
    || [...main.querySelectorAll("input, textarea, select")].some(isChanged);
}

function say(count) {
  const text = count ? `${count} new` : "Something changed";
  if (button && button.textContent === text) return;
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    button.className = "button news";
    button.addEventListener("click", () => {
      show();
      main.focus();
    });
    main.before(button);
  }
  button.textContent = text;
  document.getElementById("status").textContent = text;
}

function withdraw() {
  waiting = null;
  if (button) button.remove();
  button = null;
}

function show() {
  const fresh = waiting;
  withdraw();
  const known = new Set(titles(main));
  const count = titles(fresh).filter((title) => !known.has(title)).length;
  main.dataset.mark = fresh.dataset.mark;
  main.replaceChildren(...document.adoptNode(fresh).childNodes);
  document.getElementById("status").textContent = count ? `${count} new` : "Brought up to date";
  document.dispatchEvent(new Event("roamkb:shown"));
}

function compare(fresh) {
  if (textOf(fresh) === textOf(main)) {
    main.dataset.mark = fresh.dataset.mark;
    return withdraw();
  }
  const known = new Set(titles(main));
  waiting = fresh;
  if (isInUse()) say(titles(fresh).filter((title) => !known.has(title)).length);
  else show();
}

function send(address, type, onAnswer) {
  asked = new XMLHttpRequest();
  asked.responseType = type;
  asked.open("GET", address);
  asked.onload = () => showServer(true);
  asked.onerror = () => showServer(false);
  asked.onloadend = ({ target }) => {
    // a page that a search replaced meanwhile has no mark any more
    const isGood = target.status === 200 && target.response && main.dataset.mark;
    pause = isGood ? EVERY : Math.min(pause * 2, LONGEST_PAUSE);
    if (!(isGood && onAnswer(target.response))) lookLater();
  };
  asked.send();
}

function lookLater() {
  clearTimeout(timer);
  if (!document.hidden && main.dataset.mark) timer = setTimeout(look, pause);
}

function look() {
  clearTimeout(timer);
  if (document.hidden || !main.dataset.mark) return;
  if (asked && asked.readyState !== XMLHttpRequest.DONE) return;
  if (waiting && !isInUse()) show();
  send("/live", "json", ({ mark }) => {
    const isNew = mark !== (waiting || main).dataset.mark;
    if (isNew) send(location.href, "document", takePage);
    return isNew;
  });
}

function takePage(answer) {
  const fresh = answer.getElementById("main");
  if (fresh && fresh.dataset.mark) compare(fresh);
}

document.addEventListener("visibilitychange", look);
addEventListener("pageshow", (event) => {
  if (event.persisted) look();
});
lookLater();
