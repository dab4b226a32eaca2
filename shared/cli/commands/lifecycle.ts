/**
 * `rekindle pause`, `suspend`, `resume` and `delete`: `pause` stops the steps of an application, `suspend` ends its
 * run until it is resumed, and `delete` removes applications with their pods.
 */

import type { Command } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { mergeObject, pages } from "../../adapters/kubernetes/requests.ts";
import { isPaused, pausedAnnotation } from "../../core/annotation.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import { isLabelValue, type Stored } from "../../core/object.ts";
import { mayBelongTo } from "../../kube/pods.ts";
import { pods as podResource } from "../../kube/resources.ts";

import { findTarget, type Target } from "../inspection/target.ts";
import { nameText } from "../io/documents.ts";
import { application, connected, onNamespace, type Scoped, spanOption } from "../io/options.ts";
import { exits, Refused, type Session, type Tools } from "../io/tools.ts";
import { kindNamed, kindNames, usual } from "../kinds/all.ts";
import type { Kind } from "../kinds/kind.ts";

const nameOf = ({ key }: Target): string => `${key.namespace}/${key.name}`;

/** Reads the object of a command; refused when there is none. */
export const objectOf = async ({ transport }: Session, { kind, key }: Target): Promise<Stored> => {
  const { namespace, name } = key;
  const { value } = await openCluster(transport).get({ resource: kind.resource, namespace, name });
  if (value !== undefined) return value;
  throw new Refused(`there is no ${kind.resource.kind} ${namespace}/${name}; see them all with: rekindle list`);
};

/** Patches the object that was read, by its UID: an object that was created anew under its name stays unchanged. */
const merge = async ({ transport }: Session, { kind, key }: Target, object: Stored, change: object): Promise<void> => {
  const ref = { resource: kind.resource, namespace: key.namespace, name: key.name };
  const metadata = "metadata" in change ? fieldsOf(change.metadata) : {};
  await mergeObject(transport, { ref }, { ...change, metadata: { ...metadata, uid: object.metadata.uid } });
};

