/**
 * `rekindle cluster` and `rekindle checkpoints`: the flat record by which functions reach a cluster, and copies of
 * checkpoints from one store into another.
 */

import { chmod, writeFile } from "node:fs/promises";
import { Command } from "commander";
import { request } from "../../adapters/kubernetes/requests.ts";
import { isRecord } from "../../core/json.ts";
import { counted } from "../../core/text.ts";
import { asJson } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { connected, onCluster, outputOption, spanOption } from "../io/options.ts";
import type { CopyResult, ServerChoice, Tools } from "../io/tools.ts";

type ClusterOptions = ServerChoice & {
  readonly eks?: string;
  readonly region?: string;
  readonly serviceAccount?: string;
  readonly duration: number;
  readonly out?: string;
};

const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);
  return typeof found === "string" ? found : undefined;
};

/** Requests a service account's token for `durationMs`. The server may grant another duration. */
const tokenFor = async (session: Session, tools: Tools, account: string, durationMs: number): Promise<string> => {
  const [namespace = "", name = "", ...more] = account.split("/");
  if (namespace === "" || name === "" || more.length > 0)
    throw new Refused(`${JSON.stringify(account)}: write NAMESPACE/NAME`);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: Math.round(durationMs / 1_000) };
  const tokenRequest = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const answer = await request(session.transport, "POST", path, tokenRequest);
  const token = textAt(answer, "status", "token");
  if (token === undefined) throw new Refused(`the server gave no token for ${account}`);
  tools.warn(
    `the token expires at ${textAt(answer, "status", "expirationTimestamp") ?? "an unknown time"}: create another record before then`,
  );
  return token;
};

type Login = { readonly token: string } | { readonly eks: { readonly name: string; readonly region: string } };

/** Refuses a region other than the one in the cluster's EKS address: a token is good in one region only. */
const checkRegion = (region: string, server: string): void => {
  if (!/^[a-z]{2}(-[a-z]+)+-\d$/.test(region))
    throw new Refused(`--region ${JSON.stringify(region)}: write a region, such as eu-west-1`);
  const home = /\.([a-z]{2}(?:-[a-z]+)+-\d)\.eks\.amazonaws\.com/.exec(server)?.[1];
  if (home !== undefined && home !== region)
    throw new Refused(`the cluster of this context is in ${home}: write --region ${home}, or choose another --context`);
};

const loginFor = async (session: Session, tools: Tools, options: ClusterOptions): Promise<Login> => {
  const { eks: name, region, serviceAccount, duration } = options;
  if ((name === undefined) === (serviceAccount === undefined))
    throw new Refused("say how functions log in: --eks NAME --region REGION, or --service-account NAMESPACE/NAME");
  if (serviceAccount !== undefined) return { token: await tokenFor(session, tools, serviceAccount, duration) };
  if (name === undefined || region === undefined) throw new Refused("--eks needs --region REGION");
  checkRegion(region, session.server);
  tools.warn(`the role of the functions needs an access entry of the cluster ${name}, and its rights in Kubernetes`);
  return { eks: { name, region } };
};

/** Writes a file that only its owner can read, also where the file existed with wider permissions. */
const kept = async (file: string, text: string): Promise<void> => {
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
};

const add = (tools: Tools): Command =>
  onCluster("add")
    .summary("print the address and credentials with which functions reach a cluster")
    .description(
      `Takes the server's address and CA from a kubeconfig, and prints the record that functions read. Store it in a secret or a
parameter and set REKINDLE_CLUSTER_RECORD to its ARN, or set the variable to the record itself. The cluster is not changed.`,
    )
    .option("--eks <name>", "functions log in to this EKS cluster as the role that they run as")
    .option("--region <region>", "its region")
    .option("--service-account <account>", "functions log in with a token of NAMESPACE/NAME")
    .addOption(spanOption("--duration <duration>", "how long that token is valid", 86_400_000))
    .option("--out <file>", "write it to this file, readable only by its owner, instead of the terminal")
    .action((options: ClusterOptions) =>
      connected(tools, options, async (session) => {
        const login = await loginFor(session, tools, options);
        const { server, authority: ca } = session;
        const text = JSON.stringify({ server, ...(ca === undefined ? {} : { ca }), ...login });
        if (options.out === undefined) return tools.print(text);
        await kept(options.out, text);
        tools.print(
          `the record of ${server} is in ${options.out}. Next: aws secretsmanager create-secret --name rekindle/ALIAS --secret-string file://${options.out}`,
        );
      }),
    );

export const cluster = (tools: Tools): Command => new Command("cluster").addCommand(add(tools));

type CopyOptions = ServerChoice & {
  readonly from: string;
  readonly to: string;
  readonly cluster: string;
  readonly home: string;
  readonly namespace?: readonly string[];
  readonly remove?: true;
  readonly dryRun?: true;
  readonly output: string;
};

const count = (all: readonly CopyResult[], did: CopyResult["did"]): number =>
  all.filter((one) => one.did === did).length;

const sum = (all: readonly CopyResult[], { dryRun }: CopyOptions): string => {
  const words = dryRun === true ? "to be copied" : "copied";
  const parts = [`${count(all, "copied")} ${words}`, `${count(all, "there")} there already`];
  return `${all.length} records: ${[...parts, `${count(all, "removed")} copied and removed here`, `${count(all, "refused")} refused`].join(", ")}`;
};

const next = ({ to, remove, dryRun }: CopyOptions): string => {
  if (dryRun === true) return "nothing was written; repeat it without --dry-run to copy";
  if (remove === true) return "removed records are only in the other store";
  return `nothing was removed here. Next: stop hosts and functions (npm run deploy -- … --set Working=DISABLED), run this command again with --remove, which also copies what they saved meanwhile, and start them with REKINDLE_CHECKPOINTS=${to}`;
};

const migrate = (tools: Tools): Command =>
  onCluster("migrate")
    .summary("copy records from one store into another")
    .description(
      `Copies every record from one store into another, each by a conditional save. Hosts may run meanwhile: run the command
again to copy what they saved after the first copy. It may be interrupted at any point. A place is
kubernetes, or dynamodb://TABLE?region=REGION.`,
    )
    .requiredOption("--to <place>", "the store to copy to")
    .option("--from <place>", "the store to copy from", "kubernetes")
    .option("--cluster <alias>", "the cluster's name in keys, as hosts and functions have it", "default")
    .option("--home <namespace>", "namespace for the records of objects that have none", "rekindle")
    .option("-n, --namespace <names...>", "only of these namespaces (default: of all)")
    .option("--remove", "delete each copied record here, unless it was saved again meanwhile")
    .option("--dry-run", "only print what would be copied")
    .addOption(outputOption("text", "json"))
    .action((options: CopyOptions) =>
      connected(tools, options, async (session) => {
        const { from, to, cluster, home, namespace: namespaces = [] } = options;
        const flags = { remove: options.remove === true, dryRun: options.dryRun === true };
        const all: CopyResult[] = [];
        for await (const one of tools.move(session, { from, to, cluster, home, namespaces, ...flags })) {
          all.push(one);
          if (one.why !== undefined) tools.warn(`${one.key}: ${one.why}`);
        }
        tools.print(options.output === "json" ? asJson(all) : `${sum(all, options)}\n${next(options)}`);
        const refused = count(all, "refused");
        if (refused > 0) throw new Refused(`left ${counted(refused, "record")} in place, see above`);
      }),
    );

export const checkpoints = (tools: Tools): Command => new Command("checkpoints").addCommand(migrate(tools));
