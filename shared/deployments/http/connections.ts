/**
 * The connections of a port. When there are too many, one that no request is worked on for makes room for the next: the
 * oldest of the caller that has the most of them.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { callerOf } from "./bodies.ts";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Connection = { readonly socket: Socket; readonly caller: string; last: Exchange | undefined };

/** True while the process works on a request: it has arrived whole, and its answer is not complete. */
const isWorking = ({ last }: Connection): boolean => last?.request.complete === true && !last.response.writableEnded;

/** Addresses and ports: of a secure connection the server shows two sockets, which have these in common. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Keeps a server's connections at `most`. Those that work is done for stay; where all do, the newest is refused. */
export const boundConnections = (server: Server, most: number): void => {
  /** Those that have not sent anything for the longest time are first. */
  const open = new Map<string, Connection>();
  const callers = new Map<string, Set<Connection>>();
  const removed = (name: string, connection: Connection): void => {
    if (open.get(name) === connection) open.delete(name);
    const own = callers.get(connection.caller);
    own?.delete(connection);
    if (own?.size === 0) callers.delete(connection.caller);
  };
  const spare = (): Connection | undefined => {
    const byCount = [...callers.values()].toSorted((a, b) => b.size - a.size);
    for (const own of byCount) for (const one of own) if (!isWorking(one)) return one;
    return undefined;
  };
  server.on("connection", (socket: Socket) => {
    // A peer that has gone already has no address.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const name = nameOf(socket);
    const caller = callerOf(socket.remoteAddress);
    if (open.size >= most) {
      const leaves = spare();
      if (leaves === undefined) return void socket.destroy();
      removed(nameOf(leaves.socket), leaves);
      leaves.socket.destroy();
    }
    const connection: Connection = { socket, caller, last: undefined };
    open.set(name, connection);
    const own = callers.get(caller) ?? new Set();
    callers.set(caller, own.add(connection));
    socket.once("close", () => removed(name, connection));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(nameOf(request.socket));
    if (connection === undefined) return;
    connection.last = { request, response };
    const own = callers.get(connection.caller);
    own?.delete(connection);
    own?.add(connection);
  });
};
