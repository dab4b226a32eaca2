/**
 * The part of KEDA and of a Deployment: processes of a worker run while its queue has messages, and are stopped when it
 * had none for a while. It reads the same page of the server's monitoring by the same rules. In a storm it kills them.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { isOpen } from "../../../support/port.ts";
import type { OnDemand } from "../functions/fixture.ts";
import { againMs } from "../functions/storm.ts";

const consumer = z.object({
  name: z.string(),
  num_pending: z.number(),
  num_ack_pending: z.number(),
  delivered: z.object({ consumer_seq: z.number() }),
});
const page = z.object({
  account_details: z.array(
    z.object({
      name: z.string(),
      stream_detail: z
        .array(
          z.object({
            name: z.string(),
            state: z.object({ messages: z.number(), last_seq: z.number() }),
            consumer_detail: z.array(consumer).default([]),
          }),
        )
        .default([]),
    }),
  ),
});

export type Queried = {
  /** Messages that wait, and those that workers hold. */
  readonly lag: number;
  /** Those that workers hold. */
  readonly held: number;
  /** Messages that workers were given. */
  readonly given: number;
  /** Messages that are put aside. */
  readonly dead: number;
};

/** Reads the server's monitoring; undefined: it is away, or there is no such stream. */
export const query = async (
  monitoring: string,
  { account, stream, consumer: name }: { account: string; stream: string; consumer: string },
): Promise<Queried | undefined> => {
  try {
    const answer = await fetch(`${monitoring}/jsz?acc=${account}&consumers=true&config=true`, {
      signal: AbortSignal.timeout(2_000),
    });
    const streams = page.parse(await answer.json()).account_details.flatMap(({ stream_detail: all }) => all);
    const found = streams.find((one) => one.name === stream);
    if (found === undefined) return undefined;
    const dead = streams.find((one) => one.name === `${stream}-dead`)?.state.messages ?? 0;
    const worker = found.consumer_detail.find((one) => one.name === name);
    // Without its consumer, every message that was ever sent counts.
    if (worker === undefined) return { lag: found.state.last_seq, held: 0, given: 0, dead };
    const { num_pending: waiting, num_ack_pending: held, delivered } = worker;
    return { lag: waiting + held, held, given: delivered.consumer_seq, dead };
  } catch {
    return undefined;
  }
};

/** The fields of a ScaledObject. */
export type Rule = {
  readonly pollMs: number;
  readonly cooldownMs: number;
  readonly most: number;
  readonly threshold: number;
  readonly activation: number;
};

/** The time until a process is killed: from its start, or from the moment at which it is ready. */
export type Life = { readonly from: "start" | "ready"; readonly ms: number };

type Options = {
  readonly rule: Rule;
  readonly look: () => Promise<Queried | undefined>;
  /** Starts a process; it listens at this port of 127.0.0.1 when it is ready. */
  readonly begin: () => Promise<{ readonly child: ChildProcess; readonly port: number }>;
  /** The life of a new process; undefined: it is not killed. */
  readonly life: () => Life | undefined;
};

export type Scaled = OnDemand & { readonly stop: () => Promise<void> };

export const scale = ({ rule, look, begin, life }: Options): Scaled => {
  const kills: string[] = [];
  const counts = { started: 0, stopped: 0 };
  const living = new Set<ChildProcess>();
  const leaving = new Set<ChildProcess>();
  let wanted = 0;
  let isOver = false;
  let given = 0;

  const kill = async (child: ChildProcess, from: Life["from"]): Promise<void> => {
    const held = (await look())?.held ?? 0;
    const moment = from === "start" ? "starting" : held > 0 ? "with messages out" : "idle";
    if (!leaving.has(child) && child.kill("SIGKILL")) kills.push(moment);
  };
  /** Kills a process when its life is over. */
  const doom = async (child: ChildProcess, port: number, { from, ms }: Life): Promise<void> => {
    while (from === "ready" && living.has(child) && !(await isOpen(port))) await sleep(50);
    const timer = setTimeout(() => void kill(child, from), ms);
    child.once("exit", () => clearTimeout(timer));
  };
  const start = async (): Promise<void> => {
    const { child, port } = await begin();
    counts.started += 1;
    living.add(child);
    child.once("exit", () => {
      living.delete(child);
      leaving.delete(child);
    });
    const fate = life();
    if (fate !== undefined) void doom(child, port, fate);
  };
  const stop = (child: ChildProcess): void => {
    counts.stopped += 1;
    leaving.add(child);
    child.kill("SIGTERM");
  };
  const asking = async (): Promise<void> => {
    for (let activeAt = performance.now(); !isOver; await sleep(rule.pollMs)) {
      const seen = await look();
      // Without an answer, as many processes run as before.
      if (seen === undefined) continue;
      given = Math.max(given, seen.given);
      if (seen.lag > rule.activation) {
        activeAt = performance.now();
        wanted = Math.max(wanted, 1, Math.min(rule.most, Math.ceil(seen.lag / rule.threshold)));
      } else if (performance.now() - activeAt > rule.cooldownMs) wanted = 0;
    }
  };
  const keeping = async (): Promise<void> => {
    for (; !isOver; await sleep(againMs)) {
      const serving = [...living].filter((child) => !leaving.has(child));
      for (const child of serving.slice(wanted)) stop(child);
      for (let missing = wanted - serving.length; missing > 0 && !isOver; missing -= 1) await start();
    }
  };
  const loops = [asking(), keeping()];
  return {
    kills,
    counts: () => ({ ...counts, running: living.size }),
    taken: async () => `${given} deliveries`,
    stop: async () => {
      isOver = true;
      await Promise.all(loops);
      for (const child of living) child.kill("SIGKILL");
    },
  };
};
