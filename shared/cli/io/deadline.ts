/**
 * One deadline for a whole command: requests, streams and sleeps of everything that it follows or waits for end when
 * its timeout has passed.
 */
import type { HttpStream, Transport } from "../../core/http.ts";
import { exits, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { Tools } from "./tools.ts";

export type Bounds = { readonly tools: Tools; readonly session: Session };

/** The deadline: `left` in ms, and the error that ends the command. */
type Deadline = { readonly left: () => number; readonly passed: Refused };

/** Throws once the deadline has passed. An error of a request that the deadline cut short is the deadline's. */
const before = async <Value>({ left, passed }: Deadline, act: () => Promise<Value>): Promise<Value> => {
  if (left() <= 0) throw passed;
  try {
    return await act();
  } catch (cause) {
    throw left() <= 0 ? passed : cause;
  }
};

/** Closes a stream at the deadline; its reader then meets the error. */
const closing = (stream: HttpStream, deadline: Deadline, { sleep }: Pick<Tools, "sleep">): HttpStream => {
  const isRead = new AbortController();
  sleep(deadline.left(), isRead.signal).then(stream.close, () => {});
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* stream.lines;
    } finally {
      isRead.abort();
    }
    if (deadline.left() <= 0) throw deadline.passed;
  }
  return { ...stream, lines: lines() };
};

const boundedTransport = (transport: Transport, tools: Tools, deadline: Deadline): Transport => {
  const shorter = <Request extends { readonly timeoutMs: number }>(request: Request): Request => ({
    ...request,
    timeoutMs: Math.max(1, Math.min(request.timeoutMs, deadline.left())),
  });
  return {
    send: (request) => before(deadline, () => transport.send(shorter(request))),
    stream: async (request) =>
      closing(await before(deadline, () => transport.stream(shorter(request))), deadline, tools),
  };
};

/**
 * Runs a command under its timeout, ms; undefined: without one. When it has passed, the command ends with exit code 4,
 * and `still` tells what goes on.
 */
export const within = async (
  { tools, session }: Bounds,
  waitMs: number | undefined,
  act: (bounds: Bounds) => Promise<void>,
  still: () => Promise<string>,
): Promise<void> => {
  if (waitMs === undefined) return await act({ tools, session });
  const until = tools.now() + waitMs;
  const left = (): number => until - tools.now();
  const deadline = { left, passed: new Refused("the timeout has passed", { code: exits.timeOver }) };
  const sleep: Tools["sleep"] = (ms, signal) =>
    before(deadline, () => tools.sleep(Math.max(0, Math.min(ms, left())), signal));
  const transport = boundedTransport(session.transport, tools, deadline);
  try {
    await act({ tools: { ...tools, sleep }, session: { ...session, transport } });
  } catch (cause) {
    if (cause !== deadline.passed) throw cause;
    throw new Refused(await still(), { code: exits.timeOver, cause });
  }
};
