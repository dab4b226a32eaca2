/**
 * Webhook configurations of `migrate --undo`. They are created with failurePolicy Ignore, for a server may wait for its
 * configurations before it answers, and get their own policy when it answers: no request is refused in between.
 */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Obj, Ref, Stored } from "../../core/object.ts";
import type { Work } from "./leave.ts";
import { hookOf, restoring, type Saved } from "./saved.ts";

const listed = z.looseObject({ name: z.string(), failurePolicy: z.string().optional() });

type Webhook = z.infer<typeof listed>;

const webhooksOf = (object: Obj): readonly Webhook[] => z.array(listed).catch([]).parse(object["webhooks"]);

/** The configuration with failurePolicy Ignore, and with the annotation that marks it as not in force yet. */
const lenient = (object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [restoring]: "true" } },
  webhooks: webhooksOf(object).map((webhook) => ({ ...webhook, failurePolicy: "Ignore" })),
});

/** Creates the saved configurations. An existing one stays: an earlier run or its own server has created it. */
export const makeHooks = async ({ session, tools }: Work, { hooks }: Saved): Promise<void> => {
  for (const { ref, object } of hooks.map(hookOf)) {
    try {
      await openCluster(session.transport).create(ref, lenient(object));
      tools.print(`${object.kind} ${ref.name} created again, not in force yet`);
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.reason !== "AlreadyExists") throw cause;
    }
  }
};

/** The existing configuration with its server's later changes (its certificate) and the saved failure policies. */
const inForce = (there: Stored, wanted: Obj): Obj => {
  const policies = new Map(webhooksOf(wanted).map(({ name, failurePolicy }) => [name, failurePolicy]));
  const { [restoring]: _, ...annotations } = there.metadata.annotations ?? {};
  return {
    ...there,
    metadata: { ...there.metadata, annotations },
    webhooks: webhooksOf(there).map((webhook) => ({ ...webhook, failurePolicy: policies.get(webhook.name) ?? "Fail" })),
  };
};

/** Attempts at an update: the server may write its configuration at the same moment. */
const tries = 5;

const enforce = async ({ session, tools }: Work, ref: Ref, wanted: Obj): Promise<void> => {
  for (let left = tries; left > 0; left--) {
    const { value: there } = await openCluster(session.transport).get(ref);
    if (there?.metadata.annotations?.[restoring] === undefined) return;
    try {
      await replaceObject(session.transport, ref, inForce(there, wanted));
      return tools.print(`${wanted.kind} ${ref.name} is in force`);
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 409 || left === 1) throw cause;
    }
  }
};

/** Puts the configurations of `makeHooks` into force; one that another client created stays as it is. */
export const enforceHooks = async (work: Work, { hooks }: Saved): Promise<void> => {
  for (const { ref, object } of hooks.map(hookOf)) await enforce(work, ref, object);
};
