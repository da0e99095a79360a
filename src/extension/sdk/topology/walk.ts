import { pino } from 'pino';
import type { Log } from '../../../base/index.ts';
import {
  copyOf,
  encodedPatch,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPatchOf,
} from '../../../kubernetes/index.ts';
import {
  fieldsSetBy,
  type GeneratePatchesRequest,
  type GeneratePatchesRequestItem,
  type GeneratePatchesResponseItem,
  type HolderReference,
  type MatchResources,
  matchesResources,
  revertIgnored,
} from '../../../runtimehooks/index.ts';
import type { OrUndefined } from '../handlers/answer.ts';
import { HandlerFailure } from '../handlers/handler.ts';
import type { BuiltinVariables } from './builtin.ts';
import type { DefinedVariables, Only } from './define-variables.ts';
import { layeredVariables, layerOf, type Variables } from './variables.ts';

/** A template as a patcher receives it: a copy that may be changed freely. */
export interface Template {
  apiVersion: string;
  kind: string;
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string>; [field: string]: unknown };
  spec: JsonObject;
  [field: string]: unknown;
}

/**
 * Types of templates, by kind and apiVersion: with them, a patcher that matches a kind receives its type.
 * `extensionconfig-webhook template-types` writes them from CustomResourceDefinitions:
 *
 * ```ts
 * declare module 'cluster-api-extension/topology' {
 *   interface TemplateKinds {
 *     DockerMachineTemplate: { 'infrastructure.cluster.x-k8s.io/v1beta2': DockerMachineTemplate };
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: projects add their kinds.
export interface TemplateKinds {}

/** The kinds of `TemplateKinds`; any, if a project declares none. */
export type TemplateKind = [keyof TemplateKinds] extends [never] ? string : keyof TemplateKinds & string;

/** Selects the templates that a patcher is for; an absent field matches all. The selector of an inline patch is one, too. */
export interface TemplateMatch {
  readonly kind?: TemplateKind | readonly TemplateKind[] | undefined;
  /** `GROUP/VERSION`, or `GROUP/*` for all versions. */
  readonly apiVersion?: string | readonly string[] | undefined;
  /** Where the template is used: `{ kind: 'MachineDeployment' }`, `{ fieldPath: 'spec.controlPlaneRef' }`. */
  readonly holder?: Readonly<OrUndefined<Partial<HolderReference>>> | undefined;
  /** Where the template is used, as in a ClusterClass: `{ machineDeploymentClass: { names: ['gpu-*'] } }`. */
  readonly matchResources?: MatchResources | undefined;
}

type OneOf<T> = T extends readonly (infer Item)[] ? Item : T;
type VersionsIn<Versions, Wanted> = Wanted extends `${infer Group}/*`
  ? Extract<keyof Versions, `${Group}/${string}`>
  : Extract<keyof Versions, Wanted>;
type TemplateIn<Versions, Wanted> = [VersionsIn<Versions, Wanted>] extends [never]
  ? Versions[keyof Versions]
  : Versions[VersionsIn<Versions, Wanted>];
/** The type of the templates that match. */
export type TemplateFor<Match> = Match extends { readonly kind: infer Kind }
  ? OneOf<Kind> extends infer Name
    ? Name extends keyof TemplateKinds
      ? TemplateIn<TemplateKinds[Name], Match extends { readonly apiVersion: infer Version } ? OneOf<Version> : never>
      : Template
    : never
  : Template;

/** The input of a patcher besides the template. */
export interface TemplateContext<Values = unknown> {
  /** The values of the defined variables (option `variables`) for the place where the template is used. */
  readonly values: Values;
  /** The same variables and all others by path, such as `disks[0].size`. */
  readonly variables: Variables;
  /** What Cluster API says about the Cluster and the place where the template is used. */
  readonly builtin: BuiltinVariables;
  /** The item of the request. */
  readonly item: GeneratePatchesRequestItem;
  /** The object that the template is used by. */
  readonly holder: HolderReference;
  /** Adds the kind of the template and its holder to each line. */
  readonly log: Log;
}

/** Changes templates. */
export interface TemplatePatcher<Match = TemplateMatch, Values = unknown> {
  match?: (Match & TemplateMatch & Only<Match, keyof TemplateMatch>) | undefined;
  /** Changes the template that it receives; the changes become the patch. */
  mutate(template: TemplateFor<Match>, context: TemplateContext<Values>): void;
}

/** Options of `walkTemplates`. */
export interface WalkOptions<Values = unknown> {
  /** What `defineVariables` returned: patchers receive their values. */
  variables?: DefinedVariables<Values> | undefined;
  /**
   * What to do with a template whose kind and apiVersion no patcher matches; it does not matter where the template is
   * used. Default: `skip`.
   */
  unmatched?: 'skip' | 'fail' | undefined;
  /**
   * The log of the handler. It gets a warning for each kind with changes that Cluster API would ignore or overwrite, and
   * patches leave out.
   */
  log?: Log | undefined;
}

const isOneOf = (allowed: string | readonly string[] | undefined, same: (a: string) => boolean) =>
  allowed === undefined || [allowed].flat().some(same);

function matchesKind({ kind, apiVersion }: TemplateMatch, object: JsonObject): boolean {
  const objectVersion = String(object.apiVersion);
  return (
    isOneOf(kind, (one) => one === object.kind) &&
    isOneOf(apiVersion, (one) =>
      one.endsWith('/*') ? objectVersion.startsWith(one.slice(0, -1)) : one === objectVersion,
    )
  );
}

const builtinOf = ({ variables }: GeneratePatchesRequestItem) =>
  variables?.find(({ name }) => name === 'builtin')?.value as Json | undefined;

