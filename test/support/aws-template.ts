/** The template of AWS, read and parsed once in a process. */
import { readFileSync } from "node:fs";
import { readTemplate } from "../../infra/aws/template.ts";

export const templateText = readFileSync(new URL("../../infra/aws/template.yaml", import.meta.url), "utf8");

export const template = readTemplate(templateText);
