/**
 * The page model of the one-click page: every property of the original demo's, in one flat value.
 * Lengths are points, colours #RRGGBB, y counts from below the status bar.
 */

import { t } from "./parts.js";

const COLOR = /^#[0-9a-f]{6}$/i;
const TEXT_LENGTH_MAX = 120;

const color = (value) => ({ value, check: (it) => COLOR.test(it), takes: "#RRGGBB" });
const flag = (value) => ({ value, check: (it) => typeof it === "boolean", takes: "true or false" });
const number = (value, low, high) => ({
  value, check: (it) => typeof it === "number" && it >= low && it <= high,
  takes: `a number in ${low}…${high}`,
});
const words = (value) => ({
  value, check: (it) => typeof it === "string" && it.length <= TEXT_LENGTH_MAX,
  takes: `text of at most ${TEXT_LENGTH_MAX} characters`,
});
const one = (value, ...allowed) => ({
  value, check: (it) => allowed.includes(it), takes: allowed.join(", "),
});
const list = (value, check, takes) => ({
  value, check: (it) => Array.isArray(it) && it.length <= 4 && it.every(check),
  takes: `at most 4 of ${takes}`,
});
const isText = (it) => typeof it === "string" && it.length <= TEXT_LENGTH_MAX;
const isAgreement = (it) => it !== null && typeof it === "object" && isText(it.name)
  && isText(it.url) && Object.keys(it).length === 2;

/** Texts are made anew for each language; null stands for that. */
const properties = () => ({
  supportedOrientations: list(
    ["portrait"], (it) => ["portrait", "landscape"].includes(it), "portrait, landscape"),
  presentDirection: one("bottom", "bottom", "top", "left", "right"),
  keepsPageOnDismissal: flag(false),
  navTitle: words(t("look.navTitle")),
  navColor: color("#EFF3F2"),
  logoHidden: flag(true),
  backgroundColor: color("#EFF3F2"),
  nameLabelText: words(t("look.nameLabel")),
  nameLabelSize: number(24, 10, 40),
  nameLabelY: number(132, 0, 480),
  numberColor: color("#262626"),
  numberSize: number(24, 12, 44),
  numberY: number(214, 0, 480),
  sloganColor: color("#555555"),
  sloganSize: number(15, 10, 24),
  sloganY: number(252, 0, 520),
  loginText: words(t("look.login")),
  loginTextColor: color("#FFFFFF"),
  loginTextSize: number(16, 10, 24),
  loginColor: color("#0064C8"),
  loginColorUnselected: color("#0064C8"),
  loginColorHighlighted: color("#0064C8"),
  loginSideMargin: number(16, 0, 80),
  loginHeight: number(44, 32, 72),
  loginY: number(318, 0, 560),
  otherHidden: flag(false),
  otherText: words(t("look.other")),
  otherTextColor: color("#FFFFFF"),
  otherTextSize: number(16, 10, 24),
  otherColor: color("#262626"),
  otherY: number(378, 0, 600),
  privacyAgreements: list([
    { name: t("look.terms"), url: "https://example.com/terms" },
    { name: t("look.privacy"), url: "https://example.com/privacy" },
  ], isAgreement, "{name, url}"),
  privacyOperatorIndex: number(2, 0, 4),
  privacyBefore: words(t("look.before")),
  privacyConnectors: list([t("look.comma"), t("look.and")], isText, "texts"),
  privacyOperatorMarks: list(["", ""], isText, "texts"),
  privacyTextColor: color("#555555"),
  privacyLinkColor: color("#0058B0"),
  privacyTextSize: number(14, 10, 18),
  privacyBottom: number(60, 0, 160),
  checkBoxHidden: flag(false),
  checkBoxChecked: flag(false),
  checkBoxSize: number(21, 14, 32),
  alertShown: flag(true),
  alertLogsInAfterAgreement: flag(true),
  alertCornerRadius: number(4, 0, 32),
  alertTitleSize: number(16, 12, 22),
  alertTitleColor: color("#262626"),
  alertContentSize: number(16, 12, 20),
  alertContentColor: color("#555555"),
  alertContentAlignment: one("center", "left", "center", "right"),
  alertButtonTextColor: color("#FFFFFF"),
  alertButtonColor: color("#0064C8"),
  alertButtonSize: number(16, 12, 22),
  alertTapOnMaskCloses: flag(false),
  alertColor: color("#FFFFFF"),
  alertMaskColor: color("#262626"),
  alertMaskAlpha: number(0.88, 0, 1),
  alertSideMargin: number(27, 0, 80),
  alertHeight: number(200, 160, 360),
  alertPlace: number(0.382, 0, 1),
  alertTitleY: number(32, 0, 100),
  alertContentX: number(24, 0, 80),
  alertContentY: number(70, 0, 160),
  alertButtonHeight: number(56, 36, 72),
});

const night = {
  navColor: "#101418", backgroundColor: "#101418", numberColor: "#F2F5F8", sloganColor: "#A7B1BC",
  loginColor: "#2270DC", loginColorUnselected: "#2270DC", loginColorHighlighted: "#2C7CEC",
  otherColor: "#262E37", privacyTextColor: "#A7B1BC", privacyLinkColor: "#79B6FF",
  alertColor: "#1B2128", alertTitleColor: "#F2F5F8", alertContentColor: "#C3CCD6",
  alertButtonColor: "#2270DC", alertMaskColor: "#000000", alertMaskAlpha: 0.7,
};
export const PRESETS = { original: {}, night };

/** The whole model: defaults of the language, then what was chosen. */
export function pageModel(chosen) {
  const model = {};
  for (const [name, property] of Object.entries(properties())) model[name] = property.value;
  return { ...model, ...chosen };
}

/** What differs from the defaults, so that texts follow the language. @throws {Error} naming it */
export function parseModel(text) {
  const given = JSON.parse(text);
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new Error("the page model is one JSON object");
  }
  const known = properties();
  const chosen = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, name)) throw new Error(`${name}: no such property`);
    const property = known[name];
    if (!property.check(value)) throw new Error(`${name}: takes ${property.takes}`);
    if (JSON.stringify(value) !== JSON.stringify(property.value)) chosen[name] = value;
  }
  return chosen;
}

/** Hands colours and lengths to the style sheet: `--m-loginColor`, `--m-loginY`, … */
export function applyModel(node, model) {
  for (const [name, value] of Object.entries(model)) {
    const isLength = typeof value === "number" && !["alertMaskAlpha", "alertPlace"].includes(name);
    if (typeof value === "number" || COLOR.test(value)) {
      node.style.setProperty(`--m-${name}`, isLength ? `${value}px` : String(value));
    }
  }
}
