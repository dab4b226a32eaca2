/**
 * The report of `rekindle migrate`: the installation, its objects, the differences, and the obstacles; also the
 * changes of new pods by Volcano's webhook server, with the flags by which Rekindle's admission writes the same.
 */

import * as z from "zod";
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { yamlDocuments } from "../../adapters/kubernetes/yaml.ts";
import { isRecord } from "../../core/json.ts";
import { keyKindOf, type Resource, type Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import type { Session } from "../../inspection/io/session.ts";
import { registered } from "../../installation/webhooks.ts";
import { podsWrittenTo } from "../../kube/admission.ts";
import { type ResourceGroup, resourceGroups } from "../../kube/resource-groups.ts";
import { defaultFamilies, families, mutatingWebhooks } from "../../kube/resources.ts";
import type { Tools } from "../io/tools.ts";
import type { CountedKind, Family } from "./families.ts";
import { mountedFile } from "./mounted-file.ts";
import {
  all,
  findInstalled,
  flagIn,
  flagsOf,
  type Installed,
  loadSaved,
  objectsOf,
  type Saved,
  type Stoppable,
  watchedBy,
} from "./upstream.ts";

/** See `Report`: what will be otherwise, and what is in the way. */
type Words = { readonly differs: readonly string[]; readonly blocks: readonly string[] };

type Found = { readonly groups: readonly ResourceGroup[]; readonly unread: readonly string[] };

const unread = (where: string, why: string): Found => ({
  groups: [],
  unread: [
    `its resource groups cannot be read (${where}: ${why}). If there are any, new pods no longer get their scheduler, nodeSelector, affinity and tolerations: copy them from the file of --admission-conf into --admission-resource-groups of rekindle host, and use --force`,
  ],
});

const fields = ["resourceGroup", "object", "schedulerName", "labels", "tolerations", "affinity"] as const;

/** Upstream passes over fields that it does not know. */
const knownOf = (group: unknown): unknown =>
  isRecord(group)
    ? Object.fromEntries(fields.flatMap((name) => (group[name] === undefined ? [] : [[name, group[name]]])))
    : group;

const readGroups = (text: string, where: string): Found => {
  const [document = { value: null }] = yamlDocuments(text);
  const read: unknown = "value" in document ? (document.value ?? {}) : undefined;
  if (!isRecord(read)) return unread(where, "it has another form");
  const given = read["resourceGroups"];
  const parsed = resourceGroups().safeParse(Array.isArray(given) ? given.map(knownOf) : given);
  if (parsed.success) return { groups: parsed.data, unread: [] };
  return unread(where, parsed.error.issues.map(({ message }) => `resourceGroups${message}`).join("; "));
};

/** The resource groups of a server, by the file that its flag names. */
const groupsOf = async (session: Session, server: Stoppable): Promise<Found> => {
  const path = flagIn(server.args, "admission-conf") ?? "";
  if (path === "") return { groups: [], unread: [] };
  const found = await mountedFile(session, server, path.slice(path.lastIndexOf("/") + 1));
  return "unread" in found ? unread(path, found.unread) : readGroups(found.text, found.where);
};

const conditions = z.looseObject({
  webhooks: z.array(z.looseObject({ matchConditions: z.array(z.looseObject({ expression: z.string() })).default([]) })),
});

/** Whether the API server sends the pods of these groups to Rekindle's admission. */
const isWritten = async (session: Session, groups: readonly ResourceGroup[]): Promise<boolean> => {
  const { value } = await openCluster(session.transport).get({ resource: mutatingWebhooks, name: registered });
  const expressions = (conditions.safeParse(value).data?.webhooks ?? []).flatMap(({ matchConditions }) =>
    matchConditions.map(({ expression }) => expression),
  );
  const terms = groups.map((group) => podsWrittenTo({ queueGate: false, groups: [group] }) ?? "");
  return terms.every((term) => expressions.some((expression) => expression.includes(term)));
};

const groupWords = async (session: Session, groups: readonly ResourceGroup[]): Promise<Words> => {
  if (groups.length === 0) return { differs: [], blocks: [] };
  const names = groups.map(({ resourceGroup }) => resourceGroup).join(", ");
  if (await isWritten(session, groups))
    return {
      differs: [`its resource groups (${names}) are written by Rekindle's admission, which has them`],
      blocks: [],
    };
  const flag = `--admission-resource-groups='${JSON.stringify(groups)}'`;
  return {
    differs: [],
    blocks: [
      `its resource groups (${names}) are written into new pods by its webhook server alone: run rekindle host --admission ${flag}, or deploy the admission function and apply rekindle manifests --admission-url URL ${flag}; or use --force to do without them`,
    ],
  };
};

const isGating = ({ args }: Stoppable): boolean =>
  (flagIn(args, "feature-gates") ?? "")
    .split(",")
    .some((one) => one.trim().toLowerCase() === "schedulinggatesqueueadmission=true");

const gateSaying =
  "for its feature gate SchedulingGatesQueueAdmission, a host has --admission --admission-queue-gate. Set it when Volcano's webhook server is gone, because a pod that both gate is refused. Until then autoscalers see pods that wait for their queue. Volcano's scheduler removes the gate as before";

const mutates = ({ args }: Stoppable): boolean =>
  (flagIn(args, "enabled-admission") ?? "/pods/mutate").split(",").some((path) => path.trim() === "/pods/mutate");

/** Lines of the report about webhook servers that change pods; none without such a server. */
const podWordsOf = async (session: Session, { workloads }: Installed): Promise<Words> => {
  const servers = workloads.filter((one) => one.part === "webhook" && one.replicas > 0 && mutates(one));
  const found = await Promise.all(servers.map((server) => groupsOf(session, server)));
  const words = await groupWords(
    session,
    found.flatMap(({ groups }) => groups),
  );
  return {
    differs: [...(servers.some(isGating) ? [gateSaying] : []), ...words.differs],
    blocks: [...new Set(found.flatMap((one) => one.unread)), ...words.blocks],
  };
};

export type Report = {
  readonly family: Family;
  readonly installed: Installed;
  readonly watched: readonly string[];
  readonly saved: Saved | undefined;
  /** Flags of upstream's controllers, each with its meaning for Rekindle. */
  readonly flags: readonly { readonly flag: string; readonly says: string }[];
  /** Objects by kind and state. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Objects of the first kind that have not ended. */
  readonly unfinished: number;
  /** Differences after the migration, each with the objects or settings that it concerns. */
  readonly differs: readonly string[];
  /** Objects and settings that would be lost or stand still: `--apply` asks for `--force`. */
  readonly blocks: readonly string[];
};

const within = (watched: readonly string[], { metadata }: Stored): boolean =>
  watched.length === 0 || watched.includes(metadata.namespace ?? "");

const someOf = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;

/** Merges equal lines about several objects into one. */
const gathered = (lines: readonly Said[]): readonly string[] => {
  const names = new Map<string, string[]>();
  for (const { says, of } of lines) names.set(says, [...(names.get(says) ?? []), of]);
  return [...names].map(([says, of]) => `${someOf(of)}: ${says}`);
};

type Said = { readonly says: string; readonly of: string };

/** Forecasts the objects that have not ended: refusals and notes. */
const forecasts = async (tools: Tools, { isOpen }: CountedKind, objects: readonly Stored[]) => {
  const seen = await Promise.all(
    objects.filter(isOpen).map(async (object) => ({
      of: `${object.metadata.namespace}/${object.metadata.name}`,
      ...(await tools.forecast(object)),
    })),
  );
  return {
    refused: seen.flatMap(({ of, refused }): readonly Said[] => (refused === undefined ? [] : [{ of, says: refused }])),
    notes: seen.flatMap(({ of, notes }): readonly Said[] => notes.map((says) => ({ of, says }))),
  };
};

const statesOf = ({ stateOf }: CountedKind, objects: readonly Stored[]): Readonly<Record<string, number>> => {
  const states: Record<string, number> = {};
  for (const object of objects) states[stateOf(object)] = (states[stateOf(object)] ?? 0) + 1;
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

/** Lists the problems of the installed CRDs. */
const wrongDefinitions = async (session: Session, { kinds, upstream }: Family): Promise<readonly string[]> => {
  const found = new Map((await all(session, definitions)).map((object) => [object.metadata.name, object]));
  const missing = found.has(`${checkpointResource.plural}.${checkpointResource.group}`)
    ? []
    : [
        `Rekindle is not installed here: rekindle manifests --without-crds ${upstream.groups.join(",")} | kubectl apply --server-side -f -`,
      ];
  const { plural, group, version } = kinds[0].resource;
  const own = found.get(`${plural}.${group}`);
  if (own === undefined) return [...missing, `the CRD ${plural}.${group} is not there`];
  const served = (versions.safeParse(own).data?.spec.versions ?? [])
    .filter((one) => one.served)
    .map(({ name }) => name);
  if (served.includes(version)) return missing;
  return [...missing, `the CRD ${plural}.${group} serves ${served.join(", ")}, and ${version} is needed`];
};

/** Lines about tools (Argo CD, Flux, Helm) that would restore upstream's objects. */
const keepers = ({ workloads, hooks }: Installed): readonly string[] => {
  const objects = [...workloads.map(({ object }) => object), ...hooks.map(({ object }) => object)];
  const argo = objects.some(({ metadata: { annotations = {}, labels = {} } }) =>
    [...Object.keys(annotations), ...Object.keys(labels)].some((key) => key.startsWith("argocd.argoproj.io/")),
  );
  const flux = objects.some(({ metadata: { labels = {} } }) =>
    Object.keys(labels).some((key) => /^(helm|kustomize)\.toolkit\.fluxcd\.io\//.test(key)),
  );
  const releases = new Set(
    objects.flatMap(({ metadata: { annotations } }) => annotations?.["meta.helm.sh/release-name"] ?? []),
  );
  return [
    ...(argo ? ["Argo CD manages this installation: turn off its self-healing, or it installs upstream again"] : []),
    ...(flux ? ["Flux manages this installation: suspend it, or it installs upstream again"] : []),
    ...[...releases].map(
      (name) => `Helm's release ${name} made this installation: an upgrade of it installs upstream again`,
    ),
  ];
};

const placeOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/** Lines about the scheduler, which stays, and about the hosts' part in the admission of PodGroups. */
const schedulingOf = ({ family, schedulers, scheduling }: Installed): Pick<Report, "differs" | "blocks"> => {
  if (family.scheduler === undefined) return { differs: [], blocks: [] };
  const names = schedulers.filter(({ replicas }) => replicas > 0).map(placeOf);
  const stays = names.join(", ") || "its scheduler";
  if (scheduling !== undefined)
    return { differs: [`${stays} stays, and admits groups of pods: its lease ${scheduling} is renewed`], blocks: [] };
  if (names.length === 0)
    return { differs: ["Rekindle has no scheduler: its hosts admit groups of pods instead"], blocks: [] };
  const lacks = `${stays} renews none of the leases ${family.scheduler.leases.join(", ")}`;
  if (schedulers.some(({ available }) => available > 0))
    return {
      differs: [
        `${stays} stays, and admits groups of pods: it elects no leader, so hosts know it by its Ready pods and by what it writes`,
      ],
      blocks: [],
    };
  const saying = `${lacks}, and no pod of it is Ready: hosts would admit groups beside it when it comes back. Start hosts with --gang=scheduler, and use --force`;
  return { differs: [], blocks: [saying] };
};

/** The most Deployments that a line names. */
const mostNamed = 3;

/** A line about Deployments that anybody may have made: the migration leaves them alone, and hosts do not mind them. */
const ignoredOf = ({ family, ignored }: Installed): readonly string[] => {
  if (ignored.length === 0) return [];
  const more = ignored.length > mostNamed ? ` and ${ignored.length - mostNamed} more` : "";
  const names = `${ignored.slice(0, mostNamed).join(", ")}${more}`;
  const { resources } = family.upstream.right;
  return [
    `left alone, because the account may not write ${resources[0]} in all namespaces: ${names}. If an administrator has installed it, add its namespace to the setting controllerNamespaces of hosts, and to REKINDLE_CONTROLLER_NAMESPACES here`,
  ];
};

/** A line about Commands for queues: upstream obeys them in every namespace, hosts where vcctl creates them. */
const commandsOf = ({ family }: Installed): readonly string[] =>
  family.scheduler === undefined
    ? []
    : [
        "commands for queues are obeyed from the namespace default alone, where vcctl makes them: give hosts --queue-command-namespaces for others, or '*' for all",
      ];

/** A line about a family that hosts run only where it is chosen. */
const choiceOf = ({ family: { name } }: Installed): readonly string[] =>
  defaultFamilies.includes(name)
    ? []
    : [
        `hosts run these kinds only where they are chosen: rekindle manifests --family ${families.join(",")}, or rekindle host --families ${families.join(",")}`,
      ];

/** A line about removed webhooks: hosts apply their defaults and rules in `decide`. */
const doorOf = ({ hooks }: Installed): readonly string[] =>
  hooks.length === 0
    ? []
    : [
        `${counted(hooks.length, "webhook configuration")} of it removed: the host applies defaults and rules itself and reports errors on the object; to check manifests when they are applied: rekindle host --admission`,
      ];

const flagViews = async (tools: Tools, { workloads, family }: Installed) => {
  const flags = workloads.filter(({ part }) => part === "controller").flatMap(({ args }) => flagsOf(args));
  return await Promise.all(
    [...new Set(flags)].map(async (flag) => ({ flag, ...(await tools.flag(flag, family.name)) })),
  );
};

type Seen = Pick<Report, "objects" | "unfinished"> & {
  readonly still: readonly string[];
  readonly refused: readonly Said[];
  readonly notes: readonly Said[];
};

/** Reads all objects of the family's kinds in the watched namespaces. */
const looked = async (session: Session, tools: Tools, family: Family, watched: readonly string[]): Promise<Seen> => {
  const runs = await tools.runs();
  const objects: Record<string, Readonly<Record<string, number>>> = {};
  const still: string[] = [];
  const refused: Said[] = [];
  const notes: Said[] = [];
  let unfinished = 0;
  for (const kind of family.kinds) {
    const { resource, isRun, isOpen } = kind;
    const mine = ((await objectsOf(session, resource)) ?? []).filter((object) => within(watched, object));
    if (mine.length > 0) objects[resource.kind] = statesOf(kind, mine);
    if (kind === family.kinds[0]) unfinished = mine.filter(isOpen).length;
    const said = await forecasts(tools, kind, mine);
    refused.push(...said.refused);
    notes.push(...said.notes);
    if (mine.length > 0 && isRun && !runs.includes(keyKindOf(resource)))
      still.push(`${mine.length} ${resource.plural} would stand still: this version does not run them`);
  }
  return { objects, unfinished, still, refused, notes };
};

/** Makes the report of a family. Writes nothing. */
export const examine = async (session: Session, tools: Tools, family: Family): Promise<Report> => {
  const installed = await findInstalled(session, family);
  const saved = (await loadSaved(session, family))?.saved;
  const watched = saved?.watched ?? watchedBy(installed);
  const { objects, unfinished, still, refused, notes } = await looked(session, tools, family, watched);
  const flags = await flagViews(tools, installed);
  const unknown = flags.flatMap(({ is, says }) => (is === "refused" ? [says] : []));
  const scheduling = schedulingOf(installed);
  const ofPods = await podWordsOf(session, installed);
  const wrong = await wrongDefinitions(session, family);
  return {
    ...{ family, installed, watched, saved, flags, objects, unfinished },
    differs: [
      ...choiceOf(installed),
      ...scheduling.differs,
      ...commandsOf(installed),
      ...ofPods.differs,
      ...doorOf(installed),
      ...gathered(notes),
      ...ignoredOf(installed),
      ...keepers(installed),
    ],
    blocks: [
      ...wrong,
      ...installed.unread,
      ...scheduling.blocks,
      ...ofPods.blocks,
      ...still,
      ...unknown,
      ...gathered(refused),
    ],
  };
};
