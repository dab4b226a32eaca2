/** `rekindle pause`, `suspend` and `resume` as people type them. */
import type { Command } from "commander";
import type { Session, Tools } from "../io/tools.ts";
import { pause as pauseIt, resume as resumeIt, suspend as suspendIt } from "../lifecycle/hold.ts";
import { findTarget, type Target } from "../selection/target.ts";
import { application, connected, onNamespace, type Scoped } from "./options.ts";

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

export const pause = holding("pause", pauseIt);
export const suspend = holding("suspend", suspendIt);
export const resume = holding("resume", resumeIt);
