/**
 * The app: walks scenes with the client library, draws what the SDK would draw, calls back as the
 * SDK calls back, and does on each callback what the original demo's app does.
 */

import { FusionAuth, FusionAuthError } from "./fusion-auth.js";
import { server, ServerError, TokenKeeper } from "./app-server.js";
import { KINDS, failureAmong, nodeName } from "./codes.js";
import { currentLocale, hasText, internationalNumber, masked, t } from "./parts.js";
import { homeScreen, oneClickScreen, passwordScreen, protocolScreen } from "./screens.js";
import { smsScreen, upgoingScreen } from "./screens-sms.js";

/** Of the account, as the app's server knows it: these scenes are about that number. */
const ABOUT_THE_ACCOUNT = new Set(["100002", "100003", "100005"]);
/** Nodes whose number the app fills in, and the one whose typed number it compares. */
const PREFILLED = new Set(["300000100002003", "300000100005002"]);
const COMPARED = "300000100003003";
/** Number authentication may take so long, then the scene goes on without it. */
const CARRIER_MS = 3000;
const CARRIER_TIMEOUT = 1600015;
const PASSWORD_AFTER_MS = 500;
/** Not yet decided: the same mask token may be asked again. */
const OPEN = new Set([
  "not_received", "carrier_timeout", "carrier_unavailable", "scheme_disabled", "try_again",
]);

export class Scenes {
  /** @param world - what the panels set: `sim`, `account`, `look`, `deviceId`. */
  constructor({ world, phone, log, path, guide }) {
    Object.assign(this, { world, phone, log, path, guide });
    this.keepers = new Map();
    this.run = null;
    this.isActing = false;
    this.events = null;
  }

  get view() { return this.run.view; }

  home() {
    this.guide.show("home", { newDevice: true });
    const account = () => this.world.account;
    this.phone.mount("home", homeScreen({ account, onPick: (id) => this.begin(id) }));
  }

  /** Handler of the SDK, as an app makes it when it starts. */
  handlerFor(boundNumber) {
    const key = boundNumber ?? "";
    if (!this.keepers.has(key)) {
      const keeper = new TokenKeeper(boundNumber, this.log);
      this.keepers.set(key, { keeper, auth: new FusionAuth({ token: (why) => keeper.get(why) }) });
    }
    return this.keepers.get(key);
  }

  async authenticate(handler) {
    await handler.keeper.get({ refused: null });
    if (!handler.keeper.isNew) return;
    this.log.event(300001);
    const session = await handler.auth.session();
    handler.keeper.isNew = false;
    this.path.templates = session.templates;
    this.log.event(300002);
    this.log.callback("onSDKTokenAuthSuccess", { tone: "good" });
  }

  begin(templateId) {
    return this.act(async () => {
      if (this.run) {
        this.log.event(100003);
        return this.phone.toast(t("fail.busy"), "bad");
      }
      this.log.startScene(templateId);
      this.nodeId = null;
      this.mask = null;
      this.halfwayDone = false;
      const { world } = this;
      this.handler = this.handlerFor(ABOUT_THE_ACCOUNT.has(templateId) ? world.account : null);
      await this.authenticate(this.handler);
      this.run = await this.handler.auth.start({
        templateId, deviceId: world.deviceId, locale: currentLocale() === "zh" ? "zh-CN" : "en",
      });
      this.templateId = templateId;
      this.path.begin(templateId);
      this.follow(this.run);
      await this.take(this.view);
    });
  }

  async follow(run) {
    this.events?.abort();
    this.events = new AbortController();
    try {
      for await (const { event, data } of run.events({ signal: this.events.signal })) {
        if (event === "end") return;
        this.path.add(data);
        this.log.run(data);
      }
    } catch (error) {
      if (error.name !== "AbortError") this.log.server(`events: ${error.code ?? error.message}`, "bad");
    }
  }

