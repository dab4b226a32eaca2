/**
 * Volcano's kinds on a real API server, by dry run: refused by a webhook, by Rekindle's policies, and by upstream's.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { kubectl, must, type Scene } from "../scene.ts";
import { object, queues, type Row, refused, taken } from "./kinds.ts";
import { messageOf, until } from "./rules.ts";

const asked = async (scene: Scene, { path, body }: Row): Promise<{ readonly ok: boolean; readonly said: string }> => {
  const reply = await scene.cluster.api.call("POST", `${path}?dryRun=All`, body);
  return { ok: reply.status === 201, said: `${reply.status} ${messageOf(reply)}` };
};

/** Leaves out rows of kinds that this cluster does not serve. */
const served = async (scene: Scene, rows: readonly Row[]): Promise<readonly Row[]> => {
  const found = new Map<string, boolean>();
  for (const { path } of rows)
    if (!found.has(path)) found.set(path, (await scene.cluster.api.call("GET", path)).status === 200);
  return rows.filter(({ path }) => found.get(path));
};

const deletion = async (scene: Scene): Promise<string> =>
  messageOf(await scene.cluster.api.call("DELETE", `${queues}/default?dryRun=All`));

/** Creates Open queues, as their controller leaves them. */
export const openQueues = async (scene: Scene): Promise<void> => {
  const { api } = scene.cluster;
  for (const name of ["default", "root"]) {
    await api.call("POST", queues, object("scheduling.volcano.sh/v1beta1", "Queue", name, { spec: {} }));
    const path = `${queues}/${name}/status`;
    await api.call("PATCH", path, { status: { state: "Open" } }, "application/merge-patch+json");
  }
};

/**
 * Checks that each invalid object is refused by the expected component, with the name of the defect, and that valid
 * ones are admitted.
 */
export const volcanoRefuses = async (scene: Scene, by: RegExp, webhook: boolean): Promise<string> => {
  const rows = (await served(scene, refused)).filter(({ webhookOnly }) => webhook || webhookOnly !== true);
  for (const row of rows) {
    const { ok, said } = await asked(scene, row);
    must(!ok && by.test(said) && row.says.test(said), `${row.what}: ${said}`);
  }
  must(/queue can not be deleted/.test(await deletion(scene)), "the default queue may be deleted");
  for (const row of await served(scene, taken)) {
    const { ok, said } = await asked(scene, row);
    must(ok, `what is right was refused: ${row.what}: ${said}`);
  }
  return `${rows.length + 1} of Volcano's kinds refused, what is right is taken`;
};

export const isVolcanoAsked = async (scene: Scene): Promise<boolean> => {
  const [first] = refused;
  return first !== undefined && !(await asked(scene, first)).ok;
};

/** Each kind has its own policy, and the API server puts them in force one after the other. */
export const areKindsAsked = async (scene: Scene): Promise<boolean> => {
  const rows = (await served(scene, refused)).filter(({ webhookOnly }) => webhookOnly !== true);
  const firsts = rows.filter(({ path }, at) => rows.findIndex((row) => row.path === path) === at);
  for (const row of firsts) if ((await asked(scene, row)).ok) return false;
  return true;
};

/** Returns the rows that are refused by the current policies. */
const refusedNow = async (scene: Scene): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const row of await served(scene, [...refused, ...taken])) if (!(await asked(scene, row)).ok) found.add(row.what);
  return found;
};

/** Applies upstream's policies to the same rows: Rekindle's policies refuse all that upstream's refuse, and more. */
export const outdoes = async (scene: Scene, folder: string): Promise<string> => {
  const { cluster } = scene;
  const ours = await refusedNow(scene);
  await kubectl(cluster, [
    "delete",
    "validatingadmissionpolicies,validatingadmissionpolicybindings",
    "-l",
    "app.kubernetes.io/managed-by=rekindle",
  ]);
  await until("our policies are out of force", async () => !(await isVolcanoAsked(scene)));
  const files = (await readdir(folder)).filter((file) =>
    /^(jobs|queues|podgroups|pods|jobflows)-validating\.yaml$/.test(file),
  );
  for (const file of files) await kubectl(cluster, ["apply", "-f", join(folder, file)]);
  await until("upstream's policies are in force", () => isVolcanoAsked(scene));
  const theirs = await refusedNow(scene);
  for (const file of files) await kubectl(cluster, ["delete", "-f", join(folder, file)]);
  const missed = [...theirs].filter((what) => !ours.has(what));
  const wrongly = taken.map(({ what }) => what).filter((what) => theirs.has(what));
  must(
    missed.every((what) => wrongly.includes(what)),
    `upstream's policies refuse, ours do not: ${missed.join(", ")}`,
  );
  return `of the same rows upstream's policies refuse ${theirs.size}, ours ${ours.size}${wrongly.length > 0 ? `; upstream's refuse though it is right: ${wrongly.join(", ")}` : ""}`;
};
