// The graph on a canvas: moved, zoomed, gone through by mouse, fingers and keys. The server says where each node lies.
const ID = 0, TITLE = 1, X = 2, Y = 3, AGENT = 4;
// Labels at a time; more would hide the graph.
const MOST_LABELS = 60;
// What a finger or a pointer may miss a node by.
const NEAR = 14;
// Nodes and links from which on a picture is moved in place of them, until the hand rests for so many milliseconds.
const MANY = 1200, REST = 140;
// Links of one stroke: a path of thousands takes five times as long.
const LINKS_A_STROKE = 50;

class GraphDrawing {
  constructor(place, drawing) {
    this.place = place;
    this.canvas = place.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.nodes = drawing.nodes;
    this.links = drawing.links;
    this.degrees = new Uint32Array(this.nodes.length);
    for (const number of this.links) this.degrees[number] += 1;
    this.byDegree = [...this.nodes.keys()].sort((one, other) => this.degrees[other] - this.degrees[one]);
    this.middle = drawing.middle;
    this.chosen = -1;
    this.pointers = new Map();
    this.isAwaited = false;
    this.picture = document.createElement("canvas");
    this.listen();
    this.resize();
    this.showAll();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.onUp(event));
    canvas.addEventListener("pointerleave", () => this.pointers.size || this.choose(-1));
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    for (const button of this.place.querySelectorAll("[data-zoom]")) {
      const by = Number(button.dataset.zoom);
      button.addEventListener("click", () => (by ? this.zoom(by) : this.showAll()));
    }
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColours());
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(this.place);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = {
      paper: colour("--paper"), ink: colour("--ink"), link: colour("--soft"),
      yours: colour("--yours"), agents: colour("--agents"), chosen: colour("--accent"),
    };
    this.font = `12px ${style.fontFamily}`;
    this.redraw();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.redraw();
  }

  showAll() {
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (const node of this.nodes) {
      left = Math.min(left, node[X]);
      right = Math.max(right, node[X]);
      top = Math.min(top, node[Y]);
      bottom = Math.max(bottom, node[Y]);
    }
    const room = 0.88;
    this.scale = Math.min((room * this.width) / (right - left || 1), (room * this.height) / (bottom - top || 1), 24);
    this.left = this.width / 2 - (this.scale * (left + right)) / 2;
    this.top = this.height / 2 - (this.scale * (top + bottom)) / 2;
    this.redraw();
  }

  zoom(by, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * by, 0.01), 60);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.move();
  }

  redraw() {
    if (this.scale === undefined) return;
    this.isStale = true;
    this.awaitFrame();
  }

  // Where there is much to draw, what was drawn is moved and scaled, and drawn anew once the hand rests.
  move() {
    if (this.nodes.length + this.links.length / 2 < MANY) return this.redraw();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.redraw(), REST);
    this.awaitFrame();
  }

  awaitFrame() {
    if (this.isAwaited) return;
    this.isAwaited = true;
    requestAnimationFrame(() => {
      this.isAwaited = false;
      // a page that was brought up to date has another canvas
      if (!this.canvas.width || !this.canvas.height) return;
      if (this.isStale) this.draw();
      else this.drawPicture();
    });
  }

  keepPicture() {
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    this.picture.getContext("2d").drawImage(this.canvas, 0, 0);
    this.pictured = { left: this.left, top: this.top, scale: this.scale };
  }

  drawPicture() {
    const by = this.scale / this.pictured.scale;
    const x = this.left - this.pictured.left * by, y = this.top - this.pictured.top * by;
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.drawImage(this.picture, x, y, this.width * by, this.height * by);
  }

  screenX(number) { return this.left + this.scale * this.nodes[number][X]; }
  screenY(number) { return this.top + this.scale * this.nodes[number][Y]; }
  radius(number) {
    const size = 3 + Math.min(Math.sqrt(this.degrees[number]), 9) / 1.5;
    return Math.max(size * Math.min(Math.sqrt(this.scale) / 1.6, 1.4), 1.2);
  }

  isSeen(x, y, edge = 12) {
    return x > -edge && y > -edge && x < this.width + edge && y < this.height + edge;
  }

  draw() {
    const pen = this.pen;
    this.isStale = false;
    clearTimeout(this.rest);
    pen.clearRect(0, 0, this.width, this.height);
    this.drawLinks();
    const seen = this.byDegree.filter((number) => this.isSeen(this.screenX(number), this.screenY(number)));
    for (const isAgent of [0, 1]) {
      pen.fillStyle = isAgent ? this.colours.agents : this.colours.yours;
      pen.beginPath();
      for (const number of seen) if (this.nodes[number][AGENT] === isAgent) this.addMark(number);
      pen.fill();
    }
    for (const number of [this.middle, this.chosen]) if (number >= 0 && number !== null) this.drawRing(number);
    this.drawLabels(seen);
    this.keepPicture();
  }

  // Shapes tell the two kinds apart where colours don't.
  addMark(number) {
    const x = this.screenX(number), y = this.screenY(number), r = this.radius(number);
    if (r < 1.6) this.pen.rect(x - r, y - r, 2 * r, 2 * r);
    else if (this.nodes[number][AGENT]) {
      this.pen.moveTo(x, y - 1.3 * r);
      this.pen.lineTo(x + 1.3 * r, y);
      this.pen.lineTo(x, y + 1.3 * r);
      this.pen.lineTo(x - 1.3 * r, y);
      this.pen.closePath();
    } else {
      this.pen.moveTo(x + r, y);
      this.pen.arc(x, y, r, 0, 2 * Math.PI);
    }
  }

  drawRing(number) {
    this.pen.strokeStyle = this.colours.chosen;
    this.pen.lineWidth = number === this.chosen ? 2.5 : 1.5;
    this.pen.beginPath();
    this.pen.arc(this.screenX(number), this.screenY(number), this.radius(number) + 4, 0, 2 * Math.PI);
    this.pen.stroke();
  }

  drawLinks() {
    this.pen.lineWidth = 1;
    this.pen.strokeStyle = this.colours.link;
    this.pen.globalAlpha = 0.4;
    const own = [];
    let strokes = 0;
    this.pen.beginPath();
    for (let at = 0; at < this.links.length; at += 2) {
      const one = this.links[at], other = this.links[at + 1];
      if (one === this.chosen || other === this.chosen) own.push([one, other]);
      else if (this.addLink(one, other) && (strokes += 1) % LINKS_A_STROKE === 0) {
        this.pen.stroke();
        this.pen.beginPath();
      }
    }
    this.pen.stroke();
    this.pen.globalAlpha = 1;
    this.pen.beginPath();
    for (const [one, other] of own) this.addLink(one, other);
    this.pen.stroke();
  }

  addLink(one, other) {
    const x = this.screenX(one), y = this.screenY(one), toX = this.screenX(other), toY = this.screenY(other);
    const isBeside = Math.max(x, toX) < 0 || Math.min(x, toX) > this.width
      || Math.max(y, toY) < 0 || Math.min(y, toY) > this.height;
    if (isBeside) return false;
    this.pen.moveTo(x, y);
    this.pen.lineTo(toX, toY);
    return true;
  }

  drawLabels(seen) {
    this.pen.font = this.font;
    this.pen.textBaseline = "middle";
    const first = [this.chosen, this.middle].filter((number) => number !== null && number >= 0);
    // from afar only what most leads to; whatever is asked for is named in any case
    const wanted = this.scale > 0.6 ? seen : seen.slice(0, 12);
    // where there are few, no label hides a node
    const boxes = seen.length > 400 ? [] : seen.map((number) => this.markBox(number));
    const most = boxes.length + MOST_LABELS;
    for (const number of [...first, ...wanted.slice(0, 4 * MOST_LABELS)]) {
      if (boxes.length > most) break;
      this.drawLabel(number, boxes, first.includes(number));
    }
  }

  markBox(number) {
    const x = this.screenX(number), y = this.screenY(number), r = this.radius(number);
    return [x - r, y - r, x + r, y + r];
  }

  drawLabel(number, boxes, isCertain) {
    const title = this.nodes[number][TITLE];
    const text = title.length > 34 && !isCertain ? `${title.slice(0, 32)}…` : title;
    const width = Math.min(this.pen.measureText(text).width, this.width - 16);
    const wishedX = this.screenX(number) + this.radius(number) + 6;
    const x = isCertain ? Math.max(8, Math.min(wishedX, this.width - width - 8)) : wishedX;
    const y = this.screenY(number);
    const box = [x - 3, y - 9, x + width + 3, y + 9];
    const isFree = isCertain || boxes.every((o) => box[2] < o[0] || box[0] > o[2] || box[3] < o[1] || box[1] > o[3]);
    if (!isFree) return;
    boxes.push(box);
    this.pen.strokeStyle = this.colours.paper;
    this.pen.lineWidth = 3;
    this.pen.lineJoin = "round";
    this.pen.strokeText(text, x, y, width);
    this.pen.fillStyle = this.colours.ink;
    this.pen.fillText(text, x, y, width);
  }

  nearest(x, y) {
    let best = -1, least = NEAR * NEAR;
    for (let number = 0; number < this.nodes.length; number += 1) {
      const away = (this.screenX(number) - x) ** 2 + (this.screenY(number) - y) ** 2;
      if (away < least) [best, least] = [number, away];
    }
    return best;
  }

  choose(number) {
    if (number === this.chosen) return;
    this.chosen = number;
    this.canvas.style.cursor = number < 0 ? "grab" : "pointer";
    this.redraw();
  }

  open(number, path = "/note") {
    if (number < 0) return;
    const names = new URLSearchParams({ id: this.nodes[number][ID] });
    if (this.place.dataset.kb) names.set("kb", this.place.dataset.kb);
    location.assign(`${path}?${names}`);
  }

  onDown(event) {
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.canvas.setPointerCapture(event.pointerId);
    this.moved = this.pointers.size > 1 ? Infinity : 0;
  }

  onMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.choose(this.nearest(event.offsetX, event.offsetY));
    const x = event.offsetX, y = event.offsetY;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const by = Math.hypot(x - other[0], y - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1);
      this.zoom(by, other[0], other[1]);
    } else {
      this.left += x - before[0];
      this.top += y - before[1];
      this.moved += Math.hypot(x - before[0], y - before[1]);
      this.move();
    }
    this.pointers.set(event.pointerId, [x, y]);
  }

  onUp(event) {
    const wasHeld = this.pointers.delete(event.pointerId);
    // a hand that trembles moves the graph a little, and still means the node
    if (wasHeld && event.type === "pointerup" && this.moved < 5) this.open(this.nearest(event.offsetX, event.offsetY));
  }

  onWheel(event) {
    event.preventDefault();
    const lines = event.deltaMode ? 30 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * 0.0015), event.offsetX, event.offsetY);
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) this.walk(...ways[event.key]);
    else if (event.key === "Enter") this.open(this.chosen);
    else if (event.key === "g") this.open(this.chosen, "/graph");
    else if (event.key === "Escape") this.choose(-1);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.showAll();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // To the nearest node in that direction; one to the side counts as far.
  walk(towardsX, towardsY) {
    let best = -1, least = Infinity;
    if (this.chosen < 0) best = this.middle ?? this.byDegree[0];
    else {
      const x = this.screenX(this.chosen), y = this.screenY(this.chosen);
      for (let number = 0; number < this.nodes.length; number += 1) {
        const awayX = this.screenX(number) - x, awayY = this.screenY(number) - y;
        const ahead = awayX * towardsX + awayY * towardsY;
        const aside = Math.abs(awayX * towardsY) + Math.abs(awayY * towardsX);
        if (number === this.chosen || ahead <= 0 || aside > 2 * ahead) continue;
        if (ahead + 2 * aside < least) [best, least] = [number, ahead + 2 * aside];
      }
    }
    if (best < 0) return;
    this.choose(best);
    this.bringIntoSight(best);
    const node = this.nodes[best], links = this.degrees[best];
    const said = `${node[TITLE]}, ${node[AGENT] ? "an agent’s" : this.place.dataset.kb ? "a person’s" : "yours"}, ${links} link${links === 1 ? "" : "s"}`;
    document.getElementById("status").textContent = said;
  }

  bringIntoSight(number) {
    const x = this.screenX(number), y = this.screenY(number);
    if (this.isSeen(x, y, -30)) return;
    this.left += this.width / 2 - x;
    this.top += this.height / 2 - y;
  }
}

function drawGraph() {
  const place = document.querySelector(".graph[data-address]");
  if (!place) return;
  const request = new XMLHttpRequest();
  request.responseType = "json";
  request.open("GET", place.dataset.address);
  request.onload = () => {
    if (request.status !== 200 || !place.isConnected) return;
    place.hidden = false;
    place.drawing = new GraphDrawing(place, request.response);
  };
  request.send();
}

document.addEventListener("roamkb:shown", drawGraph);
drawGraph();
