/** API servers that fail or lie, drivers that answer too much, clocks that jump: a neighbour's application goes on. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Attack, must } from "./attack.ts";
import { application, job, remove, task } from "./objects.ts";
import { attackers, type Fault, fresh, leastOf, pathOf, type Reins, type Stand } from "./stand.ts";

const reinsOf = ({ reins }: Stand): Reins => {
  if (reins === undefined) throw new Error("this stage's API server is not the attack's own");
  return reins;
};

type Lie = (response: ServerResponse) => void;

const isWatch = (path: string): boolean => /[?&]watch=/.test(path);
const ofAttackers = (path: string): boolean => path.includes(`/namespaces/${attackers}/`);

const endless =
  (begins: string, unit: string): Lie =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(begins);
    const chunk = unit.repeat(Math.ceil(65_536 / unit.length));
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  };

const text =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Lie =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };

const half: Lie = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100000" });
  response.write('{"kind":"List","items":[');
  setTimeout(() => response.destroy(), 50);
};

const reset: Lie = (response) => {
  response.destroy();
};

const bombed = gzipSync(Buffer.alloc(200_000_000, 32));

const gone = JSON.stringify({
  type: "ERROR",
  object: { kind: "Status", apiVersion: "v1", code: 410, reason: "Expired", message: "too old" },
});
const statusOf = (code: number, reason: string): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: "x".repeat(2_000) });

/** Answers some requests falsely for some time, cuts all watches, and times a neighbour afterwards. */
const lied = async (
  stand: Stand,
  tells: (path: string, method: string) => boolean,
  lie: Lie,
  ms: number,
): Promise<undefined> => {
  const reins = reinsOf(stand);
  const fault: Fault = (asked, response) => {
    if (!tells(asked.url ?? "", asked.method ?? "")) return false;
    asked.resume();
    lie(response);
    return true;
  };
  const object = application(fresh("lied"), {});
  reins.fault(fault);
  reins.cut();
  try {
    await stand.call("POST", pathOf(object.kind), object);
    await sleep(ms);
  } finally {
    reins.fault(undefined);
  }
  const late = await leastOf(stand, 5_000);
  await remove(stand, object);
  must(late < 5_000, `afterwards a neighbour took ${Math.round(late)} ms`);
  return undefined;
};

/** Selects the first `count` watches after a cut: a false answer to them shows its cost at once. */
const firstWatches = (count: number): ((path: string) => boolean) => {
  let left = count;
  return (path) => {
    if (!isWatch(path) || left <= 0) return false;
    left -= 1;
    return true;
  };
};

const server = (name: string, run: Attack["run"], short?: true): Attack => ({
  ...{ class: "servers", name, stage: "simulated", run },
  ...(short === undefined ? {} : { short }),
});

const watches = (name: string, lie: Lie, short?: true): Attack =>
  server(`a watch ${name}`, (stand) => lied(stand, firstWatches(5), lie, 1_000), short);

const storm = (name: string, lie: Lie): Attack =>
  server(`a second of ${name}`, (stand) => lied(stand, () => true, lie, 1_000));

/** Answers requests for the attacker's objects falsely as long as the attack lasts: the neighbour must not notice. */
const own = (name: string, lie: Lie, short?: true): Attack =>
  server(
    `the attacker's objects ${name}`,
    (stand) => lied(stand, (path) => ofAttackers(path) && !isWatch(path), lie, 3_000),
    short,
  );

const servers: readonly Attack[] = [
  watches("with a line without end", endless('{"type":"ADDED","object":{"a":"', "x"), true),
  watches("with lines without end that are no JSON", endless("", "nonsense\n")),
  watches("with brackets without end", endless("", "[")),
  watches("that stops in the middle of a line", half),
  watches("that is closed at once", reset),
  watches("that says that it is too old, again and again", text(200, `${gone}\n`)),
  watches(
    "of objects without names",
    text(200, `${JSON.stringify({ type: "ADDED", object: { metadata: {} } })}\n`.repeat(1_000)),
  ),
  watches(
    "of types that do not exist",
    text(200, `${JSON.stringify({ type: "EXPLODED", object: null })}\n`.repeat(1_000)),
  ),
  watches("of numbers", text(200, "1\n".repeat(10_000))),
  storm("429", text(429, statusOf(429, "TooManyRequests"), { "retry-after": "1" })),
  storm("500", text(500, statusOf(500, "InternalError"))),
  storm("503 in HTML", text(503, "<html>".repeat(1_000), { "content-type": "text/html" })),
  storm("resets", reset),
  storm("half answers", half),
  storm("nonsense", text(200, "}{")),
  storm("lists of nothing", text(200, "null")),
  storm("redirects", text(302, "", { location: "http://169.254.169.254/" })),
  own("are answered after three seconds", (response) => void setTimeout(() => text(200, "{}")(response), 3_000), true),
  own("are answered with 409 again and again", text(409, statusOf(409, "Conflict"))),
  own("are answered with 500 again and again", text(500, statusOf(500, "InternalError"))),
  own("are answered without end", endless('{"a":"', "x")),
  own("are answered with a compressed gigabyte", (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bombed);
  }),
  own("are answered with nesting", text(200, "[".repeat(2_000_000))),
];

