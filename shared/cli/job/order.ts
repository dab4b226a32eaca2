/** Commands for jobs and queues as vcctl writes them. A Command names its target for the controller that runs it. */
import { request } from "../../adapters/kubernetes/requests.ts";
import { apiVersionOf, type Resource, type Stored } from "../../core/object.ts";
import { collectionPath } from "../../kube/paths.ts";
import type { Session } from "../io/tools.ts";
import { commands } from "../kinds/job-shape.ts";

type Asked = {
  readonly about: Stored;
  readonly resource: Resource;
  readonly action: string;
  /** Namespace of the Command for an object without a namespace. */
  readonly commandNamespace?: string;
};

/** The API server completes the name: `NAME-abortjob-x7k2p`. */
const commandFor = ({ about, resource, action, commandNamespace = "" }: Asked) => {
  const { name, uid, namespace = commandNamespace } = about.metadata;
  const owner = { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid };
  const target = { ...owner, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: apiVersionOf(commands),
    kind: commands.kind,
    metadata: { generateName: `${name}-${action.toLowerCase()}-`, namespace, ownerReferences: [target] },
    action,
    target,
  };
};

/** Creates a Command for the controller that runs the object. */
export const order = async ({ transport }: Session, asked: Asked): Promise<void> => {
  const command = commandFor(asked);
  const path = collectionPath(commands, command.metadata.namespace);
  await request(transport, "POST", path, command);
};
