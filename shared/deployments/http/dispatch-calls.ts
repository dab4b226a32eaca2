/**
 * A function that a dispatcher calls over HTTP: it checks the caller, runs the batch, and answers which messages must
 * come again and which messages it sends. One contract for a process behind Knative, Cloud Run or Azure's custom
 * handler, and for a Lambda function URL.
 */
import type { IncomingMessage } from "node:http";
import * as z from "zod";
import type { Carrier } from "../../adapters/dispatch/carrier.ts";
import { enclosureIn } from "../../adapters/dispatch/enclosed.ts";
import { answerOf, recordsOf, remainingMsOf } from "../../adapters/lambda.ts";
import { unauthorized } from "../../api/callers.ts";
import { errorText } from "../../core/text.ts";
import type { Enclosure, Report } from "../../engine/ports.ts";
import type { Delivered } from "../../engine/reconcile/intake.ts";
import { identifyBy } from "../common/authentication.ts";
import { openOptional } from "../common/secret.ts";
import type { Settings } from "../settings/read.ts";
import { type Answering, listenUntil, type Receive } from "./server.ts";

type Called = Settings<"reconcile"> | Settings<"deliver">;

type Parts = {
  readonly settings: Pick<
    Called,
    "callSecret" | "tlsClientCaFile" | "tlsCertFile" | "tlsKeyFile" | "listen" | "logLevel"
  >;
  /** Returns the ids of the messages that must come again. */
  readonly take: (
    delivered: readonly Delivered[],
    remainingMs: number,
    enclosure?: Enclosure,
  ) => Promise<readonly string[]>;
  readonly during: Carrier["during"];
  readonly report: Report;
};

/** A request, independent of what received it. */
type Call = {
  readonly method: string;
  /** Path and query, as the request has them. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Reads the body; undefined: longer than `longestBody`. */
  readonly body: () => Promise<string | undefined>;
  /** The time that the platform leaves the function, ms. */
  readonly leftMs: number;
};

type Answer = { readonly status: number; readonly body: object };

/** Longest body of a call, bytes: ten messages of the longest form are a third of it. */
const longestBody = 262_144;
/** The time of a process that no platform stops, ms. */
const unhurriedMs = 900_000;

const limit = z.object({ timeLimitMs: z.number().positive().catch(unhurriedMs) });

/** The time that passes before the dispatcher sends, and after the answer is on its way, ms. */
const travelMs = 1_000;

const refusal = (status: number, error: string): Answer => ({ status, body: { error } });

const health: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

type Batch = {
  readonly records: readonly Delivered[];
  readonly timeLimitMs: number;
  readonly enclosure: Enclosure | undefined;
};

/** Returns the batch in a body, or why it is none. */
const batchIn = (body: string): Batch | string => {
  try {
    const event: unknown = JSON.parse(body);
    const { timeLimitMs } = limit.parse(event);
    return { records: recordsOf(event), timeLimitMs, enclosure: enclosureIn(event) };
  } catch (cause) {
    return errorText(cause);
  }
};

/** The abilities of a caller: to call, and to enclose objects that its watch has shown. */
type Rights = { readonly calls: boolean; readonly encloses: boolean };

/**
 * Opens the answers to calls. A caller needs the ability `trigger`, and the ability `enclose` for what it encloses to be
 * believed; with an authority of client certificates and without a secret, the TLS connection has proved it.
 */
