/** `rekindle create NAME --from SCHEDULE`: one run of a schedule's template, now and under a name of its own. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { apiVersionOf, type Obj } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Document } from "../io/documents.ts";
import { Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import { usual } from "../kinds/all.ts";
import { scheduledSparkApplication } from "../kinds/scheduled.ts";

/** The schedule by `NAME` or `NAMESPACE/NAME`. */
const refOf = (text: string, session: Pick<Session, "namespace">, asked: string | undefined) => {
  const parts = text.split("/");
  const [name = "", own] = [...parts].reverse();
  if (parts.length > 2 || parts.includes("")) throw new Refused(`--from ${text}: write NAME or NAMESPACE/NAME`);
  if (own !== undefined && asked !== undefined && own !== asked)
    throw new Refused(`--from ${text} and -n ${asked} name different namespaces: keep one of them`);
  return { name, namespace: own ?? asked ?? session.namespace ?? "default" };
};

/**
 * An application with the template of a schedule. As with sparkctl, the schedule owns it: it is deleted with the
 * schedule. It bears no label of the schedule, so it counts neither for its history nor for its concurrency policy.
 */
export const fromSchedule = async (
  session: Session,
  {
    name,
    from,
    namespace: asked,
  }: { readonly name: string; readonly from: string; readonly namespace: string | undefined },
): Promise<Document> => {
  const { resource } = scheduledSparkApplication;
  const ref = refOf(from, session, asked);
  const { value: schedule } = await openCluster(session.transport).get({ resource, ...ref });
  if (schedule === undefined)
    throw new Refused(
      `there is no ${resource.kind} ${ref.namespace}/${ref.name}; see them all with: rekindle list ${resource.kind}`,
    );
  const spec = isRecord(schedule["spec"]) ? schedule["spec"]["template"] : undefined;
  if (!isRecord(spec)) throw new Refused(`${resource.kind} ${ref.namespace}/${ref.name} has no spec.template`);
  const owner = { apiVersion: schedule.apiVersion, kind: schedule.kind, name: ref.name, uid: schedule.metadata.uid };
  const object: Obj = {
    apiVersion: apiVersionOf(usual.resource),
    kind: usual.resource.kind,
    metadata: { name, namespace: ref.namespace, ownerReferences: [owner] },
    spec,
  };
  return { object, place: `--from ${from}` };
};
