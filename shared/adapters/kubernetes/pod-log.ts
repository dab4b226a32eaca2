/**
 * Reads the end of a pod's log. Kubelets cut an answer at its end, not at its beginning, so a log is read in fewer of
 * its last lines while these are too long.
 */
import { gzipSync } from "node:zlib";
import { ApiError, type HttpResponse, type Transport } from "../../core/http.ts";
import type { Ref } from "../../core/object.ts";
import type { ProbeResult } from "../../core/plan.ts";
import { objectPath, withQuery } from "../../kube/paths.ts";

/** The most bytes of one answer. */
const mostRead = 1_048_576;

type Ask = (query: Readonly<Record<string, string>>) => Promise<HttpResponse>;

/** Asks for ever fewer of the last lines. Returns the last answer: of a line that is longer than an answer its beginning. */
export const lastLines = async (ask: Ask, tails: readonly number[]): Promise<HttpResponse> => {
  const [tail = 1, ...fewer] = tails;
  const answer = await ask({ tailLines: String(tail), limitBytes: String(mostRead) });
  const isWhole = answer.status !== 200 || Buffer.byteLength(answer.body) < mostRead;
  return isWhole || fewer.length === 0 ? answer : await lastLines(ask, fewer);
};

/** The last `most` bytes of a text, from the beginning of a line where one begins there. */
const endOf = (text: string, most: number): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const end = bytes.subarray(bytes.length - most);
  const line = end.indexOf("\n");
  if (line >= 0 && line < end.length - 1) return end.subarray(line + 1).toString();
  // The first bytes may be the rest of a character.
  const first = end.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return end.subarray(Math.max(0, first)).toString();
};

/** The time for one log with all its requests, ms: a deletion waits for it. */
const mostMs = 2_500;
/** Lines of a log that fill 64 KiB, then fewer. */
const tails = [2_000, 200, 20, 1] as const;

const silent = (why: "forbidden" | "notFound" | "timeout" | "unreachable", message: string): ProbeResult => ({
  heard: false,
  why,
  message: message.slice(0, 300),
});

const meaningOf = ({ status, body }: HttpResponse, mostBytes: number): ProbeResult => {
  if (status === 200) return { heard: true, value: gzipSync(endOf(body, mostBytes)).toString("base64") };
  const message = `HTTP ${status}: ${body.trim()}`;
  if (status === 401 || status === 403)
    return silent("forbidden", `rekindle manifests --features kept-logs grants this: ${message}`);
  // 400: the container has not started, or the pod has no such container.
  return silent(status === 404 || status === 400 ? "notFound" : "unreachable", message);
};

/** Opens the port's `logEnd`. `now`: a monotonic time, ms. */
export const openLogEnds =
  (transport: Transport, now: () => number = () => performance.now()) =>
  async (pod: Ref, container: string, mostBytes: number): Promise<ProbeResult> => {
    const end = now() + mostMs;
    const ask: Ask = (query) => {
      const timeoutMs = Math.round(end - now());
      if (timeoutMs <= 0) throw new ApiError({ status: 0, reason: "Timeout", message: "no answer in time" });
      const path = withQuery(objectPath(pod, "log"), { container, ...query });
      return transport.send({ method: "GET", path, headers: { accept: "*/*" }, timeoutMs });
    };
    try {
      return meaningOf(await lastLines(ask, tails), mostBytes);
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      return silent(cause.reason === "Timeout" ? "timeout" : "unreachable", cause.message);
    }
  };