  /** One thing at a time; while it lasts the phone shows that it works. */
  async act(work) {
    if (this.isActing) return;
    this.isActing = true;
    this.phone.busy = true;
    this.log.event(900003);
    try {
      await work();
    } catch (error) {
      await this.trouble(error);
    } finally {
      this.isActing = false;
      this.phone.busy = false;
      this.log.event(900004);
    }
  }

  /** A listener: tells the click's codes, then acts. */
  on(codes, work) {
    return (...given) => this.act(() => {
      codes.forEach((code) => this.log.event(code));
      return work(...given);
    });
  }

  async trouble(error) {
    if (error instanceof ServerError) {
      this.log.server(`${error.status} ${error.code ?? error.message}`, "bad");
      this.phone.toast(error.code === "no_network" ? t("fail.server") : error.message, "bad");
      if (this.run) await this.stop().catch(() => this.leave());
      return;
    }
    if (!(error instanceof FusionAuthError)) throw error;
    this.log.server(`${error.status} ${error.code}`, "bad");
    if (error.isAboutToken) {
      // Destroy the handlers and forget their tokens; the next scene makes new ones.
      this.keepers.forEach(({ keeper }) => clearTimeout(keeper.timer));
      this.keepers.clear();
      this.phone.toast(t("fail.token"), "bad");
      return this.leave();
    }
    if (error.code === "no_network") {
      this.log.event(800001);
      return this.phone.toast(t("fail.network"), "bad");
    }
    if (error.code === "run_ended" || error.code === "run_not_found") {
      this.phone.toast(t("fail.expired"), "bad");
      return this.leave();
    }
    const isNumber = error.code === "number_invalid" || error.field === "input.number";
    if (isNumber && this.phone.current?.say) return this.phone.current.say(t("sms.number.fault"));
    this.phone.toast(error.message, "bad");
  }

  async take(view) {
    this.path.view(view);
    if (view.state !== "waiting") return this.finish(view);
    if (view.node.nodeId === this.nodeId) return this.phone.update();
    this.nodeId = view.node.nodeId;
    this.mask = null;
    const kind = KINDS[view.node.kind];
    this.guide.show(kind, { claim: () => this.claim() });
    if (kind === "numberAuth") return this.enterNumberAuth();
    if (kind === "smsCode") return this.enterSMS(view.node);
    return this.enterUpgoing();
  }

  async enterNumberAuth() {
    this.log.event(400001);
    const fetched = await this.carrierToken();
    if (!fetched.carrierToken) {
      const inner = [fetched.innerCode, fetched.carrierCode].filter(Boolean).join(" · ");
      return this.give({ failed: fetched.innerCode }, inner);
    }
    this.phone.mount("numberAuth", this.oneClick(fetched));
    this.log.event(400003);
  }

  oneClick(fetched) {
    const screen = oneClickScreen({
      phone: this.phone, look: () => this.world.look, maskedNumber: fetched.maskedNumber,
      carrier: fetched.carrier,
      onLogin: this.on([410008], () => this.give({ carrierToken: fetched.carrierToken })),
      onOther: this.on([410009], () => this.give({ otherLogin: true })),
      onBack: this.on([410010, 400005], () => this.stop()),
      onUnchecked: () => {
        this.log.callback("onVerifyInterrupt", { text: t("toast.privacy") });
        this.phone.toast(t("toast.privacy"));
      },
      onProtocol: (name, url, isAlert) => {
        this.log.event(isAlert ? 410012 : 410011);
        this.log.callback("onProtocolClick", { text: name });
        const onBack = () => this.phone.mount("numberAuth", screen);
        this.phone.mount("protocol", protocolScreen({ name, url, onBack }));
      },
    });
    this.oneClickScreen = screen;
    return screen;
  }

