/** What a host looks at before it begins: whether it may do its work, and whether what it was told of is there. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import { namespaces } from "../../kube/resources.ts";
import type { Configuration } from "../settings/table.ts";
import { findLacking } from "./granted-rights.ts";

/** False where the account may not do what every host does. A dry run writes nothing, and needs less. */
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

/** Namespaces that are not there, which is most often a misspelling. Who may not know does not ask again. */
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

/** What a host is going to look after. */
export const scopeText = ({ namespaces, namespaceSelector, selector, dryRun }: Configuration): string =>
  [
    ...(namespaces.length === 0 ? [] : [`namespaces ${namespaces.join(", ")}`]),
    ...(namespaceSelector === "" ? [] : [`namespaces with ${namespaceSelector}`]),
    ...(namespaces.length === 0 && namespaceSelector === "" ? ["all namespaces"] : []),
    ...(selector === "" ? [] : [`applications with ${selector}`]),
    ...(dryRun ? ["dry run: nothing is written"] : []),
  ].join("; ");
