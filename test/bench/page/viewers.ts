/**
 * Viewers of a host's page on a real API server: the requests that one and fifty of them cost it, by its audit log; the
 * bytes of each; and the streams that a host gives at most.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit, type Request } from "../../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../../real/cluster/cluster.ts";
import { build, install, startHost } from "../../real/e2e/installed.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { sparkPi } from "../../support/pi.ts";
import { freePort } from "../../support/port.ts";
import type { Figure } from "../figures.ts";
import { applications } from "../submit.ts";

const tokenOf = (nth: number): string => `a-token-of-caller-${nth}-of-the-bench`;
const callerCount = 10;
const callers = JSON.stringify(
  Array.from({ length: callerCount }, (_, nth) => ({ name: `caller-${nth}`, tokens: [tokenOf(nth)], may: ["read"] })),
);

type Viewer = {
  get(path: string): Promise<IncomingMessage>;
  /** Bytes that have come over all its connections. */
  bytes(): number;
  leave(): void;
};

/** Signs a caller in. Each viewer has a session and connections of its own, as a browser. */
const openViewer = async (url: string, caller: number): Promise<Viewer> => {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<{ readonly bytesRead: number }>();
  const send = (method: string, path: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request(
        `${url}${path}`,
        { method, agent, headers: { ...headers, "accept-encoding": "gzip" } },
        resolve,
      );
      asked.on("socket", (socket) => sockets.add(socket));
      asked.on("error", reject);
      asked.end();
    });
  const signed = await send("POST", "/session", { authorization: `Bearer ${tokenOf(caller)}` });
  signed.resume();
  const cookie = signed.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  return {
    get: (path) => send("GET", path, { cookie }),
    bytes: () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    leave: () => agent.destroy(),
  };
};

const taken = async (answer: IncomingMessage): Promise<void> => {
  for await (const _ of answer);
};

const rounds = 4;
const roundMs = 5_500;

/** All viewers follow the stream, and read one application as often as the page does, at the same time. */
const watching = async (viewers: readonly Viewer[]): Promise<void> => {
  await Promise.all(viewers.map(async ({ get }) => taken(await get("/rows"))));
  for (const { get } of viewers) (await get("/stream")).on("error", () => undefined).resume();
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(viewers.map(async ({ get }) => taken(await get("/app/SparkApplication/default/page-0"))));
    await sleep(roundMs);
  }
};

const textOf = ({ verb, resource, namespace, name }: Request): string => `${verb} ${resource} ${namespace}/${name}`;

/** The host's requests in the namespace of the applications: others follow its clock. */
const requestsSince = async (audit: Audit, since: number): Promise<readonly string[]> => {
  await sleep(1_000);
  return (await audit.read())
    .filter(({ at, namespace, verb }) => at >= since && namespace === "default" && verb !== "watch")
    .map(textOf)
    .sort();
};

type Watched = { readonly requests: readonly string[]; readonly bytesPerMinute: number };

const watched = async (audit: Audit, url: string, count: number): Promise<Watched> => {
  const viewers = await Promise.all(Array.from({ length: count }, (_, nth) => openViewer(url, nth % callerCount)));
  const since = Date.now();
  const before = viewers.reduce((sum, { bytes }) => sum + bytes(), 0);
  await watching(viewers);
  const bytes = viewers.reduce((sum, viewer) => sum + viewer.bytes(), 0) - before;
  for (const { leave } of viewers) leave();
  return {
    requests: await requestsSince(audit, since),
    bytesPerMinute: (bytes / count) * (60_000 / (rounds * roundMs)),
  };
};

/** Opens streams until no caller gets another. Returns their number, and checks how the next one is refused. */
const mostStreams = async (url: string): Promise<number> => {
  const viewers: Viewer[] = [];
  const refused = new Set<number>();
  let open = 0;
  for (let nth = 0; refused.size < callerCount; nth += 1) {
    const caller = nth % callerCount;
    if (refused.has(caller)) continue;
    const viewer = await openViewer(url, caller);
    viewers.push(viewer);
    const answer = await viewer.get("/stream");
    answer.on("error", () => undefined).resume();
    if (answer.statusCode === 200) open += 1;
    else refused.add(caller);
    if (answer.statusCode !== 200 && (answer.statusCode !== 503 || answer.headers["retry-after"] === undefined))
      throw new Error(`a stream beyond the bound was answered with ${answer.statusCode}`);
  }
  for (const { leave } of viewers) leave();
  return open;
};

const created = async ({ api }: Cluster, count: number): Promise<void> => {
  await api.until(applications, ({ status }) => status === 200, 20_000);
  for (let nth = 0; nth < count; nth += 1) {
    const { status, body } = await api.call("POST", applications, sparkPi(`page-${nth}`, { suspend: true }));
    if (status !== 201) throw new Error(`create page-${nth}: ${JSON.stringify(body)}`);
  }
};

/** Throws where fifty viewers cost the API server another request than one. */
export const benchViewers = async (): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-page-"));
  const audit = await openAudit(join(dir, "audit"), "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir, extra: audit.flags });
  // A process that is left would keep the benchmark from ending.
  let end = async (): Promise<void> => {};
  try {
    const kubeconfig = await install(cluster, undefined);
    const secret = join(dir, "callers.json");
    await writeFile(secret, callers, { mode: 0o600 });
    const address = `127.0.0.1:${await freePort()}`;
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--listen", address, "--trigger-secret-file", secret]);
    end = host.kill;
    await created(cluster, 20);
    await sleep(15_000);
    const url = `http://${address}/page`;
    // The first viewer lists the records of before.
    await watched(audit, url, 1);
    const alone = await watched(audit, url, 1);
    const together = await watched(audit, url, 50);
    const streams = await mostStreams(url);
    await host.stop();
    end = async () => {};
    if (alone.requests.join() !== together.requests.join())
      throw new Error(`one viewer: ${alone.requests.join(", ")}; 50 viewers: ${together.requests.join(", ")}`);
    return [
      { name: "page.requests.1-viewer", value: alone.requests.length, unit: "requests" },
      {
        name: "page.requests.50-viewers",
        value: together.requests.length,
        unit: "requests",
        aim: alone.requests.length,
      },
      { name: "page.bytes.1-viewer", value: alone.bytesPerMinute / 1_000, unit: "kB/min" },
      { name: "page.bytes.each-of-50", value: together.bytesPerMinute / 1_000, unit: "kB/min" },
      { name: "page.streams.most", value: streams, unit: "streams", aim: 200 },
    ];
  } finally {
    await end();
    await cluster.stop();
  }
};
