/** The views of objects before their submission, by their kind, without a cluster. Pure. */
import type { Obj } from "../../core/object.ts";
import type { KindForecast, Rendered, RenderedCase } from "../../kube/forecast.ts";
import { forecasts } from "../../registry/forecasts.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";

/** The views of an object's kind; of an unknown kind none. */
export const forecastFor = ({ apiVersion, kind }: Obj): KindForecast<Options> =>
  forecasts.find(({ kind: { resource } }) => resource.kind === kind && apiVersion.startsWith(`${resource.group}/`)) ??
  {};

/** Renders an object as a host with these options would submit it. */
export const rendered = (object: Obj, of: RenderedCase<Options>): Rendered =>
  forecastFor(object).rendered?.(object, of) ?? {
    refused: `a ${object.kind} is not rendered: it has no submission`,
  };
