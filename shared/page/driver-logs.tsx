/** The log of an application: of a pod, or a kept one of an attempt whose driver is gone; and its runs, which lead there. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { showLog } from "./panels.ts";
import { Table } from "./parts.tsx";
import { isLogShown, log, logAttempt } from "./store.ts";
import { moment, visible } from "./text.ts";
import type { Detail, Log } from "./wire.ts";

/** The server sends no more characters of a log, less the beginning of a line. */
const longestLog = 60_000;

const ofPod = ({ pod }: Log): string => (pod === "" ? "" : ` of ${visible(pod)}`);

const LogText = ({ found, name }: { readonly found: Log; readonly name: string }) => {
  const end = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    const { current } = end;
    if (current !== null) current.scrollTop = current.scrollHeight;
  }, [found.text]);
  if (found.error !== "")
    return (
      <p class="note">
        The log{ofPod(found)} cannot be read here: {visible(found.error)}
      </p>
    );
  if (found.text === "") return <p class="empty">{visible(found.pod)} has written nothing yet.</p>;
  return (
    <pre ref={end} class="log" tabIndex={0} role="region" aria-label={`Log of ${visible(found.pod)}`}>
      {found.attempt === undefined && found.text.length >= longestLog ? `… rekindle log ${name} shows all\n` : ""}
      {visible(found.text)}
    </pre>
  );
};

/** The end of a log. It is read while it is in view. `name`: the application's, as a command takes it. */
export const LogEnd = ({ name, now }: { readonly name: string; readonly now: number }) => {
  useEffect(() => {
    isLogShown.value = true;
    return () => {
      isLogShown.value = false;
    };
  }, []);
  const [found, attempt] = [log.value, logAttempt.value];
  return (
    <>
      {attempt === 0 ? undefined : (
        <p class="note">
          The end of the log of attempt {attempt}
          {found?.at === undefined ? "" : `, kept ${moment(found.at, now)}`}.{" "}
          <button type="button" class="action" onClick={() => showLog()}>
            Show the present log
          </button>
        </p>
      )}
      {found === undefined ? <p class="empty">Reading the log …</p> : <LogText found={found} name={name} />}
    </>
  );
};

/** The attempts whose driver's log is kept: a run may have several. */
const KeptLogs = ({ logs }: { readonly logs: Detail["keptLogs"] }) => {
  const attempts = [...new Set(logs.map(({ attempt }) => attempt))].toReversed();
  if (attempts.length === 0) return undefined;
  return (
    <p class="note">
      Kept logs of drivers:
      {attempts.map((attempt) => (
        <button key={attempt} type="button" class="action" onClick={() => showLog("", attempt)}>
          Attempt {attempt}
        </button>
      ))}
    </p>
  );
};

/** Runs that are over, and the kept logs. */
export const Runs = ({ one }: { readonly one: Detail }) => (
  <>
    <Table
      label="Runs"
      heads={["Attempt", "Outcome", "Ended", "Error"]}
      rows={one.runs
        .toReversed()
        .map(({ attempt, outcome, at, error }) => [
          String(attempt),
          visible(outcome),
          moment(at, one.now),
          visible(error),
        ])}
      empty="The record keeps no earlier run of this application."
    />
    <KeptLogs logs={one.keptLogs} />
  </>
);
