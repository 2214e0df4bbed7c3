"use strict";
// Source text is only ever set as text (textContent, text nodes), never parsed as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const { items, files, certificates, pages } = data;
const $ = (id) => document.getElementById(id);

function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
// A path that may go on in the next line behind a slash.
const pathed = (path) => path.split("/").flatMap((piece, n) => (n ? ["/", h("wbr"), piece] : [piece]));
// `code` in a message becomes a code element.
const prose = (text) => text.split("`").map((part, n) => (n % 2 ? h("code", {}, part) : part));

// ---- what is ticked, approved and commented -------------------------------------------------------------------------
// Kept for this report and no other; the fingerprint of a result is its address too (#fix-…).
const STORE = `cudafix-review-${data.report}`;
let before = {};
try { before = JSON.parse(localStorage.getItem(STORE)) || {}; } catch { /* no storage for pages from files */ }
const selectable = (item) => item.kind !== "refusal" && item.diff.length > 0;
const groups = new Map();
items.forEach((item, n) => {
  item.n = n;
  item.proven = item.safety !== "assumes";
  item.key = `${item.kind === "refusal" ? "refusal" : "fix"}-${item.print}`;
  item.offered = item.ticked;
  const { ticked, approved, comment } = before[item.key] || {};
  if (selectable(item) && typeof ticked === "boolean") item.ticked = ticked;
  item.approved = approved === true;
  item.comment = typeof comment === "string" ? comment : "";
  if (item.group) groups.set(item.group, [...(groups.get(item.group) || []), item]);
});
const together = (item) => (item.group ? groups.get(item.group) : [item]);
const boxes = new Map();

function keep() {
  const changed = items.filter((item) => item.ticked !== item.offered || item.approved || item.comment);
  const kept = changed.map(({ key, ticked, approved, comment }) => [key, { ticked, approved, comment }]);
  try {
    if (kept.length) localStorage.setItem(STORE, JSON.stringify(Object.fromEntries(kept)));
    else localStorage.removeItem(STORE);
  } catch { /* as above */ }
}
let waiting;
function changed() {
  clearTimeout(waiting);
  waiting = setTimeout(keep, 200);
  count();
}
addEventListener("pagehide", keep);

