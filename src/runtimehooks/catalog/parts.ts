import type { HookDefinition, MessageDefinition, ReleaseChange } from './definition.ts';
import type { HookMessages } from './hook-messages.generated.ts';
import { compareReleases, type Release, v1 } from './release.ts';
import { bytes, int32, list, type MessageSchema, object, ref, string, stringMap } from './schema.ts';

/** The group of Cluster API's own hooks. */
export const hooksGroup = 'hooks.runtime.cluster.x-k8s.io';

const prefix = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1';
const rawObject = 'k8s.io.apimachinery.pkg.runtime.RawExtension';
const anyJson = 'k8s.io.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON';

/** A reference to a component that only hooks use. */
export const part = (name: keyof typeof parts, description?: string) => ref(`${prefix}.${name}`, description);
/** A reference to one of Cluster API's core types. */
export const core = (name: 'Cluster' | 'ClusterClassVariable' | 'Machine' | 'MachineSet', description?: string) =>
  ref(`sigs.k8s.io.cluster-api.api.core.v1beta2.${name}`, description);
/** Any Kubernetes object; in samples, one of this kind, with this name. */
const raw = (description: string, apiVersion?: string, kind = '', name = ''): MessageSchema => ({
  ...ref(rawObject, description),
  ...(apiVersion !== undefined && {
    example: {
      apiVersion,
      kind,
      metadata: { name, namespace: 'default' },
      spec: kind.endsWith('Template') ? { template: { spec: {} } } : {},
    },
  }),
});
const bootstrap = 'bootstrap.cluster.x-k8s.io/v1beta2';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';

/** A Kubernetes version. */
export const kubernetesVersion = (description: string, example = 'v1.33.0') => string(description, { example });

const holderReference = ref(`${prefix}.HolderReference`, 'Where the template is used.');
const itemVariables = {
  variables: list(
    ref(`${prefix}.Variable`),
    'Variables of that place; they take precedence over those of the whole request.',
  ),
};
const patchType = (example: string) => string('`JSONPatch` (RFC 6902) or `JSONMergePatch` (RFC 7396).', { example });
const patch = (example: string) => bytes('The patch, as base64 of its JSON.', { example });
const machineObjects = object('A machine with the objects that belong to it.', {
  required: {
    machine: core('Machine', 'The Machine.'),
    infrastructureMachine: raw('Its infrastructure machine.', infrastructure, 'ExampleMachine', 'example-md-0'),
  },
  optional: { bootstrapConfig: raw('Its bootstrap configuration.', bootstrap, 'KubeadmConfig', 'example-md-0') },
});
const upgradeStep = (description: string) =>
  object(description, { required: { version: kubernetesVersion('Kubernetes version that the step ends with.') } });

/** The components that messages of several hooks share. */
const parts = {
  ExtensionHandler: object('A handler that an extension server offers.', {
    required: {
      name: string('Name: an RFC 1123 label, unique on the whole server.', { example: 'before-cluster-create' }),
      requestHook: ref(`${prefix}.GroupVersionHook`, 'The hook that it serves.'),
    },
    optional: {
      timeoutSeconds: int32('How long a call may take, 1 to 30 seconds; 10 when it is absent or 0.', { example: 10 }),
      failurePolicy: string('How a failed call is handled: `Fail` (default) or `Ignore`.', { example: 'Fail' }),
    },
  }),
  GroupVersionHook: object('A hook in one version.', {
    required: {
      apiVersion: string('Group and version of the hook.', { example: `${hooksGroup}/v1alpha1` }),
      hook: string('Name of the hook, in its exact case.', { example: 'BeforeClusterCreate' }),
    },
  }),
  HolderReference: object('The field of the object that uses the template.', {
    required: {
      apiVersion: string('API version of the object.', { example: 'cluster.x-k8s.io/v1beta2' }),
      kind: string('Kind of the object.', { example: 'Cluster' }),
      namespace: string('Namespace of the object.', { example: 'default' }),
      name: string('Name of the object.', { example: 'example' }),
      fieldPath: string('The field that refers to the template.', { example: 'spec.infrastructureRef' }),
    },
  }),
  Patch: object('A patch to one object.', {
    required: {
      patchType: patchType('JSONMergePatch'),
      patch: patch('eyJzcGVjIjp7fX0='),
    },
  }),
  Variable: object('The value of a variable.', {
    required: {
      name: string('Name of the variable; `builtin` has the values that Cluster API provides.', { example: 'builtin' }),
      value: {
        ...ref(anyJson, 'The value.'),
        example: { cluster: { name: 'example', namespace: 'default', uid: '227d048d-691e-418b-a2cb-736154635d0a' } },
      },
    },
  }),
  UpgradeStep: upgradeStep('One step of an upgrade plan.'),
  UpgradeStepInfo: upgradeStep('One remaining step of the upgrade.'),
  GeneratePatchesRequestItem: object('One template that may be patched.', {
    required: {
      uid: string('Identity of the item within this request; patches name it.', {
        example: '81771c91-7ba6-4702-9e11-a480eeab2e30',
      }),
      holderReference,
      object: raw('The template, with the patches so far applied.'),
    },
    optional: itemVariables,
  }),
  GeneratePatchesResponseItem: object('One patch to one template.', {
    required: {
      uid: string('The item of the request that is patched.', { example: '81771c91-7ba6-4702-9e11-a480eeab2e30' }),
      patchType: patchType('JSONPatch'),
      patch: patch('W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvdGVtcGxhdGUvc3BlYy9yZWdpb24iLCJ2YWx1ZSI6ImV1In1d'),
    },
  }),
  ValidateTopologyRequestItem: object('One template, as patched.', {
    required: {
      holderReference,
      object: raw('The template, with all patches applied.'),
    },
    optional: itemVariables,
  }),
  CanUpdateMachineRequestObjects: machineObjects,
  CanUpdateMachineSetRequestObjects: object('A set of machines with the templates that belong to it.', {
    required: {
      machineSet: core('MachineSet', 'The MachineSet.'),
      infrastructureMachineTemplate: raw(
        'Template of its infrastructure machines.',
        infrastructure,
        'ExampleMachineTemplate',
        'example',
      ),
    },
    optional: {
      bootstrapConfigTemplate: raw(
        'Template of its bootstrap configurations.',
        bootstrap,
        'KubeadmConfigTemplate',
        'example',
      ),
    },
  }),
  UpdateMachineRequestObjects: machineObjects,
} satisfies Record<string, MessageSchema>;

