/** The groups that wait in a queue, in the order of their admission; a file of its own, which the first look loads. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WaitingInQueue } from "./answers.ts";
import { Link, Panel, Table } from "./parts.tsx";
import { serverNow } from "./store.ts";
import { briefly, grouped, visible } from "./text.ts";
import { keyOf } from "./wire.ts";

const answer = signal<{ readonly queue: string; readonly waiting: WaitingInQueue | undefined } | undefined>(undefined);

const read = async (queue: string): Promise<void> => {
  const found = await fetch(`/page/queue/${encodeURIComponent(queue)}`).catch(() => undefined);
  answer.value = { queue, waiting: found?.ok === true ? await found.json() : undefined };
};

/** The time between two reads while it is open, ms: the server lists as rarely. */
const everyMs = 5_000;

const countText = ({ of, groups, more }: WaitingInQueue): string => {
  if (groups.length === of) return `${grouped(of)} ${of === 1 ? "waits" : "wait"}`;
  return `${grouped(groups.length + more)} of the ${grouped(of)} that wait are visible to you`;
};

export const QueueGroups = ({ queue }: { readonly queue: string }) => {
  useEffect(() => {
    void read(queue);
    const timer = setInterval(() => void read(queue), everyMs);
    return () => clearInterval(timer);
  }, [queue]);
  const shown = answer.value?.queue === queue ? answer.value : undefined;
  const { waiting } = shown ?? {};
  return (
    <Panel title={`Waiting in ${visible(queue)}`}>
      {waiting === undefined ? (
        <p class="empty">
          {shown === undefined
            ? "Reading the groups …"
            : "The order is not shown: the account of this process may not list groups, or read their priority classes."}
        </p>
      ) : (
        <>
          <p class="empty">{countText(waiting)}, the next one first.</p>
          <Table
            label={`Groups that wait in ${visible(queue)}`}
            heads={["Position", "Group", "Waits", "Lacks"]}
            rows={waiting.groups.map(({ position, namespace, name, owner, since, why }) => [
              grouped(position),
              owner === "" ? (
                visible(`${namespace}/${name}`)
              ) : (
                <Link to={{ screen: "application", application: keyOf({ kind: "Job", namespace, name: owner }) }}>
                  {visible(`${namespace}/${owner}`)}
                </Link>
              ),
              briefly((serverNow() - since) / 1_000),
              visible(why),
            ])}
            empty="No group waits here."
          />
          {waiting.more === 0 ? undefined : <p class="empty">{grouped(waiting.more)} more wait behind these.</p>}
        </>
      )}
    </Panel>
  );
};