  /** What the carrier's library does on the handset, with its time limit. */
  async carrierToken() {
    const limit = AbortSignal.timeout(CARRIER_MS);
    try {
      return await server.carrierToken(this.world.sim.simId, limit);
    } catch (error) {
      // A sandbox that was started again knows no phone of before.
      if (error.code === "sim_not_found") await this.world.plugIn();
      if (error.name === "TimeoutError" || error instanceof ServerError) {
        return { innerCode: CARRIER_TIMEOUT };
      }
      throw error;
    }
  }

  async enterSMS(node) {
    this.log.event(500001);
    const { account } = this.world;
    if (PREFILLED.has(node.nodeId) || node.nodeId === COMPARED) {
      this.log.callback("onGetPhoneNumberForVerification", { text: account ? masked(account) : "–" });
    }
    if (PREFILLED.has(node.nodeId) && !account) return this.lost(node, 500004);
    const suggestion = node.numberInput !== "typed" ? ""
      : node.nodeId === COMPARED ? account ?? ""
      : this.halfwayDone ? this.world.otherNumber() : this.world.number();
    this.phone.mount("smsCode", smsScreen({
      view: () => this.view, now: () => this.handler.auth.now(), number: suggestion,
      home: this.world.number(),
      phase: () => (node.halfway ? "old" : this.halfwayDone ? "new" : null),
      onSend: this.on([510002], (number) => this.give({ send: true, ...(number ? { number } : {}) })),
      onCode: this.on([510003], (code) => {
        this.phone.hideBanner();
        return this.give({ code });
      }),
      onInstead: this.on([], () => this.goOn(false)),
      onBack: this.on([510004, 510001], () => this.stop()),
    }));
    this.log.event(500005);
  }

  enterUpgoing() {
    this.log.event(600001);
    this.phone.mount("upgoing", upgoingScreen({
      view: () => this.view, now: () => this.handler.auth.now(), sender: () => this.world.number(),
      onOpen: () => this.log.event(610002),
      onSimulate: this.on([610002], async (text, receiver) => {
        const sender = this.world.number();
        this.world.sentByPhone({ sender, receiver, text });
        const { matched } = await server.sendMobileOriginated(sender, receiver, text);
        this.phone.toast(t(matched ? "up.sentNow" : "up.notMatched"), matched ? "good" : "bad");
      }),
      onSent: this.on([610003], () =>
        (this.mask ? this.judge(this.view.node, this.mask) : this.give({ sent: true }))),
      onGiveUp: this.on([], () => this.goOn(false)),
      onBack: this.on([610004, 610001], () => this.stop()),
      onCopy: (value) => navigator.clipboard?.writeText(value)
        .then(() => this.phone.toast(t("copied"), "good"), () => {}),
    }));
    this.log.event(600003);
  }

  async give(input, inner = null) {
    const { node } = this.view;
    const view = await this.run.input(input);
    const failure = failureAmong(view.resultCodes);
    if (view.maskToken) return this.won(node, view);
    if (failure && view.state === "waiting") return this.lost(node, failure, inner);
    // Taken by the service: its messages come here from now on.
    if (input.send) this.world.learn(input.number ?? this.world.account);
    await this.take(view);
    if (!input.send) return;
    if (view.node?.delivery === "queued") this.phone.toast(t("sms.queued"));
    this.phone.current.focusCode?.();
  }

  async won(node, view) {
    const code = view.resultCodes.at(-1);
    const name = node.halfway ? "onHalfwayVerifySuccess" : "onVerifySuccess";
    this.log.callback(name, { code, node: nodeName(node), text: "maskToken", tone: "good" });
    this.path.view(view);
    this.mask = view.maskToken;
    await this.judge(node, view.maskToken);
  }

