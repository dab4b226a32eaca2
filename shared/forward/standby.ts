/**
 * Standby: while another controller is at work, nothing of its kinds is written, and that is logged. The check is
 * repeated, so that a controller may come and go while Rekindle runs.
 */
import type { Report } from "../engine/ports.ts";
import { upstreams } from "../kube/upstream-controllers.ts";

/**
 * Returns one line per sign of a controller of an upstream. `thorough`: before anything begins, and while a controller
 * is at work; `lease`: leases and signs from the watches; `workloads`: Deployments and pods, too.
 */
export type Lookout = (upstream: string, how: "thorough" | "workloads" | "lease") => Promise<readonly string[]>;

export type Standby = {
  /** True while nothing of this API group may be written. */
  aside(group: string): boolean;
  stop(): void;
};

export type Asides = {
  readonly look: Lookout;
  /** The API groups of the kinds that this deployment runs. */
  readonly groups: readonly string[];
  readonly everyMs: number;
  readonly report: Report;
  /** Called when another controller has gone: its objects must be looked at again. */
  readonly freed: () => void;
};

/** In one of this many rounds Deployments and pods are checked, too. */
const workloadRounds = 6;

const textOfError = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/**
 * Checks once before anything begins, and throws an error of that check. Then checks periodically; an error of these
 * checks changes nothing.
 */
export const startStandby = async ({ look, groups, everyMs, report, freed }: Asides): Promise<Standby> => {
  const families = upstreams.filter((upstream) => upstream.groups.some((group) => groups.includes(group)));
  const led = new Set<string>();
  const judge = (name: string, signs: readonly string[], began: boolean): void => {
    if (signs.length > 0 && !led.has(name)) {
      led.add(name);
      report("warn", `stands aside: ${signs.join("; ")}; nothing is written for its kinds meanwhile`);
    } else if (signs.length === 0 && led.delete(name)) {
      report("info", `${name} no longer leads: taking over its kinds`);
      if (!began) freed();
    }
  };
  let rounds = 0;
  const round = async (began: boolean): Promise<void> => {
    rounds += 1;
    const usual = rounds % workloadRounds === 0 ? "workloads" : "lease";
    for (const { name } of families) {
      try {
        judge(name, await look(name, began || led.has(name) ? "thorough" : usual), began);
      } catch (cause) {
        if (began) throw cause;
        report("debug", "cannot see whether another controller leads", { upstream: name, error: textOfError(cause) });
      }
    }
  };
  await round(true);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    timer = setTimeout(() => {
      void round(false).then(() => (stopped ? undefined : next()));
    }, everyMs);
  };
  next();
  return {
    aside: (group) => families.some(({ name, groups: own }) => led.has(name) && own.includes(group)),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};