/** Twenty drivers in `own` mode whose pages the attacker answers. */
const drivers = (name: string, lie: Lie, short?: true): Attack => ({
  ...{ class: "memory", name: `20 drivers that answer ${name}`, stage: "simulated" },
  ...(short === undefined ? {} : { short }),
  run: async (stand) => {
    const reins = reinsOf(stand);
    reins.fault((asked, response) => {
      if (!/\/proxy(\/|$|\?)/.test(asked.url ?? "")) return false;
      lie(response);
      return true;
    });
    const objects = Array.from({ length: 20 }, () =>
      application(fresh("driver"), {}, { annotations: { "rekindle.dev/executors": "own" } }),
    );
    try {
      for (const object of objects) await stand.call("POST", pathOf(object.kind), object);
      await sleep(5_000);
      const late = await leastOf(stand, 5_000);
      must(late < 5_000, `a neighbour beside them took ${Math.round(late)} ms`);
    } finally {
      reins.fault(undefined);
      for (const object of objects) await remove(stand, object);
    }
    return undefined;
  },
});

const megabytes = JSON.stringify(
  Array.from({ length: 120_000 }, (_, at) => ({
    id: String(at),
    addTime: "2026-01-01T00:00:00.000GMT",
    isActive: true,
    hostPort: "10.0.0.1:1",
  })),
);

const talking: readonly Attack[] = [
  drivers("16 MiB of JSON", text(200, megabytes), true),
  drivers("a million empty lists", text(200, `[${"[],".repeat(1_000_000)}[]]`)),
  drivers("300,000 empty lists", text(200, `[${"[],".repeat(300_000)}[]]`)),
  drivers("lists in lists, 500,000 deep", text(200, "[".repeat(500_000))),
  drivers("nonsense", text(200, "}{".repeat(10_000))),
  drivers("without end", endless("[", '{"id":"1"},')),
  drivers("never", () => {}),
  drivers("half", half),
];

const second = 1_000;
const hour = 3_600 * second;

const clocks = (name: string, set: (reins: Reins) => Promise<void>, short?: true): Attack => ({
  ...{ class: "clock", name, stage: "simulated" },
  ...(short === undefined ? {} : { short }),
  run: async (stand) => {
    const reins = reinsOf(stand);
    const objects = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? application(fresh("clock"), {}) : job(fresh("clock"), { tasks: [task("w", 2)] }),
    );
    for (const object of objects) await stand.call("POST", pathOf(object.kind), object);
    try {
      await set(reins);
      const during = await leastOf(stand, 5_000);
      must(during < 5_000, `with the clock set a neighbour took ${Math.round(during)} ms`);
    } finally {
      reins.setClock(0);
    }
    await sleep(100);
    const after = await leastOf(stand, 5_000);
    for (const object of objects) await remove(stand, object);
    must(after < 5_000, `with the clock set right a neighbour took ${Math.round(after)} ms`);
    return undefined;
  },
});

const once =
  (ms: number) =>
  async (reins: Reins): Promise<void> => {
    reins.setClock(ms);
    await sleep(100);
  };

const set: readonly Attack[] = [
  clocks("set back an hour", once(-hour), true),
  clocks("set forward an hour", once(hour)),
  clocks("set back a day", once(-24 * hour)),
  clocks("set forward a year", once(8_760 * hour)),
  clocks("set back to 1970", once(-Date.now() + second)),
  clocks("set to and fro, thirty times", async (reins) => {
    for (let nth = 0; nth < 30; nth += 1) {
      reins.setClock(nth % 2 === 0 ? hour : -hour);
      await sleep(50);
    }
  }),
];

export const serversAndClocks: readonly Attack[] = [...servers, ...talking, ...set];
