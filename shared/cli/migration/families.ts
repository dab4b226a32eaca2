/**
 * The installations that a migration can leave and return to: a row per family. Both directions are the same for all
 * families, and know only these rows.
 */
import * as z from "zod";
import { keyKindOf, type Obj, type Resource, type Stored } from "../../core/object.ts";
import { type Upstream, upstreams } from "../../kube/upstream-controllers.ts";
import { inspections } from "../../registry/inspections.ts";
import { kinds } from "../../registry/kinds.ts";
import { states } from "../../registry/states.ts";
import { podGroups } from "../../volcano/schema/resource.ts";

export const familyNames = ["spark", "volcano", "apache"] as const;

export type FamilyName = (typeof familyNames)[number];

/** A kind of which the objects are counted by state. */
export type CountedKind = {
  readonly resource: Resource;
  readonly stateOf: (object: Obj) => string;
  /** True for an object to which something more is to happen: the report forecasts it. */
  readonly isOpen: (object: Obj) => boolean;
  /** By state: the fate of an object that is found in it, as text for people. */
  readonly becomes: Readonly<Record<string, string>>;
  /** Whether the status shows all of the memory that upstream would need. */
  readonly isReported: (memory: unknown, object: Stored) => boolean;
  /** Whether hosts run the kind: with a version that does not, its objects would stand still. */
  readonly isRun: boolean;
};

export type Family = {
  readonly name: FamilyName;
  /** Name for users. */
  readonly title: string;
  readonly upstream: Upstream;
  /** The leader's lease: `usual` is held where none is found; `flags` of controllers may name another. */
  readonly lease: { readonly usual: string; readonly flags: readonly string[] };
  /** Leases of a scheduler of its own, which stays; undefined where there is none. */
  readonly scheduler?: { readonly leases: readonly string[] };
  /** The flag by which its controllers name the namespaces that they watch; `otherwise`: without it; empty or "*": all. */
  readonly watches: { readonly flag: string; readonly otherwise: string };
  /** The file of properties that its controllers have instead of flags, and the beginning of their names; absent: none. */
  readonly properties?: { readonly file: string; readonly prefix: string };
  /** Paths of its webhook server; `near` matches its service's or configuration's name where no Deployment tells where it is. */
  readonly hooks: { readonly path: RegExp; readonly near: RegExp };
  /** The ConfigMap that records the migration. */
  readonly record: { readonly name: string; readonly label: string };
  /** The first kind is the one that users submit. */
  readonly kinds: readonly [CountedKind, ...CountedKind[]];
  /** Kinds that have checkpoints. */
  readonly remembered: readonly string[];
};

const upstreamFor = (group: string): Upstream => {
  const found = upstreams.find(({ groups }) => groups.includes(group));
  if (found === undefined) throw new Error(`no controller of ${group} is known`);
  return found;
};

const stated = z.looseObject({ state: z.string().optional().catch(undefined), phase: z.string().optional() });

/** The state in the status of a kind that people are not shown. */
const plainState = (object: Obj): string => {
  const { state, phase } = stated.safeParse(object.status ?? {}).data ?? {};
  return state || phase || "NEW";
};

/** The kinds of a family that have states. Those with an end have objects that are open until then. */
const countedOf = (family: FamilyName): readonly CountedKind[] =>
  states
    .filter(({ kind }) => kind.family === family)
    .map(({ kind, states: meanings, endsByInspection = false }) => {
      const shown = inspections.find((one) => one.kind === kind);
      const hasEnds = endsByInspection || Object.values(meanings).some(({ ended }) => ended !== undefined);
      return {
        resource: kind.resource,
        stateOf: (object) => shown?.stateOf(object).state ?? plainState(object),
        isOpen: (object) => hasEnds && shown?.stateOf(object).ended === undefined,
        becomes: Object.fromEntries(
          Object.entries(meanings).flatMap(([state, { adopted }]) =>
            adopted === undefined ? [] : [[state === "" ? "NEW" : state, adopted]],
          ),
        ),
        isReported: shown?.isReported ?? (() => true),
        isRun: true,
      };
    });

/** The kinds of a family; the first is the one that users submit. */
const kindsOf = (family: FamilyName, ...others: readonly CountedKind[]): readonly [CountedKind, ...CountedKind[]] => {
  const [first, ...rest] = countedOf(family);
  if (first === undefined) throw new Error(`no kind of ${family} has states`);
  return [first, ...rest, ...others];
};

const rememberedOf = (family: FamilyName): readonly string[] =>
  kinds.filter((kind) => kind.family === family).map(({ resource }) => keyKindOf(resource));

const spark: Family = {
  name: "spark",
  title: "kubeflow's Spark operator",
  upstream: upstreamFor("sparkoperator.k8s.io"),
  lease: { usual: "spark-operator-lock", flags: ["leader-election-lock-name"] },
  watches: { flag: "namespaces", otherwise: "" },
  hooks: { path: /^\/(mutate|validate)-(-v1-pod|sparkoperator-k8s-io-.+)$/, near: /spark/ },
  record: { name: "rekindle-migration", label: "kubeflow-spark-operator" },
  kinds: kindsOf("spark"),
  remembered: rememberedOf("spark"),
};

const volcano: Family = {
  name: "volcano",
  title: "Volcano's controllers",
  upstream: upstreamFor("batch.volcano.sh"),
  lease: { usual: "vc-controller-manager", flags: ["leader-elect-resource-name"] },
  watches: { flag: "namespaces", otherwise: "" },
  scheduler: { leases: ["volcano", "vc-scheduler"] },
  hooks: { path: /\/[a-z]+\/(mutate|validate)$/, near: /volcano/ },
  record: { name: "rekindle-migration-volcano", label: "volcano" },
  // PodGroups belong to their jobs: hosts do not run them.
  kinds: kindsOf("volcano", {
    ...{ resource: podGroups, stateOf: plainState, isOpen: () => false, becomes: {} },
    ...{ isReported: () => true, isRun: false },
  }),
  remembered: rememberedOf("volcano"),
};

const propertyOf = (name: string): string => `spark.kubernetes.operator.${name}`;

/** It has no webhooks, and elects a leader only where it has several replicas. */
const apache: Family = {
  name: "apache",
  title: "Apache's Spark operator",
  upstream: upstreamFor("spark.apache.org"),
  lease: { usual: "spark-operator-lease", flags: [propertyOf("leaderElection.leaseName")] },
  watches: { flag: propertyOf("watchedNamespaces"), otherwise: "default" },
  properties: { file: "spark-operator.properties", prefix: propertyOf("") },
  hooks: { path: /^$/, near: /^$/ },
  record: { name: "rekindle-migration-apache", label: "apache-spark-operator" },
  kinds: kindsOf("apache"),
  remembered: rememberedOf("apache"),
};

/** All families, by their names. */
export const families: Readonly<Record<FamilyName, Family>> = { spark, volcano, apache };
