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
  type GeneratePatchesRequest,
  type GeneratePatchesRequestItem,
  type GeneratePatchesResponseItem,
  type HolderReference,
  type MatchResources,
  matchesResources,
  placeOfItem,
  revertIgnored,
} from '../../../runtimehooks/index.ts';
import type { OrUndefined } from '../handlers/answer.ts';
import { HandlerFailure } from '../handlers/handler.ts';
import type { DefinedVariables, Only } from './define-variables.ts';
import { type BuiltinVariables, layeredVariables, layerOf, type Variables } from './variables.ts';

/** A template as a patcher receives it: a copy that may be changed freely. */
export interface Template {
  apiVersion: string;
  kind: string;
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string>; [field: string]: unknown };
  spec: JsonObject;
  [field: string]: unknown;
}

/**
 * Types of templates, by kind and apiVersion, for patchers that match a kind; `extensionconfig-webhook template-types`
 * writes them from CustomResourceDefinitions:
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
  /** What to do with a template whose kind and apiVersion no patcher matches, wherever it is used. Default: `skip`. */
  unmatched?: 'skip' | 'fail' | undefined;
  /** Gets a warning for each kind with changes that Cluster API would ignore or overwrite, and patches leave out. */
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

function matchesPlace({ holder = {}, matchResources }: TemplateMatch, item: GeneratePatchesRequestItem): boolean {
  return (
    Object.entries(holder).every(
      ([field, value]) => value === undefined || item.holderReference[field as keyof HolderReference] === value,
    ) &&
    (matchResources === undefined || matchesResources(matchResources, placeOfItem(item)))
  );
}

/** Whether a template is one that a patcher with this `match` is for. */
export const matches = (match: TemplateMatch, item: GeneratePatchesRequestItem): boolean =>
  matchesKind(match, item.object as JsonObject) && matchesPlace(match, item);

/** Longest name in the log, in characters. */
const maxNameLength = 253;
const shownName = (name: Json | undefined) => (typeof name === 'string' ? name.slice(0, maxNameLength) : undefined);
const shownHolder = ({ kind, namespace, name }: HolderReference) =>
  `${kind} ${namespace}/${name}`.slice(0, 3 * maxNameLength);

/** Maximum number of kinds with a warning, and of fields that a warning names. */
const maxNamed = 20;

/** For TypeScript, a function that returns something is one that returns nothing. What a promise changes later is lost. */
function refuseReturned(returned: unknown, template: JsonObject): void {
  if (returned instanceof Promise) {
    returned.catch(() => {});
    throw new TypeError('mutate returned a promise: a patcher cannot wait; read what it needs before walkTemplates');
  }
  // What it changes, such as Object.assign(template.spec, …), may be returned.
  if (isJsonObject(returned) && 'kind' in returned && returned !== template) {
    throw new TypeError(`mutate returned ${returned.kind}: change the template that it receives instead`);
  }
}

const silent = pino({ enabled: false });

/**
 * Runs patchers over the templates of a GeneratePatches request, and returns the patches for `answer.done({ items })`: the
 * difference between each template and its copy, which all patchers that match change in their order; always in the same
 * order, and none for an unchanged template.
 *
 * @throws {HandlerFailure} when a value does not match its schema or the type that a patcher expects, and when no patcher
 *   matches and `unmatched` is `fail`.
 * @throws {TypeError} when a patcher is asynchronous, or returns another template.
 */
export function walkTemplates<const Matches extends readonly unknown[], Values = unknown>(
  request: GeneratePatchesRequest,
  patchers: { readonly [Index in keyof Matches]: TemplatePatcher<Matches[Index], Values> },
  options: WalkOptions<Values> = {},
): GeneratePatchesResponseItem[] {
  const { unmatched = 'skip' } = options;
  const log: Log = options.log ?? silent;
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
      const { holderReference: holder } = item;
      const ofKind = all.filter(({ match = {} }) => matchesKind(match, before));
      if (ofKind.length === 0 && unmatched === 'fail') {
        const what = `${before.kind} of ${before.apiVersion}`;
        throw new HandlerFailure(
          `no patch is known for ${what}, which ${shownHolder(holder)} has in ${holder.fieldPath}`,
        );
      }
      const matching = ofKind.filter(({ match = {} }) => matchesPlace(match, item));
      if (matching.length === 0) {
        continue;
      }
      const variables = item.variables ? layeredVariables(requestVariables, layerOf(item.variables)) : shared;
      const after = copyOf(before);
      const kind = shownName(before.kind);
      const context: TemplateContext<Values> = {
        values: (options.variables?.read(request, item) ?? {}) as Values,
        variables,
        builtin: variables.object('builtin', {}),
        item,
        holder,
        log: log.child({ template: kind, holder: shownHolder(holder) }),
      };
      for (const { mutate } of matching) {
        refuseReturned(mutate(after as Template, context), after);
      }
      const ignored = revertIgnored(before, after, placeOfItem(item));
      if (ignored.length > 0) {
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
    for (const [kind, fields] of [...leftOut].slice(0, maxNamed)) {
      const named = { kind, fields: [...fields].slice(0, maxNamed) };
      log.warn(named, 'changes that Cluster API ignores or overrides are left out of the patches');
    }
  }
}
