/**
 * Detects other controllers of the same kinds before anything is written: two controllers would undo each other's
 * work. A sign counts only from a namespace that the settings name, or where an account runs the controller that may
 * write its kind in all namespaces: a tenant can forge any sign in a namespace of its own. While another controller is
 * at work, nothing of its kinds is written, and that is told. The check is repeated, so that a controller may come and
 * go while Rekindle runs.
 */
import * as z from "zod";
import { isRefusal } from "../core/http.ts";
import { jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Projection } from "../core/plan.ts";
import { errorText } from "../core/text.ts";
import type { Cluster, Report } from "../engine/ports.ts";
import { leaseSigns, type Upstream, upstreams } from "../kube/upstream-controllers.ts";
import type { Cursors } from "./cursors.ts";
import { startRounds } from "./pause.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** Where and by which leases other controllers are looked for. */
export type Lookout = {
  /** Namespaces whose signs count, because only administrators write there. */
  readonly namespaces: readonly string[];
  /** Names of leases beside those of the known controllers. */
  readonly leases: readonly string[];
};

export type ControllerSigns = {
  /** One line per sign of another controller. */
  readonly signs: readonly string[];
  /** Resources that could not be read, and why; the absence of signs there proves nothing. */
  readonly blind: readonly string[];
};

type Look = {
  readonly items: readonly Stored[];
  /** The API server's clock at its answer; absent if reading is forbidden. */
  readonly date?: number;
  readonly blind: readonly string[];
};

type Chosen = {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly projecting?: () => Projection;
};

const lookOnce = async (cluster: Cluster, resource: Resource, chosen: Chosen): Promise<Look> => {
  const { name, labels = {}, projecting } = chosen;
  const more = { ...(name && { field: `metadata.name=${name}` }), ...(projecting && { projecting }) };
  try {
    const { value, date } = await cluster.list({ do: "list", resource, namespace: "", labels, ...more });
    return { items: value, date, blind: [] };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    return { items: [], blind: [cause.message] };
  }
};

/**
 * Lists objects in all namespaces, by name or labels if given. A list that is refused twice is reported in `blind`: a
 * missing right lasts, and a single wrong answer must not hide a controller that is at work.
 */
export const lookAt = async (cluster: Cluster, resource: Resource, chosen: Chosen): Promise<Look> => {
  const first = await lookOnce(cluster, resource, chosen);
  return first.blind.length === 0 ? first : await lookOnce(cluster, resource, chosen);
};

/** Keeps of a lease what tells its place and whether it is renewed. */
const outlineOfLease: Projection = ({ apiVersion, kind, metadata, spec }) => {
  const { name, namespace = "", uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, spec };
};

/** Returns the known controller, and one for any holder of the other leases. */
const withNames = (known: Upstream, names: readonly string[]): readonly Upstream[] => {
  const others = names.filter((name) => !upstreams.some((upstream) => upstream.leases.includes(name)));
  return [known, { ...known, name: "another controller", leases: others }];
};

/**
 * Finds signs of an upstream, and of holders of the leases in `lookout`, by leases alone: cheap enough for frequent
 * checks. The API server's clock decides whether a lease is held.
 */
export const findLeaders = async (
  cluster: Cluster,
  upstream: Upstream,
  lookout: Lookout,
): Promise<ControllerSigns & { readonly date: number }> => {
  const all = withNames(upstream, lookout.leases);
  const wanted = [...new Set(all.flatMap((one) => one.leases))];
  const looks = await Promise.all(
    wanted.map((name) => lookAt(cluster, leases, { name, projecting: () => outlineOfLease })),
  );
  const seen = {
    leases: looks.flatMap(({ items }) => items),
    namespaces: lookout.namespaces,
    now: Math.max(...looks.map(({ date = 0 }) => date)),
  };
  return {
    signs: all.flatMap((one) => leaseSigns(one, seen)),
    blind: looks.flatMap(({ blind }) => blind),
    date: seen.now,
  };
};

/** The controllers of kinds in these API groups. */
export const upstreamsOf = (groups: readonly string[]): readonly Upstream[] =>
  upstreams.filter((upstream) => upstream.groups.some((group) => groups.includes(group)));

/** Says what a standby is for, and what ends it. */
export const standbyText = (signs: readonly string[]): string =>
  `standby: ${signs.join("; ")}; Rekindle writes nothing for these kinds meanwhile. Take its work over with \`rekindle migrate\`; set coexist if it looks after other namespaces only; if it is none, remove it, or take its namespace out of controllerNamespaces`;

const texts = z.record(z.string(), z.array(z.string()));

