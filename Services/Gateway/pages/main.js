/** Puts phone and panels together, and asks the sandbox and the daemons what is new. */

import { server } from "./app-server.js";
import { randomKey } from "./fusion-auth.js";
import { Daemons, Events, Guide, Messages, Path, codeIn } from "./panels.js";
import { PRESETS } from "./look.js";
import { byId, memory, setLocale, t } from "./parts.js";
import { Phone } from "./phone.js";
import { Scenes } from "./scene.js";
import { LookPanel, SIMPanel, freshNumber, makeTools } from "./settings.js";

/** While something is going on, and else. */
const INBOX_MS = 600;
const ACTIVITY_MS = 1000;
const IDLE_MS = 4000;
const BUSY_FOR_MS = 15_000;

const isDark = () => document.documentElement.dataset.theme === "dark"
  || (document.documentElement.dataset.theme === "auto"
    && matchMedia("(prefers-color-scheme: dark)").matches);

let lastAction = Date.now();

const first = freshNumber();
const world = {
  deviceId: `page-${randomKey()}`,
  sim: { numbers: [first], dataSlot: 0, carrier: "mobile", fault: "none", smsFault: "none" },
  /** What the app's server has on file. */
  account: first,
  /** null: as the page's colours are. */
  chosenLook: null,
  get look() { return this.chosenLook ?? (isDark() ? PRESETS.night : PRESETS.original); },
  set look(chosen) { this.chosenLook = chosen; },
  /** The numbers whose messages come here, newest last: only such as the services took. */
  known: new Set([first]),

  number() { return this.sim.numbers[this.sim.dataSlot]; },
  /** For the new number of a change: the other SIM's, where there is one. */
  otherNumber() {
    return this.sim.numbers.find((number) => number !== this.account) ?? "";
  },
  store(number) {
    this.account = number;
    panels.sim.draw();
    scenes.redraw();
  },
  learn(...numbers) {
    for (const number of numbers) {
      this.known.delete(number);
      this.known.add(number);
    }
  },
  changed() {
    phone.hasSignal = this.sim.fault !== "no_sim" && this.sim.fault !== "no_cellular_data";
    scenes.redraw();
  },
  plugIn() { return panels.sim.send(); },
  sentByPhone({ sender, receiver, text }) {
    messages.add({ text, number: sender, receiver, at: Date.now(), isMine: true });
  },
};

const preferred = memory.get("locale") ?? (navigator.language.startsWith("zh") ? "zh" : "en");
await setLocale(preferred);

makeTools({ onTheme: () => { panels.look.draw(); scenes.redraw(); } });
const phone = new Phone();
const log = new Events();
const path = new Path();
const guide = new Guide();
guide.onNewDevice = () => { world.deviceId = `page-${randomKey()}`; };
const scenes = new Scenes({ world, phone, log, path, guide });
const messages = new Messages({ onCode: (code) => scenes.fill(code) });
const daemons = new Daemons();
const panels = { sim: new SIMPanel(world), look: new LookPanel(world) };

for (const event of ["pointerdown", "keydown"]) {
  document.addEventListener(event, () => { lastAction = Date.now(); }, { passive: true });
}

/** Asks again and again, one question at a time, and not while nobody looks. */
async function keepAsking(interval, ask) {
  while (true) {
    if (document.visibilityState === "visible") {
      try { await ask(); } catch { /* The next question says whether it is back. */ }
    }
    const isBusy = Date.now() - lastAction < BUSY_FOR_MS || scenes.run !== null;
    await new Promise((resolve) => setTimeout(resolve, isBusy ? interval : IDLE_MS));
  }
}

const NUMBERS_MAX = 4;
const sequences = new Map();

async function readInbox() {
  const numbers = [...world.known].slice(-NUMBERS_MAX);
  const after = Math.min(...numbers.map((number) => sequences.get(number) ?? 0));
  let found;
  try {
    found = (await server.inbox(numbers, after)).messages;
  } catch (error) {
    if (error.status !== 400) throw error;
    // One of them is none: it goes, the others' messages come with the next question.
    for (const number of numbers) {
      await server.inbox([number], after).catch(({ status }) => {
        if (status === 400) world.known.delete(number);
      });
    }
    return;
  }
  for (const message of found) {
    if (message.sequence <= (sequences.get(message.number) ?? 0)) continue;
    sequences.set(message.number, message.sequence);
    lastAction = Date.now();
    messages.add({ text: message.text, number: message.number, at: message.arrivedAtMilliseconds });
    phone.banner(
      { sender: t("app.name"), text: message.text, code: codeIn(message.text) },
      scenes.waitsForCode ? (code) => scenes.fill(code) : null);
  }
}

async function begin() {
  try {
    const config = await server.config();
    world.config = config;
  } catch (error) {
    byId("screen").replaceChildren(Object.assign(document.createElement("p"), {
      className: "starting", textContent: error.message,
    }));
    return;
  }
  scenes.home();
  await panels.sim.start();
  keepAsking(INBOX_MS, readInbox);
  keepAsking(ACTIVITY_MS, async () => daemons.take((await server.activity()).daemons));
}

begin();
