import { type Lifecycle, lifecycleFrom, type WrittenLifecycle } from './lifecycle.ts';
import { lifecycleProblem } from './policy.ts';
import { compareReleases, parseRelease, type Release } from './release.ts';
import type { MessageSchema } from './schema.ts';
import type { SchemaValue } from './schema-value.ts';

/**
 * A Runtime Hook in one version, with everything that is known about it. `Request` and `Response` are the types of its
 * messages.
 */
export interface HookDefinition<Request = object, Response = object> {
  /** API group, e.g. `hooks.runtime.cluster.x-k8s.io`. */
  readonly group: string;
  /** API version, e.g. `v1alpha1`. */
  readonly version: string;
  /** Name, e.g. `BeforeClusterUpgrade`. */
  readonly name: string;
  /** One sentence: what the hook is for. */
  readonly summary: string;
  /** When it is called, and what the answer decides. */
  readonly purpose: string;
  /** Groups of related hooks, for documentation. */
  readonly tags: readonly string[];
  /** Whether an extension server has exactly one handler of it, which has no name in the path. */
  readonly singleton: boolean;
  /** The lifecycle of this version. */
  readonly lifecycle: Lifecycle;
  /** Whether its response can ask the caller to retry later (`retryAfterSeconds`). */
  readonly isBlocking: boolean;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  /** Changes within this version, oldest first. */
  readonly changes: readonly ReleaseChange[];
  /** The components that the messages reference, besides those of Kubernetes and Cluster API, by name. */
  readonly components: Readonly<Record<string, MessageSchema>>;
  /** Exists only in the type, never as a value. */
  readonly types?: { readonly request: Request; readonly response: Response };
}

/** One message of a hook. */
export interface MessageDefinition {
  /** `kind` of the message, e.g. `BeforeClusterUpgradeRequest`. */
  readonly kind: string;
  /** Name of its schema in an OpenAPI document. */
  readonly component: string;
  readonly schema: MessageSchema;
  /** The first releases of fields that came later than the hook. */
  readonly fieldsSince: Readonly<Record<string, Release>>;
}

/** A change on the wire that the fields of a message do not show. */
export interface ReleaseChange {
  /** The first release with the change. */
  readonly release: Release;
  /** What changed, as half a sentence. */
  readonly text: string;
  /** The version of the Cluster API objects in the messages until then, if the release changed it. */
  readonly coreBefore?: CoreVersion;
}

/** Versions of Cluster API's objects (Cluster, Machine, …) in messages. */
export type CoreVersion = 'v1beta1' | 'v1beta2';

/** The request type of a hook. */
export type RequestOf<Hook> = Hook extends HookDefinition<infer Request, infer _> ? Request : never;
/** The response type of a hook. */
export type ResponseOf<Hook> = Hook extends HookDefinition<infer _, infer Response> ? Response : never;

