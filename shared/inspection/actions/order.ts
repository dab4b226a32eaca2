/** Volcano's Commands: orders to the controller that runs a Job or a Queue, which a Command names as its target. */
import { request } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { apiVersionOf, type Resource, type Stored } from "../../core/object.ts";
import { collectionPath } from "../../kube/paths.ts";
import { commands } from "../../volcano/schema/resource.ts";
import type { Source } from "../io/session.ts";

type CommandRequest = {
  readonly about: Stored;
  readonly resource: Resource;
  readonly action: string;
  /** Namespace of the Command for an object without a namespace. */
  readonly commandNamespace?: string;
  /** Ends the name of the Command: the same order twice is one Command. Absent: the API server completes the name. */
  readonly once?: string | undefined;
};

/** The API server completes a name as `NAME-abortjob-x7k2p`. */
const commandFor = ({ about, resource, action, commandNamespace = "", once }: CommandRequest) => {
  const { name, uid, namespace = commandNamespace } = about.metadata;
  const owner = { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid };
  // As vcctl. Clusters that guard owners ask for a right on finalizers before they take `true`, and the page has none.
  const target = { ...owner, controller: true, blockOwnerDeletion: once === undefined };
  const prefix = `${name}-${action.toLowerCase()}-`;
  const called = once === undefined ? { generateName: prefix } : { name: `${prefix.slice(0, 200)}${once}` };
  return {
    apiVersion: apiVersionOf(commands),
    kind: commands.kind,
    metadata: { ...called, namespace, ownerReferences: [target] },
    action,
    target,
  };
};

/** Creates a Command for the controller that runs the object. */
export const order = async ({ transport }: Pick<Source, "transport">, wanted: CommandRequest): Promise<void> => {
  const command = commandFor(wanted);
  const path = collectionPath(commands, command.metadata.namespace);
  try {
    await request(transport, "POST", path, command);
  } catch (cause) {
    const isThere = wanted.once !== undefined && cause instanceof ApiError && cause.reason === "AlreadyExists";
    if (!isThere) throw cause;
  }
};
