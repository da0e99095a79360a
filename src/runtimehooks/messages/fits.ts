import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { HookDefinition } from '../catalog/definition.ts';
import { clusterApiHooks } from '../catalog/definitions/definitions.ts';
import type { Strictness } from './compile.ts';

const require = createRequire(import.meta.url);

/** Whether a message has no problem. */
export type Fits = (message: unknown) => boolean;

/** Whether messages fit, by the names of their components. */
type FitsByComponent = Readonly<Record<string, Fits>>;

/** Whose checks are generated, and whose messages: those that the program checks. */
export const generated: Readonly<Record<Strictness, readonly ('request' | 'response')[]>> = {
  strict: ['request', 'response'],
  tolerant: ['response'],
  received: ['request'],
};

const loaded: Partial<Record<Strictness, FitsByComponent>> = {};

const known: ReadonlySet<HookDefinition> = new Set(clusterApiHooks);

/** Loads a generated file: only when a message is checked, since most programs check none. */
function load(strictness: Strictness): FitsByComponent {
  const file: { fits: FitsByComponent } = require(`./${strictness}-fits${extname(import.meta.url)}`);
  return file.fits;
}

/**
 * What decides whether a message has no problem, generated from its schema: compiling that takes longer than the rest of
 * a start. Undefined for hooks other than Cluster API's, and for messages that are not checked so.
 */
export function fitsOf(
  hook: HookDefinition,
  message: 'request' | 'response',
  strictness: Strictness,
): Fits | undefined {
  if (!known.has(hook) || !generated[strictness].includes(message)) {
    return undefined;
  }
  loaded[strictness] ??= load(strictness);
  return loaded[strictness][hook[message].component];
}
