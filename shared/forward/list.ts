/** A full list, page by page, of which only the differences to what is known are told. */
import { ApiError } from "../core/errors.ts";
import { apiVersionOf, type Resource } from "../core/object.ts";
import { openPaging } from "../kube/paging.ts";
import { pageOf } from "../kube/responses.ts";
import { type FollowContext, getting, tell, type WatchState } from "./follow-context.ts";
import { openBreather, unlessAborted } from "./pause.ts";

/** A page is parsed in one go, while everybody else waits for the event loop. */
const pageSize = 250;

/** A watch from nowhere in particular would miss what happened since. */
const withoutVersion = (resource: Resource): ApiError =>
  new ApiError({ status: 0, reason: "BadAnswer", message: `list ${resource.plural}: no resourceVersion` });

/** Lists everything; the cursor is set when all of it was taken in, and the signal not raised meanwhile. */
export const list = async (following: FollowContext, trail: WatchState): Promise<void> => {
  const { transport, resource, signal } = following;
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const round = trail.known.begin();
  const breathe = openBreather(following.now);
  const paging = openPaging(pageSize);
  let next: string | undefined;
  let version = "";
  do {
    const asked = paging((size) => transport.send(getting(following, { limit: String(size), continue: next })));
    const response = await unlessAborted(asked, signal);
    if (response === undefined) return;
    const page = pageOf(`list ${resource.plural}`, response, type);
    for (const object of page.items) {
      await breathe();
      tell(following, round.see(object));
    }
    version = page.resourceVersion;
    next = page.next;
  } while (next !== undefined);
  if (version === "") throw withoutVersion(resource);
  tell(following, round.end());
  const blind = trail.base !== "list";
  trail.cursor = version;
  trail.base = "list";
  trail.news = true;
  following.synced(trail.known.size(), blind);
};
