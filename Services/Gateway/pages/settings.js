/** What the player sets: the simulated phone, the look of the one-click page, language, colours. */

import { server } from "./app-server.js";
import { PRESETS, pageModel, parseModel } from "./look.js";
import {
  button, byId, currentLocale, el, fill, icon, internationalNumber, memory, onLocale, setLocale, t,
} from "./parts.js";

const CARRIERS = ["mobile", "unicom", "telecom", "other"];
const SIM_FAULTS = [
  "none", "no_sim", "no_cellular_data", "wifi_switch", "permission", "slow", "exchange_refused",
  "exchange_slow",
];
const SMS_FAULTS = ["none", "delayed", "refused", "undelivered", "silent"];
/** Long enough to outlast the 3 s of number authentication. */
const SLOW_MS = 4000;

/** Of China's number plan, drawn anew: limits of earlier play do not meet it. */
export function freshNumber() {
  const digits = crypto.getRandomValues(new Uint8Array(8));
  return `+86138${[...digits].map((value) => value % 10).join("")}`;
}

export class SIMPanel {
  constructor(world) {
    this.world = world;
    this.place = byId("sim");
    onLocale(() => this.draw());
  }

  async start() {
    this.draw();
    await this.send();
  }

  draw() {
    const { sim, account } = this.world;
    const accounts = [...new Set([account, ...sim.numbers].filter(Boolean))];
    this.fault = el("p", { class: "fault", id: "sim-fault", role: "alert" });
    fill(this.place,
      ...sim.numbers.map((number, slot) => this.numberField(number, slot)),
      this.fault,
      el("div", { class: "pair" },
        toggle("sim-dual", "sim.dual", sim.numbers.length > 1, (isDual) => this.setDual(isDual)),
        button({ class: "button small", id: "sim-fresh" }, () => this.renew(), t("sim.fresh"))),
      sim.numbers.length > 1 ? choice("sim-slot", "sim.data",
        [0, 1].map((slot) => [String(slot), t("sim.slot", { slot: slot + 1 })]), String(sim.dataSlot),
        (slot) => this.set({ dataSlot: Number(slot) })) : null,
      choice("sim-carrier", "sim.carrier", named("carrier", CARRIERS), sim.carrier,
        (carrier) => this.set({ carrier })),
      choice("sim-carrier-fault", "sim.fault", named("simFault", SIM_FAULTS), sim.fault,
        (fault) => this.set({ fault })),
      choice("sim-sms-fault", "sim.smsFault", named("smsFault", SMS_FAULTS), sim.smsFault,
        (fault) => this.setSMSFault(fault)),
      choice("account", "sim.account",
        [...accounts.map((it) => [it, it]), ["", t("sim.account.none")]], account ?? "",
        (number) => this.world.store(number || null)));
  }

  numberField(number, slot) {
    const id = `sim-number-${slot + 1}`;
    return el("p", { class: "field" },
      el("label", { for: id, text: t("sim.number", { slot: slot + 1 }) }),
      el("input", {
        class: "input code", id, type: "tel", value: number, autocomplete: "off",
        "aria-describedby": "sim-fault",
        on: { change: (event) => this.setNumber(event.target, slot) },
      }));
  }

  setNumber(input, slot) {
    const { sim } = this.world;
    const number = internationalNumber(input.value, sim.numbers[slot]);
    input.setAttribute("aria-invalid", String(!number));
    this.fault.textContent = number ? "" : t("sim.invalid");
    if (!number) return;
    this.set({ numbers: sim.numbers.map((old, index) => (index === slot ? number : old)) });
  }

  setDual(isDual) {
    const { numbers } = this.world.sim;
    this.set({ numbers: isDual ? [numbers[0], freshNumber()] : [numbers[0]], dataSlot: 0 });
    byId("sim-dual").focus();
  }

  /** The account moves along, so that its scenes work at once. */
  renew() {
    const { sim, account } = this.world;
    const numbers = sim.numbers.map(freshNumber);
    const slot = sim.numbers.indexOf(account);
    if (slot >= 0) this.world.store(numbers[slot]);
    this.set({ numbers });
    byId("sim-fresh").focus();
  }

  set(change) {
    Object.assign(this.world.sim, change);
    this.draw();
    this.send();
  }

  async setSMSFault(fault) {
    this.world.sim.smsFault = fault;
    await this.send();
  }

  async send() {
    const { sim } = this.world;
    const isSlow = sim.fault === "slow" || sim.fault === "exchange_slow";
    try {
      const { simId } = await server.sim({
        simId: sim.simId, numbers: sim.numbers, dataSlot: sim.dataSlot, carrier: sim.carrier,
        fault: sim.fault, delayMilliseconds: isSlow ? SLOW_MS : 0,
      });
      sim.simId = simId;
      for (const number of sim.numbers) await server.fault(number, sim.smsFault);
      this.world.learn(...sim.numbers);
      this.world.changed();
    } catch (error) {
      if (error.code === "sim_not_found" && sim.simId) {
        sim.simId = undefined;
        return this.send();
      }
      this.fault.textContent = error.message;
    }
  }
}

