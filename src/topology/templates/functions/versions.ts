import type { TemplateFunction } from '../evaluate.ts';
import { parseVersion, Version } from '../values/version.ts';
import { satisfies } from './constraints.ts';
import { define } from './define.ts';

/** Functions of sprig for semantic versions. */
export const versionFunctions: Readonly<Record<string, TemplateFunction>> = {
  semver: define(['string'], ([text]) => new Version(parseVersion(text), text)),
  semverCompare: define(['string', 'string'], ([constraints, version], budget) => {
    budget.spend(constraints.length);
    return satisfies(constraints, version);
  }),
};
