/** What stands beside the phone: guide, path, messages, events, daemons. */

import { KINDS, codeName, tone as toneOf } from "./codes.js";
import { button, byId, el, fill, hasText, icon, onLocale, t, time } from "./parts.js";

const EVENTS_MAX = 200;
const MESSAGES_MAX = 30;

export class Guide {
  constructor() {
    onLocale(() => this.draw());
  }

  show(topic, actions = {}) {
    Object.assign(this, { topic, actions, outcome: null });
    this.draw();
  }

  refused(code) {
    this.outcome = () => t("guide.claimed", { code });
    this.draw();
  }

  draw() {
    if (!this.topic) return;
    byId("guide-title").textContent = t(`guide.${this.topic}`);
    byId("guide-text").textContent = t(`guide.${this.topic}.text`);
    byId("guide-hint").textContent = t(`guide.${this.topic}.hint`);
    const { claim, newDevice } = this.actions;
    fill(byId("guide-actions"),
      ...[
        claim && button({ class: "button small", id: "claim" }, claim, t("guide.claim")),
        newDevice && this.onNewDevice && button({ class: "button small", id: "new-device" }, () => {
            this.onNewDevice();
            this.outcome = () => t("guide.newDevice.done");
            this.draw();
          }, t("guide.newDevice")),
        el("p", { class: "outcome", role: "status", id: "outcome", text: this.outcome?.() ?? "" }),
      ].filter(Boolean));
  }
}

/** Nodes of the template in the order in which the run came to them, then what may lie ahead. */
export class Path {
  constructor() {
    this.templates = [];
    this.steps = new Map();
    onLocale(() => this.draw());
    this.draw();
  }

  begin(templateId) {
    this.templateId = templateId;
    this.steps = new Map();
    this.state = "waiting";
    this.last = 0;
    this.draw();
  }

  add({ nodeId, name, resultCode, sequence }) {
    if (!nodeId || sequence <= this.last) return;
    this.last = sequence;
    const step = this.step(nodeId);
    step.at ??= sequence;
    if (resultCode) step.code = resultCode;
    if (name === "left") step.state = this.hasFailed(step) ? "failed" : "left";
    else if (name === "unusable") step.state = "skipped";
    else if (name === "entered") step.state = "current";
    else if (name === "passed" || name === "failed") step.state = name;
    this.draw();
  }

  step(nodeId) {
    if (!this.steps.has(nodeId)) this.steps.set(nodeId, { state: "current" });
    return this.steps.get(nodeId);
  }

  hasFailed({ isRefused, code }) { return isRefused || toneOf(code) === "bad"; }

  /** The app's server said no to what this node won. */
  refuse(nodeId) { this.step(nodeId).isRefused = true; }

  view(view) {
    this.state = view.state;
    this.now = view.node?.nodeId ?? null;
    if (this.now) this.step(this.now);
    this.draw();
  }

  draw() {
    const list = byId("path");
    const template = this.templates.find((it) => it.templateId === this.templateId);
    byId("path-aside").textContent =
      this.templateId ? `${this.templateId} · ${t(`state.${this.state}`)}` : "";
    if (!template) return fill(list, el("li", { class: "nothing", text: t("path.none") }));
    const kinds = new Map(template.nodes.map((node) => [node.nodeId, node]));
    // The view may name a node before the record does, and then it is the last.
    const place = (id) => this.steps.get(id).at ?? Infinity;
    const walked = [...this.steps.keys()].filter((id) => kinds.has(id))
      .sort((a, b) => place(a) - place(b) || 0);
    const ahead = this.state !== "waiting" ? [] : template.nodes.filter((node) => node.enabled
      && !this.steps.has(node.nodeId) && KINDS[node.kind] !== "graphic").map((it) => it.nodeId);
    fill(list, ...walked.map((id) => this.chip(kinds.get(id), this.steps.get(id))),
      ...ahead.map((id) => this.chip(kinds.get(id), { state: "ahead" })));
  }