const sighting = z.object({
  /** By the API server's clock, epoch ms. */
  at: z.number(),
  /** Running workloads, by the name of the upstream. */
  signs: texts,
  /** Leases that were held, by the name of the upstream: for people. Steps read the leases themselves. */
  led: texts.default({}),
  /** Namespaces whose leases count beside those of the settings, by the name of the upstream. */
  places: texts.default({}),
});

export type StoredSigns = z.infer<typeof sighting>;

/** The signs of upstreams that are at work, by the name of the upstream. */
export type Standing = ReadonlyMap<string, readonly string[]>;

/** Returns the upstreams that a sighting shows at work. */
export const standingIn = ({ signs, led }: Pick<StoredSigns, "signs" | "led">): Standing => {
  const names = new Set([...Object.keys(led), ...Object.keys(signs)]);
  const all = [...names].map((name) => [name, [...(led[name] ?? []), ...(signs[name] ?? [])]] as const);
  return new Map(all.filter(([, found]) => found.length > 0));
};

/** One line per upstream at work: the standby, and what ends it. */
export const standbyLines = (standing: Standing): readonly string[] => [...standing.values()].map(standbyText);

export type SignStore = {
  /** Undefined if nothing was stored, or the record cannot be read. */
  load(): Promise<StoredSigns | undefined>;
  /**
   * Stores changed signs. In a quiet cluster the record is only renewed now and then, as proof that a function still
   * looks.
   */
  save(seen: StoredSigns): Promise<void>;
};

/** A record that was not renewed for this long, ms, is outdated: no function renews it. */
export const trustedMs = 7_200_000;
const renewedMs = 3_600_000;

/** Returns the text to compare. */
const gistOf = ({ signs, led, places }: StoredSigns): string => JSON.stringify({ signs, led, places });

/** Returns the signs that a cursor holds; undefined if it holds none. */
export const signsIn = (cursor: string | undefined): StoredSigns | undefined =>
  sighting.safeParse(jsonOf(cursor ?? "")).data;

/** Opens the record beside those of the cursors. */
export const openSignStore = (cursors: Cursors, key: Key): SignStore => {
  const load = async (): Promise<StoredSigns | undefined> => signsIn(await cursors.load(key));
  return {
    load,
    save: async (seen) => {
      const kept = await load();
      if (kept !== undefined && gistOf(kept) === gistOf(seen) && seen.at - kept.at < renewedMs) return;
      await cursors.save(key, JSON.stringify(seen));
    },
  };
};

/**
 * Returns one line per sign of a controller of an upstream. `thorough`: leases, Deployments and pods; `lease`: leases
 * alone.
 */
export type FindControllers = (upstream: Upstream, how: "thorough" | "lease") => Promise<readonly string[]>;

export type Standby = {
  /** Returns the signs for which nothing of this API group may be written; empty: there is none. */
  signs(group: string): readonly string[];
  /** Returns the signs for which nothing of the upstream's groups may be written, by its name. */
  all(): Standing;
  /** Begins no other look, and resolves when the one in flight has ended. */
  stop(): Promise<void>;
};

export type StandbyParts = {
  readonly look: FindControllers;
  /** The API groups of the kinds that this deployment runs. */
  readonly groups: readonly string[];
  readonly everyMs: number;
  readonly report: Report;
  /** Called when another controller has gone: its objects must be looked at again. */
  readonly freed: () => void;
};

/** In one of this many rounds Deployments and pods are checked, too. */
const workloadRounds = 6;

/**
 * Checks once before anything begins, and throws an error of that check. Then checks periodically; an error of these
 * checks changes nothing.
 */
export const startStandby = async ({ look, groups, everyMs, report, freed }: StandbyParts): Promise<Standby> => {
  const families = upstreamsOf(groups);
  const led = new Map<string, readonly string[]>();
  const judge = (name: string, signs: readonly string[], began: boolean): void => {
    if (signs.length > 0) {
      if (!led.has(name)) report("warn", standbyText(signs));
      led.set(name, signs);
    } else if (led.delete(name)) {
      report("info", `${name} no longer leads: taking over its kinds`);
      if (!began) freed();
    }
  };
  let rounds = 0;
  const round = async (began: boolean): Promise<void> => {
    rounds += 1;
    const isThorough = began || rounds % workloadRounds === 0;
    for (const upstream of families) {
      const { name } = upstream;
      try {
        judge(name, await look(upstream, isThorough || led.has(name) ? "thorough" : "lease"), began);
      } catch (cause) {
        if (began) throw cause;
        report("debug", "cannot see whether another controller leads", { upstream: name, error: errorText(cause) });
      }
    }
  };
  await round(true);
  const stop = startRounds(async () => {
    await round(false);
    return everyMs;
  }, everyMs);
  return {
    signs: (group) => families.flatMap(({ name, groups: own }) => (own.includes(group) ? (led.get(name) ?? []) : [])),
    all: () => led,
    stop,
  };
};