/** Sets annotations of the object that was read; null removes one. */
export const annotate = (
  session: Session,
  target: Target,
  object: Stored,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> => merge(session, target, object, { metadata: { annotations } });

const isSuspended = ({ spec }: Stored): boolean => isRecord(spec) && spec["suspend"] === true;

/** Pauses an application. Returns the line to print. */
const pauseApplication = async (session: Session, target: Target): Promise<string> => {
  const object = await objectOf(session, target);
  await annotate(session, target, object, { [pausedAnnotation]: "true" });
  return `${nameOf(target)} is paused: its pods continue, nothing is created, deleted or counted until rekindle resume`;
};

/** Sets `spec.suspend`, which ends the run. Refuses kinds without this field. */
const suspendApplication = async (session: Session, target: Target): Promise<string> => {
  const { kind } = target;
  if (!kind.suspends)
    throw new Refused(
      kind.resource.kind === "Job"
        ? `a Job has no spec.suspend; suspend it by a command: rekindle job suspend -n ${target.key.namespace} ${target.key.name}`
        : `a ${kind.resource.kind} has no spec.suspend; delete it, or pause it: rekindle pause`,
    );
  const object = await objectOf(session, target);
  if (isSuspended(object)) return `${nameOf(target)} is suspended already`;
  const { ended, state } = kind.stateOf(object);
  if (ended !== undefined) throw new Refused(`${nameOf(target)} has ended (${state}): there is nothing to suspend`);
  await merge(session, target, object, { spec: { suspend: true } });
  return `${nameOf(target)} is being suspended: its run is ended, and rekindle resume starts a new one`;
};

/** Takes back a suspension and a pause. */
const resumeApplication = async (session: Session, target: Target): Promise<string> => {
  const object = await objectOf(session, target);
  const spec = isSuspended(object) ? { spec: { suspend: false } } : {};
  const metadata = isPaused(object) ? { metadata: { annotations: { [pausedAnnotation]: null } } } : {};
  if (!isSuspended(object) && !isPaused(object)) return `${nameOf(target)} is neither suspended nor paused`;
  await merge(session, target, object, { ...spec, ...metadata });
  return `${nameOf(target)} continues`;
};

type Act = (session: Session, target: Target) => Promise<string>;

const holding =
  (name: string, act: Act) =>
  (tools: Tools): Command =>
    onNamespace(name)
      .argument(`${application[0].slice(0, -1)}...>`, application[1])
      .action((names: readonly string[], options: Scoped) =>
        connected(tools, options, async (session) => {
          for (const text of names) tools.print(await act(session, await findTarget(text, session, options.namespace)));
        }),
      );

export const pause = holding("pause", pauseApplication);
export const suspend = holding("suspend", suspendApplication);
export const resume = holding("resume", resumeApplication);

/** An object to delete, by its UID: a later object of the same name is another one. */
type Going = { readonly target: Target; readonly uid: string };

const goingNamed = async (session: Session, target: Target): Promise<Going> => ({
  target,
  uid: (await objectOf(session, target)).metadata.uid,
});

const isGoing = (kind: Kind, { metadata }: Stored): Going => ({
  target: {
    kind,
    key: {
      cluster: "default",
      kind: kind.resource.kind,
      namespace: metadata.namespace ?? "default",
      name: metadata.name,
    },
  },
  uid: metadata.uid,
});

/** Everything of a kind with these labels in a namespace. */
const goingSelected = async (
  { transport }: Session,
  kind: Kind,
  where: { readonly namespace: string; readonly selector: string | undefined },
): Promise<readonly Going[]> => {
  const found: Going[] = [];
  for await (const page of pages(transport, { resource: kind.resource, ...where })) {
    found.push(...page.items.map((object) => isGoing(kind, object)));
  }
  return found;
};

/** Deletes by UID; dependents go with it. */
const remove = async ({ transport }: Session, { target, uid }: Going): Promise<void> => {
  const { kind, key } = target;
  await openCluster(transport).remove({ resource: kind.resource, namespace: key.namespace, name: key.name }, { uid });
};

/** True while the object or its pods exist. Labels find pods (the driver owns executors) until the name is reused. */
const isLeft = async ({ transport }: Session, { target, uid }: Going): Promise<boolean> => {
  const { kind, key } = target;
  const cluster = openCluster(transport);
  const { value } = await cluster.get({ resource: kind.resource, namespace: key.namespace, name: key.name });
  if (value !== undefined) return value.metadata.uid === uid;
  const labels = kind.podLabels(key.name);
  if (!Object.values(labels).every(isLabelValue)) return false;
  const { value: pods } = await cluster.list({ do: "list", resource: podResource, namespace: key.namespace, labels });
  return pods.some((pod) => mayBelongTo(pod, kind.resource.kind, uid));
};

const againMs = 1_000;

/** Waits until objects and their pods are gone. */
const awaitGone = async (tools: Tools, session: Session, gone: readonly Going[], waitMs: number): Promise<void> => {
  for (const one of gone) {
    for (let left = waitMs; await isLeft(session, one); left -= againMs) {
      const { namespace, name } = one.target.key;
      if (left <= 0)
        throw new Refused(
          `${namespace}/${name} or a pod of it is still there; see: rekindle status ${namespace}/${name}`,
          {
            code: exits.timeOver,
          },
        );
      await tools.sleep(againMs);
    }
  }
};

type Options = Scoped & {
  readonly selector?: string;
  readonly all?: true;
  readonly kind?: string;
  readonly yes?: true;
  readonly wait?: true;
  readonly timeout: number;
};

const kindOf = (name: string | undefined): Kind => {
  const kind = name === undefined ? usual : kindNamed(name);
  if (kind === undefined) throw new Refused(`${name} is not a kind that Rekindle runs (${kindNames})`);
  return kind;
};

const going = async (session: Session, names: readonly string[], options: Options): Promise<readonly Going[]> => {
  const isMany = options.selector !== undefined || options.all === true;
  if (isMany === names.length > 0)
    throw new Refused("name what to delete, or use -l LABELS or --all; exactly one of these");
  if (isMany) {
    const namespace = options.namespace ?? session.namespace ?? "default";
    return goingSelected(session, kindOf(options.kind), { namespace, selector: options.selector });
  }
  return Promise.all(
    names.map(async (name) => goingNamed(session, await findTarget(name, session, options.namespace))),
  );
};

const act = async (tools: Tools, session: Session, names: readonly string[], options: Options): Promise<void> => {
  const found = await going(session, names, options);
  if (found.length === 0) return tools.print("nothing matches");
  const question = `Delete ${found.map(({ target }) => `${target.key.namespace}/${target.key.name}`).join(", ")}?`;
  if (names.length === 0 && options.yes !== true && !(await tools.confirm(question)))
    throw new Refused("nothing was deleted (--yes skips the question)");
  for (const one of found) {
    await remove(session, one);
    tools.print(`${nameText(one.target.kind.resource, one.target.key.name)} deleted`);
  }
  if (options.wait === true) await awaitGone(tools, session, found, options.timeout);
};

export const deletion = (tools: Tools): Command =>
  onNamespace("delete")
    .argument("[applications...]", application[1])
    .option("-l, --selector <labels>", "all with these labels in the namespace")
    .option("--all", "all of the namespace")
    .option("--kind <kind>", `kind of the objects, with -l or --all (default: ${usual.resource.kind})`)
    .option("--yes", "do not ask, with -l or --all")
    .option("--wait", "wait until they and their pods are gone")
    .addOption(spanOption("--timeout <span>", "how long --wait waits", 120_000))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, (session) => act(tools, session, names, options)),
    );
