/** Screens of the app that hold no scene logic: home, one click, agreement, new password. */

import { button, el, icon, masked, t } from "./parts.js";
import { applyModel, pageModel } from "./look.js";
import { navBar } from "./phone.js";

const PASSWORD_LENGTH_MIN = 8;

const SCENES = [
  ["100001", "login"], ["100002", "swap"], ["100003", "key"], ["100004", "link"], ["100005", "shield"],
];

export function homeScreen({ account, onPick }) {
  return () => {
    const person = el("p", { class: "person-name" });
    const root = el("div", { class: "home" },
      el("div", { class: "person" },
        el("span", { class: "avatar" }, icon("person")),
        el("div", {}, el("h2", { text: t("app.name") }), person)),
      el("ul", { class: "rows", "aria-label": t("app.scenes") },
        SCENES.map(([id, sign]) => el("li", {},
          button({ "data-scene": id }, () => onPick(id),
            el("span", { class: `row-icon s${id}` }, icon(sign)),
            el("span", { class: "row-words" }, el("b", { text: t(`scene.${id}`) }),
              el("span", { text: t(`scene.${id}.text`) })),
            icon("chevron"))))),
      el("p", { class: "home-foot", text: t("app.foot") }));
    const update = () => {
      const number = account();
      person.textContent = number ? t("app.in", { number: masked(number) }) : t("app.out");
    };
    update();
    return { root, update };
  };
}

/** The number-authentication page, drawn from its page model alone. */
export function oneClickScreen({
  phone, look, maskedNumber, carrier, onLogin, onOther, onBack, onProtocol, onUnchecked,
}) {
  let isAgreed = null;
  return () => {
    const model = pageModel(look());
    isAgreed ??= model.checkBoxChecked;
    const carrierName = t(`carrier.${carrier}`);
    const terms = () => agreement(model, carrierName, onProtocol);
    const box = el("input", {
      type: "checkbox", id: "agree", class: "agree", "aria-label": t("privacy.check"),
      "aria-describedby": "terms",
    });
    box.checked = isAgreed;
    const login = el("button", { type: "button", class: "m-login", id: "login", text: model.loginText });
    const mark = () => { login.dataset.selected = String(isAgreed); };
    box.addEventListener("change", () => {
      isAgreed = box.checked;
      mark();
    });
    mark();
    login.addEventListener("click", () => {
      if (isAgreed) return onLogin();
      if (!model.alertShown) return onUnchecked();
      const agree = () => {
        isAgreed = box.checked = true;
        mark();
        phone.dismiss();
        if (model.alertLogsInAfterAgreement) onLogin();
      };
      const words = agreement(model, carrierName, onProtocol, true);
      phone.show(privacyAlert(model, words, agree, () => phone.dismiss()));
    });
    const root = el("div", { class: "one-click" },
      navBar(model.navTitle, onBack),
      model.logoHidden ? null : el("span", { class: "m-logo" }, icon("phone")),
      el("p", { class: "m-name", text: model.nameLabelText }),
      el("p", { class: "m-number", text: maskedNumber }),
      el("p", { class: "m-slogan", text: t("slogan", { carrier: carrierName }) }),
      login,
      model.otherHidden ? null
        : button({ class: "m-other", id: "other" }, onOther, model.otherText),
      el("div", { class: "m-privacy" },
        model.checkBoxHidden ? null : box,
        el("p", { id: "terms" }, terms())));
    applyModel(root, model);
    return { root, glass: model.backgroundColor };
  };
}

/** Own agreements and the carrier's, in the model's order, with its connectors. */
function agreement(model, carrierName, onProtocol, isAlert = false) {
  const links = model.privacyAgreements.map(({ name, url }) => ({ name, url }));
  const [open, close] = [model.privacyOperatorMarks[0] ?? "", model.privacyOperatorMarks[1] ?? ""];
  links.splice(model.privacyOperatorIndex, 0, {
    name: open + t("carrier.terms", { carrier: carrierName }) + close,
    url: "https://example.com/carrier-terms",
  });
  const parts = [model.privacyBefore];
  links.forEach(({ name, url }, index) => {
    if (index > 0) {
      const isLast = index === links.length - 1;
      parts.push((isLast ? model.privacyConnectors.at(-1) : model.privacyConnectors[0]) ?? " ");
    }
    parts.push(button({ class: "term" }, () => onProtocol(name, url, isAlert), name));
  });
  return parts;
}

function privacyAlert(model, terms, onAgree, onClose) {
  const mask = el("div", { class: "alert-mask" });
  if (model.alertTapOnMaskCloses) mask.addEventListener("click", onClose);
  const root = el("div", { class: "alert" }, mask,
    el("div", { class: "alert-box", role: "dialog", "aria-modal": "true", "aria-labelledby": "alert-title" },
      el("h3", { id: "alert-title", text: t("alert.title") }),
      button({ class: "alert-close", "aria-label": t("close") }, onClose, icon("cross")),
      el("p", { class: "alert-content", "data-align": model.alertContentAlignment }, terms),
      button({ class: "alert-agree", id: "agree-and-login", "data-first": true },
        onAgree, t("alert.agree"))));
  applyModel(root, model);
  return root;
}

/** Pushed over the page; shows where an agreement would come from and opens nothing. */
export function protocolScreen({ name, url, onBack }) {
  return () => ({
    root: el("div", { class: "page" }, navBar(name, onBack),
      el("div", { class: "page-body" },
        el("p", { class: "code address", text: url }),
        el("p", { class: "quiet", text: t("protocol.text") }))),
  });
}

export function passwordScreen({ onSave, onBack }) {
  return () => {
    const one = passwordField("password.new", "password-new");
    const two = passwordField("password.again", "password-again");
    const fault = el("p", { class: "fault", id: "password-fault", role: "alert" });
    const form = el("form", { novalidate: true, on: { submit } },
      one.root, two.root, fault,
      el("button", { class: "wide primary", id: "password-save", text: t("password.save") }));
    function submit(event) {
      event.preventDefault();
      const problem = one.input.value.length < PASSWORD_LENGTH_MIN ? "password.short"
        : one.input.value !== two.input.value ? "password.differ" : null;
      fault.textContent = problem ? t(problem) : "";
      const wrong = problem === "password.differ" ? two.input : one.input;
      one.input.removeAttribute("aria-invalid");
      two.input.removeAttribute("aria-invalid");
      if (!problem) return onSave();
      wrong.setAttribute("aria-invalid", "true");
      wrong.focus();
    }
    return {
      root: el("div", { class: "page" }, navBar("", onBack),
        el("div", { class: "page-body" },
          el("h2", { class: "page-title", text: t("password.title") }),
          el("p", { class: "page-text", text: t("password.text") }), form)),
    };
  };
}

function passwordField(label, id) {
  const input = el("input", {
    class: "big-input", id, type: "password", autocomplete: "new-password",
    "aria-describedby": "password-fault",
  });
  return { input, root: el("p", { class: "field" }, el("label", { for: id, text: t(label) }), input) };
}
