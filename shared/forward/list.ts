/** Lists a collection page by page and passes on only the differences to the known objects. */
import { ApiError } from "../core/errors.ts";
import { apiVersionOf, type Resource } from "../core/object.ts";
import { openPaging } from "../kube/list-pages.ts";
import { pageOf } from "../kube/responses.ts";
import { type FollowContext, getting, tell, type WatchState } from "./follow-context.ts";
import { openBreather, unlessAborted } from "./pause.ts";

/** Objects in one page: parsing a page blocks the event loop. */
const pageSize = 250;

/** The error of a list without a resourceVersion: a watch from an unknown version would miss events. */
const withoutVersion = (resource: Resource): ApiError =>
  new ApiError({ status: 0, reason: "BadAnswer", message: `list ${resource.plural}: no resourceVersion` });

/** Lists all objects. The cursor is set when all pages were taken in before the signal was raised. */
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
