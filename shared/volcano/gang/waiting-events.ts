/**
 * The Events about groups that wait: of the group, as Volcano's scheduler writes it; and of the controller of a group
 * that states its members, with the position of the group in its queue, and what it lacks. A Job tells of its group itself.
 * Events of one group and one reason are 10 minutes apart at least.
 */
import { apiVersionOf, type OwnerReference, type Resource, type Stored, subdomain } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { queueOfGroup } from "../queue/state/tree.ts";
import { podGroups } from "../schema/resource.ts";
import type { Verdict } from "./admission.ts";
import { controllerOf, statedMembers } from "./outlines.ts";

/** The least time between two Events about the same, ms. */
const apartMs = 600_000;

/** The longest message, characters. */
const longest = 600;

/** The longest name of an object of which the API server takes Events: tenants write the references of owners. */
const longestName = 200;

const resourceOf = ({ apiVersion, kind }: OwnerReference): Resource => {
  const [group = "", version = ""] = apiVersion.split("/");
  return { group, version, kind, plural: `${kind.toLowerCase()}s` };
};

const eventFor = (group: Stored, owner: OwnerReference, message: string, now: number): Effect => {
  const resource = resourceOf(owner);
  const { uid, namespace = "" } = group.metadata;
  const metadata = { name: owner.name, namespace, uid: owner.uid, resourceVersion: "" };
  return {
    ...{ do: "record", about: { apiVersion: apiVersionOf(resource), kind: owner.kind, metadata }, resource },
    ...{ occasion: `${uid} ${Math.floor(now / apartMs)}`, type: "Normal", reason: "PodGroupPending" },
    message: message.slice(0, longest),
  };
};

/** As upstream's scheduler: clients look for this reason at the group. */
const unschedulable = (group: Stored, why: string, now: number): Effect => ({
  ...{ do: "record", about: group, resource: podGroups, type: "Warning", reason: "Unschedulable" },
  occasion: `unschedulable ${group.metadata.uid} ${Math.floor(now / apartMs)}`,
  message: why.slice(0, longest),
});

const isNameable = ({ name, kind, apiVersion, uid }: OwnerReference): boolean =>
  subdomain.test(name) && [name, kind, apiVersion, uid].every(({ length }) => length <= longestName);

/** Returns the positions of the groups that go on waiting, by UID, and the number of those in their queue. */
const positionsOf = (verdicts: readonly Verdict[]): ReadonlyMap<string, string> => {
  const waiting = verdicts.filter(({ enters }) => !enters);
  const queues = Map.groupBy(waiting, ({ group }) => queueOfGroup(group));
  const lines = [...queues].map(([queue, its]) =>
    its.map(({ group }, at) => [group.metadata.uid, `position ${at + 1} of ${its.length} in queue ${queue}`] as const),
  );
  return new Map(lines.flat());
};

/** Returns the Events of a round; `written`: the verdicts whose reasons it writes; `verdicts`: all, in their order. */
export const waitingEvents = (
  written: readonly Verdict[],
  verdicts: readonly Verdict[],
  now: number,
): readonly Effect[] => {
  const positions = positionsOf(verdicts);
  return written.flatMap((verdict) => {
    const { group } = verdict;
    if (verdict.enters) return [];
    const own = unschedulable(group, verdict.why, now);
    const owner = controllerOf(group);
    if (owner === undefined || statedMembers(group) === undefined || !isNameable(owner)) return [own];
    const position = positions.get(group.metadata.uid) ?? "";
    return [own, eventFor(group, owner, `PodGroup ${group.metadata.name} waits (${position}): ${verdict.why}`, now)];
  });
};