function tick(item, value) {
  for (const each of together(item)) {
    each.ticked = value;
    const box = boxes.get(each.n);
    if (box) box.checked = value;
  }
  const box = document.querySelector("#detail .take input");
  if (box && current) box.checked = current.ticked;
  changed();
}
function count() {
  $("count").textContent = items.filter((item) => selectable(item) && item.ticked).length;
  const approved = items.filter((item) => item.approved).length;
  $("approved").textContent = approved ? `${approved} approved` : "";
}
function approve(item) {
  item.approved = !item.approved;
  const button = document.querySelector("#detail .approve");
  if (button && item === current) button.setAttribute("aria-pressed", String(item.approved));
  marked(item);
  changed();
}
// What a row of the list says about the review.
function marked(item) {
  const mark = rows.has(item.n) && rows.get(item.n).querySelector(".said");
  if (!mark) return;
  const said = [item.approved ? ["✓", "approved"] : null, item.comment ? ["✎", "commented"] : null].filter(Boolean);
  mark.textContent = said.map(([sign]) => sign).join("");
  mark.setAttribute("aria-label", said.map(([, word]) => word).join(", "));
  mark.hidden = !said.length;
}
function download() {
  const ticked = items.filter((item) => selectable(item) && item.ticked);
  const named = [...new Set(ticked.flatMap((item) => [item.at[0], ...item.diff.map((hunk) => hunk[0])]))];
  const selection = {
    cudafix: "selection", version: 1,
    files: Object.fromEntries(named.filter((n) => files[n].sha256).map((n) => [files[n].path, files[n].sha256])),
    fixes: ticked.map((item) => ({ codemod: item.name, file: files[item.at[0]].path, line: item.at[1], column: item.at[2] })),
  };
  const said = items.filter((item) => item.approved || item.comment);
  if (said.length) selection.reviews = said.map((item) => ({ rule: item.name, file: files[item.at[0]].path, line: item.at[1], column: item.at[2], approved: item.approved, comment: item.comment }));
  const url = URL.createObjectURL(new Blob([JSON.stringify(selection, null, 1) + "\n"], { type: "application/json" }));
  const link = h("a", { href: url, download: "cudafix-selection.json" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  toast(h("span", {}, `${ticked.length} fixes. Apply them with `, h("code", {}, "cudafix apply --only cudafix-selection.json")));
}
let fading;
function toast(content) {
  $("toast").replaceChildren(content);
  $("toast").hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => ($("toast").hidden = true), 9000);
}

// ---- source --------------------------------------------------------------------------------------------------------
// Spans of one line: class, text, class, text, …; the range [from, to) is marked.
function code(tokens, marked) {
  const made = document.createDocumentFragment();
  let at = 0;
  for (let n = 0; n < tokens.length; n += 2) {
    const text = tokens[n + 1];
    const cuts = marked ? [0, marked[0] - at, marked[1] - at, text.length].map((cut) => Math.min(Math.max(cut, 0), text.length)) : [0, 0, 0, text.length];
    for (let part = 0; part < 3; part++) {
      const piece = text.slice(cuts[part], cuts[part + 1]);
      if (!piece) continue;
      const span = tokens[n] ? h("span", { class: tokens[n] }, piece) : document.createTextNode(piece);
      made.append(part === 1 ? h("mark", {}, span) : span);
    }
    at += text.length;
  }
  return made;
}
const line = (file, number) => files[file].lines[number] || [];
// A line that is too long goes on below its own start.
const indented = (tokens) => `--indent:${Math.min((tokens.length > 1 ? tokens[1].length - tokens[1].trimStart().length : 0), 32)}ch`;
const place = ([file, number]) => `${files[file].path}:${number}`;
function quoted([file, number], home) {
  const tokens = line(file, number).slice();
  if (tokens.length && !tokens[0]) tokens[1] = tokens[1].trimStart();
  return h("div", { class: "src" }, h("a", { title: place([file, number]) }, file === home ? String(number) : place([file, number]).split("/").pop()), h("span", {}, code(tokens)));
}
function diffed([file, rows]) {
  const body = rows.map((row) => {
    const [was, is, tokens, oldMark, newMark] = row;
    if (row.length === 2) {
      const cell = () => h("td", { style: indented(line(file, was)) }, code(line(file, was)));
      return h("tr", { class: "same" }, h("td", { class: "n" }, String(was)), cell(), h("td", { class: "n" }, String(is)), cell());
    }
    return h("tr", {},
      h("td", { class: was ? "n old" : "n none" }, was ? String(was) : ""),
      h("td", { class: was ? "old" : "none", style: was ? indented(line(file, was)) : null }, was ? code(line(file, was), oldMark) : ""),
      h("td", { class: is ? "n new" : "n none" }, is ? String(is) : ""),
      h("td", { class: is ? "new" : "none", style: is ? indented(tokens) : null }, is ? code(tokens, newMark) : ""));
  });
  const columns = h("colgroup", {}, h("col", { class: "n" }), h("col"), h("col", { class: "n" }), h("col"));
  return h("div", { class: "box" }, h("div", { class: "name" }, files[file].path), h("table", { class: "diff" }, columns, h("tbody", {}, body)));
}

// ---- timelines -----------------------------------------------------------------------------------------------------
const LANE = 38, BAR = 22, GAP = 7, LEFT = 18;
const SHORT = { allocate: "alloc", free: "free" };
const wide = (text) => text.length * 7.1 + 16;
const shortened = (text) => (text.length > 30 ? text.slice(0, 29) + "…" : text);

// When each step starts and ends, in pixels: in order on its lane, behind what it waits for; the host issues, or stands still.
function laidOut(steps, lost) {
  const ends = new Map();
  let now = 0;
  return steps.map(([kind, lane, label, at, after, flags], n) => {
    const point = kind === "record" || kind === "wait";
    const text = lane && SHORT[kind] ? SHORT[kind] : shortened(label);
    const step = { n, kind, lane, label, text, at, after, flags, point, waits: flags.includes("w") };
    return step;
  }).map((step, n, all) => {
    const behind = Math.max(0, ...step.after.map((m) => all[m].end));
    if (!step.lane) {
      step.start = now + GAP;
      step.end = step.start + wide(step.text);
      if (step.waits) step.end = Math.max(step.end, behind + GAP);
      now = step.end;
    } else {
      step.issued = now += 11;
      step.start = Math.max(now, (ends.get(step.lane) || 0) + 3, behind ? behind + 6 : 0);
      const long = step.kind === "kernel" || step.kind === "work" ? 86 : step.kind === "copy" ? 70 : 0;
      step.end = step.start + (step.point ? 10 : Math.max(wide(step.text), long) + (lost && lost[0] === n ? 110 : 0));
      ends.set(step.lane, step.end);
    }
    return step;
  });
}

// One pattern for all timelines, outside of what is hidden on paper.
const hatch = svg("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
hatch.append(svg("line", { x1: 0, y1: 0, x2: 0, y2: 7, stroke: "var(--stall)", "stroke-width": 1.6, opacity: .55 }));
document.body.append(svg("svg", { width: 0, height: 0, "aria-hidden": "true", style: "position:absolute" }, svg("defs", {}, hatch)));

function timeline(steps, lanes, lost, margin) {
  const drawn = laidOut(steps, lost);
  const middle = (lane) => LEFT + lanes.indexOf(lane) * LANE + BAR / 2;
  const width = margin + Math.max(...drawn.map((step) => step.end)) + (lost ? 120 : 70); // `lost` has words behind the bars
  const height = LEFT + lanes.length * LANE;
  const told = drawn.map((step) => `${step.label} on ${step.lane || "the host"}`).join(", ");
  const made = svg("svg", { class: "time", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told });
  const names = svg("g", { class: "lanes" }, svg("rect", { x: 0, y: 0, width: margin - 8, height }));
  for (const lane of lanes) {
    const y = middle(lane);
    made.append(svg("line", { class: "lane", x1: margin - 6, x2: width, y1: y, y2: y }));
    names.append(svg("text", { class: lane ? "laneno" : "laneno host", x: margin - 14, y: y + 4, "text-anchor": "end" }, shortened(lane || "host")));
  }
  const x = (at) => margin + at;
  if (lost) {
    const [early, late] = lost.map((n) => drawn[n]);
    const [top, bottom] = [middle(early.lane), middle(late.lane)].sort((a, b) => a - b);
    if (late.start < early.end) made.append(svg("rect", { class: "danger", x: x(late.start), y: top - BAR / 2 - 5, width: early.end - late.start, height: bottom - top + BAR + 10, rx: 5 }));
  }
  const arrow = (from, to, x1, x2, kind) => {
    const y1 = middle(from.lane), y2 = middle(to.lane), down = y2 > y1 ? 1 : -1;
    const start = y1 + down * (from.point ? 5 : BAR / 2), end = y2 - down * (to.point ? 6 : BAR / 2 + 1);
    const bend = (start + end) / 2;
    made.append(svg("path", { class: kind, d: `M${x1} ${start} C${x1} ${bend} ${x2} ${bend} ${x2} ${end - down * 5}` }));
    const head = kind === "lost" ? "losthead" : kind.replace("edge", "head");
    made.append(svg("path", { class: head, d: `M${x2} ${end} l-4 ${-down * 7} h8 z` }));
  };
  for (const step of drawn) {
    for (const m of step.after) {
      const from = drawn[m];
      if (from.lane === step.lane) continue;
      const x1 = x(from.point ? from.start + 5 : Math.max(from.end - 6, from.start));
      const x2 = x(step.point ? step.start + 5 : !step.lane ? step.end - 5 : step.start + 5);
      arrow(from, step, x1, x2, step.flags.includes("i") ? "edge inserted" : "edge");
    }
  }
  for (const step of drawn) {
    const y = middle(step.lane), mine = step.flags.includes("m"), clash = lost && lost.includes(step.n) ? " clashing" : "";
    const group = svg("g", {}, svg("title", {}, `${step.label}\n${place(step.at)}${step.flags.includes("i") ? "\ninserted" : ""}`));
    if (step.lane && lanes.includes("")) group.append(svg("line", { class: "issue", x1: x(step.issued), x2: x(step.issued), y1: middle("") - 4, y2: middle("") + 4 }));
    if (step.point) {
      group.append(svg("circle", { class: step.flags.includes("i") ? "point inserted" : "point", cx: x(step.start + 5), cy: y, r: 5 }));
    } else {
      const stall = step.waits ? " stall" : "";
      const style = `bar ${stall ? "stall" : step.kind}${mine ? " mine" : stall ? "" : " other"}${step.flags.includes("i") ? " inserted" : ""}${clash}`;
      group.append(svg("rect", { class: style, x: x(step.start), y: y - BAR / 2, width: step.end - step.start, height: BAR, rx: 4 }));
      group.append(svg("text", { class: stall || !mine ? "label dark" : "label", x: x((step.start + step.end) / 2), y: y + 4, "text-anchor": "middle" }, step.text));
    }
    made.append(group);
  }
  if (lost) {
    const [early, late] = lost.map((n) => drawn[n]);
    const x1 = x(early.end - 6), x2 = x(late.start + 6);
    if (early.lane !== late.lane) arrow(early, late, x1, x2, "lost");
    else {
      const y = middle(late.lane) - BAR / 2;
      made.append(svg("path", { class: "lost", d: `M${x1} ${y} C${x1} ${y - 13} ${x2} ${y - 13} ${x2} ${y - 5}` }), svg("path", { class: "losthead", d: `M${x2} ${y} l-4 -7 h8 z` }));
    }
    // between two lanes, where no bar is, on the arrow or behind a short one; on one lane behind the bars
    const between = middle(late.lane) + (middle(early.lane) > middle(late.lane) ? LANE : -LANE) / 2 + 4;
    const [tx, ty, anchor] = early.lane === late.lane ? [Math.max(x(early.end), x(late.end)) + 6, middle(late.lane) + 4, "start"]
      : Math.abs(x2 - x1) > 120 ? [(x1 + x2) / 2, between, "middle"] : [Math.max(x1, x2) + 10, between, "start"];
    made.append(svg("text", { class: "losttext", x: tx, y: ty, "text-anchor": anchor }, early.kind === "free" && late.lane ? "freed already" : !early.lane && late.lane ? "gone already" : "no order"));
  }
  made.append(names);
  return made;
}

function timelines(item) {
  const { before, after, lost, faulty, sketch } = certificates[item.certificate];
  if (!before.length && !after.length) return null;
  const lanes = ["", ...new Set([...before, ...after].map((step) => step[1]).filter(Boolean))];
  const margin = Math.max(...lanes.map((lane) => shortened(lane || "host").length)) * 7.4 + 26;
  const refused = item.kind === "refusal";
  // the names of the lanes stay in view
  const box = h("div", { class: "box times", tabindex: "0", role: "region", "aria-label": "Timeline", onscroll: () => {
    for (const names of box.querySelectorAll(".lanes")) names.setAttribute("transform", `translate(${box.scrollLeft} 0)`);
  } });
  if (sketch) box.append(h("p", { class: "why" }, "Only the two operations, and what waits between them today: of the paths that were tried none shows both; the proof covers all."));
  if (before.length) box.append(h("h4", {}, faulty || !after.length ? "As it is" : "Before"), timeline(before, lanes, faulty, margin));
  if (after.length) {
    const title = refused ? h("h4", {}, "Renamed only ", h("small", {}, "what a plain rename would do: this is why the code stays")) : h("h4", {}, "After");
    box.append(title, timeline(after, lanes, lost, margin));
  }
  const swatch = (color, text) => h("span", {}, h("i", { style: `background:var(--${color})` }), text);
  box.append(h("div", { class: "legend" },
    swatch("kernel", "kernel, library call"), swatch("copy", "copy"), swatch("alloc", "allocation"), swatch("free", "free"),
    h("span", {}, h("i", { class: "hatch" }), "the host stands still"),
    lost || faulty ? h("span", {}, h("i", { class: "lostline" }), "missing order") : "",
    after.some((step) => step[5].includes("i")) ? h("span", {}, h("i", { class: "inline" }), "inserted") : "",
    h("span", {}, "○ event recorded or waited for"),
    h("span", {}, "pale: other memory · not to scale")));
  return box;
}

// ---- one item ------------------------------------------------------------------------------------------------------
const part = (title, ...content) => h("section", { class: "part" }, h("h3", {}, title), ...content);
const NAMES = { allocated: "Allocated", used: "Used", ordered: "Ordered by", freed: "Freed", before: "Before", assumes: "Assumes", holds: "Holds" };

function worded(item) {
  return h("dl", { class: "box words" }, item.words.flatMap(([about, text, places]) => {
    const shown = [...new Map(places.map((at) => [place(at), at])).values()].slice(0, 6);
    return [h("dt", {}, NAMES[about] || about), h("dd", { class: item.assumes.includes(text) ? about : "" }, prose(text), shown.map((at) => quoted(at, item.at[0])))];
  }), (item.rests || []).flatMap((text) => [h("dt", {}, "By default"), h("dd", {}, prose(text))]));
}
// Whether a counterexample is no lost order, but something that comes behind the free.
const isBehind = ({ after, lost }) => lost && after[lost[0]][0] === "free" && after[lost[1]][1] !== "";
function clash(item) {
  const defect = item.kind === "defect";
  const related = defect ? [...item.related.slice(0, 1), [...item.at, item.related.length ? "this line" : item.message]] : item.related;
  const [earlier, later] = related;
  const same = (one, other) => one && other && one[0] === other[0] && one[1] === other[1];
  const two = defect ? related.length === 2 && !same(earlier, later) : item.order;
  const names = two ? ["1 · the earlier operation: ", same(earlier, later) ? "2 · the later one, when this runs again: " : "2 · the later one: "] : [];
  const shown = two || !defect ? related : related.slice(0, 1);
  const made = [];
  if (shown.length) {
    const cards = shown.map((at, n) => h("div", { class: "box" }, h("div", { class: "name" }, names[n] || "", prose(at[3]), at[0] === item.at[0] ? "" : ` · ${place(at)}`), quoted(at, at[0])));
    const behind = two && !defect && item.certificate !== null && isBehind(certificates[item.certificate]);
    made.push(part(behind ? "The free, and what comes behind it" : two ? `The two operations that ${defect ? "are" : "would be"} out of order` : defect ? "Where" : "What stands in the way", h("div", { class: shown.length > 1 ? "clash" : "" }, cards)));
  }
  const today = item.words.filter(([about]) => about === "today" || about === "then");
  const without = item.words.find(([about]) => about === "no edge");
  if (without) made.push(h("p", { class: "why" }, prose(`Here ${without[1]}.`)));
  if (today.length) made.push(h("p", { class: "why" }, today.flatMap(([about, text], n) => [about === "today" ? "Today " : n ? "; " : "Here, ", ...prose(text)]), "."));
  if (item.kind === "refusal") made.push(part("What would unlock it", h("div", { class: "box unlock" }, prose(item.unlock))));
  return made;
}
// What the reviewer says: it stays in this browser, and goes into the selection.
function said(item) {
  const button = h("button", { class: "approve", "aria-pressed": String(item.approved), onclick: () => approve(item) }, item.kind === "refusal" ? "Agree" : "Approve", " ", h("kbd", {}, "a"));
  const note = h("textarea", { rows: "1", placeholder: "Comment", "aria-label": "Comment" });
  note.value = item.comment;
  const fit = () => {
    note.rows = Math.min(note.value.split("\n").length, 12);
    made.classList.toggle("unsaid", !note.value && !item.approved);
  };
  note.addEventListener("input", () => { item.comment = note.value.trim(); fit(); marked(item); changed(); });
  const made = h("div", { class: "say" }, button, note);
  fit();
  return made;
}
function card(item) {
  const page = pages[item.name] || ["", "", ""];
  const others = together(item).length - 1;
  const tags = [h("span", { class: `tag ${item.kind === "refusal" ? "refusal" : item.kind === "defect" ? "defect" : ""}` }, item.name)];
  if (selectable(item)) tags.push(h("span", { class: `tag ${item.safety}` }, item.safety === "assumes" ? "rests on an assumption" : item.safety));
  if (item.runs) tags.push(h("span", { class: "tag" }, item.runs));
  const made = h("div", { class: "card" },
    h("div", { class: "crumb" }, `${place(item.at)}:${item.at[2]} `, h("a", { class: "link", href: `#${item.key}`, title: "an address for this" }, "link")),
    h("h2", {}, item.memory ? [h("code", {}, item.memory), item.kind === "refusal" ? " stays: " : " "] : item.kind === "refusal" ? "stays: " : "", prose(item.message), tags),
    quoted(item.at, item.at[0]));
  if (selectable(item)) {
    const box = h("input", { type: "checkbox", checked: item.ticked, onchange: (event) => tick(item, event.target.checked) });
    made.append(h("label", { class: "take" }, box, "take this fix", h("kbd", {}, "x")));
    if (others) made.append(h("span", { class: "with" }, `${others} more ${others === 1 ? "site moves" : "sites move"} with it`));
    if (item.left) made.append(h("span", { class: "with" }, "left out at first: ", prose(item.left)));
  }
  made.append(said(item));
  if (item.kind !== "fix") made.append(...clash(item));
  if (item.diff && item.diff.length) made.append(part("What changes", ...item.diff.map(diffed)));
  const drawn = item.certificate !== null ? timelines(item) : null;
  if (drawn) made.append(part("Timeline", drawn));
  if (item.kind === "fix" && item.words.length) made.append(part("Why this is right", worded(item)));
  const mended = item.kind === "defect" ? item.words.filter(([about]) => about === "ordered") : [];
  if (mended.length) made.append(part("What the fix does", worded({ ...item, words: mended })));
  if (page[0]) made.append(part(item.name, h("div", {}, prose(page[0])), page[1] ? h("p", { class: "why" }, prose(page[1])) : null));
  return made;
}

// ---- list, filters -------------------------------------------------------------------------------------------------
const state = { query: "", kind: "all", file: "", codemod: "", reason: "" };
const KINDS = [["all", "All", () => true], ["fix", "Proven", (i) => selectable(i) && i.proven], ["assumes", "Assumes", (i) => selectable(i) && !i.proven], ["report", "Only reported", (i) => i.kind !== "refusal" && !selectable(i)], ["refusal", "Refused", (i) => i.kind === "refusal"]]
  .filter(([kind, , holds]) => kind !== "report" || items.some(holds));
let current = null;
let shown = [];
const rows = new Map();
const searched = (item) => (item.searched ||= [files[item.at[0]].path, item.name, item.message, ...item.words.map((clause) => clause[1])].join("\n").toLowerCase());

function matches(item) {
  return KINDS.find(([kind]) => kind === state.kind)[2](item)
    && (!state.file || files[item.at[0]].path === state.file)
    && (!state.codemod || (item.kind !== "refusal" && item.name === state.codemod))
    && (!state.reason || (item.kind === "refusal" && item.name === state.reason))
    && (!state.query || searched(item).includes(state.query));
}
function row(item) {
  if (rows.has(item.n)) return rows.get(item.n);
  let first;
  if (selectable(item)) {
    first = h("input", { type: "checkbox", checked: item.ticked, tabIndex: -1, "aria-label": `take ${item.message}`, onclick: (event) => event.stopPropagation(), onchange: (event) => tick(item, event.target.checked) });
    boxes.set(item.n, first);
  } else {
    first = h("span", { class: item.kind === "refusal" ? "sign" : "sign defect", "aria-hidden": "true" }, item.kind === "refusal" ? "✕" : "!");
  }
  const tag = item.kind === "refusal" ? h("span", { class: "tag refusal" }, item.name) : !item.proven ? h("span", { class: "tag assumes" }, "assumes") : item.kind === "defect" ? h("span", { class: "tag defect" }, item.name) : item.runs === "churn" ? h("span", { class: "tag" }, "churn") : null;
  const what = item.kind === "refusal" ? [tag, " ", ...prose(item.message)] : [...(item.memory ? [h("code", {}, item.memory), h("span", { class: "to" }, " ", prose(item.message))] : prose(item.message)), tag];
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser opens the address elsewhere
    event.preventDefault();
    show(item);
  };
  const made = h("div", { class: "item", onclick: open }, first, h("span", { class: "no" }, String(item.at[1])), h("a", { class: "what", href: `#${item.key}`, tabindex: "-1" }, what), h("span", { class: "said", role: "img" }));
  rows.set(item.n, made);
  marked(item);
  return made;
}
function list() {
  shown = items.filter(matches);
  const byFile = new Map();
  for (const item of shown) {
    const file = item.at[0];
    if (!byFile.has(file)) byFile.set(file, []);
    byFile.get(file).push(item);
  }
  const made = [...byFile].map(([file, own]) => {
    const folder = h("div", { class: "folder", style: `contain-intrinsic-size: auto ${own.length * 31 + 32}px` });
    folder.append(h("h2", {}, h("b", {}, pathed(files[file].path)), h("span", {}, String(own.length))), ...own.map(row));
    return folder;
  });
  $("list").replaceChildren(...(made.length ? made : [h("p", { class: "empty" }, "Nothing matches.")]));
  $("shown").textContent = shown.length === items.length ? items.length === 1 ? "1 site or finding" : `${items.length} sites and findings` : `${shown.length} of ${items.length}`;
  if (!shown.includes(current)) show(shown[0] || null, false);
  else row(current).scrollIntoView({ block: "nearest" });
}
function show(item, scroll = true) {
  if (current && rows.has(current.n)) chosen(rows.get(current.n), false);
  current = item;
  if (!item) return $("detail").replaceChildren(h("p", { class: "empty" }, items.length ? "Nothing matches." : "There is nothing to review: no allocation site was found."));
  chosen(row(item), true);
  if (scroll) row(item).scrollIntoView({ block: "nearest" });
  $("detail").replaceChildren(card(item));
  $("detail").scrollTop = 0;
  const lost = $("detail").querySelector(".losttext");
  if (lost) lost.closest(".times").scrollLeft = Number(lost.getAttribute("x")) - $("detail").clientWidth / 2;
  try { history.replaceState(null, "", `#${item.key}`); } catch { /* a page in a frame without an address */ }
}
// One row can be reached with the tab key; from there the keys of the page lead on.
function chosen(made, is) {
  if (is) made.setAttribute("aria-current", "true");
  else made.removeAttribute("aria-current");
  made.querySelector(".what").tabIndex = is ? 0 : -1;
}
// Open what the address names, whatever the filters hide, and show that it is this.
function follow() {
  const item = items.find((each) => `#${each.key}` === location.hash);
  if (!item) return;
  if (!shown.includes(item)) {
    Object.assign(state, { query: "", kind: "all", file: "", codemod: "", reason: "" });
    for (const id of ["query", "file", "codemod", "reason"]) $(id).value = "";
    for (const button of $("kinds").children) button.setAttribute("aria-checked", String(button.dataset.kind === "all"));
    current = item;
    list();
  }
  show(item);
  $("detail").firstElementChild.classList.add("linked");
}
addEventListener("hashchange", follow);
function options(id, label, pairs) {
  const counts = new Map();
  for (const name of pairs) counts.set(name, (counts.get(name) || 0) + 1);
  $(id).replaceChildren(h("option", { value: "" }, label), ...[...counts].sort((a, b) => (id === "file" ? (a[0] < b[0] ? -1 : 1) : b[1] - a[1])).map(([name, n]) => h("option", { value: name }, `${name} (${n})`)));
  $(id).hidden = counts.size === 0;
  $(id).addEventListener("change", () => { state[id] = $(id).value; list(); });
}
function step(by) {
  const at = shown.indexOf(current) + by;
  if (at >= 0 && at < shown.length) show(shown[at]);
}
// On a small screen the filters are folded away.
function unfold(open) {
  $("top").classList.toggle("open", open);
  $("more").setAttribute("aria-expanded", String(open));
}
function theme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("cudafix-theme", next); } catch { /* no storage for pages from files */ }
}