export class LookPanel {
  constructor(world) {
    this.world = world;
    this.place = byId("look");
    this.isOpen = false;
    onLocale(() => this.draw());
    this.draw();
  }

  draw() {
    const model = pageModel(this.world.look);
    const text = el("textarea", {
      class: "input code", id: "look-json", rows: "10", spellcheck: "false",
      "aria-describedby": "look-fault",
    });
    text.value = JSON.stringify(model, null, 1);
    const fault = el("p", { class: "fault", id: "look-fault", role: "alert" });
    const apply = () => {
      try {
        this.world.look = parseModel(text.value);
        this.world.changed();
        this.draw();
        byId("look-apply").focus();
      } catch (error) {
        fault.textContent = error.message;
        text.setAttribute("aria-invalid", "true");
      }
    };
    const more = el("details", {},
      el("summary", { text: t("look.show") }),
      el("p", { class: "field" }, el("label", { for: "look-json", text: t("look.json") }), text),
      fault,
      button({ class: "button small", id: "look-apply" }, apply, t("look.apply")));
    more.open = this.isOpen;
    more.addEventListener("toggle", () => { this.isOpen = more.open; });
    fill(this.place,
      el("div", { class: "presets", role: "group", "aria-label": t("look.preset") },
        Object.keys(PRESETS).map((name) => button(
          { class: "button small", "data-preset": name, "aria-pressed": this.isPreset(name) },
          () => this.choose(name), t(`look.${name}`)))),
      el("div", { class: "swatches" },
        this.color("loginColor", "look.button", ["loginColorUnselected", "loginColorHighlighted"]),
        this.color("backgroundColor", "look.background", ["navColor"]),
        this.color("numberColor", "look.numberColor")),
      ["checkBoxChecked", "alertShown"].map((name) =>
        toggle(`look-${name}`, `look.${name}`, model[name], (on) => this.set({ [name]: on }))),
      more);
  }

  isPreset(name) {
    return String(JSON.stringify(this.world.look) === JSON.stringify(PRESETS[name]));
  }

  choose(name) {
    this.world.look = { ...PRESETS[name] };
    this.world.changed();
    this.draw();
    this.place.querySelector(`[data-preset="${name}"]`).focus();
  }

  set(change) {
    this.world.look = { ...this.world.look, ...change };
    this.world.changed();
    const text = byId("look-json");
    text.value = JSON.stringify(pageModel(this.world.look), null, 1);
    for (const button of this.place.querySelectorAll("[data-preset]")) {
      button.setAttribute("aria-pressed", this.isPreset(button.dataset.preset));
    }
  }

  color(name, label, also = []) {
    const value = pageModel(this.world.look)[name].toLowerCase();
    const input = el("input", { type: "color", id: `look-${name}`, value });
    input.addEventListener("input", () => {
      const change = {};
      for (const key of [name, ...also]) change[key] = input.value.toUpperCase();
      this.set(change);
    });
    return el("label", { class: "swatch" }, input, el("span", { text: t(label) }));
  }
}

export function makeTools({ onTheme }) {
  const themes = [["auto", "auto"], ["light", "sun"], ["dark", "moon"]];
  const setTheme = (name) => {
    document.documentElement.dataset.theme = name;
    memory.set("theme", name);
  };
  let theme = memory.get("theme") ?? "auto";
  setTheme(theme);
  const languages = [["en", "EN", "en"], ["zh", "中文", "zh-CN"]];
  const draw = () => fill(byId("tools"),
    group(t("tools.language"), languages.map(([name, label, lang]) => button(
      { "data-locale": name, lang, "aria-pressed": String(currentLocale() === name) },
      async () => {
        memory.set("locale", name);
        await setLocale(name);
        document.querySelector(`[data-locale="${name}"]`).focus();
      }, label))),
    group(t("tools.theme"), themes.map(([name, sign]) => button(
      { "data-set-theme": name, "aria-label": t(`theme.${name}`), "aria-pressed": String(theme === name) },
      () => {
        setTheme(theme = name);
        onTheme();
        draw();
        document.querySelector(`[data-set-theme="${name}"]`).focus();
      }, icon(sign)))));
  onLocale(draw);
  draw();
}

const group = (label, buttons) =>
  el("div", { class: "choice", role: "group", "aria-label": label }, buttons);

const named = (prefix, values) => values.map((value) => [value, t(`${prefix}.${value}`)]);

function toggle(id, label, isOn, onChange) {
  return el("label", { class: "toggle" },
    el("input", {
      type: "checkbox", role: "switch", id, checked: isOn,
      on: { change: (event) => onChange(event.target.checked) },
    }),
    el("span", { text: t(label) }));
}

function choice(id, label, options, chosen, onChange) {
  return el("p", { class: "field row" }, el("label", { for: id, text: t(label) }),
    el("select", { class: "input", id, on: { change: (event) => onChange(event.target.value) } },
      options.map(([value, text]) => el("option", { value, text, selected: value === chosen }))));
}
