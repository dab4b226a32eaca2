/** Watches all applications independently of Rekindle: every driver that existed, every state, every change. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../../cluster/api.ts";

const labels = z.record(z.string(), z.string()).default({});
const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string(), labels }),
      status: z.object({ phase: z.string().default("") }).default({ phase: "" }),
    }),
  ),
});

const applications = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
      status: z
        .object({ applicationState: z.object({ state: z.string() }).optional() })
        .loose()
        .optional(),
    }),
  ),
});

/** A change of an application or its driver, some time after `since` (epoch ms). */
export type Change = { readonly name: string; readonly what: string; readonly since: number };

export type Account = {
  /** UIDs of all driver pods seen so far, by submission id. */
  readonly drivers: Map<string, Set<string>>;
  /** The highest number of unfinished driver pods in one reading. */
  mostAlive: number;
  readonly states: string[];
};

export type Witness = {
  of(name: string): Account;
  changes(): readonly Change[];
  stop(): Promise<void>;
};

export const collection = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

type Look = ReadonlyMap<string, string>;

const everyMs = 150;

/** Compares the descriptions of all objects; an object whose description differs has changed. */
const compared = (before: Look, after: Look, since: number): Change[] => {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].flatMap((id) => {
    if (before.get(id) === after.get(id)) return [];
    const name = id.split(" ")[1] ?? "";
    return [{ name, what: `${id}: ${before.get(id) ?? "absent"} → ${after.get(id) ?? "gone"}`, since }];
  });
};

class Looking implements Witness {
  readonly #api: Api;
  readonly #accounts = new Map<string, Account>();
  readonly #changes: Change[] = [];
  #last: Look = new Map();
  #lastAt = Date.now();
  #stopped = false;
  readonly #loop: Promise<void>;

  constructor(api: Api) {
    this.#api = api;
    this.#loop = this.#run();
  }

  of(name: string): Account {
    const account = this.#accounts.get(name) ?? { drivers: new Map(), mostAlive: 0, states: [] };
    this.#accounts.set(name, account);
    return account;
  }

  changes(): readonly Change[] {
    return this.#changes;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const at = Date.now();
      const seen = new Map([...(await this.#lookAtApplications()), ...(await this.#lookAtDrivers())]);
      this.#changes.push(...compared(this.#last, seen, this.#lastAt));
      this.#last = seen;
      this.#lastAt = at;
      await sleep(everyMs);
    }
  }

  async #lookAtApplications(): Promise<Look> {
    const { body } = await this.#api.call("GET", collection);
    return new Map(
      applications.parse(body).items.map(({ metadata, status }) => {
        const { states } = this.of(metadata.name);
        const state = status?.applicationState?.state ?? "";
        if (state !== "" && states.at(-1) !== state) states.push(state);
        return [`application ${metadata.name} ${metadata.uid}`, metadata.deletionTimestamp ?? "there"];
      }),
    );
  }

  async #lookAtDrivers(): Promise<Look> {
    const selector = encodeURIComponent("spark-role=driver");
    const { body } = await this.#api.call("GET", `/api/v1/namespaces/default/pods?labelSelector=${selector}`);
    const alive = new Map<string, number>();
    const seen = new Map<string, string>();
    for (const { metadata, status } of pods.parse(body).items) {
      const name = metadata.labels["sparkoperator.k8s.io/app-name"] ?? "";
      const id = metadata.labels["sparkoperator.k8s.io/submission-id"] ?? "";
      const { drivers } = this.of(name);
      drivers.set(id, (drivers.get(id) ?? new Set()).add(metadata.uid));
      if (!["Succeeded", "Failed"].includes(status.phase)) alive.set(name, (alive.get(name) ?? 0) + 1);
      seen.set(`driver ${name} ${metadata.uid}`, status.phase);
    }
    for (const [name, count] of alive) this.of(name).mostAlive = Math.max(this.of(name).mostAlive, count);
    return seen;
  }
}

export const observeAll = (api: Api): Witness => new Looking(api);
