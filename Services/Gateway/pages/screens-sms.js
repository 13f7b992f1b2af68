/** The SMS-code page and the up-going page. */

import { button, drawing, el, icon, internationalNumber, masked, t } from "./parts.js";
import { countdown, minutes, navBar } from "./phone.js";

/**
 * Number (where the node takes one), then code. `view()` is the run's view, `now()` the server's
 * time, `home` the SIM's number; `onSend(number)`, `onCode(code)`, `onInstead()`, `onBack()`.
 */
export function smsScreen({ view, now, number, home, phase, onSend, onCode, onInstead, onBack }) {
  const state = { typed: number, isChanging: false, code: "" };
  return () => {
    const node = view().node;
    const title = el("h2", { class: "page-title" });
    const text = el("p", { class: "page-text" });
    const fault = el("p", { class: "fault", id: "sms-fault", role: "alert" });
    const numberForm = makeNumberForm();
    const codeForm = makeCodeForm(node);
    const root = el("div", { class: "page sms" }, navBar("", onBack),
      el("div", { class: "page-body" }, title, text, numberForm.root, codeForm.root,
        button({ class: "text-button", id: "instead" }, onInstead, t("sms.instead"))));

    function isWaitingForCode() {
      return Boolean(view().node?.expiresAtMilliseconds) && !state.isChanging;
    }

    function update() {
      const current = view().node;
      if (!current) return;
      const waits = isWaitingForCode();
      const shown = current.maskedNumber ?? (state.typed ? masked(state.typed) : "");
      const takesNumber = current.numberInput === "typed";
      title.textContent = waits ? t("sms.title") : t(titleKey(phase(), takesNumber));
      text.textContent = waits ? t("sms.sent", { number: shown })
        : takesNumber ? t("sms.ask") : t("sms.to", { number: shown });
      if (waits) codeForm.life.before(fault);
      else numberForm.field.after(fault);
      numberForm.root.hidden = waits;
      numberForm.field.hidden = !takesNumber;
      codeForm.root.hidden = !waits;
      codeForm.change.hidden = !takesNumber;
      codeForm.update(current);
    }

    function makeNumberForm() {
      const input = el("input", {
        class: "big-input", id: "sms-number", type: "tel", inputmode: "tel", autocomplete: "tel",
        "aria-describedby": "sms-number-hint sms-fault", value: state.typed,
      });
      const field = el("p", { class: "field" },
        el("label", { for: "sms-number", text: t("sms.number") }), input,
        el("span", { id: "sms-number-hint", text: t("sms.number.hint") }));
      const form = el("form", { novalidate: true, on: { submit } }, field,
        el("button", { class: "wide primary", id: "sms-send", text: t("sms.get") }));
      async function submit(event) {
        event.preventDefault();
        const takesNumber = view().node.numberInput === "typed";
        const typed = internationalNumber(input.value, home);
        if (takesNumber && !typed) return say(t("sms.number.fault"), input);
        if (takesNumber) state.typed = input.value = typed;
        state.isChanging = false;
        say("");
        await onSend(takesNumber ? typed : null);
      }
      return { root: form, field, input };
    }

    function makeCodeForm(first) {
      const length = first.codeLength ?? 6;
      const isDigits = (first.codeType ?? 1) === 1;
      const input = el("input", {
        class: "code-input", id: "sms-code", autocomplete: "one-time-code", maxlength: length,
        inputmode: isDigits ? "numeric" : "text", spellcheck: "false", autocapitalize: "none",
        "aria-label": t("sms.code", { length }), "aria-describedby": "sms-fault sms-life",
        value: state.code,
      });
      const cells = Array.from({ length }, () => el("i"));
      const field = el("div", { class: "cells" }, el("div", { "aria-hidden": "true" }, cells), input);
      field.style.setProperty("--length", String(length));
      const mark = () => cells.forEach((cell, at) => {
        cell.dataset.now = String(at === Math.min(input.value.length, length - 1));
      });
      const submitButton = el("button", { class: "wide primary", id: "sms-submit", disabled: true },
        t("sms.submit"));
      const life = el("p", { class: "quiet life", id: "sms-life" });
      const left = el("span", { class: "quiet" });
      const resend = button({ class: "text-button", id: "sms-resend" },
        () => onSend(view().node.numberInput === "typed" ? state.typed : null));
      const change = button({ class: "text-button", id: "sms-change" },
        () => { state.isChanging = true; say(""); update(); numberForm.input.focus(); }, t("sms.change"));
      const form = el("form", { novalidate: true, class: "code-form", on: { submit } },
        field, life, submitButton, el("div", { class: "pair" }, resend, left), change);
      const clean = (value) => value.replace(isDigits ? /\D/g : /\s/g, "").slice(0, length);
      input.addEventListener("input", () => {
        const value = clean(input.value);
        if (value !== input.value) input.value = value;
        state.code = value;
        submitButton.disabled = value.length !== length;
        input.removeAttribute("aria-invalid");
        mark();
      });
      // A pasted message holds the code somewhere; the field takes that and nothing else.
      input.addEventListener("paste", (event) => {
        const pasted = event.clipboardData?.getData("text") ?? "";
        const found = isDigits ? pasted.match(new RegExp(`(?<!\\d)\\d{${length}}(?!\\d)`))?.[0] : null;
        if (!found) return;
        event.preventDefault();
        fill(found, false);
      });
      function fill(code, submits) {
        input.value = clean(code);
        input.dispatchEvent(new Event("input"));
        if (submits && !submitButton.disabled) form.requestSubmit();
        else input.focus();
      }
      async function submit(event) {
        event.preventDefault();
        if (submitButton.disabled) return;
        say("");
        await onCode(input.value);
      }
      const stop = countdown(() => view().node?.expiresAtMilliseconds ?? 0, now, tick);
      function tick(seconds) {
        const node = view().node;
        if (!node?.expiresAtMilliseconds) return;
        const lifeText = seconds ? t("sms.expires", { time: minutes(seconds) }) : t("sms.expired");
        if (life.textContent !== lifeText) life.textContent = lifeText;
        const waits = Math.max(0, Math.ceil(((node.resendAtMilliseconds ?? 0) - now()) / 1000));
        const label = waits ? t("sms.resendIn", { seconds: waits }) : t("sms.resend");
        if (resend.textContent !== label) resend.textContent = label;
        resend.disabled = waits > 0 || node.sendsLeft === 0;
      }
      return {
        root: form, input, stop, change, fill, life,
        update(node) {
          const key = `sms.left.${node.sendsLeft}`;
          left.textContent = node.sendsLeft === undefined ? ""
            : node.sendsLeft < 2 ? t(key) : t("sms.left", { count: node.sendsLeft });
          tick(Math.max(0, Math.ceil((node.expiresAtMilliseconds - now()) / 1000)));
        },
      };
    }

    function say(message, input = null) {
      fault.textContent = message;
      numberForm.input.toggleAttribute("aria-invalid", input === numberForm.input);
      if (input === numberForm.input) input.setAttribute("aria-invalid", "true");
      input?.focus();
    }

    update();
    const otp = new AbortController();
    webOTP(otp.signal, (code) => codeForm.fill(code, true));
    return {
      root, update,
      say(message) { say(message, isWaitingForCode() ? null : numberForm.input); },
      /** After a send: where to go on. */
      focusCode() { codeForm.input.focus({ preventScroll: true }); },
      fill: (code) => { if (isWaitingForCode()) codeForm.fill(code, true); },
      /** The typed code was wrong: it stays, selected, to be typed again. */
      wrong(decision) {
        say(wrongCode(decision));
        codeForm.input.setAttribute("aria-invalid", "true");
        codeForm.input.focus();
        codeForm.input.select();
      },
      leave() {
        otp.abort();
        codeForm.stop();
      },
    };
  };
}

