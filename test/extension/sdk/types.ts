import type { CheckOptions } from '../../../src/exports/rules.ts';
import {
  type Answers,
  createExtensionServer,
  createJobs,
  type ExtensionCertificates,
  type ExtensionServerOptions,
  type HandlerOptions,
  handler,
  type InProcessJobsOptions,
  type ResponseFor,
  type UpdatableFields,
} from '../../../src/extension/index.ts';
import {
  assertDeterministic,
  assertIdempotent,
  callHandler,
  type IdempotentOptions,
  requestFor,
} from '../../../src/extension/sdk/testing/index.ts';
import {
  getField,
  setField,
  type Template,
  type TemplateMatch,
  type TemplatePatcher,
  type VariableDefinition,
  variablesOf,
  type WalkOptions,
  walkTemplates,
} from '../../../src/extension/sdk/topology/index.ts';
import {
  type CallAllOptions,
  type CallOptions,
  type ClientOptions,
  createClient,
} from '../../../src/runtimehooks/client/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { fixedCertificate, selfSignedPair } from '../../../src/server/index.ts';

// `npm run check` is what tests this file: each wrong use below must not compile.

export const named: HandlerOptions<'BeforeClusterUpgrade'> = {
  name: 'named',
  handle: (_, { answer }) => answer.done(),
};

export const accepted = [
  handler('BeforeClusterUpgrade', {
    name: 'wait',
    timeoutSeconds: 25,
    failurePolicy: 'Ignore',
    handle: ({ cluster, toKubernetesVersion }, { answer, settings }) => {
      const names: string[] = [cluster.metadata.name, cluster.metadata.uid, toKubernetesVersion, settings.tier ?? ''];
      return names.length > 0 ? answer.retry(30, 'backups run') : answer.done();
    },
  }),
  handler('GenerateUpgradePlan', {
    name: 'plan',
    handle: async ({ toKubernetesVersion }, { answer }) =>
      answer.done({ controlPlaneUpgrades: [{ version: toKubernetesVersion }], message: 'one step' }),
  }),
];

/** The optional fields of a type that may be missing, but not undefined. */
type StrictFields<T> = {
  [Field in keyof T]-?: Record<never, never> extends Pick<T, Field>
    ? undefined extends Required<T>[Field]
      ? never
      : Field
    : never;
}[keyof T];

/** What authors pass to the library: each of its optional fields may be undefined. */
export const lenient: {
  [Name in keyof Passed]: [StrictFields<Passed[Name]>] extends [never] ? true : StrictFields<Passed[Name]>;
} = {
  answer: true,
  call: true,
  callAll: true,
  certificates: true,
  check: true,
  client: true,
  definition: true,
  handler: true,
  idempotent: true,
  jobs: true,
  match: true,
  patcher: true,
  request: true,
  server: true,
  fields: true,
  walk: true,
};
interface Passed {
  answer: Exclude<Parameters<Answers<ResponseFor<'GenerateUpgradePlan'>>['done']>[0], undefined>;
  call: CallOptions<object>;
  callAll: CallAllOptions<object>;
  check: CheckOptions;
  client: ClientOptions;
  definition: VariableDefinition;
  fields: UpdatableFields;
  handler: HandlerOptions<'BeforeClusterUpgrade'>;
  idempotent: IdempotentOptions;
  jobs: InProcessJobsOptions;
  match: TemplateMatch & NonNullable<TemplateMatch['holder']>;
  patcher: TemplatePatcher;
  request: Exclude<Parameters<typeof requestFor<'BeforeClusterUpgrade'>>[1], undefined>;
  certificates: Extract<ExtensionCertificates, { development: string }>;
  server: ExtensionServerOptions & NonNullable<ExtensionServerOptions['clients']>;
  walk: WalkOptions;
}

/** Fields of all that messages have can be read and set by path: typed objects, objects of providers, and templates. */
export const fields = [
  handler('ValidateTopology', {
    name: 'validate',
    handle: ({ items, variables = [] }, { answer }) => {
      const images = items.map(({ object }) => getField(object, 'spec.image') ?? variablesOf(variables).get('image'));
      return images.includes('') ? answer.fail('no image') : answer.done();
    },
  }),
  handler('GeneratePatches', {
    name: 'patches',
    handle: (request, { answer }) => {
      const mutate = (template: Template) =>
        setField(template, 'spec.image', getField(template, 'metadata.labels["image"]'));
      return answer.done({ items: walkTemplates(request, [{ mutate }]) });
    },
  }),
  handler('BeforeClusterCreate', {
    name: 'create',
    handle: ({ cluster }, { answer }) => answer.done({ message: String(getField(cluster, 'spec.topology.version')) }),
  }),
];