  chip(node, step) {
    const { state: noted, code } = step;
    const isNow = node.nodeId === this.now;
    const ended = this.state === "passed" ? "passed"
      : this.state === "failed" || this.hasFailed(step) ? "failed" : "left";
    const state = isNow ? "current" : noted === "current" ? ended : noted;
    const signs = { passed: "check", failed: "cross", current: "dot", skipped: "skip", left: "skip" };
    return el("li", { class: `step ${state}`, "aria-current": isNow ? "step" : null,
      "data-node": node.nodeId },
      signs[state] ? icon(signs[state]) : null,
      el("span", { text: t(`kind.${KINDS[node.kind]}`) }),
      code && state !== "ahead" ? el("span", { class: "code", text: String(code) }) : null,
      el("span", { class: "unseen", text: `, ${t(`path.${state}`)}` }));
  }
}

export class Messages {
  constructor({ onCode }) {
    this.onCode = onCode;
    this.items = [];
    onLocale(() => this.draw());
    this.draw();
  }

  add(message) {
    this.items.push(message);
    this.items = this.items.slice(-MESSAGES_MAX);
    this.draw();
  }

  draw() {
    const place = byId("inbox");
    byId("inbox-aside").textContent = this.items.length ? String(this.items.length) : "";
    if (!this.items.length) {
      return fill(place, el("p", { class: "nothing", text: t("inbox.none") }));
    }
    fill(place, ...this.items.map((item) => this.bubble(item)));
    place.scrollTop = place.scrollHeight;
  }

  bubble({ text, number, receiver, at, isMine }) {
    const code = isMine ? null : codeIn(text);
    return el("div", { class: `bubble ${isMine ? "mine" : ""}` },
      el("p", { class: "bubble-head" },
        el("span", { class: "code", text: isMine ? `${t("inbox.you")} → ${receiver}` : number }),
        el("span", { text: time(at) })),
      el("p", { class: "bubble-text" }, code ? this.withCode(text, code) : text));
  }

  withCode(text, code) {
    const at = text.indexOf(code);
    return [
      text.slice(0, at),
      button({ class: "bubble-code code", "aria-label": t("inbox.fill", { code }) },
        () => this.onCode(code), code),
      text.slice(at + code.length),
    ];
  }
}

/** The first run of four to ten digits that stands alone. */
export function codeIn(text) {
  return text.match(/(?<![\d+])\d{4,10}(?!\d)/)?.[0] ?? null;
}

/** Callbacks, page codes, the run's record and the server's answers, newest last. */
export class Events {
  constructor() {
    this.items = [];
    onLocale(() => this.draw());
    this.draw();
  }

  startScene(templateId) {
    const text = `${templateId} · ${t(`scene.${templateId}`)}`;
    this.push({ lane: "callback", name: "startScene", text, isHead: true });
  }

  callback(name, { code, node, text, tone } = {}) {
    this.push({ lane: "callback", name, code, node, text, tone });
  }

  /** A code of the page: onAuthEvent. Loading is told by its own callback and not listed twice. */
  event(code) {
    if (code === 900003 || code === 900004) return;
    this.push({ lane: "page", code, tone: toneOf(code) });
  }

  run({ name, resultCode, kind, reason, atMilliseconds }) {
    this.push({
      lane: "run", name, code: resultCode, node: kind ? KINDS[kind] : null, text: reason,
      tone: resultCode ? toneOf(resultCode) : null, at: atMilliseconds,
    });
  }

  server(text, tone) {
    this.push({ lane: "server", text, tone });
  }

  push(item) {
    this.items.push({ at: Date.now(), ...item });
    this.items = this.items.slice(-EVENTS_MAX);
    const place = byId("events");
    if (this.items.length === 1) return this.draw();
    const isAtEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 40;
    place.append(this.row(this.items.at(-1)));
    while (place.childElementCount > EVENTS_MAX) place.firstChild.remove();
    if (isAtEnd) place.scrollTop = place.scrollHeight;
    byId("events-aside").textContent = String(this.items.length);
  }

  draw() {
    const place = byId("events");
    byId("events-aside").textContent = this.items.length ? String(this.items.length) : "";
    fill(place, ...(this.items.length ? this.items.map((item) => this.row(item))
      : [el("p", { class: "nothing", text: t("events.none") })]));
    place.scrollTop = place.scrollHeight;
  }

