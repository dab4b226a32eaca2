/** Checks before a host starts: the rights of its account, and the namespaces that its settings name. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import { namespaces } from "../../kube/resources.ts";
import type { Configuration } from "../settings/table.ts";
import { findLacking } from "./granted-rights.ts";

/** Returns false where the account lacks an essential right. A dry run writes nothing and is not checked. */
export const mayBegin = async (
  warn: (line: string) => void,
  { namespaces, families, dryRun }: Pick<Configuration, "namespaces" | "families" | "dryRun">,
  transport: Transport,
  elsewhere: boolean,
): Promise<boolean> => {
  if (dryRun) return true;
  const { line, fatal } = await findLacking({ transport, namespaces, families, elsewhere });
  if (line !== undefined) warn(`rekindle host: ${line}`);
  return !fatal;
};

/** Returns the namespaces that do not exist, which are most often misspelt. A failed read counts as existing. */
export const missing = async (transport: Transport, names: readonly string[]): Promise<readonly string[]> => {
  const cluster = openCluster(transport);
  const found = names.map((name) =>
    cluster.get({ resource: namespaces, name }).then(
      ({ value }) => value === undefined,
      () => false,
    ),
  );
  const gone = await Promise.all(found);
  return names.filter((_, at) => gone[at] === true);
};

/** Returns the host's scope as one line. */
export const scopeText = ({ namespaces, namespaceSelector, selector, dryRun }: Configuration): string =>
  [
    ...(namespaces.length === 0 ? [] : [`namespaces ${namespaces.join(", ")}`]),
    ...(namespaceSelector === "" ? [] : [`namespaces with ${namespaceSelector}`]),
    ...(namespaces.length === 0 && namespaceSelector === "" ? ["all namespaces"] : []),
    ...(selector === "" ? [] : [`applications with ${selector}`]),
    ...(dryRun ? ["dry run: nothing is written"] : []),
  ].join("; ");