const answering = ({ settings, take, during, report }: Parts): ((call: Call) => Promise<Answer>) => {
  const identify = identifyBy(openOptional(settings.callSecret, { report, setting: "callSecret" }), report);
  const isCertified = settings.tlsClientCaFile !== undefined;
  /** True for a call without any proof, which is refused before its body is read. */
  const isUnproven = ({ headers }: Call): boolean =>
    identify === undefined
      ? !isCertified
      : headers["x-rekindle-signature"] === undefined && headers["authorization"] === undefined;
  const rightsOf = async ({ method, path, headers }: Call, body: string): Promise<Rights> => {
    if (identify === undefined) return { calls: isCertified, encloses: isCertified };
    const caller = await identify({
      ...{ method, path, body, arn: undefined },
      timestamp: headers["x-rekindle-timestamp"] ?? "",
      signature: headers["x-rekindle-signature"] ?? "",
      authorization: headers["authorization"] ?? "",
    });
    const may = caller?.may ?? [];
    return { calls: may.includes("trigger"), encloses: may.includes("enclose") };
  };
  const work = async ({ leftMs }: Call, body: string, { encloses }: Rights): Promise<Answer> => {
    const batch = batchIn(body);
    if (typeof batch === "string") return refusal(400, batch);
    const remainingMs = Math.min(leftMs, batch.timeLimitMs - travelMs);
    const { value: failed, carried } = await during(() =>
      take(batch.records, remainingMs, encloses ? batch.enclosure : undefined),
    );
    return { status: 200, body: { ...answerOf(failed), ...(carried.length === 0 ? {} : { messages: carried }) } };
  };
  const unknown = (): Answer => {
    report("warn", "refused a call whose sender did not prove itself");
    return refusal(401, unauthorized);
  };
  return async (call) => {
    const { method, path } = call;
    if (method === "GET" && health.has(path)) return { status: 200, body: { ok: true } };
    if (method !== "POST") return refusal(405, "a dispatcher calls with POST");
    if (isUnproven(call)) return unknown();
    const body = await call.body();
    if (body === undefined) return refusal(413, "body too large");
    const rights = await rightsOf(call, body);
    return rights.calls ? await work(call, body, rights) : unknown();
  };
};

/** Receives the body of a call; undefined if it is too long, or the call has ended. */
const bodyOf = async ({ headers }: IncomingMessage, receive: Receive): Promise<string | undefined> => {
  if (Number(headers["content-length"] ?? 0) > longestBody) return undefined;
  const body = await receive();
  return body === undefined || body.length > longestBody ? undefined : body.toString("utf8");
};

const singly = (headers: IncomingMessage["headers"]): Call["headers"] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Serves calls as a process until it is stopped; calls in flight are answered. */
export const serveCalls = async (parts: Parts, stopped: Promise<void>): Promise<void> => {
  const { listen } = parts.settings;
  if (listen === undefined)
    throw new Error(
      "set the function's environment: REKINDLE_LISTEN (is missing: the address at which the dispatcher calls)",
    );
  const answer = answering(parts);
  const listener: Answering = (request, response, receive) => {
    const answered = async (): Promise<Answer> => {
      const { method = "", url: path = "", headers } = request;
      return await answer({
        method,
        path,
        headers: singly(headers),
        body: () => bodyOf(request, receive),
        leftMs: unhurriedMs,
      });
    };
    answered()
      .catch((cause: unknown): Answer => {
        parts.report("error", "a call failed; its messages are delivered again", { error: String(cause) });
        return refusal(500, "internal");
      })
      .then(({ status, body }) => {
        if (response.headersSent) return;
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
  };
  await listenUntil({ ...parts.settings, listen }, listener, stopped, longestBody);
};

/** The answer of a function URL. */
export type UrlAnswer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The event of a function URL, and of an HTTP API. */
const urlEvent = z.object({
  rawPath: z.string(),
  rawQueryString: z.string().catch(""),
  headers: z.record(z.string(), z.string()),
  body: z.string().catch(""),
  isBase64Encoded: z.boolean().catch(false),
  requestContext: z.object({ http: z.object({ method: z.string() }) }),
});

/**
 * Returns the handler of a function URL. Any other event throws: a batch of SQS would lose what the function sends.
 * Throws without a secret: the platform ends TLS, so no certificate of a client is seen here.
 */
export const answersUrl = (parts: Parts): ((event: unknown, context?: unknown) => Promise<UrlAnswer>) => {
  if (parts.settings.callSecret === undefined)
    throw new Error(
      "set the function's environment: REKINDLE_CALL_SECRET (is missing: a function URL sees no certificate of a client)",
    );
  const answer = answering(parts);
  return async (event, context) => {
    const read = urlEvent.safeParse(event);
    if (!read.success) throw new Error("a dispatcher calls this function over HTTP, and it was called otherwise");
    const { rawPath, rawQueryString, headers, isBase64Encoded, requestContext } = read.data;
    const body = isBase64Encoded ? Buffer.from(read.data.body, "base64").toString("utf8") : read.data.body;
    const answered = await answer({
      method: requestContext.http.method,
      path: rawQueryString === "" ? rawPath : `${rawPath}?${rawQueryString}`,
      headers,
      body: async () => (Buffer.byteLength(body) > longestBody ? undefined : body),
      leftMs: remainingMsOf(context),
    });
    return {
      statusCode: answered.status,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(answered.body),
    };
  };
};
