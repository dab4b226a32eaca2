/** Options that many commands share, and the connection that they are for. */
import { Command, Option } from "commander";
import { ApiError } from "../../core/http.ts";
import { adviceOn, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { spanText } from "../../inspection/io/text.ts";
import type { ServerChoice, Tools } from "./tools.ts";

export type Scoped = ServerChoice & { readonly namespace?: string };

/** Opens the connection for one command and closes it; an error then names the server that it came from. */
export const connected = async (
  tools: Tools,
  where: ServerChoice,
  act: (session: Session) => Promise<void>,
): Promise<void> => {
  const session = await tools.connect(where);
  try {
    await act(session);
  } catch (cause) {
    throw cause instanceof ApiError ? new Refused(adviceOn(cause, session), { cause }) : cause;
  } finally {
    session.close();
  }
};

export const onCluster = (name: string): Command =>
  new Command(name)
    .option("-k, --kubeconfig <file>", "how to reach the cluster (default: $KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)");

export const onNamespace = (name: string, says = "namespace of the application (default: the context's)"): Command =>
  onCluster(name).option("-n, --namespace <name>", says);

/** vcctl's flag for another server; `submit` has one of the same name that means something else. */
export const elsewhere = (command: Command): Command =>
  command
    .option("-s, --master <url>", "address of the API server (default: the kubeconfig's)")
    .on("option:master", (url: string) => command.setOptionValue("server", url));

/** The argument that names an application, and its description. */
export const application = ["<application>", "NAME, NAMESPACE/NAME or KIND[.GROUP]/[NAMESPACE/]NAME"] as const;

/** The timeout of a command that follows or waits: it bounds all of it. */
export const timeoutOption = (): Option =>
  new Option("--timeout <duration>", "longest time that the command takes; after it, exit code 4").argParser(spanOf);

/** `-o`, with the forms that a command has. */
export const outputOption = (...forms: readonly string[]): Option =>
  new Option("-o, --output <form>", "how it is printed").choices(forms).default(forms[0]);

/** Reads a whole number from `least` up, for a commander option. */
export const countFrom =
  (least: number) =>
  (text: string): number => {
    if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
    throw new Refused(`${JSON.stringify(text)}: write a whole number from ${least} up`);
  };

/** An option that takes a span; its default is shown as it would be written. */
export const spanOption = (flags: string, says: string, defaultMs: number): Option =>
  new Option(flags, says).argParser(spanOf).default(defaultMs, spanText(defaultMs));

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a span such as `90s`, `5m` or `1h30m`, in ms, for a commander option. */
export const spanOf = (text: string): number => {
  const parts = [...text.matchAll(/(\d+)(s|m|h)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join("") === text;
  if (!isWhole) throw new Refused(`${JSON.stringify(text)}: write a duration such as 90s, 5m or 1h30m`);
  return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (units[unit] ?? 0), 0);
};
