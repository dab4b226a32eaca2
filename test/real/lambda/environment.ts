/**
 * One execution environment: it takes one invocation at a time, is frozen between two, and is killed by its fate or its
 * timeout.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { arnOf, type Definition } from "./definition.ts";
import type { Fate } from "./fates.ts";
import type { Ended, Kill, Ledger } from "./ledger.ts";
import { type Program, startProgram } from "./process.ts";
import { openRuntime, type Reply, type Runtime } from "./runtime.ts";

/** `body` is the JSON that the function answered with, or its error. */
export type Outcome = { readonly ended: Ended; readonly body: string };

export type Environment = {
  invoke(event: string, fate: Fate): Promise<Outcome>;
  isGone(): boolean;
  end(): Promise<void>;
};

export type Site = {
  /** Path of the real runtime interface client. */
  readonly client: string;
  readonly definition: Definition;
  readonly ledger: Ledger;
  /** Number of this environment among those of its function. */
  readonly stream: number;
};

/**
 * Schedules the fate of one invocation: a kill in the middle, a stall, the function's timeout. The caller aborts it
 * afterwards.
 */
const fulfil = (
  program: Program,
  fate: Fate,
  timeoutMs: number,
  kill: (when: Kill["when"]) => void,
): AbortController => {
  const over = new AbortController();
  const at = async (ms: number, act: () => void): Promise<void> => {
    try {
      await sleep(ms, undefined, { signal: over.signal });
      act();
    } catch {
      // The invocation ended before.
    }
  };
  at(timeoutMs, () => kill("time"));
  if (fate.do === "kill" && fate.when === "middle") at(fate.afterMs, () => kill("middle"));
  if (fate.do === "stall") {
    at(fate.afterMs, () => {
      program.freeze();
      at(fate.forMs, program.thaw);
    });
  }
  return over;
};

/** A killed environment has answered nothing, even if its answer was under way. */
const outcomeOf = (reply: Reply | undefined, killed: Kill["when"] | undefined): Outcome => {
  if (killed === "time") return { ended: "timed out", body: "" };
  if (reply === undefined || killed !== undefined) return { ended: "died", body: "" };
  return { ended: reply.did === "answer" ? "answered" : "failed", body: reply.body };
};

class Box implements Environment {
  readonly #site: Site;
  readonly #runtime: Runtime;
  readonly #program: Program;
  #initMs: number | undefined;
  #cpuMs = 0;

  constructor(site: Site, runtime: Runtime, program: Program, initMs: number) {
    this.#site = site;
    this.#runtime = runtime;
    this.#program = program;
    this.#initMs = initMs;
  }

  isGone(): boolean {
    return this.#program.isGone();
  }

  async end(): Promise<void> {
    this.#program.kill();
    await this.#program.gone;
    this.#runtime.close();
  }

  async invoke(event: string, fate: Fate): Promise<Outcome> {
    const [at, began] = [Date.now(), performance.now()];
    let killed: Kill["when"] | undefined;
    const kill = (when: Kill["when"]): void => {
      killed = when;
      this.#site.ledger.killed({ name: this.#site.definition.name, when });
      this.#program.kill();
    };
    const when = fate.do === "kill" ? fate.when : undefined;
    if (when === "before") kill(when);
    const reply = when === "before" ? undefined : await this.#take(event, fate, kill);
    const durationMs = performance.now() - began;
    if (when === "after" && reply !== undefined) kill(when);
    const outcome = outcomeOf(reply, killed);
    await this.#rest();
    this.#enter(outcome.ended, at, durationMs);
    if (when === "idle" && reply !== undefined) kill(when);
    if (killed !== undefined) await this.end();
    return outcome;
  }

  /** Returns undefined if the environment was killed during the invocation. */
  async #take(event: string, fate: Fate, kill: (when: Kill["when"]) => void): Promise<Reply | undefined> {
    const { name, timeoutMs } = this.#site.definition;
    const deadline = Date.now() + timeoutMs;
    this.#program.thaw();
    if (fate.do === "stall") this.#site.ledger.stalled(name);
    const reply = this.#runtime.hand({ id: randomUUID(), event, deadline, arn: arnOf("lambda", `function:${name}`) });
    const over = fulfil(this.#program, fate, timeoutMs, kill);
    try {
      return await Promise.race([reply, this.#program.gone.then(() => undefined)]);
    } finally {
      over.abort();
      // An environment that is stopped between its answer and the next request would never send that request.
      this.#program.thaw();
    }
  }

  /**
   * Freezes the environment as soon as it asks for the next invocation, as Lambda does: timers and sockets of the
   * function stop.
   */
  async #rest(): Promise<void> {
    await Promise.race([this.#runtime.asking(), this.#program.gone]);
    this.#program.freeze();
  }

  #enter(ended: Ended, at: number, durationMs: number): void {
    const { definition, ledger } = this.#site;
    const usage = this.#program.usage();
    const init = this.#initMs === undefined ? {} : { initMs: this.#initMs };
    const used = usage === undefined ? {} : { cpuMs: usage.cpuMs - this.#cpuMs, peakMb: usage.peakMb };
    const { name, memoryMb } = definition;
    ledger.enter({ name, ended, at, durationMs, memoryMb, ...init, ...used });
    this.#initMs = undefined;
    this.#cpuMs = usage?.cpuMs ?? 0;
  }
}

/** Resolves when the client asks for its first invocation; rejects with its error when it cannot start. */
export const startEnvironment = async (site: Site): Promise<Environment> => {
  const began = performance.now();
  const runtime = await openRuntime();
  const program = startProgram(site.client, site.definition, runtime.address, site.stream);
  const early = program.gone.then(() => {
    throw new Error(`${site.definition.name} ended before it asked for work: see its log`);
  });
  try {
    await Promise.race([runtime.asking(), early]);
  } catch (cause) {
    program.kill();
    runtime.close();
    throw cause;
  } finally {
    early.catch(() => {});
  }
  return new Box(site, runtime, program, performance.now() - began);
};