/** The definition that `defineHook` takes: a lifecycle, with releases as `1.12`, and the messages. */
export interface HookOptions extends Omit<WrittenLifecycle, 'introduced'> {
  /** First release that has the hook. Default: the first one with Runtime Hooks. */
  introduced?: string | undefined;
  /** One sentence: what the hook is for. Default: its name. */
  summary?: string | undefined;
  /** When it is called, and what the answer decides. Default: the summary. */
  purpose?: string | undefined;
  tags?: readonly string[] | undefined;
  /** First releases of fields of a message that came later than the hook, as `1.12`. */
  fieldsSince?:
    | {
        request?: Readonly<Record<string, string>> | undefined;
        response?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  /** Other changes on the wire within this version, by their release. */
  changes?: readonly { release: string; text: string; coreBefore?: CoreVersion | undefined }[] | undefined;
  /** Schema of the request: an object, with apiVersion and kind. */
  request: MessageSchema;
  /** Schema of the response: an object, with a required `status`. */
  response: MessageSchema;
  /** Prefix of the names of the schemas in an OpenAPI document. Default: `GROUP.VERSION`. */
  package?: string | undefined;
  components?: Readonly<Record<string, MessageSchema>> | undefined;
}

/** A DNS name. Its length is limited, which limits the cost of the repetitions. */
const groupFormat = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const nameFormat = /^[A-Z][A-Za-z0-9]{0,62}$/;

function releaseOf(text: string, hook: string): Release {
  const release = parseRelease(text);
  if (release === undefined) {
    throw new Error(`${hook}: ${JSON.stringify(text)} is not a release such as 1.12`);
  }
  return release;
}

function schemaProblem(schema: MessageSchema | undefined, wanted: readonly string[], required: readonly string[]) {
  const missing = wanted.find((name) => schema?.properties?.[name] === undefined);
  const optional = required.find((name) => !schema?.required?.includes(name));
  return schema?.type !== 'object'
    ? 'is not an object'
    : missing !== undefined
      ? `has no property ${missing}`
      : optional !== undefined
        ? `does not require ${optional}`
        : undefined;
}

/** The first release of Cluster API with Runtime Hooks. */
const firstRelease = '1.2';

/** The type of a message by its schema; any object if that is not known in full. */
type MessageOf<S> = S extends { readonly properties: infer Properties }
  ? string extends keyof Properties
    ? object
    : SchemaValue<S>
  : object;

/**
 * Defines a hook: one of Cluster API, or a provider's own. The types of its messages follow from their schemas, or are
 * given: `defineHook<Request, Response>(…)`.
 *
 * @throws {Error} when the definition is invalid: a malformed name, a schema that is not one of a message, or a
 *   lifecycle that violates the Runtime SDK rules.
 */
export function defineHook<const Options extends HookOptions>(
  options: Options,
): HookDefinition<MessageOf<Options['request']>, MessageOf<Options['response']>>;
export function defineHook<Request, Response>(options: HookOptions): HookDefinition<Request, Response>;
export function defineHook(options: HookOptions): HookDefinition {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('defineHook: pass { group, version, name, request, response }');
  }
  const { group, version, name, singleton = false, package: prefix = `${group}.${version}`, summary = name } = options;
  const hook = `${group}/${version}, Hook=${name}`;
  if (!groupFormat.test(group)) {
    throw new Error(`${hook}: group ${JSON.stringify(group)} is not a DNS name in lower case`);
  }
  if (!nameFormat.test(name)) {
    throw new Error(`${hook}: name ${JSON.stringify(name)} is not of the form BeforeClusterCreate`);
  }
  const lifecycle = lifecycleFrom({ ...options, introduced: options.introduced ?? firstRelease }, (text) =>
    releaseOf(text, hook),
  );
  const problem = lifecycleProblem(lifecycle);
  if (problem !== undefined) {
    throw new Error(`${hook} is ${problem}`);
  }
  const { introduced, blockingSince } = lifecycle;
  const isLater = (release: Release) => compareReleases(release, introduced) > 0;
  function message(which: 'request' | 'response', wanted: string[], required: string[]): MessageDefinition {
    const schema = options[which];
    const wrong = schemaProblem(schema, wanted, required);
    if (wrong !== undefined) {
      throw new Error(`${hook}: the schema of the ${which} ${wrong}`);
    }
    const releases: [string, Release][] = [];
    for (const [field, release] of Object.entries(options.fieldsSince?.[which] ?? {})) {
      if (schema.properties?.[field] === undefined) {
        throw new Error(`${hook}: the ${which} has no field ${field}`);
      }
      releases.push([field, releaseOf(release, hook)]);
    }
    if (which === 'response' && blockingSince !== undefined) {
      releases.push(['retryAfterSeconds', blockingSince]);
    }
    const suffix = which === 'request' ? 'Request' : 'Response';
    return {
      kind: `${name}${suffix}`,
      component: `${prefix}.${name}${suffix}`,
      schema,
      fieldsSince: Object.fromEntries(releases.filter(([, release]) => isLater(release))),
    };
  }
  return {
    group,
    version,
    name,
    summary,
    purpose: options.purpose ?? summary,
    tags: options.tags ?? [],
    singleton,
    lifecycle,
    isBlocking: blockingSince !== undefined,
    request: message('request', ['apiVersion', 'kind'], []),
    response: message('response', blockingSince === undefined ? [] : ['retryAfterSeconds'], ['status']),
    changes: (options.changes ?? [])
      .map(({ release, text, coreBefore }) => ({
        release: releaseOf(release, hook),
        text,
        ...(coreBefore !== undefined && { coreBefore }),
      }))
      .sort((a, b) => compareReleases(a.release, b.release))
      .filter(({ release }) => isLater(release)),
    components: options.components ?? {},
  };
}

/** A message without the fields that came after a release. */
function messageIn(message: MessageDefinition, release: Release): MessageDefinition {
  const { schema, fieldsSince } = message;
  const later = new Set(
    Object.keys(fieldsSince).filter((field) => compareReleases(release, fieldsSince[field] ?? release) < 0),
  );
  if (later.size === 0) {
    return message;
  }
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !later.has(name));
  const required = schema.required?.filter((name) => !later.has(name));
  return {
    ...message,
    schema: { ...schema, ...(required !== undefined && { required }), properties: Object.fromEntries(fields) },
  };
}

/** A hook with the fields and the changes that it has in a release. */
export function hookIn<Request, Response>(
  hook: HookDefinition<Request, Response>,
  release: Release,
): HookDefinition<Request, Response> {
  return {
    ...hook,
    request: messageIn(hook.request, release),
    response: messageIn(hook.response, release),
    changes: hook.changes.filter((change) => compareReleases(release, change.release) >= 0),
  };
}

/** The version of the Cluster API objects in the messages of a hook, as a release has it. */
export function coreVersionIn({ changes }: HookDefinition, release: Release): CoreVersion {
  const next = changes.find(
    ({ release: since, coreBefore }) => coreBefore !== undefined && compareReleases(release, since) < 0,
  );
  return next?.coreBefore ?? 'v1beta2';
}

/** A hook in the notation for users: `hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=BeforeClusterCreate`. */
export function formatHook({ group, version, name }: { group: string; version: string; name: string }): string {
  return `${group}/${version}, Hook=${name}`;
}

/** The group and name of a hook, regardless of its version: `BeforeClusterCreate.hooks.runtime.cluster.x-k8s.io`. */
export function formatGroupHook({ group, name }: { group: string; name: string }): string {
  return `${name}.${group}`;
}
