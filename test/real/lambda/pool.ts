/** A function and its environments: an invocation uses a warm environment, or a new one, or waits. */
import type { Definition } from "./definition.ts";
import { type Environment, type Outcome, startEnvironment } from "./environment.ts";
import type { Fates } from "./fates.ts";
import type { Ledger } from "./ledger.ts";

export type Lambda = {
  readonly definition: Definition;
  /** Never rejects: every failure is an outcome. */
  invoke(event: unknown): Promise<Outcome>;
  /** Makes every later invocation start cold: idle environments end at once, busy ones after their invocation. */
  cool(): Promise<void>;
  /** Ends all environments, including busy ones. */
  stop(): Promise<void>;
};

export type House = {
  /** Path of the real runtime interface client. */
  readonly client: string;
  readonly ledger: Ledger;
  /** Called for every invocation, so that a lane can change the fates. */
  readonly fates: () => Fates;
};

class Pool implements Lambda {
  readonly definition: Definition;
  readonly #house: House;
  readonly #idle: Environment[] = [];
  readonly #all = new Set<Environment>();
  readonly #retired = new WeakSet<Environment>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #started = 0;
  #stopped = false;

  constructor(house: House, definition: Definition) {
    this.#house = house;
    this.definition = definition;
  }

  async invoke(event: unknown): Promise<Outcome> {
    await this.#turn();
    try {
      if (this.#stopped) return { ended: "died", body: "" };
      return await this.#run(JSON.stringify(event));
    } catch (cause) {
      // The environment could not start; Lambda reports that as a function's error.
      return { ended: "failed", body: cause instanceof Error ? cause.message : String(cause) };
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async cool(): Promise<void> {
    const idle = this.#idle.splice(0);
    for (const environment of this.#all) this.#retired.add(environment);
    await Promise.all(idle.map((environment) => this.#end(environment)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#all].map((environment) => environment.end()));
  }

  /** Waits for a slot: a function may have `concurrency` environments at once. */
  async #turn(): Promise<void> {
    if (this.#running >= this.definition.concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
  }

  async #run(event: string): Promise<Outcome> {
    const environment = this.#warm() ?? (await this.#start());
    const { name } = this.definition;
    const outcome = await environment.invoke(event, this.#house.fates()(name, this.#house.ledger.typicalMs(name)));
    if (environment.isGone()) this.#all.delete(environment);
    else if (this.#retired.has(environment)) await this.#end(environment);
    else this.#idle.push(environment);
    return outcome;
  }

  async #end(environment: Environment): Promise<void> {
    this.#all.delete(environment);
    await environment.end();
  }

  #warm(): Environment | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (!last.isGone()) return last;
      this.#all.delete(last);
    }
    return undefined;
  }

  async #start(): Promise<Environment> {
    const { client, ledger } = this.#house;
    this.#started += 1;
    const environment = await startEnvironment({
      ...{ client, ledger },
      definition: this.definition,
      stream: this.#started,
    });
    this.#all.add(environment);
    if (this.#stopped) await environment.end();
    return environment;
  }
}

export const deploy = (house: House, definition: Definition): Lambda => new Pool(house, definition);
