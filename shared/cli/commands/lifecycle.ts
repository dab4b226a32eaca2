/** `rekindle pause`, `suspend`, `resume` and `delete`, of applications by their names or by labels. */

import type { Command } from "commander";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { isLabelValue, keyKindOf, type Stored } from "../../core/object.ts";
import {
  deleteObject,
  mustSuspend,
  type Outcome,
  objectOf,
  pauseObject,
  resumeObject,
  type Subject,
  suspendObject,
} from "../../inspection/actions/lifecycle.ts";
import { nameText } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { kindNamed, kindNames, usual } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import { findTarget, shortName, type Target } from "../../inspection/target.ts";
import { mayBelongTo } from "../../kube/pods.ts";
import { pods as podResource } from "../../kube/resources.ts";
import { type Bounds, within } from "../io/deadline.ts";
import { application, connected, onNamespace, type Scoped, spanOption } from "../io/options.ts";
import type { Tools } from "../io/tools.ts";

type Act = (session: Session, subject: Subject) => Promise<Outcome>;

const holding =
  (name: string, act: Act, must: (target: Target) => void = () => {}) =>
  (tools: Tools): Command =>
    onNamespace(name)
      .argument(`${application[0].slice(0, -1)}...>`, application[1])
      .action((names: readonly string[], options: Scoped) =>
        connected(tools, options, async (session) => {
          for (const text of names) {
            const target = await findTarget(text, session, options.namespace);
            must(target);
            tools.print((await act(session, { target, object: await objectOf(session, target) })).text);
          }
        }),
      );

export const pause = holding("pause", pauseObject);
export const suspend = holding("suspend", suspendObject, mustSuspend);
export const resume = holding("resume", resumeObject);

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
      kind: keyKindOf(kind.resource),
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

/** True while the object or its pods exist. Labels find pods (the driver owns executors) until the name is reused. */
const isLeft = async ({ transport }: Session, { target, uid }: Going): Promise<boolean> => {
  const { kind, key } = target;
  const cluster = openCluster(transport);
  const { value } = await cluster.get({ resource: kind.resource, namespace: key.namespace, name: key.name });
  if (value !== undefined) return value.metadata.uid === uid;
  const labels = kind.podLabels(key.name);
  if (!Object.values(labels).every(isLabelValue)) return false;
  const { value: pods } = await cluster.list({ do: "list", resource: podResource, namespace: key.namespace, labels });
  return pods.some((pod) => mayBelongTo(pod, kind.resource, uid));
};

const againMs = 1_000;

/** Waits until all objects and their pods are gone, within one timeout. */
const awaitGone = async (tools: Tools, session: Session, gone: readonly Going[], waitMs: number): Promise<void> => {
  let left = gone;
  const wait = async (bounds: Bounds): Promise<void> => {
    for (const [at, one] of gone.entries()) {
      left = gone.slice(at);
      while (await isLeft(bounds.session, one)) await bounds.tools.sleep(againMs);
    }
  };
  await within({ tools, session }, waitMs, wait, async () => {
    const names = left.map(({ target }) => shortName(target.key));
    return `${names.join(", ")} or a pod of it is still there; see: rekindle status ${names[0]}`;
  });
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
    await deleteObject(session, one.target, { uid: one.uid });
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
    .option("--yes", "skip the question, with -l or --all")
    .option("--wait", "wait until they and their pods are gone")
    .addOption(spanOption("--timeout <duration>", "how long --wait waits", 120_000))
    .action((names: readonly string[], options: Options) =>
      connected(tools, options, (session) => act(tools, session, names, options)),
    );
