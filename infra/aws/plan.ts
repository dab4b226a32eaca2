/** The request for a deployment, its problems, and the arguments of the SAM command line. Pure. */

import { parametersOf } from "./parameters.ts";
import { brokenRules } from "./resolving.ts";
import type { Template } from "./template.ts";

const template = "infra/aws/template.yaml";
const stored = /^arn:aws[a-z-]*:(?:secretsmanager|ssm):([a-z0-9-]+):\d{12}:(?:secret:|parameter\/)\S+$/;
const alias = /^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$/;

export type Wanted = {
  readonly alias: string;
  readonly record: string;
  readonly set: readonly string[];
  readonly region: string | undefined;
};

/** Problems of the parameters by the template's rules: sam would report them only with half of the stack created. */
const refusedBy = (read: Template, { alias: name, record, set }: Wanted): readonly string[] => {
  const given = Object.fromEntries(set.map((one) => [one.split("=")[0] ?? "", one.slice(one.indexOf("=") + 1)]));
  const { values, problems } = parametersOf(read, { ...given, Alias: name, ClusterRecord: record });
  return (problems.length > 0 ? problems : brokenRules(read, values)).map((problem) => `--set ${problem}`);
};

const mistakesIn = ({ alias: name, record, set, region }: Wanted): readonly string[] => {
  const [, home] = stored.exec(record) ?? [];
  return [
    ...(alias.test(name) ? [] : ["--alias: at most 32 lower case letters, digits and hyphens are needed"]),
    ...(home === undefined
      ? ["--record: the ARN of a secret or an SSM parameter is needed; make it with rekindle cluster add"]
      : []),
    ...(region === undefined ? ["set AWS_REGION: the region to deploy to"] : []),
    ...(home !== undefined && region !== undefined && home !== region
      ? [`the record is in ${home}, AWS_REGION is ${region}: it and its functions belong into one region`]
      : []),
    ...set.filter((one) => !/^[A-Za-z]+=/.test(one)).map((one) => `--set ${one}: write PARAMETER=VALUE`),
  ];
};

/** The problems of a request; a line for each that says what to change. */
export const problemsWith = (read: Template, wanted: Wanted): readonly string[] => {
  const mistakes = mistakesIn(wanted);
  return mistakes.length > 0 ? mistakes : refusedBy(read, wanted);
};

/** The arguments of each call of sam. */
export const commandsFor = ({ alias: name, record, set, region }: Wanted, apply: boolean): readonly string[][] => [
  ["build", "--build-in-source", "-t", template],
  [
    ...["deploy", "--stack-name", `rekindle-${name}`, "--region", region ?? ""],
    ...["--capabilities", "CAPABILITY_IAM", "--resolve-s3", "--no-fail-on-empty-changeset"],
    ...(apply ? ["--no-confirm-changeset"] : ["--no-execute-changeset"]),
    ...["--parameter-overrides", `Alias=${name}`, `ClusterRecord=${record}`, ...set],
  ],
];
