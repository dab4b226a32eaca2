/**
 * Changes of new pods by Volcano's webhook server: the settings of resource groups, and the gate of queue admission.
 * Rekindle's admission writes the same; the report names its flags, and tells whether a resource group is in force yet.
 */
import { parseDocument } from "yaml";
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError } from "../../core/errors.ts";
import { podsWrittenTo } from "../../kube/pod-rules.ts";
import { type ResourceGroup, resourceGroups } from "../../kube/resource-groups.ts";
import { configMaps, mutatingWebhooks } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";
import { registered } from "../installation/webhooks.ts";
import type { Session } from "../io/tools.ts";
import { flagIn } from "./flags.ts";
import type { Installed, Stoppable } from "./upstream.ts";

/** See `Report`: what will be otherwise, and what is in the way. */
type Words = { readonly differs: readonly string[]; readonly blocks: readonly string[] };

const podTemplate = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        volumes: z.array(z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() })).default([]),
      }),
    }),
  }),
});

type Found = { readonly groups: readonly ResourceGroup[]; readonly unread: readonly string[] };

const unread = (where: string, why: string): Found => ({
  groups: [],
  unread: [
    `its resource groups cannot be read (${where}: ${why}): where there are some, their pods get no scheduler, nodeSelector, affinity and tolerations of them any more; see --admission-conf, write them as --admission-resource-groups of rekindle host, and say --force`,
  ],
});

const fields = ["resourceGroup", "object", "schedulerName", "labels", "tolerations", "affinity"] as const;

/** Upstream passes over fields that it does not know. */
const knownOf = (group: unknown): unknown =>
  isRecord(group)
    ? Object.fromEntries(fields.flatMap((name) => (group[name] === undefined ? [] : [[name, group[name]]])))
    : group;

const readGroups = (text: string, where: string): Found => {
  const document = parseDocument(text);
  const read: unknown = document.errors.length > 0 ? undefined : (document.toJS() ?? {});
  if (!isRecord(read)) return unread(where, "it has another form");
  const given = read["resourceGroups"];
  const parsed = resourceGroups.safeParse(Array.isArray(given) ? given.map(knownOf) : given);
  if (parsed.success) return { groups: parsed.data, unread: [] };
  return unread(where, parsed.error.issues.map(({ message }) => `resourceGroups${message}`).join("; "));
};

/** The file is mounted from one of the ConfigMaps of its pods, under its own name. */
const groupsOf = async (session: Session, server: Stoppable): Promise<Found> => {
  const path = flagIn(server.args, "admission-conf") ?? "";
  if (path === "") return { groups: [], unread: [] };
  const file = path.slice(path.lastIndexOf("/") + 1);
  const volumes = podTemplate.safeParse(server.object).data?.spec.template.spec.volumes ?? [];
  const names = volumes.flatMap(({ configMap }) => (configMap === undefined ? [] : [configMap.name]));
  try {
    for (const name of names) {
      const field = `metadata.name=${name}`;
      const query = { do: "list", resource: configMaps, namespace: server.namespace, labels: {}, field } as const;
      const data = (await openCluster(session.transport).list(query)).value[0]?.["data"];
      const text = isRecord(data) ? data[file] : undefined;
      if (typeof text === "string") return readGroups(text, `ConfigMap ${server.namespace}/${name}`);
    }
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return unread(path, cause.message);
  }
  return unread(path, "no ConfigMap of its pods holds it");
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
      `its resource groups (${names}) are written into new pods by its webhook server alone: run rekindle host --admission ${flag}, or deploy the admission function and apply rekindle manifests --admission-url URL ${flag}; or leave them out, and say --force`,
    ],
  };
};

const isGating = ({ args }: Stoppable): boolean =>
  (flagIn(args, "feature-gates") ?? "")
    .split(",")
    .some((one) => one.trim().toLowerCase() === "schedulinggatesqueueadmission=true");

const gateSaying =
  "its gate SchedulingGatesQueueAdmission is --admission-queue-gate of rekindle host --admission: set it when its webhook server is gone, for a pod that both gate is refused; until then autoscalers see pods that their queue holds back. Its scheduler takes the gate away as before";

const mutates = ({ args }: Stoppable): boolean =>
  (flagIn(args, "enabled-admission") ?? "/pods/mutate").split(",").some((path) => path.trim() === "/pods/mutate");

/** Lines of the report about webhook servers that change pods; none without such a server. */
export const podWordsOf = async (session: Session, { workloads }: Installed): Promise<Words> => {
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