/** An option may be undefined, as values from the environment are; strict projects tell that from a missing one. */
export function optional(seconds: number | undefined, text: string | undefined) {
  const { cluster, fromKubernetesVersion, toKubernetesVersion } = requestFor('BeforeClusterUpgrade');
  const client = createClient({
    namespaceLabels: undefined,
    clientCertificate: undefined,
    now: undefined,
    metrics: undefined,
  });
  const call = () =>
    client.callAllExtensions(hooks.BeforeClusterUpgrade, {
      object: { namespace: 'a', name: 'b', uid: cluster.metadata?.uid },
      request: { cluster, fromKubernetesVersion, toKubernetesVersion },
      cache: undefined,
    });
  return {
    call,
    jobs: createJobs({ retryAfterSeconds: seconds, run: async () => {} }),
    server: createExtensionServer({
      handlers: [
        handler('BeforeClusterUpgrade', {
          name: 'optional',
          timeoutSeconds: seconds,
          failurePolicy: undefined,
          handle: (_, { answer }) => answer.done(),
        }),
      ],
      port: seconds,
      healthPort: seconds,
      host: text,
      path: text,
      version: text,
      clients: undefined,
      limits: undefined,
      log: undefined,
    }),
  };
}

/** Never called: it must not compile without the comments. */
export function refused() {
  // @ts-expect-error: this hook does not exist.
  handler('BeforeClusterUpgarde', { name: 'a', handle: () => undefined });
  // @ts-expect-error: the server answers Discovery itself.
  handler('Discovery', { name: 'a', handle: () => undefined });
  // @ts-expect-error: the request has no such field.
  handler('BeforeClusterUpgrade', { name: 'a', handle: ({ machine }, { answer }) => answer.done(machine) });
  // @ts-expect-error: the response has no such field.
  handler('GenerateUpgradePlan', { name: 'a', handle: (_, { answer }) => answer.done({ upgrades: [] }) });
  // @ts-expect-error: a field of the wrong type.
  handler('GenerateUpgradePlan', { name: 'a', handle: (_, { answer }) => answer.done({ workersUpgrades: 1 }) });
  // @ts-expect-error: no response.
  handler('BeforeClusterUpgrade', { name: 'a', handle: () => {} });
  // @ts-expect-error: a response built separately may lack its status.
  handler('BeforeClusterUpgrade', { name: 'a', handle: () => ({ status: 'Success', retryAfterSeconds: 0 }) });
  // @ts-expect-error: the hook cannot block.
  handler('GeneratePatches', { name: 'a', handle: (_, { answer }) => answer.retry(5, 'not yet') });
  // @ts-expect-error: a blocking response must say what it waits for.
  handler('BeforeClusterUpgrade', { name: 'a', handle: (_, { answer }) => answer.retry(5) });
  // @ts-expect-error: this policy does not exist.
  handler('BeforeClusterUpgrade', { name: 'a', failurePolicy: 'Retry', handle: (_, { answer }) => answer.done() });
  const wait = handler('BeforeClusterUpgrade', { name: 'wait', handle: (_, { answer }) => answer.done() });
  const upgrade = requestFor('BeforeClusterUpgrade');
  const patches = requestFor('GeneratePatches');
  void [callHandler(wait, upgrade), assertDeterministic(wait, upgrade), assertIdempotent(wait, upgrade)];
  // @ts-expect-error: a request of another hook.
  void callHandler(wait, patches);
  // @ts-expect-error: a request of another hook.
  void assertDeterministic(wait, patches);
  // @ts-expect-error: a request of another hook.
  void assertIdempotent(wait, patches);
  // @ts-expect-error: the request has no such field.
  requestFor('BeforeClusterUpgrade', { items: [] });
  // @ts-expect-error: Cluster API has no such builtin variable.
  walkTemplates(patches, [{ mutate: (_, { builtin }) => void builtin.cluster?.nam }]);
  // @ts-expect-error: the program's own certificate source is not exported.
  createExtensionServer({ handlers: [], certificates: fixedCertificate(selfSignedPair(new Date())) });
}

const pod = { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } as const;
/** Jobs are those of batch/v1. */
export const jobTemplates = () => [
  createJobs({ namespace: 'a', template: { backoffLimit: 3, template: { spec: pod } } }),
  // @ts-expect-error: misspelt
  createJobs({ namespace: 'a', template: { backofLimit: 3, template: { spec: pod } } }),
  // @ts-expect-error: a Pod of a Job has no such policy
  createJobs({ namespace: 'a', template: { template: { spec: { ...pod, restartPolicy: 'Always' } } } }),
  // @ts-expect-error: no Pod
  createJobs({ namespace: 'a', template: {} }),
];

/** The newest protocol is typed before Cluster API's schemas have it. */
export const newest = [
  handler('CanUpdateMachine', { name: 'can', handle: (_, { answer }) => answer.done({ affectsAvailability: false }) }),
  handler('CanUpdateMachineSet', {
    name: 'can-set',
    // @ts-expect-error: true or false
    handle: (_, { answer }) => answer.done({ affectsAvailability: 'no' }),
  }),
];
