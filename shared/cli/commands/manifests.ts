/** `rekindle manifests` as people type it. */
import { isIP } from "node:net";
import { Command } from "commander";
import type { Obj } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import {
  bellText,
  crdsText,
  featuresNamed,
  flagsKept,
  functionsText,
  keptFlags,
  manifestsText,
  type Part,
  podRulesIn,
  policiesText,
  webhooksText,
} from "../../installation/manifests.ts";
import { featureNeeds } from "../../installation/roles.ts";
import { defaultFamilies, type Family, families, features } from "../../kube/resources.ts";
import { familyOf } from "../../registry/names.ts";
import { connected, onCluster } from "../io/options.ts";
import type { ServerChoice, Tools } from "../io/tools.ts";

const namesOf = (text: string): readonly string[] => text.split(",").filter((name) => name !== "");

const isNetwork = (text: string): boolean => {
  const [address = "", bits = "", ...more] = text.split("/");
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
};

const networksOf = (text: string): readonly string[] => {
  const wrong = namesOf(text).find((one) => !isNetwork(one));
  if (wrong === undefined) return namesOf(text);
  throw new Refused(
    `--admission-from ${JSON.stringify(wrong)}: write networks such as 10.0.0.0/28, separated by commas`,
  );
};

const familiesIn = (text: string): readonly Family[] => {
  const found = namesOf(text).flatMap((name) => families.filter((family) => family === name));
  if (found.length === 0 || found.length < namesOf(text).length)
    throw new Refused(`--family ${JSON.stringify(text)}: write names of ${families.join(", ")}, separated by commas`);
  return found;
};

/** Parses an option with an optional list of names: without a list it means all. */
const namesOrAll = (text: string | undefined): true | readonly string[] => (text === undefined ? true : namesOf(text));

type Options = ServerChoice & {
  readonly namespace: string;
  readonly image: string;
  readonly namespaces: readonly string[];
  readonly namespaceSelector?: string;
  /** Absent: the default ones. */
  readonly family?: readonly Family[];
  readonly sparkNamespace: readonly string[];
  readonly sparkAccount: readonly string[];
  /** True: no CRDs at all; a list: none of these groups. */
  readonly withoutCrds?: true | readonly string[];
  readonly withoutDeployment?: boolean;
  readonly rbacOnly?: boolean;
  readonly crdsOnly?: boolean;
  readonly upgrade?: boolean;
  readonly nodes?: boolean;
  readonly features: readonly string[];
  readonly admission?: boolean;
  readonly admissionUrl?: string;
  readonly bellUrl?: string;
  readonly admissionFrom: readonly string[];
  readonly admissionQueueGate?: boolean;
  /** Resource groups, in JSON. */
  readonly admissionResourceGroups?: string;
  readonly policies?: boolean;
  readonly podMonitor?: boolean;
  /** True: all functions. */
  readonly functions?: true | readonly string[];
};

const sparkAccounts: readonly string[] = ["spark", "spark-operator-spark"];

/** The CRDs to print: those of the chosen families, without the groups of `--without-crds`. */
const wantedCrds = async (
  tools: Tools,
  { withoutCrds, rbacOnly, family = defaultFamilies }: Options,
): Promise<readonly string[]> => {
  if (withoutCrds === true || rbacOnly === true) return [];
  const crds = await tools.crds();
  const isWanted = (group: string): boolean => {
    const of = familyOf(group);
    return withoutCrds?.includes(group) !== true && (of === undefined || family.includes(of));
  };
  return crds.filter(({ group }) => isWanted(group)).map(({ text }) => text);
};

/** Flags that choose what one call prints. They are no part of the installation. */
const passing: ReadonlySet<string> = new Set(["upgrade", "crdsOnly", "rbacOnly", "kubeconfig", "context"]);

/** The flags that were typed, as they can be typed again. */
const argsOf = (command: Command): readonly string[] =>
  command.options.flatMap((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    if (passing.has(name) || command.getOptionValueSource(name) !== "cli" || value === false) return [];
    if (value === true) return [option.long ?? ""];
    return [`${option.long}=${Array.isArray(value) ? value.join(",") : String(value)}`];
  });

type ManifestsCall = { readonly tools: Tools; readonly options: Options; readonly args: readonly string[] };

/** The ConfigMap with the flags. `--rbac-only` prints none, so the flags of the whole installation stay. */
const keptBy = ({ options, args }: ManifestsCall, part: Part): readonly Obj[] =>
  options.rbacOnly === true ? [] : [keptFlags({ part, namespace: options.namespace, args })];

/** Returns the text that a flag asks for in place of the installation; undefined: no flag does. */
const insteadOf = (call: ManifestsCall): string | undefined => {
  const { options } = call;
  const { policies, admissionUrl, bellUrl, functions, family: families } = options;
  if (policies === true) return policiesText({ ...options, families });
  const features = featuresNamed(options.features, families);
  if (functions !== undefined)
    return functionsText({ ...options, functions, families, features }, keptBy(call, "functions"));
  if (bellUrl !== undefined) return bellText(bellUrl, { ...options, families });
  if (admissionUrl === undefined) return undefined;
  return webhooksText(admissionUrl, { ...options, families, pods: podRulesIn(options) });
};

