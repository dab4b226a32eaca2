/**
 * Opens a transport to the cluster of a function: from a flat cluster record in the environment, from one under an ARN
 * of Secrets Manager or the Parameter Store, from a file, or from the account of the pod. A stored record is read with
 * the first request, and again when the API server answers 401.
 */
import { readFile } from "node:fs/promises";
import { type ClosableTransport, type Endpoint, httpsTransport } from "../../adapters/kubernetes/https.ts";
import { leanObjects } from "../../adapters/kubernetes/managed-fields.ts";
import { ApiError, type HttpRequest, type HttpResponse, type Transport } from "../../core/http.ts";
import { dateOf } from "../../kube/responses.ts";
import { type Access, endpointIn } from "../settings/formats.ts";

/**
 * The least time between two reads of the record, ms: a server that keeps answering 401 must not cause a read for each
 * request.
 */
const rereadMs = 30_000;

export type Opening = {
  readonly userAgent: string;
  /** Reads the record from where it is stored. */
  readonly read?: (kept: Kept) => Promise<string>;
  /** This machine's clock, epoch ms. */
  readonly wall?: () => number;
  /** Monotonic, ms. */
  readonly now?: () => number;
};

type Kept = Exclude<Access, Endpoint>;

const readKept = async (kept: Kept): Promise<string> => {
  if ("own" in kept) {
    const { podRecord } = await import("../../adapters/kubernetes/pod.ts");
    return await podRecord(process.env);
  }
  if ("file" in kept) return await readFile(kept.file, "utf8");
  const { storedText } = await import("../../adapters/aws/stored-text.ts");
  return await storedText(kept.arn);
};

const placeOf = (kept: Kept): string => {
  if ("own" in kept) return kept.own;
  return "file" in kept ? kept.file : kept.arn;
};

type Held = { readonly text: string; readonly transport: ClosableTransport; readonly readAt: number };

/**
 * Holds the record: concurrent requests share one read, and a request after a 401 gets a newer record if there is one.
 */
const keeping = (kept: Kept, { userAgent, read = readKept, now = () => performance.now() }: Opening) => {
  let held: Held | undefined;
  let reading: Promise<Held> | undefined;
  const readNow = async (): Promise<Held> => {
    const readAt = now();
    const text = await read(kept);
    if (held?.text === text) held = { ...held, readAt };
    else held = { text, readAt, transport: httpsTransport({ ...endpointOf(placeOf(kept), text), userAgent }) };
    return held;
  };
  const once = (): Promise<Held> => {
    reading ??= readNow().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    current: async (): Promise<Held> => held ?? (await once()),
    /** Returns a record that is newer than the refused one; undefined where there is none. */
    after: async (refused: Held): Promise<Held | undefined> => {
      const known = held !== undefined && held !== refused && held.text !== refused.text ? held : undefined;
      if (known !== undefined) return known;
      if (now() - (held ?? refused).readAt < rereadMs) return undefined;
      const fresh = await once();
      return fresh.text === refused.text ? undefined : fresh;
    },
  };
};

const endpointOf = (place: string, text: string): Endpoint => {
  try {
    return endpointIn(text);
  } catch {
    const message = `${place} holds no cluster record: create it with rekindle cluster add`;
    throw new ApiError({ status: 0, reason: "ClusterRecord", message });
  }
};

type Keeping = ReturnType<typeof keeping>;

const retried = async <A extends { readonly status: number }>(
  keeper: Keeping,
  ask: (transport: Transport) => Promise<A>,
  letGo: (answer: A) => void = () => {},
): Promise<A> => {
  const held = await keeper.current();
  const answer = await ask(held.transport);
  if (answer.status !== 401) return answer;
  const fresh = await keeper.after(held);
  if (fresh === undefined) return answer;
  letGo(answer);
  return await ask(fresh.transport);
};

/**
 * The largest accepted difference to the server's clock, ms. EKS accepts a token for 15 minutes by the server's clock,
 * and its 401 does not name the cause.
 */
const skewMs = 300_000;

/** Returns the answer; throws ClockSkew for a 401 where this machine's clock differs too much from the server's. */
const known = (answer: HttpResponse, wall: () => number): HttpResponse => {
  const skew = wall() - dateOf(answer);
  if (answer.status !== 401 || !(Math.abs(skew) > skewMs)) return answer;
  const minutes = Math.round(Math.abs(skew) / 60_000);
  const message = `the API server does not accept the credentials, and this clock is ${minutes} minutes ${skew > 0 ? "ahead of" : "behind"} its: set this clock`;
  throw new ApiError({ status: 401, reason: "ClockSkew", message });
};

/** Opens the transport. Nothing is read or connected before the first request. */
export const openAccess = (access: Access, opening: Opening): Transport => {
  const { wall = Date.now } = opening;
  const transport = leanObjects(reached(access, opening));
  return {
    send: async (request) => known(await transport.send(request), wall),
    stream: (request) => transport.stream(request),
  };
};

const reached = (access: Access, opening: Opening): Transport => {
  if ("server" in access) return httpsTransport({ ...access, userAgent: opening.userAgent });
  const keeper = keeping(access, opening);
  return {
    send: (request: HttpRequest) => retried(keeper, (transport) => transport.send(request)),
    stream: (request) =>
      retried(
        keeper,
        (transport) => transport.stream(request),
        (answer) => answer.close(),
      ),
  };
};
