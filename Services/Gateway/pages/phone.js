/** The device: its glass, and what lies over a screen. It knows no scene. */

import { button, byId, el, icon, onLocale, t } from "./parts.js";

const TOAST_MS = 3000;
const TOASTS_MAX = 2;
const BANNER_MS = 8000;

export class Phone {
  constructor() {
    this.root = byId("phone");
    this.stage = byId("screen");
    this.veil = byId("veil");
    this.busySign = byId("busy");
    this.toasts = byId("toasts");
    this.bannerPlace = byId("banner");
    this.current = null;
    this.make = null;
    this.showsClock();
    onLocale(() => { if (this.make) this.mount(this.name, this.make, { keepsFocus: true }); });
  }

  /**
   * Puts a screen on the glass. `make` gives `{root, update?, leave?}` and is called again when the
   * language changes.
   */
  mount(name, make, { keepsFocus = false } = {}) {
    const hadFocus = this.root.contains(document.activeElement);
    this.current?.leave?.();
    this.dismiss();
    if (name !== this.name) this.hideBanner();
    this.name = name;
    this.make = make;
    this.paint(null);
    this.current = make();
    if (this.current.glass) this.paint(this.current.glass);
    this.root.dataset.screen = name;
    this.stage.replaceChildren(this.current.root);
    this.stage.scrollTop = 0;
    const head = this.stage.querySelector("h1, h2, h3");
    if (head && hadFocus && !keepsFocus) {
      head.tabIndex = -1;
      head.focus({ preventScroll: true });
    }
    return this.current;
  }

  /** A screen may colour the whole glass; the bar above it then takes black or white. */
  paint(color) {
    const { style } = this.root;
    if (!color) return ["--glass", "--glass-ink"].forEach((name) => style.removeProperty(name));
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
    style.setProperty("--glass", color);
    style.setProperty("--glass-ink", red * 0.3 + green * 0.59 + blue * 0.11 > 140 ? "#111820" : "#ffffff");
  }

  update() {
    this.current?.update?.();
  }

  /** Small words at the foot that go by themselves; a live region reads them. */
  toast(text, tone = null) {
    const note = el("p", { class: `toast ${tone ?? ""}` },
      tone ? icon(tone === "good" ? "check" : "cross") : null, el("span", { text }));
    while (this.toasts.childElementCount >= TOASTS_MAX) this.toasts.firstChild.remove();
    this.toasts.append(note);
    setTimeout(() => note.remove(), TOAST_MS);
  }

  set busy(isBusy) {
    this.busySign.hidden = !isBusy;
    this.stage.setAttribute("aria-busy", String(isBusy));
    this.root.dataset.busy = String(isBusy);
  }

  /** A dialog over the screen, which cannot be reached meanwhile. */
  show(dialog) {
    this.opener = document.activeElement;
    this.veil.replaceChildren(dialog);
    this.veil.hidden = false;
    this.stage.inert = true;
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.dismiss();
    });
    dialog.querySelector("[data-first]")?.focus();
  }

  dismiss() {
    if (this.veil.hidden) return;
    this.veil.hidden = true;
    this.veil.replaceChildren();
    this.stage.inert = false;
    if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
  }

  /** An SMS has come: slides in from above, as phones show it. */
  banner({ sender, text, code }, fill) {
    clearTimeout(this.bannerTimer);
    const isUseful = code && fill;
    const words = [
      el("span", { class: "banner-icon" }, icon("message")),
      el("span", { class: "banner-words" },
        el("span", { class: "banner-head" }, el("b", { text: sender }), el("span", { text: t("banner.now") })),
        el("span", { class: "banner-text", text })),
    ];
    const body = isUseful
      ? button({ "aria-label": t("banner.fill", { sender, code }) },
        () => { this.hideBanner(); fill(code); }, words)
      : el("div", {}, words);
    this.bannerPlace.replaceChildren(body);
    this.bannerPlace.hidden = false;
    this.bannerTimer = setTimeout(() => this.hideBanner(), BANNER_MS);
  }

  hideBanner() {
    clearTimeout(this.bannerTimer);
    this.bannerPlace.hidden = true;
    this.bannerPlace.replaceChildren();
  }

  set hasSignal(has) {
    byId("signal").dataset.off = String(!has);
  }

  showsClock() {
    const clock = byId("clock");
    const tick = () => {
      const now = new Date();
      clock.textContent = `${now.getHours()}:${String(now.getMinutes()).padStart(2, "0")}`;
    };
    tick();
    setInterval(tick, 10_000);
  }
}

export function navBar(title, onBack) {
  return el("div", { class: "nav" },
    onBack
      ? button({ class: "nav-back", "aria-label": t("back") }, onBack, icon("back"))
      : null,
    title ? el("h2", { class: "nav-title", text: title }) : null);
}

/** Counts down to an instant of the server; `show(secondsLeft)` once a second until it is there. */
export function countdown(until, now, show) {
  const tick = () => show(Math.max(0, Math.ceil((until() - now()) / 1000)));
  tick();
  const timer = setInterval(tick, 500);
  return () => clearInterval(timer);
}

export const minutes = (seconds) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