let kept = null;
try { kept = localStorage.getItem("cudafix-theme"); } catch { /* as above */ }
document.documentElement.dataset.theme = kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const [proven, assumed, reported, stays] = ["fix", "assumes", "report", "refusal"].map((kind) => items.filter((KINDS.find(([name]) => name === kind) || [0, 0, () => false])[2]).length);
const share = (n, color) => h("i", { style: `flex:${n} 0 0; background:var(--${color})` });
const told = (n, color, text) => h("span", {}, h("span", { class: "dot", style: `background:var(--${color})` }), h("b", {}, String(n)), ` ${text}`);
$("totals").append(h("span", { class: "bar", "aria-hidden": "true" }, share(proven, "good"), share(assumed, "warn"), share(stays, "bad")), told(proven, "good", "proven"), told(assumed, "warn", "assume"), reported ? told(reported, "mark", "only reported") : "", told(stays, "bad", "refused"));
$("kinds").append(...KINDS.map(([kind, label]) => h("button", { role: "radio", "data-kind": kind, "aria-checked": String(kind === "all"), onclick: () => {
  state.kind = kind;
  for (const button of $("kinds").children) button.setAttribute("aria-checked", String(button.dataset.kind === kind));
  list();
} }, label)));
options("file", "All files", items.map((item) => files[item.at[0]].path));
options("codemod", "All codemods", items.filter((item) => item.kind !== "refusal").map((item) => item.name));
options("reason", "All reasons", items.filter((item) => item.kind === "refusal").map((item) => item.name));
let typing;
$("query").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { state.query = $("query").value.toLowerCase(); list(); }, 80); });
$("all").addEventListener("click", () => shown.filter(selectable).forEach((item) => item.ticked || tick(item, true)));
$("none").addEventListener("click", () => shown.filter(selectable).forEach((item) => item.ticked && tick(item, false)));
$("download").addEventListener("click", download);
$("theme").addEventListener("click", theme);
$("help").addEventListener("click", () => $("keys").showModal());
$("more").addEventListener("click", () => unfold(!$("top").classList.contains("open")));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const within = (selector) => event.target.closest && event.target.closest(selector);
  const field = within("input[type=search], select, textarea");
  if (field) {
    if (event.key === "Escape") {
      if (field.tagName !== "TEXTAREA") { $("query").value = state.query = ""; list(); }
      field.blur();
    }
    return;
  }
  if (event.key.startsWith("Arrow") && within("#detail")) return; // they scroll what is looked at
  const act = { j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), x: () => current && selectable(current) && tick(current, !current.ticked), a: () => current && approve(current), "/": () => { unfold(true); $("query").focus(); }, t: theme, d: download, "?": () => $("keys").showModal() }[event.key];
  if (act) { act(); event.preventDefault(); }
});
let onScreen;
addEventListener("beforeprint", () => {
  onScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  $("print").replaceChildren(...shown.map(card));
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = onScreen;
  $("print").replaceChildren();
});
const linked = items.find((item) => `#${item.key}` === location.hash); // before the first one is shown, which sets the address
count();
list();
if (linked) {
  show(linked);
  $("detail").firstElementChild.classList.add("linked");
}
document.documentElement.dataset.ready = "yes";
