/**
 * The HTTP server of the bell: it takes the reviews of a validating webhook, sends the keys that they concern, and allows every
 * request. It logs and sends no content of an object, because a review contains whole pods.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { jsonOf, opensMoreThan } from "../../core/json.ts";
import { textOf, withShortReason } from "../../core/key.ts";
import { readMessage } from "../../engine/message.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { type BellContext, openRinger, type Ring, type Ringer, ringsOf } from "../../forward/bell.ts";
import { type AdmissionRequest, answerTo, pass, readReview } from "../../kube/admission.ts";
import { isSecretPath } from "../common/secret.ts";

export type BellParts = Omit<BellContext, "now"> & {
  /** Returns the secret first parts of the path, several while they are changed, separated by commas. */
  readonly paths: () => Promise<string>;
  readonly queue: Queue;
  readonly report: Report;
  /** Epoch ms. */
  readonly time: () => number;
};

/** The largest body: the API server's size limit of an object, for the old and the new one. */
export const largest = 8 * 1024 * 1024;

/** The most arrays and objects in a review: the parser blocks all other work for some microseconds with each. */
const mostParts = 100_000;

/** Returns the ring as its reader takes it; none if the reader would not: names of any length can come from a stranger alone. */
const readable = (ring: Ring): readonly Ring[] => {
  const message = readMessage(JSON.stringify(withShortReason(ring.message)));
  return message === undefined ? [] : [{ ...ring, message }];
};

/** Returns the rings of a review. An error's message may quote the object, so its kind alone is reported. */
const understood = (request: AdmissionRequest, { report, time, ...context }: BellParts): readonly Ring[] => {
  try {
    return ringsOf(request, { ...context, now: time() }).flatMap(readable);
  } catch (cause) {
    const { operation, resource } = request;
    const error = cause instanceof Error ? cause.name : typeof cause;
    report("error", "a review could not be read; a resync finds its change", {
      operation,
      resource: resource?.resource,
      error,
    });
    return [];
  }
};

/** Sends the rings. Returns false if the queue has refused one: the API server then counts a failed call. */
const isSent = async (rings: readonly Ring[], ringer: Ringer, { report, time }: BellParts): Promise<boolean> => {
  const keys = rings.map(({ message }) => textOf(message));
  try {
    await ringer(rings, time());
    if (keys.length > 0) report("debug", "rang", { keys });
    return true;
  } catch (cause) {
    report("error", "the queue does not accept messages; a resync finds the change", { keys, error: String(cause) });
    return false;
  }
};

export const bellApp = (parts: BellParts): Hono => {
  const app = new Hono();
  const ringer = openRinger(parts.queue);
  app.use(bodyLimit({ maxSize: largest, onError: (c) => c.json({ error: "body too large" }, 413) }));
  app.get("/healthz", (c) => c.text("ok"));
  app.post("/:path/bell", async (c) => {
    if (!isSecretPath(c.req.param("path"), await parts.paths())) return c.notFound();
    const text = await c.req.text();
    if (opensMoreThan(text, mostParts)) return c.json({ error: `more than ${mostParts} arrays and objects` }, 413);
    const request = readReview(jsonOf(text));
    if (request === undefined) return c.json({ error: "an AdmissionReview of admission.k8s.io/v1 is needed" }, 400);
    if (!(await isSent(understood(request, parts), ringer, parts)))
      return c.json({ error: "the queue is not available" }, 500);
    return c.json(answerTo(request, pass));
  });
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal error: see the log of this process" }, 500));
  return app;
};
