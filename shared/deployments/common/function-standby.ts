/**
 * Standing aside in functions, which live too shortly to keep watch: leases are looked at when a step is asked for, and
 * what was seen holds for `ageMs`; what shows a controller beside its lease is read from the record that all functions share,
 * at a cold start and every `rereadMs`. So for that long, and a step, both may write after another controller begins to work.
 */
import type { Operator } from "../../core/operator.ts";
import type { Cluster, Report } from "../../engine/ports.ts";
import { findLeaders } from "../../forward/controller-detection.ts";
import { type Sighting, signsIn, trustedMs } from "../../forward/sightings.ts";
import { upstreams } from "../../kube/upstream-controllers.ts";
import type { Sighter } from "./controller-sightings.ts";

type Settings = {
  readonly cluster: Cluster;
  /** Names of leader leases; empty: nobody is looked for. */
  readonly leases: readonly string[];
  readonly operators: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  readonly report: Report;
  /** What shows a controller beside its lease; absent: leases alone count. */
  readonly sighter?: Sighter;
  /** It looks itself, so that others find the record renewed; absent: it reads the record. */
  readonly looks?: boolean;
  /** Ms that only grow. */
  readonly now: () => number;
};

export type FunctionStanding = {
  /** True while nothing of this kind may be written. Throws where the server cannot be asked. */
  aside(kind: string): Promise<boolean>;
};

const ageMs = 10_000;
const rereadMs = 30_000;

/** The record, or what this function sees itself where nobody has looked lately. `date`: the API server's clock. */
const sighted = async ({ sightings, look }: Sighter, date: number): Promise<Sighting> => {
  const kept = await sightings.load();
  return kept !== undefined && Math.abs(date - kept.at) < trustedMs ? kept : await look();
};

export const openStanding = (settings: Settings): FunctionStanding => {
  const { cluster, leases, operators, report, sighter, looks = false, now } = settings;
  const groupOf = new Map(operators.map(({ kind, resource, family }) => [kind, family ?? resource.group]));
  const groups = new Set(groupOf.values());
  const families = upstreams.filter((upstream) => upstream.groups.some((group) => groups.has(group)));
  const told = new Set<string>();
  const tell = (line: string): void => {
    if (!told.has(line)) report("warn", line);
    told.add(line);
  };
  let seen: { readonly sighting: Sighting; readonly at: number } | undefined;
  const seenNow = async (name: string, date: number): Promise<readonly string[]> => {
    if (sighter === undefined) return [];
    if (seen === undefined || now() - seen.at >= rereadMs)
      seen = { sighting: await (looks ? sighter.look() : sighted(sighter, date)), at: now() };
    return signsIn(seen.sighting, name);
  };
  const look = async (): Promise<ReadonlySet<string>> => {
    const led = new Set<string>();
    for (const family of families) {
      const leading = await findLeaders(cluster, leases, [family]);
      for (const line of leading.blind) tell(`cannot see whether another controller is alive: ${line}`);
      const signs = [...leading.signs, ...(await seenNow(family.name, leading.date))];
      if (signs.length === 0) continue;
      tell(`stands aside: ${signs.join("; ")}; nothing is written for its kinds meanwhile`);
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
