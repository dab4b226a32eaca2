/** A proxy between a host and the API server that forwards everything, and can withhold changes of pods. */
import { readFile, writeFile } from "node:fs/promises";
import { Agent, request as ask, createServer } from "node:https";
import { Transform } from "node:stream";
import { parse } from "yaml";
import { makePair } from "../../../shared/adapters/certificates/pair.ts";
import { listening } from "../../support/port.ts";

export type Blindfold = {
  /** The kubeconfig of a host behind this proxy. */
  readonly kubeconfig: string;
  /** While on, watches of pods receive bookmarks only; withheld events are dropped. */
  put(on: boolean): void;
  /** The number of withheld events so far. */
  readonly held: () => number;
  /** Resolves when a client watches pods through this proxy. */
  readonly watched: Promise<void>;
  stop(): Promise<void>;
};

type Kubeconfig = {
  clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
};

const isWatch = (url: URL): boolean => url.pathname.endsWith("/pods") && url.searchParams.has("watch");

/** Forwards the lines for which `holds` is true. */
const sieve = (holds: (line: string) => boolean): Transform => {
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString("latin1")).split("\n");
      rest = lines.pop() ?? "";
      const kept = lines.filter(holds).map((line) => `${line}\n`);
      done(null, Buffer.from(kept.join(""), "latin1"));
    },
  });
};

/** Opens the proxy. `kubeconfig` is that of the host; the new one is written to `file`. */
export const openBlindfold = async (kubeconfig: string, file: string): Promise<Blindfold> => {
  const text = await readFile(kubeconfig, "utf8");
  const config = parse(text) as Kubeconfig;
  const { cluster } = config.clusters[0];
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(cluster["certificate-authority-data"], "base64") });
  let on = false;
  let held = 0;
  const watch = Promise.withResolvers<void>();
  const holds = (line: string): boolean => {
    const passes = !on || line.startsWith('{"type":"BOOKMARK"');
    if (!passes) held += 1;
    return passes;
  };
  const pair = await makePair(["127.0.0.1"], Date.now());
  const server = createServer({ cert: pair.cert, key: pair.key }, (incoming, outgoing) => {
    const url = new URL(incoming.url ?? "/", cluster.server);
    const { host: _, ...headers } = incoming.headers;
    const asked = ask(url, { method: incoming.method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      if (isWatch(url)) watch.resolve();
      if (isWatch(url)) answer.pipe(sieve(holds)).pipe(outgoing);
      else answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    asked.on("error", () => outgoing.destroy());
    outgoing.on("close", () => asked.destroy());
    incoming.pipe(asked);
  });
  const port = await listening(server);
  const through = { server: `https://127.0.0.1:${port}`, "certificate-authority-data": btoa(pair.ca) };
  await writeFile(file, JSON.stringify({ ...config, clusters: [{ ...config.clusters[0], cluster: through }] }));
  return {
    kubeconfig: file,
    put: (blind) => {
      on = blind;
    },
    held: () => held,
    watched: watch.promise,
    stop: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