  row({ lane, name, code, node, text, tone, at, isHead }) {
    const label = code ? codeName(code) : null;
    const kind = hasText(`kind.${node}`) ? t(`kind.${node}`) : node;
    return el("div", { class: `event ${isHead ? "head" : ""}` },
      el("span", { class: `tag lane-${lane}`, text: t(`lane.${lane}`) }),
      el("p", { class: "event-words" },
        name ? el("span", { class: "code event-name", text: name }) : null,
        node ? el("span", { class: "event-node", text: kind }) : null,
        code ? el("span", { class: `code ${tone ?? ""}`, text: String(code) }) : null,
        label ? el("span", { class: "event-label", text: label }) : null,
        text ? el("span", { class: `event-text ${lane === "server" ? tone : ""}`, text }) : null),
      el("time", { class: "code", text: time(at) }));
  }
}

const DAEMONS = ["token", "scene", "verification", "smscode", "sandbox"];
/** Asked by this page for its own sake. */
const OWN_CALLS = /\.(stats|ping|info)$|^sandbox\.inbox$|^scheme\.list$/;
const METHODS_SHOWN = 4;

export class Daemons {
  constructor() {
    this.first = new Map();
    this.before = new Map();
    this.rows = [];
    onLocale(() => this.draw());
    this.draw();
  }

  /** @param daemons - of `activity`: `[{service, answers, instance, methods}]` */
  take(daemons) {
    this.rows = daemons.map((daemon) => this.row(daemon));
    this.draw();
  }

  row({ service, instance, answers, methods }) {
    if (!answers) return { service, answers };
    const counts = new Map(methods.filter((it) => !OWN_CALLS.test(it.name)).map((it) => [it.name, it]));
    const key = `${service}@${instance}`;
    if (!this.first.has(key)) this.first.set(key, counts);
    const before = this.before.get(key) ?? counts;
    this.before.set(key, counts);
    const first = this.first.get(key);
    const done = [];
    for (const [name, now] of counts) {
      const since = first.get(name);
      const requests = now.requests - (since?.requests ?? 0);
      if (requests <= 0) continue;
      done.push({
        name: name.replace(`${service}.`, ""), requests, errors: now.errors - (since?.errors ?? 0),
        microseconds: (now.microseconds - (since?.microseconds ?? 0)) / requests,
        isFresh: now.requests > (before.get(name)?.requests ?? 0),
      });
    }
    return { service, answers, done: done.sort((a, b) => b.requests - a.requests) };
  }

  draw() {
    const known = new Map(this.rows.map((row) => [row.service, row]));
    fill(byId("daemons"), ...DAEMONS.map((name) => {
      const row = known.get(name) ?? { answers: true, done: [] };
      const done = row.done ?? [];
      const state = !row.answers ? "gone" : done.some((it) => it.isFresh) ? "fresh" : "";
      return el("li", { class: `daemon ${state}`, "data-daemon": name },
        el("span", { class: "pulse", "aria-hidden": "true" }),
        el("div", { class: "daemon-name" }, el("b", { class: "code", text: name }),
          el("span", { class: "quiet", text: t(`daemon.${name}`) })),
        el("p", { class: "daemon-calls" },
          !row.answers ? el("span", { class: "tag bad", text: t("daemon.gone") })
            : done.length ? done.slice(0, METHODS_SHOWN).map((it) => call(it))
            : el("span", { class: "quiet", text: t("daemon.idle") })));
    }));
  }
}

function call({ name, requests, errors, microseconds, isFresh }) {
  const took = microseconds < 1000 ? `${Math.round(microseconds)} µs`
    : `${(microseconds / 1000).toFixed(1)} ms`;
  return el("span", { class: `tag call ${isFresh ? "accent" : ""}`, title: took },
    el("span", { class: "code", text: name }), ` × ${requests}`,
    errors > 0 && el("span", { class: "call-errors" }, ` · ${t("daemon.errors", { count: errors })}`));
}