/** The components that only hooks use, by name. */
export const hookComponents: ReadonlyMap<string, MessageSchema> = new Map(
  Object.entries(parts).map(([name, schema]) => [`${prefix}.${name}`, schema]),
);

/** A field of a message. `since` is the minor release of Cluster API that has it first, if older ones have the hook. */
type Field = MessageSchema & { readonly since?: number };
type Fields = Readonly<Record<string, Field>>;

const typeMeta = {
  apiVersion: string('Group and version of the hook.', { example: `${hooksGroup}/v1alpha1` }),
  kind: string('Kind of the message.'),
};

/** A request without settings, as only Discovery has. */
export const bareRequest = (description: string): MessageSchema => object(description, { optional: typeMeta });

const settings: Field = {
  ...stringMap('Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.', {
    example: { region: 'eu' },
  }),
  since: 4,
};

/** A request: settings, and the hook's own fields. */
export const request = (description: string, required: Fields, optional: Fields = {}): MessageSchema =>
  object(description, {
    required,
    optional: {
      ...typeMeta,
      settings,
      ...optional,
    },
  });

const envelope = {
  status: string('Whether the extension did its work; `Failure` makes the caller fail.', {
    enum: ['Failure', 'Success'],
    example: 'Success',
  }),
};
const optionalEnvelope = {
  ...typeMeta,
  message: string('Text that users read in conditions: the same for the same cause, without secrets.'),
};

/** A response that cannot block. */
export const response = (description: string, optional: Fields = {}): MessageSchema =>
  object(description, { required: envelope, optional: { ...optionalEnvelope, ...optional } });

/** A response that can ask the caller to retry later. */
export const retryResponse = (description: string): MessageSchema =>
  object(description, {
    required: {
      ...envelope,
      retryAfterSeconds: int32('Seconds to wait before the hook is called again; 0 does not wait.', { example: 0 }),
    },
    optional: optionalEnvelope,
  });

/** The upgrade plan, as the lifecycle hooks contain it. */
export const upgradeLists: Fields = {
  controlPlaneUpgrades: {
    ...list(part('UpgradeStepInfo'), 'Steps of the control plane that are still to come.'),
    since: 12,
  },
  workersUpgrades: { ...list(part('UpgradeStepInfo'), 'Steps of the workers that are still to come.'), since: 12 },
};

/** From the release notes and migration guides of Cluster API, oldest first: what changed in the Cluster of requests. */
export const clusterChanges: readonly ReleaseChange[] = [
  {
    release: v1(11),
    isBreaking: true,
    text: 'the Cluster of requests has no status, no managedFields and no last-applied annotation',
    remedy: 'read the status from the API server if it is needed',
  },
  {
    release: v1(13),
    isBreaking: true,
    text: 'the Cluster of requests is v1beta2 (before: v1beta1), under the same version of the hook',
    remedy: 'read both versions of the Cluster before the upgrade; "conformance" tests both',
    coreBefore: 'v1beta1',
  },
];

