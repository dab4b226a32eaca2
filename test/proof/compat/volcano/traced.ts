/** Compares whole jobs with recordings of upstream's controller: their defaults, and every object that it creates. */
import { objectsOf, onPod } from "../../../../shared/volcano/plugins/all.ts";
import { podGroup } from "../../../../shared/volcano/podgroup/group.ts";
import { podName } from "../../../../shared/volcano/pods/names.ts";
import { type PodInput, podDraft } from "../../../../shared/volcano/pods/pod.ts";
import { nameOf, replicasOf, tasksOf } from "../../../../shared/volcano/schema/spec.ts";
import { defaulted } from "../../../../shared/volcano/validation/parse.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { specOf } from "./judged.ts";
import { makingOf } from "./made.ts";
import { plainOf } from "./normal.ts";
import { listIn, numberIn, recordIn, textIn } from "./rows.ts";

const masked = "<key material>";

/** Returns a Secret's data as recordings have it: as text instead of base64, with masked random keys. */
const readable = (data: Json, fresh: boolean): Json => ({
  ...Object.fromEntries(Object.entries(data).map(([name, text]) => [name, atob(`${text}`)])),
  ...(fresh ? { id_rsa: masked, "id_rsa.pub": masked, authorized_keys: masked } : {}),
});

type Made = ReadonlyMap<string, Json>;

const idOf = (resource: string, name: string): string => `${resource}/${name}`;

const podsOf = (making: PodInput): readonly (readonly [string, Json])[] => {
  const tasks = tasksOf(making.spec);
  const scope = { owner: making.owner, tasks };
  return tasks.flatMap((task) =>
    Array.from({ length: replicasOf(task) }, (_, index): readonly [string, Json] => [
      idOf("pods", podName(making.owner.name, nameOf(task), index)),
      onPod(podDraft(making, task, index), scope, making.spec.plugins),
    ]),
  );
};

/** Returns all objects that may be created for a job, by resource and name. */
const madeOf = (making: PodInput): Made => {
  const kept = objectsOf({ owner: making.owner, tasks: tasksOf(making.spec) }, making.spec.plugins);
  const group = podGroup(making, new Map());
  return new Map([
    ...podsOf(making),
    [idOf("podgroups", group.metadata.name), group],
    ...kept.map(({ resource, object, fresh }): readonly [string, Json] => {
      const { name } = object.metadata;
      const data =
        resource.plural === "secrets" ? readable(recordIn(object, "data"), fresh !== undefined) : object["data"];
      return [idOf(resource.plural, name), { ...object, data }];
    }),
  ]);
};

/** Drops the fields that recordings of typed clients lack. */
const bare = ({ apiVersion: _, kind: __, ...object }: Json): Json => object;

const stageDifferences = (making: PodInput, stage: Json): readonly Difference[] => {
  const made = madeOf(making);
  return listIn(stage, "writes")
    .filter(({ verb, resource }) => verb === "create" && resource !== "jobs")
    .flatMap((write) => {
      const id = idOf(textIn(write, "resource"), textIn(write, "name"));
      const ours = made.get(id);
      const path = `${textIn(stage, "stage")}/${id}`;
      return differences(
        plainOf(ours === undefined ? undefined : bare(ours)),
        plainOf(bare(recordIn(write, "object"))),
        path,
      );
    });
};

const defaultDifferences = (row: Json): readonly Difference[] =>
  differences(
    plainOf(defaulted(specOf(recordIn(row, "input")))),
    plainOf(recordIn(recordIn(row, "afterMutatingWebhook"), "spec")),
    "defaults",
  );

/** Compares all stages of a job; each stage starts from the status that the stage before it left. */
export const traced = (row: Json): readonly Difference[] => {
  const job = recordIn(row, "afterMutatingWebhook");
  let status: Json = {};
  const found = [...defaultDifferences(row)];
  for (const stage of listIn(row, "stages")) {
    const recorded = recordIn(stage, "statusAfter");
    const metadata = { ...recordIn(job, "metadata"), ...recordIn(recorded, "metadata") };
    const making = makingOf({ ...job, metadata, status });
    found.push(...stageDifferences({ ...making, version: numberIn(status, "version") }, stage));
    status = recordIn(recorded, "status");
  }
  return found;
};
