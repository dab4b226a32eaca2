/** `rekindle migrate` without anything more: what is installed, what runs, what will differ, and what stands in the way. */
import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/object.ts";
import { ApiError } from "../../core/errors.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { notServed } from "../failure.ts";
import { kinds } from "../kinds/all.ts";
import type { Session, Tools } from "../tools.ts";
import { loadSaved, type Saved } from "./saved.ts";
import { all, findInstalled, flagsOf, type Installed, watchedBy } from "./upstream.ts";

export type Report = {
  readonly installed: Installed;
  readonly watched: readonly string[];
  readonly saved: Saved | undefined;
  /** Flags of its controllers, each with what it means here. */
  readonly flags: readonly { readonly flag: string; readonly says: string }[];
  /** Objects by kind and state. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What will be otherwise than it was; each with whom it concerns. */
  readonly differs: readonly string[];
  /** What would be lost or stand still: `--apply` asks for `--force`. */
  readonly blocks: readonly string[];
};

/** Undefined where the kind is not served. */
const objectsOf = async (session: Session, resource: Resource): Promise<readonly Stored[] | undefined> => {
  try {
    return await all(session, resource);
  } catch (cause) {
    if (cause instanceof ApiError && notServed(cause)) return undefined;
    throw cause;
  }
};

const within = (watched: readonly string[], { metadata }: Stored): boolean =>
  watched.length === 0 || watched.includes(metadata.namespace ?? "");

const someOf = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;

/** The same words of several objects as one line. */
const gathered = (lines: readonly { readonly says: string; readonly of: string }[]): readonly string[] => {
  const names = new Map<string, string[]>();
  for (const { says, of } of lines) names.set(says, [...(names.get(says) ?? []), of]);
  return [...names].map(([says, of]) => `${someOf(of)}: ${says}`);
};

/** What the next submissions of unfinished and new applications would be like. */
const forecasts = async (tools: Tools, objects: readonly Stored[]) => {
  const [spark] = kinds;
  const open = objects.filter((object) => spark.standingOf(object).ended === undefined);
  const seen = await Promise.all(
    open.map(async (object) => ({
      of: `${object.metadata.namespace}/${object.metadata.name}`,
      ...(await tools.forecast(object)),
    })),
  );
  return {
    refused: seen.flatMap(({ of, refused }) => (refused === undefined ? [] : [{ of, says: refused }])),
    notes: seen.flatMap(({ of, notes }) => notes.map((says) => ({ of, says }))),
  };
};

const statesOf = (kind: (typeof kinds)[number], objects: readonly Stored[]): Readonly<Record<string, number>> => {
  const states: Record<string, number> = {};
  for (const object of objects) {
    const { state } = kind.standingOf(object);
    states[state] = (states[state] ?? 0) + 1;
  }
  return states;
};

const versions = z.looseObject({
  spec: z.looseObject({ versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })) }),
});

const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
};

/** What is wrong with the definitions that are there. */
const wrongDefinitions = async (session: Session): Promise<readonly string[]> => {
  const found = new Map((await all(session, definitions)).map((object) => [object.metadata.name, object]));
  const missing = found.has(`${checkpointResource.plural}.${checkpointResource.group}`)
    ? []
    : [
        "Rekindle is not installed here: rekindle manifests --without-crds sparkoperator.k8s.io | kubectl apply --server-side -f -",
      ];
  const [spark] = kinds;
  const { plural, group, version } = spark.resource;
  const own = found.get(`${plural}.${group}`);
  if (own === undefined) return [...missing, `the CRD ${plural}.${group} is not there`];
  const served = (versions.safeParse(own).data?.spec.versions ?? [])
    .filter((one) => one.served)
    .map(({ name }) => name);
  if (served.includes(version)) return missing;
  return [...missing, `the CRD ${plural}.${group} serves ${served.join(", ")}, and ${version} is needed`];
};

/** What somebody else would put back as it was. */
const keepers = ({ workloads, hooks }: Installed): readonly string[] => {
  const objects = [...workloads.map(({ object }) => object), ...hooks.map(({ object }) => object)];
  const argo = objects.some(({ metadata: { annotations = {}, labels = {} } }) =>
    [...Object.keys(annotations), ...Object.keys(labels)].some((key) => key.startsWith("argocd.argoproj.io/")),
  );
  const flux = objects.some(({ metadata: { labels = {} } }) =>
    Object.keys(labels).some((key) => /^(helm|kustomize)\.toolkit\.fluxcd\.io\//.test(key)),
  );
  return [
    ...(argo ? ["Argo CD looks after this installation: stop its self-healing, or it brings upstream back"] : []),
    ...(flux ? ["Flux looks after this installation: suspend it, or it brings upstream back"] : []),
  ];
};

const flagViews = async (tools: Tools, { workloads }: Installed) => {
  const flags = workloads.filter(({ part }) => part === "controller").flatMap(({ args }) => flagsOf(args));
  return await Promise.all([...new Set(flags)].map(async (flag) => ({ flag, ...(await tools.flag(flag)) })));
};

/** Looks at everything; nothing is written. */
export const examine = async (session: Session, tools: Tools): Promise<Report> => {
  const installed = await findInstalled(session);
  const saved = (await loadSaved(session))?.saved;
  const watched = saved?.watched ?? watchedBy(installed);
  const objects: Record<string, Readonly<Record<string, number>>> = {};
  const still: string[] = [];
  let applications: readonly Stored[] = [];
  const runs = await tools.runs();
  for (const kind of kinds) {
    const mine = ((await objectsOf(session, kind.resource)) ?? []).filter((object) => within(watched, object));
    if (mine.length > 0) objects[kind.resource.kind] = statesOf(kind, mine);
    if (kind === kinds[0]) applications = mine;
    if (mine.length > 0 && !runs.includes(kind.resource.kind))
      still.push(`${mine.length} ${kind.resource.plural} would stand still: this version does not run them`);
  }
  const { refused, notes } = await forecasts(tools, applications);
  const flags = await flagViews(tools, installed);
  const unknown = flags.flatMap(({ is, says }) => (is === "refused" ? [says] : []));
  return {
    installed,
    watched,
    saved,
    flags,
    objects,
    differs: [...gathered(notes), ...keepers(installed)],
    blocks: [...(await wrongDefinitions(session)), ...still, ...unknown, ...gathered(refused)],
  };
};
