/**
 * The promises of a forwarder about a watch, tested on any API server: a writer makes some hundred changes while
 * connections are cut, lists fail, cursors expire, and the forwarder itself is stopped and continues from its cursor.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpRequest, HttpStream, Transport } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Watcher } from "../../../shared/core/operator.ts";
import { type Forwarder, type Loop, startForwarder } from "../../../shared/forward/forwarder.ts";
import { openWatchState } from "../../../shared/forward/listwatch.ts";

const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" } as const;

const operator: Watcher = {
  kind: "ConfigMap",
  resource: configMaps,
  watches: [
    { resource: configMaps, selector: "watched", ownerName: ({ metadata }) => metadata.name, matters: () => true },
  ],
};

export type Guarantees = {
  readonly changes: number;
  /** Count of watches that were cut, requests that failed, and cursors that were refused. */
  readonly troubles: number;
  /** Broken promises, one line each. */
  readonly broken: readonly string[];
};

/** Returns a seeded generator of pseudorandom numbers, the same in every run. */
const openChance = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

const tooOld = JSON.stringify({
  type: "ERROR",
  object: { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old resource version" },
});

async function* shortened(lines: AsyncIterable<string>, count: number, last: readonly string[]) {
  let left = count;
  for await (const line of lines) {
    yield line;
    left -= 1;
    if (left <= 0) break;
  }
  yield* last;
}

/** Returns a transport on which requests fail and watches break until `setCalm` is called. */
const troubledWay = (transport: Transport, chance: () => number) => {
  let troubles = 0;
  let calm = false;
  let stale = true;
  const fails = (likely: number): boolean => {
    const met = !calm && chance() < likely;
    if (met) troubles += 1;
    return met;
  };
  const stream = async (request: HttpRequest): Promise<HttpStream> => {
    if (fails(0.15)) throw new Error("the connection was reset");
    const opened = await transport.stream(request);
    if (calm) return opened;
    troubles += 1;
    const last = stale && chance() < 0.25 ? [tooOld] : [];
    return { ...opened, lines: shortened(opened.lines, 1 + Math.floor(chance() * 9), last) };
  };
  const way: Transport = {
    send: async (request) => {
      if (fails(0.2)) throw new Error("the connection was reset");
      return transport.send(request);
    },
    stream,
  };
  return {
    way,
    troubles: () => troubles,
    setCalm: () => {
      calm = true;
    },
    setStale: (next: boolean) => {
      stale = next;
    },
  };
};

type Fate = { readonly version: string; readonly gone: boolean };

/** Changes ConfigMaps at random and records the last state of each. */
const openWriter = (transport: Transport, namespace: string, chance: () => number) => {
  const fates = new Map<string, Fate>();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const send = async (method: HttpRequest["method"], at: string, body?: unknown): Promise<string> => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await transport.send({ method, path: at, headers, timeoutMs: 10_000, ...text });
    if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.status} ${answer.body}`);
    const said: { metadata?: { resourceVersion?: string } } = JSON.parse(answer.body);
    return said.metadata?.resourceVersion ?? "";
  };
  const create = async (name: string): Promise<void> => {
    const metadata = { name, labels: { watched: "yes" } };
    fates.set(name, { version: await send("POST", path, { metadata, data: { n: "0" } }), gone: false });
  };
  let count = 0;
  const change = async (): Promise<void> => {
    count += 1;
    const name = `m-${Math.floor(chance() * 20)}`;
    const fate = fates.get(name);
    if (fate === undefined || fate.gone) return create(name);
    if (chance() < 0.25) {
      await send("DELETE", `${path}/${name}`);
      fates.set(name, { ...fate, gone: true });
    } else
      fates.set(name, { version: await send("PATCH", `${path}/${name}`, { data: { n: `${count}` } }), gone: false });
  };
  return { fates, create, change };
};

/** A message, and the number of the forwarder that sent it. */
type Heard = Message & { readonly life: 1 | 2 };

const isGone = ({ reason }: Message): boolean => reason.endsWith(" gone");

const versionOf = ({ resourceVersion }: Message): number => Number(resourceVersion ?? 0);

/**
 * Lists the ConfigMaps whose last state, or deletion, was not sent. Of several changes that are sent as one message
 * only the last is named, so a deletion counts as sent with the last version or a later one.
 */
const reliable = (heard: readonly Heard[], fates: ReadonlyMap<string, Fate>): readonly string[] =>
  [...fates].flatMap(([name, { version, gone }]) => {
    const own = heard.filter((message) => message.name === name && isGone(message) === gone);
    if (!gone && own.some(({ resourceVersion }) => resourceVersion === version)) return [];
    if (gone && own.some((message) => versionOf(message) >= Number(version))) return [];
    return [`${name}: ${version}, its last state, was not told${gone ? " to be gone" : ""}`];
  });

/**
 * Lists the ConfigMaps whose versions one forwarder sent out of order. The second forwarder may repeat messages of the
 * first, because it continues from a cursor.
 */
const ordered = (heard: readonly Heard[], names: readonly string[]): readonly string[] =>
  [1, 2].flatMap((life) =>
    names.flatMap((name) => {
      const own = heard.filter((message) => message.name === name && message.life === life && !isGone(message));
      const versions = own.map(versionOf);
      const sorted = versions.every((version, i) => i === 0 || version >= (versions[i - 1] ?? 0));
      return sorted ? [] : [`${name}: out of order`];
    }),
  );

/** Lists the states that were sent under two ids. The queue drops copies under one id, but not those. */
const unique = (heard: readonly Heard[]): readonly string[] => {
  const states = heard
    .filter((message) => !isGone(message))
    .map(({ name, resourceVersion }) => `${name} ${resourceVersion}`);
  return states.filter((state, i) => states.indexOf(state) < i).map((state) => `told twice: ${state}`);
};

const silent = (heard: readonly Heard[], still: readonly string[]): readonly string[] =>
  still.flatMap((name) => {
    const count = heard.filter((message) => message.name === name).length;
    return count === 1 ? [] : [`${name}: told ${count} times and never changed`];
  });

const turns = { count: 300, perBreath: 5, breathMs: 3 } as const;

/** Waits until the condition holds, for at most 10 s. */
const settle = async (holds: () => boolean): Promise<void> => {
  for (let left = 400; left > 0 && !holds(); left--) await sleep(25);
};

/** Returns the cursor of the forwarder; it has none while a list is due. */
const cursorOf = async (forwarder: Forwarder): Promise<string> => {
  for (let left = 400; left > 0; left--) {
    const [reached] = [...((await forwarder.sent())?.values() ?? [])];
    if (reached !== undefined) return reached;
    await sleep(5);
  }
  throw new Error("the forwarder came nowhere");
};

/**
 * Runs the changes against the server and returns the broken promises. `pass` advances the server's own clock, where it
 * has one.
 */
export const tryGuarantees = async (
  transport: Transport,
  namespace: string,
  seed: number,
  pass: () => void = () => {},
): Promise<Guarantees> => {
  const chance = openChance(seed);
  const { way, troubles, setCalm, setStale } = troubledWay(transport, chance);
  const { fates, create, change } = openWriter(transport, namespace, chance);
  const still = ["still-0", "still-1", "still-2", "still-3", "still-4"];
  for (const name of still) await create(name);
  const heard: Heard[] = [];
  const ids = new Set<string>();
  const begin = (life: 1 | 2, cursor?: string): Forwarder =>
    startForwarder({
      ...{ transport: way, operators: [operator], cluster: "c", namespaces: [namespace], selector: undefined },
      send: async (message, id) => {
        if (!ids.has(id)) heard.push({ ...message, life });
        ids.add(id);
      },
      ...{ report: () => {}, now: () => performance.now(), random: chance, pause: () => sleep(2) },
      watchStateOf: (loop: Loop) => openWatchState(loop.subject.trim, cursor),
    });
  const write = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      await change();
      pass();
      if (n % turns.perBreath === 0) await sleep(turns.breathMs);
    }
  };
  const first = begin(1);
  await settle(() => first.synced());
  await write(turns.count / 2);
  const cursor = await cursorOf(first);
  await first.stop();
  await write(turns.count / 10);
  // The second forwarder has no cache to compare a list with, so its cursor must stay valid and no list be needed.
  setStale(false);
  const second = begin(2, cursor);
  await write(turns.count / 2);
  setCalm();
  const missed = (): readonly string[] => reliable(heard, fates);
  await settle(() => missed().length === 0);
  await second.stop();
  const names = [...fates.keys()];
  const broken = [...missed(), ...ordered(heard, names), ...silent(heard, still)];
  return { changes: turns.count * 1.1, troubles: troubles(), broken: [...broken, ...unique(heard)] };
};
