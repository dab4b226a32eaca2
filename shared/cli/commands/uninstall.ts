/** `rekindle uninstall`: finds the objects of `manifests`, prints which go and which stay, and deletes them. */

import type { Command } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { isRecord } from "../../core/json.ts";
import { type Ref, type Resource, refText, type Stored } from "../../core/object.ts";
import { counted } from "../../core/text.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { everyKind } from "../../inspection/kinds/all.ts";
import { ofDrivers, ourLabels } from "../../installation/roles.ts";
import {
  admissionPolicies,
  configMaps,
  mutatingWebhooks,
  networkPolicies,
  policyBindings,
  secrets,
  services,
  validatingWebhooks,
} from "../../kube/resources.ts";
import { connected, onCluster } from "../io/options.ts";
import type { ServerChoice, Tools } from "../io/tools.ts";

const rbac = (plural: string, kind: string): Resource => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural,
  kind,
});

const namespaces: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace" };
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
};

/** In the order of deletion: Deployments, then their configuration, then their rights, then namespaces and CRDs. */
const made: readonly Resource[] = [
  { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" },
  mutatingWebhooks,
  validatingWebhooks,
  policyBindings,
  admissionPolicies,
  services,
  networkPolicies,
  { group: "monitoring.coreos.com", version: "v1", plural: "podmonitors", kind: "PodMonitor" },
  secrets,
  configMaps,
  rbac("clusterrolebindings", "ClusterRoleBinding"),
  rbac("rolebindings", "RoleBinding"),
  rbac("clusterroles", "ClusterRole"),
  rbac("roles", "Role"),
  { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount" },
  namespaces,
  definitions,
];

const selector = `app.kubernetes.io/managed-by=${ourLabels["app.kubernetes.io/managed-by"]}`;

export type Piece = { readonly ref: Ref; readonly uid: string };
export type Removal = {
  readonly goes: readonly Piece[];
  readonly stays: readonly { readonly piece: Piece; readonly why: string }[];
};

const pieceOf = (resource: Resource, { metadata }: Stored): Piece => ({
  ref: {
    resource,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  },
  uid: metadata.uid,
});

/** The resource that a definition defines, in the version that it stores. */
const definedBy = (definition: Stored): Resource | undefined => {
  const { spec } = definition;
  if (!isRecord(spec) || !isRecord(spec["names"])) return undefined;
  const versions = Array.isArray(spec["versions"]) ? spec["versions"].filter(isRecord) : [];
  const version = versions.find((each) => each["storage"] === true)?.["name"];
  const { plural, kind } = spec["names"];
  const texts = [spec["group"], version, plural, kind].filter((text) => typeof text === "string");
  const [group = "", stored = "", many = "", one = ""] = texts;
  return texts.length === 4 ? { group, version: stored, plural: many, kind: one } : undefined;
};

/** True when there is at least one object. */
const hasAny = async ({ transport }: Session, resource: Resource, namespace = ""): Promise<boolean> => {
  try {
    for await (const page of pages(transport, { resource, namespace, limit: 1 })) return page.items.length > 0;
    return false;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return false;
    throw cause;
  }
};

const component = "app.kubernetes.io/component";

/** The namespace whose applications need this object; undefined: no application does. */
const holds = (resource: Resource, { metadata }: Stored): string | undefined => {
  if (resource === namespaces) return metadata.name;
  return metadata.labels?.[component] === ofDrivers[component] ? metadata.namespace : undefined;
};

/** The reason why an object stays; undefined: it is deleted. */
const reasonToStay = async (session: Session, resource: Resource, object: Stored): Promise<string | undefined> => {
  if (resource === definitions) {
    const defined = definedBy(object);
    const used = defined !== undefined && (await hasAny(session, defined));
    return used ? `there are ${defined.plural}; --crds removes it and them` : undefined;
  }
  const within = holds(resource, object);
  if (within === undefined) return undefined;
  for (const kind of everyKind) {
    if (await hasAny(session, kind.resource, within)) return `there are ${kind.resource.plural} in namespace ${within}`;
  }
  return undefined;
};

/** Lists the installation's objects of a resource; none where the server is too old to serve it. */
async function* served({ transport }: Session, resource: Resource): ReturnType<typeof pages> {
  try {
    yield* pages(transport, { resource, selector });
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 404) throw cause;
  }
}

/** Lists the objects that an uninstallation would delete and keep; `withObjects` keeps none. */
const removalOf = async (session: Session, withObjects: boolean): Promise<Removal> => {
  const goes: Piece[] = [];
  const stays: { piece: Piece; why: string }[] = [];
  for (const resource of made) {
    for await (const page of served(session, resource)) {
      for (const object of page.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
        const why = withObjects ? undefined : await reasonToStay(session, resource, object);
        const piece = pieceOf(resource, object);
        if (why === undefined) goes.push(piece);
        else stays.push({ piece, why });
      }
    }
  }
  return { goes, stays };
};

const removalText = ({ goes, stays }: Removal): string =>
  [
    ...goes.map(({ ref }) => `remove  ${refText(ref)}`),
    ...stays.map(({ piece, why }) => `keep    ${refText(piece.ref)}: ${why}`),
  ].join("\n");

/** Deletes the objects one after the other, each by its UID: an object that was created anew stays. */
const removeAll = async ({ transport }: Session, { goes }: Removal): Promise<void> => {
  const cluster = openCluster(transport);
  for (const { ref, uid } of goes) await cluster.remove(ref, { uid });
};

export const uninstall = (tools: Tools): Command =>
  onCluster("uninstall")
    .option("--crds", "also remove the CRDs, and with them all objects of these kinds")
    .option("--yes", "skip the question")
    .action((options: ServerChoice & { readonly crds?: boolean; readonly yes?: boolean }) =>
      connected(tools, options, async (session) => {
        const removal = await removalOf(session, options.crds === true);
        tools.print(removalText(removal) || "nothing of Rekindle is installed here");
        if (removal.goes.length === 0) return;
        const question = `Remove ${counted(removal.goes.length, "object")} from ${session.context ?? session.server}?`;
        if (options.yes !== true && !(await tools.confirm(question)))
          throw new Refused("nothing was removed (--yes skips the question)");
        await removeAll(session, removal);
        tools.print(`removed ${counted(removal.goes.length, "object")}`);
      }),
    );
