/**
 * `rekindle manifests`: the installation as YAML, for `kubectl apply --server-side -f -`, with the rights of each
 * function that does not run within a host. Its flags are kept beside it in a ConfigMap, so that an upgrade prints the
 * same installation again.
 */

import * as z from "zod";
import { pages } from "../adapters/kubernetes/requests.ts";
import { namespaceName, type Obj, type Stored } from "../core/object.ts";
import { yamlText } from "../inspection/io/documents.ts";
import { Refused } from "../inspection/io/refusal.ts";
import type { Session } from "../inspection/io/session.ts";
import type { PodRules } from "../kube/admission.ts";
import type { Places } from "../kube/admission-policy.ts";
import { resourceGroups } from "../kube/resource-groups.ts";
import {
  configMaps,
  defaultFamilies,
  type Family,
  type Feature,
  groupFeatures,
  features as known,
} from "../kube/resources.ts";
import { selectorOf } from "../kube/selector.ts";
import { bellConfiguration } from "./bell.ts";
import { admittingFunctions, functionGrants, functionNames } from "./function-rights.ts";
import { type Installation, namespaceOf, objectsOf } from "./objects.ts";
import { policyObjects } from "./policies.ts";
import { featureRulesOf, ourLabels } from "./roles.ts";
import { webhookConfigurations } from "./webhooks.ts";

type Scope = {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: string | undefined;
  readonly features?: readonly Feature[] | undefined;
};

/** Refuses features of queues where only some namespaces are looked after: queues have none, so no step takes them. */
const checkedFeatures = ({ namespaces = [], namespaceSelector = "", features = [] }: Scope): void => {
  const wanted = features.find((feature) => groupFeatures.includes(feature));
  if (wanted === undefined || namespaces.length === 0 || namespaceSelector !== "") return;
  throw new Refused(
    `--features ${wanted}: groups are admitted in all namespaces together, on the nodes of the whole cluster: choose the namespaces by --namespace-selector, or leave --namespaces out`,
  );
};

/** Refuses invalid names: the API server would report them only after half of the objects are created. */
const checked = (installation: Installation): Installation => {
  const { namespace, namespaces, sparkNamespaces, sparkAccounts, image } = installation;
  const wrong = [namespace, ...namespaces, ...sparkNamespaces, ...sparkAccounts].find(
    (name) => !namespaceName.test(name),
  );
  if (wrong !== undefined)
    throw new Refused(`${JSON.stringify(wrong)} is not a name for Kubernetes: use a-z, 0-9 and -`);
  const { namespaceSelector = "" } = installation;
  if (selectorOf(namespaceSelector) === undefined)
    throw new Refused(`${JSON.stringify(namespaceSelector)} is not a label selector, such as spark=enabled`);
  checkedFeatures(installation);
  if (/^$|\s/.test(image)) throw new Refused(`${JSON.stringify(image)} is not the name of an image`);
  return installation;
};

/** The features of these names. Refuses an unknown name, and a feature that only a family left out needs. */
export const featuresNamed = (
  names: readonly string[],
  chosen: readonly Family[] = defaultFamilies,
): readonly Feature[] =>
  names.map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined) throw new Refused(`--features ${JSON.stringify(name)}: write ${known.join(" or ")}`);
    if (featureRulesOf(found, chosen).length === 0)
      throw new Refused(`--features ${name}: no kind of --family ${chosen.join(",")} needs it`);
    return found;
  });

/** Resource groups as they are typed: the list of Volcano's `volcano-admission.conf`, in JSON. */
const groupsIn = (text: string): PodRules["groups"] => {
  const flag = "--admission-resource-groups";
  try {
    const read = resourceGroups().safeParse(JSON.parse(text));
    if (read.success) return read.data;
    throw new Refused(`${flag}: ${read.error.issues.map(({ message }) => message).join("; ")}`);
  } catch (cause) {
    throw cause instanceof Refused ? cause : new Refused(`${flag}: write JSON`);
  }
};

type PodRuleOptions = {
  readonly admission?: boolean | undefined;
  readonly admissionUrl?: string | undefined;
  readonly admissionQueueGate?: boolean | undefined;
  readonly admissionResourceGroups?: string | undefined;
};

/** The rules by which admission changes pods; refused without admission. */
export const podRulesIn = (options: PodRuleOptions): PodRules => {
  const { admissionQueueGate: queueGate = false, admissionResourceGroups: text } = options;
  const rules = { queueGate, groups: text === undefined ? [] : groupsIn(text) };
  const isServed = options.admission === true || options.admissionUrl !== undefined;
  if (isServed || (!queueGate && text === undefined)) return rules;
  throw new Refused(
    "--admission-queue-gate, --admission-resource-groups: admission does this: add --admission, or --admission-url",
  );
};

const stream = (texts: readonly string[]): string => texts.map((text) => `---\n${text.trimEnd()}\n`).join("");