const textOf = async (call: ManifestsCall): Promise<string> => {
  const { tools, options } = call;
  if (options.crdsOnly === true) return crdsText(await wantedCrds(tools, options));
  const instead = insteadOf(call);
  if (instead !== undefined) return instead;
  const { sparkNamespace: sparkNamespaces, sparkAccount, rbacOnly, withoutDeployment, family: families } = options;
  const host = rbacOnly !== true && withoutDeployment !== true;
  const admission = options.admission === true;
  if (options.podMonitor === true && !host && rbacOnly !== true)
    throw new Refused("--pod-monitor: a PodMonitor is for a host in the cluster; leave --without-deployment out");
  if (options.admissionFrom.length > 0 && !(admission && host) && rbacOnly !== true)
    throw new Refused("--admission-from: it is part of the NetworkPolicy of a host in the cluster; add --admission");
  const features = featuresNamed(options.features, families);
  const installation = {
    ...options,
    families,
    features,
    sparkNamespaces,
    sparkAccounts: sparkAccount,
    host,
    admission,
    pods: podRulesIn(options),
  };
  return manifestsText(installation, await wantedCrds(tools, options), keptBy(call, "host"));
};

/** Parses the installation's flags and then this command's: a later flag wins. */
const readAgain = (tools: Tools, args: readonly string[]): ManifestsCall => {
  const command = withOptions(new Command("manifests"), tools.version).exitOverride();
  command.parseOptions([...args]);
  return { tools, options: command.opts<Options>(), args: argsOf(command) };
};

const upgraded = async ({ tools, options, args }: ManifestsCall): Promise<string> => {
  const texts: string[] = [];
  await connected(tools, options, async (session) => {
    for (const kept of await flagsKept(session)) {
      const again = readAgain(tools, [...kept, ...args]);
      if (kept.some((flag) => flag.startsWith("--image=")) && !args.some((flag) => flag.startsWith("--image=")))
        tools.warn(`the image stays ${again.options.image}: name a new one with --image`);
      const { crdsOnly, rbacOnly } = options;
      const now = { ...(crdsOnly === true ? { crdsOnly } : {}), ...(rbacOnly === true ? { rbacOnly } : {}) };
      texts.push(await textOf({ ...again, options: { ...again.options, ...now } }));
    }
  });
  return texts.join("");
};

const print = async (tools: Tools, options: Options, command: Command): Promise<void> => {
  const call = { tools, options, args: argsOf(command) };
  tools.print((await (options.upgrade === true ? upgraded(call) : textOf(call))).trimEnd());
};

const withScope = (command: Command, version: string): Command =>
  command
    .option("--namespace <name>", "namespace of the host", "rekindle")
    .option("--image <image>", "image of the host", `rekindle:${version}`)
    .option("--namespaces <a,b>", "look after these namespaces only, with Roles instead of a ClusterRole", namesOf, [])
    .option(
      "--namespace-selector <selector>",
      "look after namespaces with these labels, too, e.g. spark=enabled: a ClusterRole, and one that lists namespaces",
    )
    .option(
      "--family <a,b>",
      `families to install: their CRDs, their rights, and a host that runs them; names of ${families.join(", ")} (default: ${defaultFamilies.join(",")})`,
      familiesIn,
    )
    .option(
      "--spark-namespace <a,b>",
      "create accounts with the rights of Spark drivers in these namespaces, too",
      namesOf,
      [],
    )
    .option(
      "--spark-account <a,b>",
      "names of these accounts: Rekindle's, and the one of upstream's examples",
      namesOf,
      sparkAccounts,
    )
    .option(
      "--without-crds [groups]",
      "leave out the CRDs of these groups, e.g. sparkoperator.k8s.io, because they are installed; without a value: all",
      namesOrAll,
    )
    .option("--without-deployment", "the host runs elsewhere")
    .option("--pod-monitor", "also a PodMonitor, by which the Prometheus operator scrapes the host")
    .option("--nodes", "the host may list and cordon nodes, too: executors leave a node that is about to go")
    .option(
      "--features <names>",
      `rights that only some objects need, separated by commas: ${features.map((one) => `${one} (${featureNeeds[one].for})`).join("; ")}`,
      namesOf,
      [],
    );

const withAdmission = (command: Command): Command =>
  command
    .option(
      "--admission",
      "the host serves admission webhooks, too, and registers them; with --functions: dispatch or admission does",
    )
    .option("--admission-url <url>", "only the webhook configurations, for an admission function at this https:// URL")
    .option("--bell-url <url>", "only the webhook configuration of a bell at this https:// URL, with its secret path")
    .option(
      "--admission-from <cidrs>",
      "networks of the API servers: no other address may reach the port of admission, e.g. 10.0.0.0/28",
      networksOf,
      [],
    )
    .option("--admission-queue-gate", "admission gates pods that ask for it until their queue has room")
    .option(
      "--admission-resource-groups <json>",
      "admission writes these resource groups into their pods: the list of Volcano's volcano-admission.conf, as JSON",
    );

const withOptions = (command: Command, version: string): Command =>
  withAdmission(withScope(command, version))
    .option("--policies", "only ValidatingAdmissionPolicies: admission's rules, enforced by the API server itself")
    .option(
      "--functions [names]",
      "only the accounts and roles of these functions, e.g. forward,reconcile; without a value: of all functions",
      namesOrAll,
    )
    .option("--rbac-only", "neither CRDs nor Deployment: only namespace, accounts and roles")
    .option("--crds-only", "only the CRDs")
    .option("--upgrade", "repeat the flags of the cluster's installation; flags typed now take precedence");

export const manifests = (tools: Tools): Command =>
  withOptions(onCluster("manifests"), tools.version)
    .description("Prints CRDs, roles and one host as YAML:\n\n  rekindle manifests | kubectl apply --server-side -f -")
    .action((options: Options, command: Command) => print(tools, options, command));
