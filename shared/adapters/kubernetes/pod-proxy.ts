/** A question to a pod, through the API server's pod proxy: bounded in time and bytes, and always with an answer. */
import { ApiError } from "../../core/errors.ts";
import type { HttpResponse, Transport } from "../../core/http.ts";
import type { ProbeFailure, ProbeResult, Query } from "../../core/plan.ts";
import { withFeature } from "../../kube/features.ts";
import { proxyPath } from "../../kube/paths.ts";

/** The longest that a pod may think, and the most that it may say: some 10,000 executors. */
const timeoutMs = 2_000;
const limitBytes = 16 * 1_024 * 1_024;

const silent = (why: ProbeFailure, message: string): ProbeResult => ({
  heard: false,
  why,
  message: message.slice(0, 300),
});

const whyOf: Readonly<Record<number, ProbeFailure>> = { 401: "forbidden", 403: "forbidden", 404: "notFound" };

const parsed = (body: string): ProbeResult => {
  try {
    return { heard: true, value: JSON.parse(body) };
  } catch {
    return silent("notJson", body.trimStart().slice(0, 80));
  }
};

const meaningOf = ({ status, body }: HttpResponse): ProbeResult => {
  if (body.length > limitBytes) return silent("tooLong", `longer than ${limitBytes} bytes`);
  if (status >= 200 && status < 300) return parsed(body);
  return silent(
    status < 400 ? "notJson" : (whyOf[status] ?? "unreachable"),
    `HTTP ${status}: ${status === 403 ? withFeature(body.trim()) : body.trim()}`,
  );
};

const reasons: Readonly<Record<string, ProbeFailure>> = { Timeout: "timeout", TooLong: "tooLong" };

type Asking = Extract<Query, { do: "ask" }>;

/** Headers that mean something to the pod alone: by any other the API server might take us for somebody else. */
const harmless = /^(accept(-language)?|user-agent|x-(?!remote|forwarded)[a-z0-9-]+)$/i;

const headersOf = ({ header }: Asking): Readonly<Record<string, string>> =>
  header === undefined || !harmless.test(header.name) || /[^\t\x20-\x7e]/.test(header.value)
    ? {}
    : { [header.name.toLowerCase()]: header.value };

const pathOf = ({ pod, port, path, query }: Asking): string =>
  `${proxyPath(pod, port, path)}${query === undefined ? "" : `?${new URLSearchParams(query)}`}`;

/** What the pod says, or why it says nothing. */
export const ask = async (transport: Transport, asking: Asking): Promise<ProbeResult> => {
  try {
    const request = { method: "GET", path: pathOf(asking), headers: headersOf(asking), timeoutMs, limitBytes } as const;
    return meaningOf(await transport.send(request));
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return silent(reasons[cause.reason] ?? "unreachable", cause.message);
  }
};
