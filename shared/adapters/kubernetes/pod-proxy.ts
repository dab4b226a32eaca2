/**
 * Probes of pods through the API server's pod proxy: limited in time, in bytes and per namespace, and always answered.
 */
import { forgetOldest } from "../../core/cache.ts";
import { ApiError, type HttpResponse, type Transport } from "../../core/http.ts";
import { opensMoreThan } from "../../core/json.ts";
import type { ProbeFailure, ProbeResult, Query } from "../../core/plan.ts";
import { backoffOf } from "../../core/time.ts";
import { proxyPath } from "../../kube/paths.ts";
import { withFeature } from "../../kube/resources.ts";
import { openPlaces, type Places } from "../places.ts";

/** Time limit of a probe, ms. */
const timeoutMs = 2_000;
/** Longest answer, bytes: the default, and the limit for any probe. */
const usualBytes = 1_024 * 1_024;
const mostBytes = 16 * usualBytes;
/** Fewest bytes for each array and object of an answer; Spark's list of executors has more than 150. */
const bytesPerPart = 64;

const silent = (why: ProbeFailure, message: string): ProbeResult => ({
  heard: false,
  why,
  message: message.slice(0, 300),
});

const whyOf: Readonly<Record<number, ProbeFailure>> = { 401: "forbidden", 403: "forbidden", 404: "notFound" };

const parsed = (body: string, limitBytes: number): ProbeResult => {
  const mostParts = limitBytes / bytesPerPart;
  if (opensMoreThan(body, mostParts)) return silent("tooLong", `more than ${mostParts} arrays and objects`);
  try {
    return { heard: true, value: JSON.parse(body) };
  } catch {
    return silent("notJson", body.trimStart().slice(0, 80));
  }
};

const meaningOf = ({ status, body }: HttpResponse, limitBytes: number): ProbeResult => {
  if (body.length > limitBytes) return silent("tooLong", `longer than ${limitBytes} bytes`);
  if (status >= 200 && status < 300) return parsed(body, limitBytes);
  return silent(
    status < 400 ? "notJson" : (whyOf[status] ?? "unreachable"),
    `HTTP ${status}: ${status === 403 ? withFeature(body.trim()) : body.trim()}`,
  );
};

const reasons: Readonly<Record<string, ProbeFailure>> = { Timeout: "timeout", TooLong: "tooLong" };

type Asking = Extract<Query, { do: "proxyGet" }>;

/** Headers that only the pod interprets: others could change the identity that the API server sees. */
const harmless = /^(accept(-language)?|user-agent|x-(?!remote|forwarded)[a-z0-9-]+)$/i;

const headersOf = ({ header }: Asking): Readonly<Record<string, string>> =>
  header === undefined || !harmless.test(header.name) || /[^\t\x20-\x7e]/.test(header.value)
    ? {}
    : { [header.name.toLowerCase()]: header.value };

const pathOf = ({ pod, port, path, query }: Asking): string =>
  `${proxyPath(pod, port, path)}${query === undefined ? "" : `?${new URLSearchParams(query)}`}`;

/** Returns the pod's answer, or why there is none. */
export const ask = async (transport: Transport, asking: Asking): Promise<ProbeResult> => {
  const limitBytes = Math.min(mostBytes, asking.mostBytes ?? usualBytes);
  try {
    const request = { method: "GET", path: pathOf(asking), headers: headersOf(asking), timeoutMs, limitBytes } as const;
    return meaningOf(await transport.send(request), limitBytes);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return silent(reasons[cause.reason] ?? "unreachable", cause.message);
  }
};

/** The number of parallel probes in one namespace; further probes wait in order. */
const atOnce = 4;
/** Wait after an answer that was too long, ms: doubles each time. */
const firstRestMs = 2_000;
const longestRestMs = 60_000;
/** The number of pods whose waits are remembered. */
const mostPods = 1_000;

type Rest = { readonly until: number; readonly times: number };

/** Each namespace has places of its own. */
const openLines = () => {
  const lines = new Map<string, Places>();
  return async <T>(namespace: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(namespace) ?? openPlaces(atOnce);
    lines.set(namespace, line);
    try {
      return await line.within(work);
    } finally {
      if (lines.get(namespace)?.isUnused()) lines.delete(namespace);
    }
  };
};

/** Opens the probes of one cluster. `now`: a monotonic time, ms. */
export const openQuestions = (
  transport: Transport,
  now: () => number = () => performance.now(),
): ((asking: Asking) => Promise<ProbeResult>) => {
  const rests = new Map<string, Rest>();
  const inLine = openLines();
  return (asking) => {
    const { namespace = "", name } = asking.pod;
    const pod = `${namespace}/${name}`;
    return inLine(namespace, async () => {
      const rest = rests.get(pod);
      if (rest !== undefined && now() < rest.until)
        return silent("tooLong", "its answers exceed the size limit, so it is queried less often");
      const answer = await ask(transport, asking);
      const isTooLong = !answer.heard && answer.why === "tooLong";
      rests.delete(pod);
      if (isTooLong) {
        const times = (rest?.times ?? 0) + 1;
        rests.set(pod, { until: now() + backoffOf(times - 1, firstRestMs, longestRestMs), times });
        forgetOldest(rests, mostPods);
      }
      return answer;
    });
  };
};
