import type { Logger } from 'pino';
import {
  copyOf,
  encodedPatch,
  type Json,
  type JsonObject,
  jsonPatchOf,
  mergePatchOf,
} from '../../../kubernetes/index.ts';
import {
  fieldsSetBy,
  type GeneratePatchesRequest,
  type GeneratePatchesRequestItem,
  type GeneratePatchesResponseItem,
  type HolderReference,
  revertIgnored,
} from '../../../runtimehooks/index.ts';
import { HandlerFailure } from '../handlers/handler.ts';
import { layeredVariables, layerOf, mergeWork, type Variables } from './variables.ts';

/** A template as a patcher receives it: a copy that may be changed freely. */
export interface Template {
  apiVersion: string;
  kind: string;
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string>; [field: string]: unknown };
  spec: JsonObject;
  [field: string]: unknown;
}

/** Selects the templates that a patcher is for; an absent field matches all. */
export interface TemplateMatch {
  kind?: string | readonly string[] | undefined;
  /** `GROUP/VERSION`, or `GROUP/*` for all versions. */
  apiVersion?: string | readonly string[] | undefined;
  /** Where the template is used: `{ kind: 'MachineDeployment' }`, `{ fieldPath: 'spec.controlPlaneRef' }`. */
  holder?:
    | { [Field in 'apiVersion' | 'kind' | 'namespace' | 'name' | 'fieldPath']?: HolderReference[Field] | undefined }
    | undefined;
}

/** The input of a patcher besides the template. */
export interface TemplateContext {
  /** The variables for the place where the template is used. */
  variables: Variables;
  holder: HolderReference;
}

/** Changes templates. */
export interface TemplatePatcher<T = Template> {
  match?: TemplateMatch | undefined;
  /** Changes the template that it receives; the changes become the patch. */
  mutate(template: T, context: TemplateContext): void;
}

/** Options of `walkTemplates`. */
export interface WalkOptions {
  /** Format of the patches. Default: `JSONPatch`. */
  format?: 'JSONPatch' | 'JSONMergePatch' | undefined;
  /** What to do with a template that no patcher matches. Default: `skip`. */
  unmatched?: 'skip' | 'fail' | undefined;
  /** Receives a warning for each kind with changes that Cluster API would ignore or overwrite, and patches leave out. */
  log?: Pick<Logger, 'warn'> | undefined;
}

const isOneOf = (allowed: string | readonly string[] | undefined, value: string, same: (a: string) => boolean) =>
  allowed === undefined || (typeof allowed === 'string' ? same(allowed) : allowed.some(same)) || allowed === value;

function matches({ kind, apiVersion, holder = {} }: TemplateMatch, item: GeneratePatchesRequestItem): boolean {
  const object = item.object as JsonObject;
  const objectVersion = String(object.apiVersion);
  return (
    isOneOf(kind, String(object.kind), (one) => one === object.kind) &&
    isOneOf(apiVersion, objectVersion, (one) =>
      one.endsWith('/*') ? objectVersion.startsWith(one.slice(0, -1)) : one === objectVersion,
    ) &&
    Object.entries(holder).every(
      ([field, value]) => value === undefined || item.holderReference[field as keyof HolderReference] === value,
    )
  );
}

/** Longest name in the log, in characters. */
const maxNameLength = 253;

const shownName = (name: Json | undefined) => (typeof name === 'string' ? name.slice(0, maxNameLength) : undefined);

/** Maximum number of kinds with a warning of their own, and of fields that a warning names. */
const maxNamed = 20;

/** Collects the changes that are left out of patches, so that each kind is warned about once. */
function createLeftOut() {
  const byKind = new Map<string | undefined, { templates: number; fields: Set<string> }>();
  return {
    add(kind: string | undefined, ignored: readonly string[]): void {
      const key = byKind.has(kind) || byKind.size < maxNamed ? kind : undefined;
      const found = byKind.get(key) ?? { templates: 0, fields: new Set() };
      byKind.set(key, found);
      found.templates++;
      for (const field of ignored) {
        if (found.fields.size === maxNamed) {
          break;
        }
        found.fields.add(field.slice(0, maxNameLength));
      }
    },
    warn(log: Pick<Logger, 'warn'>): void {
      for (const [kind, { templates, fields }] of byKind) {
        log.warn(
          { kind, templates, fields: [...fields] },
          'changes that Cluster API ignores or overrides are left out of the patches',
        );
      }
    },
  };
}

/**
 * A function that returns a promise has the type of one that returns nothing. What it changes later would be missing in the
 * patch, and what it throws would end the process.
 */
function refusePromise(returned: unknown): void {
  if (returned instanceof Promise) {
    returned.catch(() => {});
    throw new TypeError('mutate returned a promise: a patcher cannot wait; read what it needs before walkTemplates');
  }
}

/**
 * Runs patchers over the templates of a GeneratePatches request and returns the patches for `answer.done({ items })`:
 * the difference between each template and its changed copy, always in the same order, and none for an unchanged
 * template. All patchers that match a template change the same copy, in their order.
 *
 * @throws {HandlerFailure} when a variable has another type than a patcher expects, when no patcher matches and
 *   `unmatched` is `fail`, and when patchers read all variables, or all of `builtin`, of very many for very many
 *   templates.
 * @throws {TypeError} when a patcher is asynchronous.
 */
export function walkTemplates<T = Template>(
  request: GeneratePatchesRequest,
  patchers: readonly TemplatePatcher<T>[],
  { format = 'JSONPatch', unmatched = 'skip', log }: WalkOptions = {},
): GeneratePatchesResponseItem[] {
  const requestVariables = layerOf(request.variables);
  const work = mergeWork();
  const shared = layeredVariables(requestVariables, layerOf(), work);
  const patches: GeneratePatchesResponseItem[] = [];
  const leftOut = createLeftOut();
  try {
    for (const item of request.items) {
      const before = item.object as JsonObject;
      const matching = patchers.filter(({ match = {} }) => matches(match, item));
      if (matching.length === 0) {
        if (unmatched === 'fail') {
          throw new HandlerFailure(`no patch is known for templates of ${before.apiVersion} ${before.kind}`);
        }
        continue;
      }
      const variables =
        item.variables === undefined ? shared : layeredVariables(requestVariables, layerOf(item.variables), work);
      const after = copyOf(before);
      const context = { variables, holder: item.holderReference };
      for (const { mutate } of matching) {
        refusePromise(mutate(after as T, context));
      }
      const builtin = item.variables?.find(({ name }) => name === 'builtin')?.value as Json | undefined;
      const ignored = revertIgnored(before, after, { holder: item.holderReference, sets: fieldsSetBy(builtin) });
      if (ignored.length > 0) {
        leftOut.add(
          shownName(before.kind),
          ignored.map((path) => path.join('.')),
        );
      }
      const patch = format === 'JSONPatch' ? jsonPatchOf(before, after) : (mergePatchOf(before, after) ?? []);
      if (!Array.isArray(patch) || patch.length > 0) {
        patches.push({ uid: item.uid, patchType: format, patch: encodedPatch(patch) });
      }
    }
    return patches;
  } finally {
    // A later patcher's exception does not make these changes right.
    if (log !== undefined) {
      leftOut.warn(log);
    }
  }
}
