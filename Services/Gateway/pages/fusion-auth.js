/**
 * FusionAuth for the browser: the client API of a FusionBus gateway, for web apps as it stands.
 *
 *     import { FusionAuth } from "./fusion-auth.js";
 *     const auth = new FusionAuth({ token: () => fetchTokenFromMyServer() });
 *     const run = await auth.start({ templateId: "100001", deviceId });
 *     await run.input({ send: true, number: "+8613800000001" });
 *     const view = await run.input({ code: "123456" });
 *     await myServer.verify(view.maskToken);      // your server decides, never the page
 *     await run.continue(true);
 *
 * Views, inputs and events have the shapes that the gateway's /client/v1/openapi.json describes.
 * Nothing is stored: the run's key and the tokens live in memory only.
 */

/** Codes after which the same call may simply be sent again. */
const REPEATABLE = new Set(["unavailable", "overloaded", "worker_lost", "deadline_passed"]);
const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 4000;
const EVENT_BYTES_MAX = 64 * 1024;

/** A refusal of the gateway (RFC 9457), or no answer at all. */
export class FusionAuthError extends Error {
  /** `code` is stable (`cooldown`, …); `no_network` and `bad_answer` are made here. */
  constructor({ status = 0, title, detail, code, field, retryAfterMilliseconds, requestId }) {
    super(detail || title || code || "the gateway did not answer");
    this.name = "FusionAuthError";
    this.status = status;
    this.code = code || "bad_answer";
    this.field = field ?? null;
    this.retryAfterMilliseconds = retryAfterMilliseconds ?? 0;
    this.requestId = requestId ?? null;
  }

  /** The auth token is not good any more; a new one may be. */
  get isAboutToken() {
    return this.status === 401;
  }
}

/** Calls the client API with the app's auth token. */
export class FusionAuth {
  /**
   * `token({refused})` gives the auth token. It is asked before every call, so keep it; `refused` is
   * the error when the last one was not taken: fetch a new one then. `attemptsMax` is how often one
   * call is sent when no answer comes, `renewalsMax` how many new tokens it may ask for,
   * `timeoutMilliseconds` the time of one attempt.
   */
  constructor({
    token, baseURL = "/client/v1", attemptsMax = 4, renewalsMax = 3, timeoutMilliseconds = 15000,
  }) {
    this.baseURL = baseURL;
    this.attemptsMax = attemptsMax;
    this.renewalsMax = renewalsMax;
    this.timeoutMilliseconds = timeoutMilliseconds;
    this.token = token;
    /** Add it to Date.now() for the server's time; known after `session`. */
    this.clockOffsetMilliseconds = 0;
  }

  /** What the token allows: scheme, app, expiry, templates. Also sets the clock. */
  async session({ signal } = {}) {
    const began = Date.now();
    const session = await this.call("GET", "/session", { signal });
    const middle = (began + Date.now()) / 2;
    this.clockOffsetMilliseconds = session.serverTimeMilliseconds - middle;
    return session;
  }

  /** The server's time, as far as known. */
  now() {
    return Date.now() + this.clockOffsetMilliseconds;
  }

  /** Starts a scene. @returns {Promise<SceneRun>} */
  async start({ templateId, deviceId, capabilities, locale, signal }) {
    const body = { templateId, deviceId, capabilities, locale };
    const view = await this.call("POST", "/scenes", { body, signal });
    return new SceneRun(this, view);
  }