/** Of hooks that could block before. */
const fullWaits: ReleaseChange = {
  release: v1(12),
  isBreaking: true,
  text: 'Cluster API waits for the full retryAfterSeconds: the hook is not called earlier, whatever changes',
  remedy: 'answer between a few seconds and a few minutes',
};

/** Changes that concern the calls of all hooks. */
export const generalChanges: readonly ReleaseChange[] = [
  {
    release: v1(4),
    isBreaking: false,
    text: 'requests carry settings of the ExtensionConfig',
    remedy: 'ignore unknown fields',
  },
  {
    release: v1(10),
    isBreaking: true,
    text: 'many empty fields of requests (items, variables) are omitted',
    remedy: 'read an absent list as an empty one',
  },
  {
    release: v1(14),
    isBreaking: false,
    text: 'messages of Failures appear in conditions, where everyone who may read Clusters sees them',
    remedy: 'put no secrets and nothing that changes by itself in messages; "conformance" checks both',
  },
  {
    release: v1(14),
    isBreaking: false,
    text: 'v1beta1 of Cluster API is planned to be removed in v1.16 (April 2027)',
    remedy: 'write manifests, and read Clusters, as v1beta2',
  },
  {
    release: v1(14),
    // A server that answers Discovery does not redirect, and hooks have the same address.
    isBreaking: false,
    text: 'redirects are no longer followed',
    remedy: 'name the final address in spec.clientConfig',
  },
];

/** A hook as it is written here, with releases of Cluster API by their minor. */
interface WrittenHook {
  summary: string;
  purpose: string;
  /** First release that has the hook. */
  introduced: number;
  /** First release in which the response can ask Cluster API to retry later. */
  blockingSince?: number;
  /** Default: that of its group. */
  about?: HookDefinition['about'];
  isQuestion?: boolean;
  /** Besides those of its group. Those before its introduction do not concern it. */
  changes?: readonly ReleaseChange[];
  /** Schema of the request: an object, with apiVersion and kind. */
  request: MessageSchema;
  /** Schema of the response: an object, with a required `status`. */
  response: MessageSchema;
}

function defineHook(name: string, group: HookGroup, written: WrittenHook): HookDefinition {
  const { tags, calls, changes = [] } = group;
  const { summary, purpose, about = group.about, isQuestion = false, blockingSince } = written;
  const introduced = v1(written.introduced);
  const isLater = (release: Release) => compareReleases(release, introduced) > 0;
  function message(suffix: string, schema: MessageSchema): MessageDefinition {
    const fields = Object.entries<Field>(schema.properties ?? {});
    return {
      kind: `${name}${suffix}`,
      component: `${prefix}.${name}${suffix}`,
      schema: {
        ...schema,
        properties: Object.fromEntries(fields.map(([field, { since: _, ...rest }]) => [field, rest])),
      },
      fieldsSince: Object.fromEntries(
        fields
          .map(([field, { since }]) => [field, field === 'retryAfterSeconds' ? blockingSince : since] as const)
          .flatMap(([field, since]) => (since === undefined || !isLater(v1(since)) ? [] : [[field, v1(since)]])),
      ),
    };
  }
  return {
    group: hooksGroup,
    version: 'v1alpha1',
    name,
    summary,
    purpose,
    tags,
    calls,
    about,
    isQuestion,
    singleton: calls === 'server',
    introduced,
    ...(blockingSince !== undefined && { blockingSince: v1(blockingSince) }),
    isBlocking: blockingSince !== undefined,
    request: message('Request', written.request),
    response: message('Response', written.response),
    changes: [
      ...changes,
      ...(written.changes ?? []),
      ...(blockingSince !== undefined && compareReleases(v1(blockingSince), fullWaits.release) < 0 ? [fullWaits] : []),
    ]
      .filter(({ release }) => isLater(release))
      .sort((a, b) => compareReleases(a.release, b.release)),
  };
}

/** The common parts of the hooks of a group. */
interface HookGroup extends Pick<HookDefinition, 'tags' | 'calls'> {
  about?: HookDefinition['about'];
  changes?: readonly ReleaseChange[];
}

/** Hooks of Cluster API in their only published version, by name. */
export function defineHooks<Name extends keyof HookMessages>(
  group: HookGroup,
  hooks: Readonly<Record<Name, WrittenHook>>,
): { [N in Name]: HookDefinition<HookMessages[N]['request'], HookMessages[N]['response']> } {
  const defined = Object.entries<WrittenHook>(hooks).map(([name, hook]) => [name, defineHook(name, group, hook)]);
  return Object.fromEntries(defined) as ReturnType<typeof defineHooks<Name>>;
}
