/**
 * The bodies that a port receives at one time: all of its connections share one bound of bytes, and each caller has a
 * share of it. A body counts from its first byte until its request is answered.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { openShare } from "../../core/share.ts";

/** Returns the caller of a connection: its address, of IPv6 the network of 64 bits that one machine may use whole. */
export const callerOf = (address = ""): string => {
  const bare = address.replace(/^::ffff:/, "");
  if (!bare.includes(":")) return bare;
  const [head = "", tail] = bare.split("::");
  const groups = head.split(":");
  return [...groups, ...Array<string>(tail === undefined ? 0 : 4).fill("0")].slice(0, 4).join(":");
};

type Reception = {
  readonly caller: string;
  /** The declared length; without one, the longest. */
  readonly bytes: number;
  readonly begin: () => void;
  /** Ends the request, because its sender takes room from others. */
  readonly dismiss: () => void;
  /** Monotonic ms. */
  begunAt: number;
};

export type BodyLimits = {
  /** Longest body that is received, bytes. */
  readonly longest: number;
  /** Bytes of all bodies at one time. */
  readonly total: number;
};

/** The time that a sender has for its body while another one waits for room, ms. */
const hurriedMs = 500;
const lookMs = 100;

const slow = JSON.stringify({ error: "the body came too slowly while other requests waited" });

const dismissed = (incoming: IncomingMessage, response: ServerResponse): void => {
  if (response.headersSent) return void incoming.socket.destroy();
  response.writeHead(408, { "content-type": "application/json", connection: "close" });
  response.end(slow, () => incoming.socket.destroy());
};

/** Reads a body to its end, or until it is longer than `most`. Undefined: its sender has gone, or has its answer. */
const read = (incoming: IncomingMessage, response: ServerResponse, most: number): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    // The connection outlives its request: a listener that stayed would keep the body.
    const end = (body: Buffer | undefined): void => {
      for (const [event, listener] of listeners) incoming.off(event, listener);
      response.off("close", gone);
      resolve(body);
    };
    const whole = (): void => end(Buffer.concat(parts));
    const gone = (): void => end(undefined);
    const take = (part: Buffer): void => {
      parts.push(part);
      length += part.length;
      if (length <= most) return;
      incoming.pause();
      whole();
    };
    const listeners = [
      ["data", take],
      ["end", whole],
      ["error", gone],
      ["close", gone],
    ] as const;
    for (const [event, listener] of listeners) incoming.on(event, listener);
    // A request that has its answer does not close: the server drops the rest of its body.
    response.once("close", gone);
  });

export type Bodies = {
  /**
   * Receives the body of a request when there is room for it. Of a body that is declared too long it receives nothing,
   * and returns an empty one; of one that turns out too long, more than the longest. Undefined: the request has ended.
   */
  readonly receive: (incoming: IncomingMessage, response: ServerResponse) => Promise<Buffer | undefined>;
};

/** Returns the length that a request may send: its declared one, or the longest. */
const lengthOf = ({ method, headers }: IncomingMessage, longest: number): number => {
  if (headers["transfer-encoding"] !== undefined) return longest;
  return method === "GET" || method === "HEAD" ? 0 : Number(headers["content-length"] ?? 0);
};

const bytesOf = (receptions: Iterable<Reception>): number => [...receptions].reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Returns the sender to dismiss for one that waits: the oldest slow one of the caller that is sent most by slow senders,
 * unless the one that waits is of a caller that is sent more.
 */
const slowest = (receiving: ReadonlySet<Reception>, waits: Reception, now: number): Reception | undefined => {
  const late = [...receiving].filter(({ begunAt }) => now - begunAt >= hurriedMs);
  const [most] = [...Map.groupBy(late, ({ caller }) => caller).values()].toSorted((a, b) => bytesOf(b) - bytesOf(a));
  const own = [...receiving].filter(({ caller }) => caller === waits.caller);
  const [oldest] = most ?? [];
  return oldest?.caller === waits.caller || bytesOf(most ?? []) >= bytesOf(own) ? oldest : undefined;
};

/** Opens the room that bodies share. While one waits for it, slow senders are dismissed. */
const openRoom = (total: number) => {
  const share = openShare(total);
  const receiving = new Set<Reception>();
  const waiting = new Set<Reception>();
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  /** A body begins when its caller's share has room for it twice: large ones leave room for small ones. */
  const begins = (one: Reception): boolean => {
    if (!share.take(one.caller, 2 * one.bytes)) return false;
    share.give(one.caller, one.bytes);
    one.begunAt = performance.now();
    receiving.add(one);
    one.begin();
    return true;
  };
  /** Begins those that have room, the smallest first. Returns the first that still waits. */
  const beginAll = (): Reception | undefined => {
    let first: Reception | undefined;
    for (const one of [...waiting].toSorted((a, b) => a.bytes - b.bytes))
      if (begins(one)) waiting.delete(one);
      else first ??= one;
    return first;
  };
  const look = (): void => {
    clearTimeout(timer);
    for (let first = beginAll(); first !== undefined; first = beginAll()) {
      const late = slowest(receiving, first, performance.now());
      if (late === undefined) break;
      late.dismiss();
    }
    timer = waiting.size === 0 ? undefined : setTimeout(look, lookMs).unref();
  };
  return {
    /** Begins a body at once, or when there is room. */
    enter: (one: Reception): void => {
      if (begins(one)) return;
      waiting.add(one);
      timer ??= setTimeout(look, lookMs).unref();
    },
    received: (one: Reception): void => void receiving.delete(one),
    /** Bodies that wait are looked at once for each turn of the event loop in which others left, however many these were. */
    leave: (one: Reception, hasBegun: boolean): void => {
      receiving.delete(one);
      waiting.delete(one);
      if (hasBegun) share.give(one.caller, one.bytes);
      if (!hasBegun || isDue) return;
      isDue = true;
      setImmediate(() => {
        isDue = false;
        beginAll();
      });
    },
  };
};

/** Opens the bound. */
export const openBodies = ({ longest, total }: BodyLimits): Bodies => {
  const room = openRoom(total);
  const entered = (incoming: IncomingMessage, response: ServerResponse, bytes: number) =>
    new Promise<Reception | undefined>((resolve) => {
      let state: "waits" | "holds" | "left" = "waits";
      const leave = (): void => {
        if (state !== "left") room.leave(one, state === "holds");
        state = "left";
        resolve(undefined);
      };
      const one: Reception = {
        ...{ caller: callerOf(incoming.socket.remoteAddress), bytes, begunAt: 0 },
        begin: () => {
          state = "holds";
          resolve(one);
        },
        dismiss: () => {
          dismissed(incoming, response);
          leave();
        },
      };
      response.once("close", leave);
      room.enter(one);
    });
  return {
    receive: async (incoming, response) => {
      const bytes = lengthOf(incoming, longest);
      if (!(bytes > 0 && bytes <= longest)) return Buffer.alloc(0);
      if (response.closed) return undefined;
      const one = await entered(incoming, response, bytes);
      if (one === undefined) return undefined;
      const body = await read(incoming, response, longest);
      room.received(one);
      return response.writableEnded || response.destroyed ? undefined : body;
    },
  };
};
