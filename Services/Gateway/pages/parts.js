/** Elements, icons and translated texts. Every text goes in by textContent. */

import { texts as english } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";

/** 24 × 24, drawn with strokes. */
const ICONS = {
  back: "M15 5l-7 7 7 7",
  chevron: "M9 5l7 7-7 7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  login: "M14 4h4a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2h-4M4 12h11M11 8l4 4-4 4",
  swap: "M4 8h14l-3.5-3.5M20 16H6l3.5 3.5",
  key: "M15.5 3.5a5 5 0 1 1-4.3 7.6L4 18.3V21h3v-2h2v-2h2l1.8-1.8M16.5 7.5h.01",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  shield: "M12 3l7 3v5c0 4.5-3 8-7 10-4-2-7-5.5-7-10V6zM9 12l2 2 4-4",
  message: "M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-8l-5 4v-4H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z",
  send: "M21 3L10 14M21 3l-7 18-4-7-7-4z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  dot: "M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  skip: "M6 12h12",
  phone: "M8 2.5h8a1.5 1.5 0 0 1 1.5 1.5v16a1.5 1.5 0 0 1-1.5 1.5H8A1.5 1.5 0 0 1 6.5 20V4A1.5 1.5 0 0 1 8 2.5zM11 18.5h2",
};

/** A drawing of one path. */
export function drawing(path, size, properties) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  for (const [name, value] of Object.entries(properties)) svg.setAttribute(name, value);
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export const icon = (name) =>
  drawing(ICONS[name], 24, { class: `icon icon-${name}`, "aria-hidden": "true" });

/**
 * Makes an element. `on` holds listeners; `text` becomes textContent; a property that is false or
 * null is left out, true is an empty attribute; children may be texts, elements or null.
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "text") {
      node.textContent = value;
    } else if (name === "value" || name === "checked" || name === "disabled") {
      node[name] = value;
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  if (children.length) fill(node, ...children);
  return node;
}

/** Presses call `onPress`. */
export const button = (properties, onPress, ...children) =>
  el("button", { type: "button", ...properties, on: { click: onPress } }, ...children);

const isThere = (child) => child !== null && child !== undefined && child !== false;

/** Replaces what is in `node`; null children are left out. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter(isThere));
}

export const byId = (id) => document.getElementById(id);

// Texts

const LOCALES = { en: "en", zh: "zh-CN" };
const tables = { en: english };
let locale = "en";
const localeListeners = new Set();

/** A text of the current language; `{name}` is replaced. */
export function t(key, values = {}) {
  const text = tables[locale][key] ?? english[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (all, name) => String(values[name] ?? all));
}

export const hasText = (key) => key in english;
export const currentLocale = () => locale;
export const onLocale = (listener) => localeListeners.add(listener);

/** Fetches the language when it is first asked for. */
export async function setLocale(name) {
  const wanted = name in LOCALES ? name : "en";
  tables[wanted] ??= (await import(`./texts-${wanted}.js`)).texts;
  locale = wanted;
  document.documentElement.lang = LOCALES[locale];
  document.title = `${t("title")} · FusionBus`;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t(node.dataset.label));
  }
  localeListeners.forEach((listener) => listener());
}

export function time(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString(LOCALES[locale], { hour12: false });
}

/**
 * E.164, or null. A number of mainland China may come without its country code where the SIM,
 * `home`, has one of there.
 */
export function internationalNumber(text, home) {
  const bare = text.replace(/[ ().-]/g, "");
  const number = /^1[3-9]\d{9}$/.test(bare) && home?.startsWith("+86") ? `+86${bare}` : bare;
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : null;
}

/** `+8613•••01`, as the services mask it. */
export function masked(number) {
  return `${number.slice(0, Math.min(5, number.length - 5))}•••${number.slice(-2)}`;
}

/** Keeps a choice between visits, where the browser lets it. */
export const memory = {
  get(name) {
    try { return localStorage.getItem(`fusion.${name}`); } catch { return null; }
  },
  set(name, value) {
    try { localStorage.setItem(`fusion.${name}`, value); } catch { /* a private window */ }
  },
};