function matchesPlace({ holder = {}, matchResources }: TemplateMatch, item: GeneratePatchesRequestItem): boolean {
  return (
    Object.entries(holder).every(
      ([field, value]) => value === undefined || item.holderReference[field as keyof HolderReference] === value,
    ) &&
    (matchResources === undefined ||
      matchesResources(matchResources, { holder: item.holderReference, builtin: builtinOf(item) }))
  );
}

/** Whether a template is one that a patcher with this `match` is for; the selector of an inline patch is one. */
export const matches = (match: TemplateMatch, item: GeneratePatchesRequestItem): boolean =>
  matchesKind(match, item.object as JsonObject) && matchesPlace(match, item);

/** Longest name in the log, in characters. */
const maxNameLength = 253;

const shownName = (name: Json | undefined) => (typeof name === 'string' ? name.slice(0, maxNameLength) : undefined);

const shownHolder = ({ kind, namespace, name }: HolderReference) =>
  `${kind} ${namespace}/${name}`.slice(0, 3 * maxNameLength);

/** Maximum number of kinds with a warning, and of fields that a warning names. */
const maxNamed = 20;

/** Warns once about the changes of each kind that are left out of patches; of at most so many kinds. */
function warnOf(leftOut: ReadonlyMap<string | undefined, Set<string>>, log: Pick<Log, 'warn'>): void {
  for (const [kind, fields] of [...leftOut].slice(0, maxNamed)) {
    log.warn(
      { kind, fields: [...fields].slice(0, maxNamed) },
      'changes that Cluster API ignores or overrides are left out of the patches',
    );
  }
}

/**
 * A function that returns something has the type of one that returns nothing. What a promise changes later would be missing
 * in the patch, and what it throws would end the process.
 */
function refuseReturned(returned: unknown, template: JsonObject): void {
  if (returned instanceof Promise) {
    returned.catch(() => {});
    throw new TypeError('mutate returned a promise: a patcher cannot wait; read what it needs before walkTemplates');
  }
  // What it changes, such as Object.assign(template.spec, …), may be returned.
  if (isJsonObject(returned) && 'kind' in returned && returned !== template) {
    throw new TypeError(
      `mutate returned ${returned.kind}, which changes nothing: change the template that it receives`,
    );
  }
}

const silent = pino({ enabled: false });

function contextOf<Values>(
  request: GeneratePatchesRequest,
  item: GeneratePatchesRequestItem,
  variables: Variables,
  { variables: defined, log = silent }: WalkOptions<Values>,
): TemplateContext<Values> {
  const { holderReference: holder, object } = item;
  return {
    values: (defined?.read(request, item) ?? {}) as Values,
    variables,
    builtin: variables.object('builtin', {}),
    item,
    holder,
    log: log.child({ template: shownName((object as JsonObject).kind), holder: shownHolder(holder) }),
  };
}

/**
 * Runs patchers over the templates of a GeneratePatches request and returns the patches for `answer.done({ items })`:
 * the difference between each template and its changed copy, always in the same order, and none for an unchanged
 * template. All patchers that match a template change the same copy, in their order.
 *
 * @throws {HandlerFailure} when a value does not match the schema of its variable, when it has another type than a patcher
 *   expects, and when no patcher matches and `unmatched` is `fail`.
 * @throws {TypeError} when a patcher is asynchronous, or returns another template.
 */
export function walkTemplates<const Matches extends readonly unknown[], Values = unknown>(
  request: GeneratePatchesRequest,
  patchers: { readonly [Index in keyof Matches]: TemplatePatcher<Matches[Index], Values> },
  options: WalkOptions<Values> = {},
): GeneratePatchesResponseItem[] {
  const { unmatched = 'skip', log } = options;
  const all = patchers as readonly {
    match?: TemplateMatch;
    mutate: TemplatePatcher<TemplateMatch, Values>['mutate'];
  }[];
  const requestVariables = layerOf(request.variables);
  const shared = layeredVariables(requestVariables, layerOf());
  const patches: GeneratePatchesResponseItem[] = [];
  const leftOut = new Map<string | undefined, Set<string>>();
  try {
    for (const item of request.items) {
      const before = item.object as JsonObject;
      const ofKind = all.filter(({ match = {} }) => matchesKind(match, before));
      if (ofKind.length === 0 && unmatched === 'fail') {
        const { kind, apiVersion } = before;
        const { fieldPath } = item.holderReference;
        throw new HandlerFailure(
          `no patch is known for ${kind} of ${apiVersion}, which ${shownHolder(item.holderReference)} has in ${fieldPath}`,
        );
      }
      const matching = ofKind.filter(({ match = {} }) => matchesPlace(match, item));
      if (matching.length === 0) {
        continue;
      }
      const variables =
        item.variables === undefined ? shared : layeredVariables(requestVariables, layerOf(item.variables));
      const after = copyOf(before);
      const context = contextOf(request, item, variables, options);
      for (const { mutate } of matching) {
        refuseReturned(mutate(after as Template, context), after);
      }
      const builtin = builtinOf(item);
      const ignored = revertIgnored(before, after, { holder: item.holderReference, sets: fieldsSetBy(builtin) });
      if (ignored.length > 0) {
        const kind = shownName(before.kind);
        const fields = leftOut.get(kind) ?? new Set();
        leftOut.set(kind, fields);
        ignored.forEach((path) => void fields.add(path.join('.').slice(0, maxNameLength)));
      }
      const patch = jsonPatchOf(before, after);
      if (patch.length > 0) {
        patches.push({ uid: item.uid, patchType: 'JSONPatch', patch: encodedPatch(patch) });
      }
    }
    return patches;
  } finally {
    // A later patcher's exception does not make these changes right.
    if (log !== undefined) {
      warnOf(leftOut, log);
    }
  }
}