function wrongCode({ reason, attemptsLeft }) {
  if (reason === "code_exhausted" || attemptsLeft === 0) return t("sms.exhausted");
  if (attemptsLeft === 1) return t("sms.wrong.1");
  return attemptsLeft ? t("sms.wrong", { left: attemptsLeft }) : t("sms.wrong.plain");
}

function titleKey(phase, takesNumber) {
  if (phase === "old") return "sms.title.old";
  if (phase === "new") return "sms.title.new";
  return takesNumber ? "sms.title.number" : "sms.title";
}

/** Browsers on phones hand over the code of an SMS that ends in `@host #code` (WICG WebOTP). */
async function webOTP(signal, take) {
  if (!("OTPCredential" in window)) return;
  try {
    const credential = await navigator.credentials.get({ otp: { transport: ["sms"] }, signal });
    if (credential?.code) take(credential.code);
  } catch {
    // Refused, timed out or left: the field takes the code as ever.
  }
}

/** Text, receiving number, link and QR code; the person sends, then says so. */
export function upgoingScreen({ view, now, sender, onOpen, onSimulate, onSent, onGiveUp, onBack, onCopy }) {
  return () => {
    const { text, receivingNumber } = view().node.upgoing;
    const link = `sms:${receivingNumber.replace(/[^+0-9]/g, "")}?body=${encodeURIComponent(text)}`;
    const note = el("p", { class: "quiet life", id: "up-note", role: "status" });
    const qr = el("div", { class: "qr" });
    drawQR(qr, link);
    const done = button({ class: "wide primary", id: "up-done" }, onSent, t("up.done"));
    const root = el("div", { class: "page upgoing" }, navBar("", onBack),
      el("div", { class: "page-body" },
        el("h2", { class: "page-title", text: t("up.title") }),
        el("p", { class: "page-text", text: t("up.ask") }),
        el("dl", { class: "slip" },
          slipRow("up.text", text, "up-text", onCopy), slipRow("up.to", receivingNumber, "up-to", onCopy)),
        button({ class: "wide", id: "up-simulate" },
          () => onSimulate(text, receivingNumber), icon("send"), t("up.simulate", { number: masked(sender()) })),
        done, note,
        el("div", { class: "scan" },
          qr,
          el("div", {}, el("p", { class: "quiet", text: t("up.scan") }),
            el("a", { class: "text-button", id: "up-link", href: link, on: { click: onOpen } },
              t("up.open")))),
        button({ class: "text-button", id: "up-give-up" }, onGiveUp, t("up.giveUp"))));
    const stop = countdown(() => view().node?.expiresAtMilliseconds ?? 0, now, (seconds) => {
      if (note.dataset.kept) return;
      const words = seconds ? t("sms.expires", { time: minutes(seconds) }) : t("up.expired");
      // Read out by the minute, not by the second.
      note.setAttribute("aria-live", "off");
      if (note.textContent !== words) note.textContent = words;
    });
    return {
      root,
      say(message) {
        note.dataset.kept = "true";
        note.setAttribute("aria-live", "polite");
        note.textContent = message;
      },
      leave: stop,
    };
  };
}

function slipRow(label, value, id, onCopy) {
  return el("div", {}, el("dt", { text: t(label) }), el("dd", { class: "code", id, text: value }),
    button({ class: "copy", "aria-label": `${t("copy")}: ${t(label)}` },
      () => onCopy(value), icon("copy")));
}

/** Always dark on light, with its quiet zone: cameras read it in any theme. */
async function drawQR(place, text) {
  const { qrMatrix } = await import("./qr.js");
  const rows = qrMatrix(text);
  const quiet = 4;
  let path = "";
  rows.forEach((row, y) => row.forEach((isDark, x) => {
    if (isDark) path += `M${x + quiet} ${y + quiet}h1v1h-1z`;
  }));
  place.replaceChildren(drawing(path, rows.length + 2 * quiet, { role: "img", "aria-label": t("up.qr") }));
}
