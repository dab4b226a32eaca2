/**
 * Standing aside in functions, which live too shortly to keep watch: leases are looked at when a step is asked for, and
 * what was seen holds for `ageMs`. So for that long, and a step, both may write after another controller begins to lead.
 */
import type { Operator } from "../core/operator.ts";
import type { Cluster, Report } from "../engine/ports.ts";
import { findLeaders } from "../forward/lookouts.ts";
import { upstreams } from "../kube/upstreams.ts";

type Settings = {
  readonly cluster: Cluster;
  /** Names of leader leases; empty: nobody is looked for. */
  readonly leases: readonly string[];
  readonly operators: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  readonly report: Report;
  /** Ms that only grow. */
  readonly now: () => number;
};

export type FunctionStanding = {
  /** True while nothing of this kind may be written. Throws where the server cannot be asked. */
  aside(kind: string): Promise<boolean>;
};

const ageMs = 10_000;

export const openStanding = ({ cluster, leases, operators, report, now }: Settings): FunctionStanding => {
  const groupOf = new Map(operators.map(({ kind, resource, family }) => [kind, family ?? resource.group]));
  const groups = new Set(groupOf.values());
  const families = upstreams.filter((upstream) => upstream.groups.some((group) => groups.has(group)));
  const told = new Set<string>();
  const tell = (line: string): void => {
    if (!told.has(line)) report("warn", line);
    told.add(line);
  };
  const look = async (): Promise<ReadonlySet<string>> => {
    const led = new Set<string>();
    for (const family of families) {
      const { signs, blind } = await findLeaders(cluster, leases, [family]);
      for (const line of blind) tell(`cannot see whether another controller is alive: ${line}`);
      if (signs.length === 0) continue;
      tell(`stands aside: ${signs.join("; ")}; nothing of its kinds is written while that lasts`);
      for (const group of family.groups) led.add(group);
    }
    return led;
  };
  let known: { readonly led: Promise<ReadonlySet<string>>; readonly at: number } | undefined;
  const ledNow = async (): Promise<ReadonlySet<string>> => {
    if (known === undefined || now() - known.at >= ageMs) known = { led: look(), at: now() };
    const { led } = known;
    return await led.catch((cause: unknown) => {
      if (known?.led === led) known = undefined;
      throw cause;
    });
  };
  return {
    aside: async (kind) => leases.length > 0 && (await ledNow()).has(groupOf.get(kind) ?? ""),
  };
};
