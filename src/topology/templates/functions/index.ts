import type { TemplateFunction } from '../values/values.ts';
import { builtins } from './builtins.ts';
import { collectionFunctions } from './collections.ts';
import { hashFunctions } from './hashes.ts';
import { jsonFunctions, valueOfJson } from './json.ts';
import { notComputedFunctions } from './not-computed.ts';
import { numberFunctions } from './numbers.ts';
import { pathFunctions } from './paths.ts';
import { patternFunctions } from './patterns.ts';
import { stringFunctions } from './strings.ts';
import { urlFunctions } from './urls.ts';
import { versionFunctions } from './versions.ts';

export { builtins, valueOfJson };

/** All functions that Cluster API's templates may call: those of text/template and the hermetic ones of sprig. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    ...builtins,
    ...stringFunctions,
    ...collectionFunctions,
    ...numberFunctions,
    ...jsonFunctions,
    ...patternFunctions,
    ...versionFunctions,
    ...pathFunctions,
    ...urlFunctions,
    ...hashFunctions,
    ...notComputedFunctions,
  }),
);
