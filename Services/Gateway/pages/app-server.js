/** What an app would ask of its own server, and the sandbox: the page's own calls. */

/** A token is renewed so long before its end. */
const TOKEN_EARLY_MS = 5 * 60 * 1000;

export class ServerError extends Error {
  constructor(status, facts) {
    super(facts.detail || facts.title || "no answer");
    this.name = "ServerError";
    this.status = status;
    this.code = facts.code ?? null;
    this.retryAfterMilliseconds = facts.retryAfterMilliseconds ?? 0;
  }
}

async function post(name, body = {}, { signal } = {}) {
  let response;
  try {
    response = await fetch(`/demo/api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      signal, cache: "no-store", credentials: "omit", redirect: "error",
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new ServerError(0, { detail: String(error?.message ?? error), code: "no_network" });
  }
  const facts = await response.json().catch(() => ({}));
  if (!response.ok) throw new ServerError(response.status, facts);
  return facts;
}

export const server = {
  /** `{schemeCode, schemeName, platform, app}` */
  config: () => post("config"),
  /** @param {string|null} boundNumber - the account's number, where one is signed in. */
  token: (boundNumber) => post("token", boundNumber ? { boundNumber } : {}),
  /** `{result: PASS | REJECT | UNKNOWN, reason?, phoneNumber?, attemptsLeft?}` */
  verify: (maskToken) => post("verify", { maskToken }),
  sim: (sim) => post("sim", sim),
  carrierToken: (simId, signal) => post("carrier-token", { simId }, { signal }),
  inbox: (numbers, afterSequence) => post("inbox", { numbers, afterSequence }),
  sendMobileOriginated: (sender, receiver, text) => post("send-mo", { sender, receiver, text }),
  fault: (number, fault) => post("fault", { number, fault }),
  activity: () => post("activity"),
};

/** The app's auth token for one account: fetched from its server, kept until it is nearly over. */
export class TokenKeeper {
  constructor(boundNumber, log) {
    this.boundNumber = boundNumber;
    this.log = log;
  }

  async get({ refused }) {
    if (refused) {
      this.log.callback("onSDKTokenAuthFailure", { code: 300003, text: refused.code, tone: "bad" });
      this.token = null;
    }
    return this.token ?? this.update();
  }

  /** At the start, and five minutes before the end. */
  async update() {
    this.log.callback("onSDKTokenUpdate");
    const issued = await server.token(this.boundNumber);
    this.token = issued.authToken;
    this.isNew = true;
    clearTimeout(this.timer);
    const early = issued.expiresAtMilliseconds - Date.now() - TOKEN_EARLY_MS;
    this.timer = setTimeout(() => this.update().catch(() => { this.token = null; }), early);
    return this.token;
  }
}
