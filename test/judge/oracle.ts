/** The violations of a trial: the generic rows, which need nothing but objects, pods and the ends of runs without fault. */
import type { Api } from "../real/cluster/api.ts";
import type { Rows } from "./subject.ts";
import { isDeleted, listAt, nameOf, textAt } from "./values.ts";
import type { History } from "./world.ts";

/** `duplicate`: a part of an attempt twice; `stuck`: rests before an end, or never; `lost`: another end; `orphan`: left after deletion. */
export const rowNames = ["duplicate", "stuck", "lost", "orphan", "untrue"] as const;
export type RowName = (typeof rowNames)[number];
export type Problem = { readonly row: RowName; readonly text: string };

export type Rest = { readonly object: unknown; readonly end: string; readonly isAtRest: boolean };

/** The rows of a run that has come to rest, or was given up. `ends` is empty for a run without fault: any end is right. */
export const problemsAtRest = (
  rows: Rows,
  history: History,
  rest: Rest,
  ends: ReadonlySet<string>,
): readonly Problem[] => {
  const found: Problem[] = history.duplicates.map((text) => ({ row: "duplicate", text }));
  const expected = [...ends].join(" | ");
  const isWrong = ends.size > 0 && !ends.has(rest.end);
  const isFinal = rest.object === undefined || rows.isFinal(rest.object);
  if (!rest.isAtRest) found.push({ row: "stuck", text: `does not come to rest; the end so far: ${rest.end}` });
  else if (isWrong && isFinal) found.push({ row: "lost", text: `ends as ${rest.end}; without fault: ${expected}` });
  else if (isWrong || !isFinal) found.push({ row: "stuck", text: `rests at ${rest.end}; without fault: ${expected}` });
  if (rest.object !== undefined && rest.isAtRest)
    for (const text of rows.untrue(rest.object, history)) found.push({ row: "untrue", text });
  return found;
};

const ofCluster = new Set(["kube-root-ca.crt"]);

/** The names of what stands in a namespace and was not put there by the cluster. */
export const leftIn = async (api: Api, namespace: string, leftovers: readonly string[]): Promise<readonly string[]> => {
  const core = ["pods", "services", "configmaps", "secrets", "persistentvolumeclaims"];
  const paths = [...core.map((name) => `api/v1/*/${name}`), ...leftovers];
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { body } = await api.call("GET", `/${path.replace("*", `namespaces/${namespace}`)}`);
      const kind = path.split("/").at(-1) ?? "";
      return listAt(body, "items")
        .filter((object) => !ofCluster.has(nameOf(object)))
        .map((object) => {
          const held = isDeleted(object) ? ` (deleted at ${textAt(object, "metadata", "deletionTimestamp")})` : "";
          return `${kind}/${nameOf(object)}${held}`;
        });
    }),
  );
  return lists.flat();
};
