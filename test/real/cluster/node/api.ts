/** The agent's client of the API server: single calls with a deadline, and lists that a watch keeps up to date. */
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";

export type Reply = { readonly status: number; readonly body: unknown };

export type Api = {
  readonly server: URL;
  readonly call: (method: string, path: string, body?: unknown, contentType?: string) => Promise<Reply>;
  /** Returns the body of a 2xx answer, undefined on 404; throws on every other status. */
  readonly get: <Body>(path: string) => Promise<Body | undefined>;
  readonly follow: <Item extends Followed>(path: string, listener: Listener<Item>) => void;
  /** Ends all calls and watches; listeners receive nothing more. */
  readonly close: () => void;
};

type Followed = { readonly metadata: { readonly resourceVersion: string } };

export type Listener<Item> = {
  /** Receives the whole list; items that are not in it are gone. */
  readonly all: (items: readonly Item[]) => void;
  readonly put: (item: Item) => void;
  readonly gone: (item: Item) => void;
};

const callTimeoutMs = 10_000;
const watchSeconds = 240;

type Kubeconfig = {
  clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
  users: [{ user: { "client-certificate-data"?: string; "client-key-data"?: string; token?: string } }];
};

const decoded = (text: string | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64");

const textOf = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const bodyOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const messageOf = (reply: Reply): string => {
  const said = typeof reply.body === "object" && reply.body !== null && "message" in reply.body && reply.body.message;
  return typeof said === "string" ? said : `status ${reply.status}`;
};

/** The watch must start again from a new list: its resource version is compacted. */
class Expired extends Error {}

type WatchEvent<Item> = { type: string; object: Item & { code?: number; message?: string } };

const heard = <Item extends Followed>(event: WatchEvent<Item>, listener: Listener<Item>): string => {
  if (event.type === "ERROR") throw new Expired(event.object.message ?? "the watch ended with an error");
  if (event.type === "DELETED") listener.gone(event.object);
  else if (event.type !== "BOOKMARK") listener.put(event.object);
  return event.object.metadata.resourceVersion;
};

type Open = (method: string, path: string, sent?: string, contentType?: string) => Promise<IncomingMessage>;

/** Runs one watch to its end; returns the version to continue from. */
const watchOnce = async <Item extends Followed>(
  open: Open,
  path: string,
  from: string,
  listener: Listener<Item>,
): Promise<string> => {
  const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${from}`;
  const answer = await open("GET", `${path}?${query}`);
  if (answer.statusCode === 410) throw new Expired("410");
  if (answer.statusCode !== 200) throw new Error(`watch of ${path}: ${answer.statusCode}`);
  answer.setTimeout((watchSeconds + 30) * 1000, () => answer.destroy(new Error("silent watch")));
  let version = from;
  let rest = "";
  answer.setEncoding("utf8");
  try {
    for await (const chunk of answer) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") version = heard(JSON.parse(line) as WatchEvent<Item>, listener);
    }
  } catch (error) {
    if (error instanceof Expired) throw error;
    // The connection broke: the next watch continues from here.
  }
  return version;
};

const listOnce = async <Item extends Followed>(open: Open, path: string, listener: Listener<Item>): Promise<string> => {
  const answer = await open("GET", path);
  const text = await textOf(answer);
  if (answer.statusCode !== 200) throw new Error(`list of ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
  const list = JSON.parse(text) as { metadata: { resourceVersion: string }; items: Item[] };
  listener.all(list.items);
  return list.metadata.resourceVersion;
};

const followOn = async <Item extends Followed>(
  open: Open,
  path: string,
  listener: Listener<Item>,
  closed: AbortSignal,
): Promise<void> => {
  let version: string | undefined;
  while (!closed.aborted) {
    try {
      version ??= await listOnce(open, path, listener);
      version = await watchOnce(open, path, version, listener);
    } catch (error) {
      if (error instanceof Expired) version = undefined;
      else if (!closed.aborted) {
        console.error(`${path}: ${String(error)}`);
        await sleep(500);
      }
    }
  }
};

export const openApi = async (file: string): Promise<Api> => {
  const config = parse(await readFile(file, "utf8")) as Kubeconfig;
  const { user } = config.users[0];
  const server = new URL(config.clusters[0].cluster.server);
  const [cert, key] = [decoded(user["client-certificate-data"]), decoded(user["client-key-data"])];
  const closing = new AbortController();
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 64,
    ca: decoded(config.clusters[0].cluster["certificate-authority-data"]),
    ...(cert && key ? { cert, key } : {}),
  });

  const open: Open = (method, path, sent, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const headers = {
        accept: "application/json",
        ...(user.token === undefined ? {} : { authorization: `Bearer ${user.token}` }),
        ...(sent === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(sent) }),
      };
      const asked = request(new URL(path, server), { method, agent, headers }, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      const timer = setTimeout(() => asked.destroy(new Error(`${method} ${path}: no answer`)), callTimeoutMs);
      asked.on("error", (error) => {
        clearTimeout(timer);
        reject(error);
      });
      asked.end(sent);
    });

  const call: Api["call"] = async (method, path, body, contentType) => {
    const answer = await open(method, path, body === undefined ? undefined : JSON.stringify(body), contentType);
    return { status: answer.statusCode ?? 0, body: bodyOf(await textOf(answer)) };
  };

  return {
    server,
    call,
    get: async <Body>(path: string) => {
      const reply = await call("GET", path);
      if (reply.status === 404) return undefined;
      if (reply.status !== 200) throw new Error(`GET ${path}: ${messageOf(reply)}`);
      return reply.body as Body;
    },
    follow: (path, listener) => void followOn(open, path, listener, closing.signal),
    close: () => {
      closing.abort();
      agent.destroy();
    },
  };
};
