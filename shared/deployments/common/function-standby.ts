/**
 * Standby in functions, which are too short-lived to watch leases. A step reads the leases, and the result holds for
 * `ageMs`. Other signs of a controller come from the record that all functions share, read at a cold start and every
 * `rereadMs`. For that time, and one step more, both may write after another controller begins to work.
 */
import type { Operator } from "../../core/operator.ts";
import type { Cluster, Report } from "../../engine/ports.ts";
import { findLeaders, type Sighting, signsIn, trustedMs } from "../../forward/controller-detection.ts";
import { upstreams } from "../../kube/upstream-controllers.ts";
import type { Sighter } from "./controller-detection.ts";

type Settings = {
  readonly cluster: Cluster;
  /** Names of leader leases; empty: no detection. */
  readonly leases: readonly string[];
  readonly operators: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  readonly report: Report;
  /** Finds signs of a controller other than its lease; absent: leases alone count. */
  readonly sighter?: Sighter;
  /** True: this function looks itself, which renews the record for others; absent: it reads the record. */
  readonly looks?: boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
};

export type FunctionStandby = {
  /** True while nothing of this kind may be written. Throws where the server cannot be read. */
  aside(kind: string): Promise<boolean>;
};

const ageMs = 10_000;
const rereadMs = 30_000;

/**
 * Returns the stored sighting, or looks where it is missing or older than `trustedMs`. `date`: the API server's clock,
 * epoch ms.
 */
const sighted = async ({ sightings, look }: Sighter, date: number): Promise<Sighting> => {
  const kept = await sightings.load();
  return kept !== undefined && Math.abs(date - kept.at) < trustedMs ? kept : await look();
};

export const openStandby = (settings: Settings): FunctionStandby => {
  const { cluster, leases, operators, report, sighter, looks = false, now } = settings;
  const groupOf = new Map(operators.map(({ kind, resource, family }) => [kind, family ?? resource.group]));
  const groups = new Set(groupOf.values());
  const families = upstreams.filter((upstream) => upstream.groups.some((group) => groups.has(group)));
  const reported = new Set<string>();
  const tell = (line: string): void => {
    if (!reported.has(line)) report("warn", line);
    reported.add(line);
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
