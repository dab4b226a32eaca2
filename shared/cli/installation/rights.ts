/** The table of rights in the docs, made from the rules: each right of the host, its scope, flag and purpose. */
import { families } from "../../kube/families.ts";
import { features } from "../../kube/features.ts";
import {
  certificateRules,
  familyWith,
  featureNeeds,
  featureRulesOf,
  identityRules,
  lookoutRules,
  needed,
  nodeRules,
  noticeRules,
  type Rule,
  registrationRules,
  selectionRules,
} from "./roles.ts";

type Row = { readonly rule: Rule; readonly when: string; readonly for: string };

const flagged = (when: string, rules: readonly Rule[], why: string): readonly Row[] =>
  rules.map((one) => ({ rule: one, when, for: why }));

const familyText = { spark: "Spark", volcano: "Volcano", any: "always" } as const;

const ofFeatures: readonly Row[] = features.flatMap((feature) => {
  const of = familyWith[feature];
  const when = `\`--features ${feature}\`${of === "any" ? "" : `, ${familyText[of]}`}`;
  return flagged(when, featureRulesOf(feature, families), featureNeeds[feature].for);
});

const rows: readonly Row[] = [
  ...needed.map(({ of, rule: one, for: why }) => ({ rule: one, when: familyText[of], for: why })),
  ...flagged("without `--namespaces`", lookoutRules, "see whether another controller of these kinds is alive"),
  ...flagged("without `--namespaces`", nodeRules, "tell an executor on a dead node from one that is late"),
  ...flagged("`--namespaces`", identityRules, "which cluster this is, by a Role in kube-system"),
  ...ofFeatures,
  ...flagged("`--nodes`", [...nodeRules, ...noticeRules], "find and cordon the node of a machine that is about to go"),
  ...flagged("`--namespace-selector`", selectionRules, "which namespaces have these labels"),
  ...flagged("`--admission`", registrationRules, "register admission; look at quotas and queues"),
  ...flagged("`--admission`", certificateRules, "the certificate, by a Role in the host's own namespace"),
];

const resourcesText = ({ apiGroups: [group = ""], resources, resourceNames = [] }: Rule): string => {
  const names = resourceNames.length === 0 ? "" : ` ${resourceNames.join(", ")}`;
  return `${resources.map((one) => `\`${one}${group === "" ? "" : `.${group}`}\``).join(", ")}${names}`;
};

export const rightsTable = (): string =>
  [
    "| to | on | when | what for |",
    "| --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row.rule.verbs.join(", ")} | ${resourcesText(row.rule)} | ${row.when} | ${row.for} |`),
  ].join("\n");