  /**
   * One call. Lost answers are asked for again under the same Idempotency-Key, so a write is done
   * once; a refused token is replaced.
   */
  async call(method, path, { body, runKey, idempotencyKey, signal } = {}) {
    const key = method === "POST" ? idempotencyKey ?? randomKey() : undefined;
    let renewals = 0;
    let refused = null;
    for (let attempt = 1; ; ) {
      try {
        const response = await this.send(method, path, { body, runKey, key, signal, refused });
        return await readJSON(response);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof FusionAuthError)) throw error;
        if (error.isAboutToken && renewals < this.renewalsMax) {
          renewals += 1;
          refused = error;
          continue;
        }
        const mayRepeat = error.code === "no_network" || REPEATABLE.has(error.code);
        if (!mayRepeat || attempt >= this.attemptsMax) throw error;
        await pause(Math.max(backoff(attempt), error.retryAfterMilliseconds), signal);
        attempt += 1;
      }
    }
  }

  /** One attempt. @throws {FusionAuthError} unless the status is 2xx. */
  async send(method, path, { body, runKey, key, signal, refused, lastEventId, isStream }) {
    const headers = { Authorization: `Bearer ${await this.token({ refused: refused ?? null })}` };
    if (runKey) headers["X-Run-Key"] = runKey;
    if (key) headers["Idempotency-Key"] = key;
    if (lastEventId) headers["Last-Event-ID"] = lastEventId;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // A stream stays open; everything else has its time.
    const limits = isStream ? [] : [AbortSignal.timeout(this.timeoutMilliseconds)];
    if (signal) limits.push(signal);
    let response;
    try {
      response = await fetch(this.baseURL + path, {
        method, headers, body: body === undefined ? undefined : JSON.stringify(body),
        signal: limits.length ? AbortSignal.any(limits) : undefined,
        cache: "no-store", credentials: "omit", redirect: "error",
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new FusionAuthError({ code: "no_network", detail: String(error?.message ?? error) });
    }
    if (!response.ok) throw await problem(response);
    return response;
  }
}

/** One run of a scene. `view` is where it stands. */
export class SceneRun {
  #auth;
  #runKey;

  constructor(auth, view) {
    this.#auth = auth;
    this.#runKey = view.runKey;
    this.runId = view.runId;
    this.view = { ...view, runKey: undefined };
    this.lastEventId = null;
  }

  /** Gives the current node its input: `{send, number}`, `{code}`, `{sent}`, `{carrierToken}`, … */
  input(input, options) {
    return this.#move("input", { step: this.view.step, input }, options);
  }

  /** After your server's decision: true for PASS, false for the way of failure. */
  continue(isSuccess, options) {
    return this.#move("continue", { step: this.view.step, isSuccess }, options);
  }

  /** Answers a half-way verification. */
  halfway(isSuccess, options) {
    return this.#move("halfway", { step: this.view.step, isSuccess }, options);
  }

  /** Ends the run now. */
  stop(options) {
    return this.#move("stop", {}, options);
  }

  /** Reads the view again. */
  async refresh({ signal } = {}) {
    this.view = await this.#auth.call("GET", this.#path(""), { runKey: this.#runKey, signal });
    return this.view;
  }

  /**
   * What happens in the run, each event once, until its end: `{id, event, data}`. A lost connection
   * is taken up where it broke. The last one is `event: "end"` with the final view.
   */
  async *events({ after = null, signal } = {}) {
    this.lastEventId = after;
    let failures = 0;
    let refused = null;
    while (true) {
      try {
        const response = await this.#auth.send("GET", this.#path("/events"), {
          runKey: this.#runKey, lastEventId: this.lastEventId, isStream: true, signal, refused,
        });
        refused = null;
        for await (const event of serverSentEvents(response.body)) {
          failures = 0;
          const isOld = Number(event.id) <= Number(this.lastEventId ?? 0);
          if (event.event !== "end" && event.id && isOld) continue;
          if (event.id) this.lastEventId = event.id;
          yield { ...event, data: JSON.parse(event.data) };
          if (event.event === "end") return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        const isLost = error instanceof TypeError || error?.code === "no_network"
          || REPEATABLE.has(error?.code);
        if (error?.isAboutToken && failures < this.#auth.renewalsMax) refused = error;
        else if (!isLost) throw error;
      }
      failures += 1;
      await pause(backoff(failures), signal);
    }
  }

  async #move(verb, body, { idempotencyKey, signal } = {}) {
    this.view = await this.#auth.call("POST", this.#path(`/${verb}`), {
      body, runKey: this.#runKey, idempotencyKey, signal,
    });
    return this.view;
  }

  #path(rest) {
    return `/scenes/${encodeURIComponent(this.runId)}${rest}`;
  }
}

/** Reads a text/event-stream (WHATWG HTML §9.2) from a byte stream. */
async function* serverSentEvents(stream) {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let buffer = "";
  let event = { id: null, event: "message", data: [] };
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += decoder.decode(value, { stream: true });
      if (buffer.length > EVENT_BYTES_MAX) throw new TypeError("an event is too long");
      const lines = buffer.split(/\r\n|\n|\r/);
      buffer = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (event.data.length) yield { ...event, data: event.data.join("\n") };
          event = { id: null, event: "message", data: [] };
        } else if (!line.startsWith(":")) {
          const [, name, text] = /^([^:]*):? ?(.*)$/.exec(line);
          if (name === "data") event.data.push(text);
          if (name === "id") event.id = text;
          if (name === "event") event.event = text;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function readJSON(response) {
  try {
    return await response.json();
  } catch {
    throw new FusionAuthError({ status: response.status, detail: "the answer is not JSON" });
  }
}

async function problem(response) {
  const facts = await response.json().catch(() => ({}));
  const seconds = Number(response.headers.get("Retry-After")) || 0;
  return new FusionAuthError({
    retryAfterMilliseconds: seconds * 1000, title: response.statusText, ...facts,
    status: response.status,
  });
}

/** 128 bits in hex. crypto.randomUUID is there on secure origins only. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function backoff(attempt) {
  const span = Math.min(BACKOFF_FIRST_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS);
  return span / 2 + Math.random() * (span / 2);
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
