import type { Check } from './define-check.ts';
import { answerChecks } from './requirements/answers.ts';
import { patchChecks } from './requirements/patches.ts';
import { recordedChecks } from './requirements/recorded.ts';
import { wireChecks } from './requirements/wire.ts';

/** All checks, in the order in which they run and are reported. */
export const checks: readonly Check[] = [...wireChecks, ...answerChecks, ...patchChecks, ...recordedChecks];
