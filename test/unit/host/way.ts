/**
 * The transport between a host and the server: it records requests, and can delay them, fail them, or answer them
 * itself.
 */
import type { HttpRequest, HttpResponse, HttpStream, Transport } from "../../../shared/core/http.ts";

/** Returns an answer in place of the server's, a failure, or undefined to pass the request on. */
export type Fault = (asked: HttpRequest) => HttpResponse | Error | undefined;

/** Returns an error answer of the server. */
export const answer = (status: number, reason: string, message: string): HttpResponse => ({
  ...{ status, headers: {} },
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason, message, code: status }),
});

const asRead = ({ method }: HttpRequest): boolean => method === "GET";

/** Waits some turns of the event loop; the number differs from call to call and is the same in every run. */
const openDelay = (slow: boolean): (() => Promise<void>) => {
  let state = 1;
  return async () => {
    state = (state * 48_271) % 2_147_483_647;
    for (let turns = slow ? state % 5 : 0; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  };
};

const refused = ({ status, headers, body }: HttpResponse): HttpStream => ({
  ...{ status, headers, close: () => {} },
  lines: (async function* () {
    yield body;
  })(),
});

/** No pod can be created in namespace default. */
export const podsAway: Fault = ({ method, path }) =>
  method === "POST" && path.startsWith("/api/v1/namespaces/default/pods")
    ? answer(503, "ServiceUnavailable", "away")
    : undefined;

/** Opens the transport. `slow`: each answer takes a different number of turns of the event loop. */
export const openWay = (transport: Transport, slow: boolean) => {
  const asked: string[] = [];
  const written: string[] = [];
  const streams = new Set<HttpStream>();
  const delay = openDelay(slow);
  let fault: Fault | undefined;
  let flying = 0;
  const meets = async (sent: HttpRequest): Promise<HttpResponse | undefined> => {
    const line = `${sent.method} ${sent.path}`;
    asked.push(line);
    if (!asRead(sent)) written.push(line);
    await delay();
    const met = fault?.(sent);
    if (met instanceof Error) throw met;
    return met;
  };
  const fly = async <T>(act: () => Promise<T>): Promise<T> => {
    flying += 1;
    try {
      return await act();
    } finally {
      flying -= 1;
    }
  };
  const open = async (sent: HttpRequest): Promise<HttpStream> => {
    const met = await meets(sent);
    if (met !== undefined) return refused(met);
    const stream = await transport.stream(sent);
    streams.add(stream);
    return stream;
  };
  const way: Transport = {
    send: (sent) =>
      fly(async () => {
        const answer = (await meets(sent)) ?? (await transport.send(sent));
        await delay();
        return answer;
      }),
    stream: (sent) => fly(() => open(sent)),
  };
  /** Turns the event loop until no request is under way and no new one comes. */
  const settled = async (): Promise<void> => {
    for (let quiet = 0, before = asked.length; quiet < 3; before = asked.length) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = flying === 0 && asked.length === before ? quiet + 1 : 0;
    }
  };
  return {
    ...{ way, asked, written, settled },
    set: (next: Fault | undefined) => {
      fault = next;
    },
    cut: () => {
      for (const stream of streams) stream.close();
      streams.clear();
    },
  };
};
