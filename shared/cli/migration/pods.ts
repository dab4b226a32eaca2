/**
 * What Volcano's webhook server writes into new pods: the settings of resource groups, and the gate of queue admission.
 * Nobody writes them while it is away, so the report of a migration tells them.
 */
import { parseDocument } from "yaml";
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError } from "../../core/errors.ts";
import { configMaps } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Session } from "../tools.ts";
import { flagIn } from "./flags.ts";
import type { Report } from "./report.ts";
import type { Installed, Stoppable } from "./upstream.ts";

type Words = Pick<Report, "differs" | "blocks">;

const texts = z.array(z.string()).nullish();

const configuration = z.looseObject({
  resourceGroups: z
    .array(
      z.looseObject({
        resourceGroup: z.string().default(""),
        object: z.looseObject({ key: z.string().nullish(), value: texts }).nullish(),
      }),
    )
    .nullish(),
});

type Group = NonNullable<z.infer<typeof configuration>["resourceGroups"]>[number];

const podTemplate = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        volumes: z.array(z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() })).default([]),
      }),
    }),
  }),
});

const fields = ["schedulerName", "labels", "affinity", "tolerations"] as const;

/** Its labels are written as a node selector. */
const writtenBy = (group: Group): string =>
  fields
    .filter((field) => group[field] != null && group[field] !== "")
    .map((field) => (field === "labels" ? "nodeSelector" : field))
    .join(", ") || "nothing";

const chosenBy = ({ object, resourceGroup }: Group): string => {
  const values = (object?.value ?? []).map((value) => value.trim()).join(", ");
  if (object?.key === "namespace") return `of the namespaces ${values}`;
  return values === "" ? `annotated volcano.sh/resource-group: ${resourceGroup}` : `annotated ${values}`;
};

const groupSaying = (group: Group): string =>
  `its resource group ${group.resourceGroup} writes ${writtenBy(group)} into pods ${chosenBy(group)}, and nothing does so without its webhook server: write them into the pods' templates, or by a MutatingAdmissionPolicy, and say --force`;

const unread = (where: string, why: string): string =>
  `its resource groups cannot be read (${where}: ${why}): where there are some, their pods get no scheduler, nodeSelector, affinity and tolerations of them any more; see --admission-conf, and say --force`;

const readGroups = (text: string, where: string): readonly string[] => {
  const document = parseDocument(text);
  const parsed = configuration.safeParse(document.errors.length > 0 ? undefined : (document.toJS() ?? {}));
  return parsed.success ? (parsed.data.resourceGroups ?? []).map(groupSaying) : [unread(where, "it has another form")];
};

/** The file is mounted from one of the ConfigMaps of its pods, under its own name. */
const groupsOf = async (session: Session, server: Stoppable): Promise<readonly string[]> => {
  const path = flagIn(server.args, "admission-conf") ?? "";
  if (path === "") return [];
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
    return [unread(path, cause.message)];
  }
  return [unread(path, "no ConfigMap of its pods holds it")];
};

const gate = "scheduling.volcano.sh/queue-allocation-gate";

const isGating = ({ args }: Stoppable): boolean =>
  (flagIn(args, "feature-gates") ?? "")
    .split(",")
    .some((one) => one.trim().toLowerCase() === "schedulinggatesqueueadmission=true");

const gateSaying = `pods annotated ${gate}: "true" get no gate any more, so an autoscaler sees those that their queue holds back; the queue holds them back all the same. To keep it, write schedulingGates: [{name: ${gate}}] beside the annotation into their templates: Volcano's scheduler takes it away`;

const mutates = ({ args }: Stoppable): boolean =>
  (flagIn(args, "enabled-admission") ?? "/pods/mutate").split(",").some((path) => path.trim() === "/pods/mutate");

/** Of an installation without such a server, nothing. */
export const podWordsOf = async (session: Session, { workloads }: Installed): Promise<Words> => {
  const servers = workloads.filter((one) => one.part === "webhook" && one.replicas > 0 && mutates(one));
  const groups = await Promise.all(servers.map((server) => groupsOf(session, server)));
  return { differs: servers.some(isGating) ? [gateSaying] : [], blocks: [...new Set(groups.flat())] };
};