  async judge(node, maskToken) {
    const kind = KINDS[node.kind];
    const decision = await server.verify(maskToken);
    const words = [decision.result, decision.reason, decision.phoneNumber && masked(decision.phoneNumber)];
    const isPass = decision.result === "PASS";
    this.log.server(`verify → ${words.filter(Boolean).join(" · ")}`, isPass ? "good" : "bad");
    if (decision.result === "REJECT") this.path.refuse(node.nodeId);
    if (isPass) {
      return node.halfway ? this.halfwayPassed(decision) : this.passed(decision.phoneNumber);
    }
    if (kind === "upgoing" && OPEN.has(decision.reason)) {
      this.phone.toast(t("fail.upgoing"), "bad");
      return this.phone.current.say(t("up.waiting"));
    }
    if (kind === "smsCode" && decision.result) return this.phone.current.wrong(decision);
    this.phone.toast(t(decision.result ? `fail.${kind}` : "fail.server"), "bad");
    if (kind !== "smsCode") return this.goOn(false);
  }

  async halfwayPassed() {
    this.phone.toast(t("done.halfway"), "good");
    this.halfwayDone = true;
    await this.take(await this.run.halfway(true));
  }

  async passed(number) {
    if (!internationalNumber(number ?? "")) return this.phone.toast(t("fail.noNumber"), "bad");
    const { templateId, world } = this;
    const mustMatch = templateId === "100003" || templateId === "100005";
    if (mustMatch && number !== world.account) {
      this.phone.toast(t("fail.mismatch"), "bad");
      return this.goOn(false);
    }
    if (!mustMatch) world.store(number);
    this.phone.toast(t(`done.${templateId}`), "good");
    await this.stop();
    if (templateId === "100003") setTimeout(() => this.newPassword(), PASSWORD_AFTER_MS);
  }

  newPassword() {
    if (this.run) return;
    this.guide.show("password");
    this.phone.mount("password", passwordScreen({
      onBack: () => this.home(),
      onSave: () => { this.phone.toast(t("password.saved"), "good"); this.home(); },
    }));
  }

  async lost(node, code, inner = null) {
    const kind = KINDS[node.kind];
    const text = [inner, this.view.reason].filter(Boolean).join(" · ");
    this.log.callback("onVerifyFailed", { code, node: nodeName(node), text, tone: "bad" });
    const key = `code.${code === 500014 ? 500012 : code}`;
    const message = hasText(key) ? t(key) : t(code === 500004 ? "fail.prefill" : `fail.${kind}`);
    const stays = kind === "smsCode" && ![500004, 500009, 500010].includes(code);
    if (stays) {
      this.phone.update();
      return this.phone.current.say(message);
    }
    this.phone.toast(message, "bad");
    return code === 500004 ? this.stop() : this.goOn(false);
  }

  async goOn(isSuccess) {
    await this.take(await this.run.continue(isSuccess));
  }

  async stop() {
    const view = await this.run.stop();
    this.path.view(view);
    this.finish(view);
  }

  finish(view) {
    const tone = view.state === "passed" ? "good" : "bad";
    this.log.callback("onTemplateFinish", { code: view.endCode, text: view.reason, tone });
    if (view.state === "failed") this.phone.toast(t("fail.ended"), "bad");
    if (view.state === "expired") this.phone.toast(t("fail.expired"), "bad");
    this.leave();
  }

  leave() {
    this.run = null;
    this.nodeId = null;
    this.home();
  }

  /** A dishonest app: says "success" although no PASS is on record. */
  claim() {
    return this.act(async () => {
      if (!this.run) return;
      try {
        const view = this.view.node.halfway ? await this.run.halfway(true) : await this.run.continue(true);
        await this.take(view);
      } catch (error) {
        if (error.code !== "pass_not_on_record") throw error;
        this.log.server(`${error.status} ${error.code}`, "bad");
        this.guide.refused(error.code);
      }
    });
  }

  fill(code) { this.phone.current?.fill?.(code); }

  get waitsForCode() {
    return this.phone.name === "smsCode" && Boolean(this.run?.view.node?.expiresAtMilliseconds);
  }

  redraw() {
    if (this.phone.name !== "numberAuth") return this.phone.update();
    this.phone.mount("numberAuth", this.oneClickScreen, { keepsFocus: true });
  }
}
