import { parseSmallYaml, YamlError } from '../../base/index.ts';
import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import { prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import { type Lifecycle, type LifecycleKey, lifecycleFrom, type WrittenLifecycle } from './lifecycle.ts';
import { lifecycleProblem } from './policy.ts';
import { parseRelease, type Release } from './release.ts';

/** Longest text, in characters: enough for a thousand hooks. */
const maxLength = 256 * 1024;

/** Why a lifecycle file is invalid: one line, with the position in the file. */
export class LifecycleFileError extends Error {}

/** A lifecycle in the file, where the name is that of a hook. */
type FileLifecycle = Omit<WrittenLifecycle, 'name' | 'replacedBy'> & { hook: string; replacedBy?: FileKey };
type FileKey = Omit<LifecycleKey, 'name'> & { hook: string };

const name = { type: 'string', minLength: 1, maxLength: 256 };
const release = { type: 'string', pattern: '^v?[0-9]{1,4}\\.[0-9]{1,4}$' };
const reference = { group: name, version: name, hook: name };

const schema: Schema = {
  type: 'object',
  required: ['hooks'],
  properties: {
    hooks: {
      type: 'array',
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['group', 'version', 'hook', 'introduced'],
        properties: {
          ...reference,
          introduced: release,
          deprecated: {
            type: 'object',
            required: ['release', 'date'],
            properties: { release, date: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' } },
          },
          removed: release,
          replacedBy: {
            type: 'object',
            required: ['group', 'version', 'hook'],
            properties: reference,
          },
          singleton: { type: 'boolean' },
          blockingSince: release,
        },
      },
    },
  },
};

const keyOf = ({ group, version, hook: name }: FileKey): LifecycleKey => ({ group, version, name });

/** The schema has checked the releases. */
const lifecycleOf = ({ replacedBy, ...entry }: FileLifecycle): Lifecycle =>
  lifecycleFrom(
    { ...entry, ...keyOf(entry), replacedBy: replacedBy && keyOf(replacedBy) },
    (text) => parseRelease(text) as Release,
  );

/**
 * Reads a provider's own hooks from YAML (or JSON) text: `hooks`, a list of group, version, hook, introduced, and the
 * other fields of `Lifecycle`. Releases and the months of deprecations are strings ("1.11", "2025-08").
 *
 * @throws {LifecycleFileError} when the text is not valid YAML, has more than 256 Ki characters or 1,000 hooks, an
 *   unknown field or one of a wrong type, or a lifecycle that violates the Runtime SDK rules.
 */
export function parseLifecycles(text: string): Lifecycle[] {
  let content: Json;
  try {
    content = parseSmallYaml(text, maxLength) as Json;
  } catch (error) {
    throw error instanceof YamlError ? new LifecycleFileError(error.message) : error;
  }
  if (!isJsonObject(content)) {
    throw new LifecycleFileError('the file must be an object with the list hooks');
  }
  const [unknown] = prune(content, schema, false);
  if (unknown !== undefined) {
    throw new LifecycleFileError(`${unknown}: there is no such field`);
  }
  const [cause] = validateSchema(content, schema);
  if (cause !== undefined) {
    throw new LifecycleFileError(`${cause.field}: ${cause.message}`);
  }
  const hooks = content.hooks as unknown as FileLifecycle[];
  return hooks.map((entry, index) => {
    const lifecycle = lifecycleOf(entry);
    const problem = lifecycleProblem(lifecycle);
    if (problem !== undefined) {
      throw new LifecycleFileError(`hooks[${index}] (${entry.group}/${entry.version} ${entry.hook}) is ${problem}`);
    }
    return lifecycle;
  });
}
