/** Host names of listeners that resolve never, late or to forbidden addresses; and listeners that answer wrongly. */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { type Attack, must } from "./attack.ts";
import { application, type Obj, remove } from "./objects.ts";
import { fresh, leastOf, pathOf, type Stand } from "./stand.ts";

const told = (to: string): Obj =>
  application(fresh("listener"), { suspend: true }, { annotations: { "rekindle.dev/updates-to": to } });

/** Applies `count` applications with these listeners, gives the host time, times a neighbour, and deletes them. */
const listened = async (stand: Stand, count: number, to: (at: number) => string, ms: number): Promise<undefined> => {
  const objects = Array.from({ length: count }, (_, at) => told(to(at)));
  await each(objects, async (object) => {
    const made = await stand.call("POST", pathOf(object.kind), object);
    must(made.status === 201, `not taken: ${made.status}`);
  });
  await sleep(ms);
  const late = await leastOf(stand, 5_000);
  must(late < 5_000, `a second neighbour took ${Math.round(late)} ms`);
  await each(objects, (object) => remove(stand, object));
  return undefined;
};

const name = (says: string, count: number, to: (at: number) => string, ms = 1_500, short?: true): Attack => ({
  ...{ class: "dns", name: says, stage: "cluster" },
  ...(short === undefined ? {} : { short }),
  run: (stand) => listened(stand, count, to, ms),
});

/** A listener where only public addresses are allowed: it receives no request, whatever address its name has. */
const inside = (says: string, to: string): Attack => ({
  ...{ class: "dns", name: says, stage: "admission" },
  run: async (stand) => {
    const object = told(to.replace("PORT", new URL(stand.listener.url).port));
    const before = stand.listener.heard().length;
    await stand.call("POST", pathOf(object.kind), object);
    await sleep(2_500);
    await remove(stand, object);
    must(
      stand.listener.heard().length === before,
      `the listener heard it: ${JSON.stringify(stand.listener.heard().at(-1))}`,
    );
    return undefined;
  },
});

const resolving: readonly Attack[] = [
  name("120 names that never resolve", 120, (at) => `https://n${at}.never.test/`, 4_000, true),
  name("10 names of an address to which no route leads", 10, (at) => `https://n${at}.unreachable.test/`, 1_500, true),
  name("40 names that resolve after four seconds", 40, (at) => `https://n${at}.slow.test/`),
  name("40 names whose server is broken", 40, (at) => `https://n${at}.broken.test/`),
  name("40 names that do not exist", 40, (at) => `https://n${at}.absent.test/`),
  name("20 names with 25 addresses each", 20, (at) => `https://n${at}.many.test/`),
  name("names of 253 letters", 10, (at) => `https://${`${"a".repeat(60)}.`.repeat(3)}n${at}.never.test/`),
  name("names that are no names", 10, (at) => `https://${"-".repeat(40)}${at}..test/`),
];

const forbidden: readonly Attack[] = [
  inside("a name of this machine", "https://x.loopback.test:PORT/"),
  inside("a name of the cloud's metadata", "https://x.metadata.test/"),
  inside("a name of a platform's own address", "https://x.platform.test/"),
  inside("a name of a private network", "https://x.private.test/"),
  inside("a name of nowhere", "https://x.unspecified.test:PORT/"),
  inside("a name of a carrier's network", "https://x.shared.test/"),
  inside("a name of a public and this machine's address", "https://x.mixed.test:PORT/"),
  inside("a name that changes its mind", "https://x.rebinding.test:PORT/"),
  inside("localhost", "https://localhost:PORT/"),
  inside("an address in another form", "https://0x7f000001:PORT/"),
  inside("an address in the sixth version", "https://[::ffff:127.0.0.1]:PORT/"),
  inside("plain HTTP", "http://127.0.0.1:PORT/"),
];

/** `count` listeners at once that answer wrongly. */
const lying = (says: string, path: string, count = 30): Attack => ({
  ...{ class: "dns", name: `listeners that ${says}`, stage: "cluster" },
  run: (stand) => listened(stand, count, (at) => `${stand.listener.url}/${path}/${at}`, 2_500),
});

export const names: readonly Attack[] = [
  ...resolving,
  ...forbidden,
  lying("never answer", "silent"),
  lying("answer without end", "endless", 10),
  lying("send elsewhere", "redirect"),
  lying("stop in the middle", "half"),
  lying("answer four megabytes", "large", 10),
  lying("answer with sixty headers", "headers"),
];
