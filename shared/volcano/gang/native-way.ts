/** Tells, with `gang: native`, the groups that PodGroups of Kubernetes can place from those that need a plan. */
import type { Stored } from "../../core/object.ts";
import { beyondNative } from "../native/expressible.ts";
import { specIn } from "../validation/parse.ts";
import { jobOwnerOf, statedMembers } from "./outlines.ts";

/** Says why a group has a plan. */
export const byPlan = (beyond: string): string =>
  `it is placed by a plan of Rekindle, because a PodGroup of Kubernetes cannot say that ${beyond}`;

/** `planned` without `why`: the group has no readable Job, and nothing is to be said about it. */
export type PlacementWay =
  | { readonly is: "native"; readonly why?: undefined }
  | { readonly is: "planned"; readonly why?: string };

/** Returns how a group is placed; `jobs`: by UID. */
export const nativeWay = (group: Stored, jobs: ReadonlyMap<string, Stored>): PlacementWay => {
  if (statedMembers(group) !== undefined) return { is: "planned", why: "some of its members are created later" };
  const job = jobs.get(jobOwnerOf(group)?.uid ?? "");
  if (job?.spec === undefined) return { is: "planned" };
  const read = specIn(job);
  if (!read.ok) return { is: "planned" };
  const why = beyondNative(read.spec);
  return why === undefined ? { is: "native" } : { is: "planned", why };
};