/** All documents as one YAML stream. `crds` are texts, printed as they are. */
export const manifestsText = (installation: Installation, crds: readonly string[], kept: readonly Obj[] = []): string =>
  stream([...crds, ...[...objectsOf(checked(installation)), ...kept].map(yamlText)]);

/** Definitions alone. */
export const crdsText = (crds: readonly string[]): string => stream(crds);

/** Refuses names together with a label selector: one selector of the API server cannot express both. */
const oneWay = (places: Places): Places => {
  if (places.namespaces.length === 0 || (places.namespaceSelector ?? "") === "") return places;
  throw new Refused(
    "use --namespaces or --namespace-selector, not both: every namespace has the label kubernetes.io/metadata.name, which a selector can name",
  );
};

/** Absent: the default ones. */
type Chosen = { readonly families?: readonly Family[] | undefined };

/** Admission's rules without a webhook. */
export const policiesText = ({ families: chosen = defaultFamilies, ...places }: Places & Chosen): string =>
  stream(policyObjects(oneWay(places), chosen).map(yamlText));

type FunctionsRequest = {
  readonly namespace: string;
  readonly functions: true | readonly string[];
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: string | undefined;
  readonly nodes?: boolean | undefined;
  readonly features?: readonly Feature[] | undefined;
  readonly admission?: boolean | undefined;
} & Chosen;

/** Accounts and roles of functions; `manifestsText` prints those of the host. */
export const functionsText = ({ functions, ...where }: FunctionsRequest, kept: readonly Obj[] = []): string => {
  const wanted = functions === true ? functionNames : functions;
  checkedFeatures(where);
  const place = (where.namespaces ?? []).find((name) => !namespaceName.test(name));
  if (place !== undefined)
    throw new Refused(`${JSON.stringify(place)} is not a name for Kubernetes: use a-z, 0-9 and -`);
  const wrong = wanted.find((name) => !functionNames.includes(name));
  if (wrong !== undefined)
    throw new Refused(`${JSON.stringify(wrong)} is not a function with rights: write ${functionNames.join(", ")}`);
  if (where.admission === true && !wanted.some((name) => admittingFunctions.includes(name)))
    throw new Refused(`--admission: ${admittingFunctions.join(" or ")} serves it: name one of them in --functions`);
  return stream(
    [namespaceOf(where.namespace), ...functionGrants({ ...where, functions: wanted }), ...kept].map(yamlText),
  );
};

/** Refuses an URL that the API server would not call. */
const checkedUrl = (url: string): string => {
  if (url.startsWith("https://") && URL.canParse(url)) return url;
  throw new Refused(`${JSON.stringify(url)} is not an https:// URL`);
};

type BellOptions = Places & Chosen & { readonly nodes?: boolean | undefined };

/** The webhook configuration of the bell at a URL, likewise. */
export const bellText = (
  url: string,
  { families: chosen = defaultFamilies, nodes = false, ...places }: BellOptions,
): string =>
  stream([yamlText(bellConfiguration({ url: checkedUrl(url), families: chosen, nodes, ...oneWay(places) }))]);

/** Webhook configurations for admission at a URL, under a certificate that machines trust anyway. */
export const webhooksText = (
  url: string,
  { families: chosen = defaultFamilies, pods, ...places }: Places & Chosen & Pick<Installation, "pods">,
): string => {
  const reach = { url: checkedUrl(url) };
  return stream(
    webhookConfigurations({ reach, ca: undefined, families: chosen, pods, ...oneWay(places) }).map(yamlText),
  );
};

const mark = "rekindle.dev/installation";

/** Part of an installation: everything for a host, or accounts and roles of functions. */
export type Part = "host" | "functions";

type Flags = { readonly part: Part; readonly namespace: string; readonly args: readonly string[] };

/** The ConfigMap that keeps the flags. */
export const keptFlags = ({ part, namespace, args }: Flags): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `rekindle-installation${part === "host" ? "" : `-${part}`}`,
    namespace,
    labels: { ...ourLabels, [mark]: part },
  },
  data: {
    flags: JSON.stringify(args),
    "next-version": "rekindle manifests --upgrade | kubectl apply --server-side -f -",
  },
});

const shape = z.looseObject({ data: z.looseObject({ flags: z.string() }) });

const argsIn = (object: Stored): readonly string[] => {
  const { namespace = "", name } = object.metadata;
  try {
    return z.array(z.string()).parse(JSON.parse(shape.parse(object).data.flags));
  } catch {
    throw new Refused(
      `ConfigMap ${namespace}/${name} cannot be read: correct its flags, or delete it and write the flags`,
    );
  }
};

/** Reads the flags of all installations in this cluster. */
export const flagsKept = async ({ transport }: Session): Promise<readonly (readonly string[])[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource: configMaps, selector: mark })) found.push(...page.items);
  if (found.length > 0) return found.map(argsIn);
  throw new Refused(
    "this cluster has no ConfigMap rekindle-installation with the flags of its installation: write these flags, without --upgrade; for a release of Helm, use helm upgrade",
  );
};
