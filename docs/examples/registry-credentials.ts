// The credentials of image registries, CAREN's largest handler of patches (in Go: pkg/handlers/generic/mutation/generic/
// imageregistries/credentials, 1,197 lines and 91 of templates in August 2026; here 287). It needs `get`, `create` and `patch` of Secrets.
import { createClusters, HandlerFailure, handler } from 'cluster-api-extension';
import {
  defineVariables,
  getField,
  setField,
  type Template,
  variablesOf,
  walkTemplates,
} from 'cluster-api-extension/topology';

const secretRef = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const;
const registry = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', pattern: '^https?://' },
    credentials: { type: 'object', properties: { secretRef } },
  },
} as const;
const variables = defineVariables({
  clusterConfig: {
    schema: {
      type: 'object',
      properties: { globalImageRegistryMirror: registry, imageRegistries: { type: 'array', items: registry } },
    },
  },
});

interface Registry {
  url: URL;
  /** Host and path, as the kubelet matches images. */
  host: string;
  isMirror: boolean;
  username: string;
  password: string;
  hasCa: boolean;
}

/** The Cluster that templates are patched for. */
interface Owner {
  namespace: string;
  name: string;
  uid: string;
}

interface Secret {
  apiVersion: string;
  kind: string;
  metadata: { namespace: string; name: string; labels?: object; ownerReferences?: { uid: string }[] };
  data?: Record<string, string>;
}

const clusters = createClusters();
const binaries = '/etc/kubernetes/image-credential-provider/';
const kubeletConfig = '/etc/kubernetes/image-credential-provider-config.yaml';
const dynamicConfig = '/etc/kubernetes/dynamic-credential-provider-config.yaml';
const staticCredentials = '/etc/kubernetes/static-image-credentials.json';
const staticKey = 'static-credential-provider';
const installScript = '/etc/caren/install-kubelet-credential-providers.sh';
const image = 'ghcr.io/mesosphere/dynamic-credential-provider:v0.5.3';

/** Providers that ask a cloud; hosts with a port are not theirs. */
const clouds = [
  {
    name: 'ecr-credential-provider',
    args: ['get-credentials'],
    hosts:
      /^[^.]*\.dkr\.(?:ecr\.[^.]*\.amazonaws\.(?:com|cn)|ecr-fips\.[^.]*\.amazonaws\.com|ecr\.us-iso-east-1\.c2s\.ic\.gov|ecr\.us-isob-east-1\.sc2s\.sgov\.gov)$/,
  },
  {
    name: 'gcr-credential-provider',
    args: ['get-credentials'],
    hosts: /^(?:container\.cloud\.google\.com|(?:[^.]*\.)?gcr\.io|[^.]*\.pkg\.dev)$/,
  },
  { name: 'acr-credential-provider', args: ['/etc/kubernetes/azure.json'], hosts: /^[^.]*\.azurecr\.[^.:]*$/ },
];
const cloudOf = ({ url }: Registry) => clouds.find(({ hosts }) => hosts.test(url.host));
const isStatic = (one: Registry) => cloudOf(one) === undefined;

const secretNamed = ({ namespace }: Owner, name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
});
const secretsOf = ({ namespace }: Owner) => `/api/v1/namespaces/${namespace}/secrets`;
const referenceTo = ({ name, uid }: Owner) => ({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name, uid });

/** Lets a Secret be moved and deleted with its Cluster. */
async function own({ metadata: { name, ownerReferences = [] } }: Secret, owner: Owner): Promise<void> {
  if (!ownerReferences.some(({ uid }) => uid === owner.uid)) {
    const { request } = await clusters.management();
    const metadata = { ownerReferences: [...ownerReferences, referenceTo(owner)] };
    await request('PATCH', `${secretsOf(owner)}/${name}`, { metadata });
  }
}

async function readRegistry(
  text: string,
  isMirror: boolean,
  secretName: string | undefined,
  owner: Owner,
): Promise<Registry> {
  const url = new URL(text);
  const host = `${url.host}${url.pathname.replace(/\/$/, '')}`;
  if (secretName === undefined) {
    return { url, host, isMirror, username: '', password: '', hasCa: false };
  }
  const secret: Secret | undefined = await clusters.refetch<Secret>(secretNamed(owner, secretName));
  if (secret === undefined) {
    throw new HandlerFailure(`the Secret ${secretName} with the credentials of ${text} does not exist`);
  }
  await own(secret, owner);
  const { data = {} } = secret;
  const decoded = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  return { url, host, isMirror, username: decoded('username'), password: decoded('password'), hasCa: 'ca.crt' in data };
}

/** Whether nodes have to know of a registry: a mirror, or a registry with a CA, may have no credentials. */
function needsConfiguration(one: Registry): boolean {
  if (!isStatic(one) || one.username !== '' || one.password !== '') {
    return true;
  }
  if (!one.isMirror && !one.hasCa) {
    throw new HandlerFailure(`invalid image registry: ${one.url.href}: registry credentials not found`);
  }
  return false;
}

const imagesOf = (hosts: readonly string[]) =>
  hosts.flatMap((host) => (host === 'registry-1.docker.io' ? [host, 'docker.io'] : [host]));

const provider = (apiVersion: string, name: string, args: readonly string[], matchImages: readonly string[]) => ({
  ...{ name, args, matchImages, defaultCacheDuration: '0s', apiVersion },
});

/** Configuration files are JSON, which is YAML, too. */
function configurationFiles(registries: readonly Registry[]): object[] {
  const [config, api] = ['kubelet.config.k8s.io/v1', 'credentialprovider.kubelet.k8s.io/v1'];
  const any = [1, 2, 3, 4, 5, 6].map((parts) => Array(parts).fill('*').join('.'));
  const hosts = imagesOf(registries.map(({ host }) => host));
  const providers = [...clouds, { name: staticKey, args: [staticCredentials] }]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, args }) => {
      const own = registries.filter((one) => (cloudOf(one)?.name ?? staticKey) === name).map(({ host }) => host);
      return own.length === 0 ? [] : [provider(api, name, args, imagesOf(own.toSorted()))];
    });
  const mirror = registries.findLast(({ isMirror }) => isMirror);
  const file = (path: string, content: object) => ({
    path,
    content: JSON.stringify(content, null, 2),
    permissions: '0600',
  });
  return [
    file(kubeletConfig, {
      apiVersion: config,
      kind: 'CredentialProviderConfig',
      providers: [
        provider(api, 'dynamic-credential-provider', ['get-credentials', '-c', dynamicConfig], [...hosts, ...any]),
      ],
    }),
    file(dynamicConfig, {
      apiVersion: 'credentialprovider.d2iq.com/v1alpha1',
      kind: 'DynamicCredentialProviderConfig',
      ...(mirror && { mirror: { endpoint: mirror.host, credentialsStrategy: 'MirrorCredentialsFirst' } }),
      credentialProviderPluginBinDir: binaries,
      credentialProviders: { apiVersion: config, kind: 'CredentialProviderConfig', providers },
    }),
  ];
}

const installContent = `#!/bin/bash
set -euo pipefail
mount="$(mktemp -d)"
trap 'ctr images unmount "$mount" || true' EXIT
ctr --namespace k8s.io images check "name==${image}" | grep -qF "${image}" || ctr --namespace k8s.io images pull "${image}"
ctr --namespace k8s.io images mount "${image}" "$mount"
export CREDENTIAL_PROVIDER_SOURCE_DIR="$mount/opt/image-credential-provider/bin/" CREDENTIAL_PROVIDER_TARGET_DIR="${binaries}"
"$CREDENTIAL_PROVIDER_SOURCE_DIR/dynamic-credential-provider" install
`;

/** What the static provider answers. Paths count only for Nutanix' organization of Docker Hub. */
function staticResponse(registries: readonly Registry[]): string {
  const auth = registries.flatMap(({ url, username, password }) => {
    const isHub = ['docker.io', 'registry-1.docker.io'].includes(url.host);
    const path = isHub && /^\/nutanix\/?$/.test(url.pathname) ? '/nutanix' : '';
    const hosts = url.host === 'registry-1.docker.io' ? [url.host, 'docker.io'] : [url.host];
    return hosts.map((host) => [`${host}${path}`, { username, password }] as const);
  });
  const head = { kind: 'CredentialProviderResponse', apiVersion: 'credentialprovider.kubelet.k8s.io/v1' };
  return JSON.stringify({ ...head, cacheKeyType: 'Image', cacheDuration: '0s', auth: Object.fromEntries(auth) });
}

/** Writes the Secret of the static provider if it differs. Returns the file that nodes make of it. */
async function writeStatic(registries: readonly Registry[], owner: Owner): Promise<object> {
  const secret = secretNamed(owner, `${owner.name}-static-credential-provider-response`);
  const data = { [staticKey]: Buffer.from(staticResponse(registries)).toString('base64') };
  const labels = { 'clusterctl.cluster.x-k8s.io/move': '', 'cluster.x-k8s.io/cluster-name': owner.name };
  const { request } = await clusters.management();
  const current: Secret | undefined = await clusters.refetch<Secret>(secret);
  if (current === undefined) {
    const metadata = { ...secret.metadata, labels, ownerReferences: [referenceTo(owner)] };
    await request('POST', secretsOf(owner), { ...secret, type: 'Opaque', metadata, data });
  } else if (current.data?.[staticKey] !== data[staticKey]) {
    await request('PATCH', `${secretsOf(owner)}/${secret.metadata.name}`, { data, metadata: { labels } });
  }
  const contentFrom = { secret: { name: secret.metadata.name, key: staticKey } };
  return { path: staticCredentials, contentFrom, permissions: '0600' };
}

function append(template: Template, path: string, more: readonly unknown[]): void {
  setField(template, path, [...((getField(template, path) as unknown[] | undefined) ?? []), ...more]);
}

/** Adds files, the command that installs the providers, and the kubelet's arguments that are not there. */
function configure(template: Template, config: string, phases: readonly string[], files: readonly object[]): void {
  append(template, `${config}.files`, files);
  append(template, `${config}.preKubeadmCommands`, [`/bin/bash ${installScript}`]);
  for (const phase of phases) {
    const path = `${config}.${phase}.nodeRegistration.kubeletExtraArgs`;
    const known = new Set(((getField(template, path) ?? []) as { name: string }[]).map(({ name }) => name));
    const wanted = [
      { name: 'image-credential-provider-bin-dir', value: binaries },
      { name: 'image-credential-provider-config', value: kubeletConfig },
    ];
    append(
      template,
      path,
      wanted.filter(({ name }) => !known.has(name)),
    );
  }
}

export const discoverRegistryVariables = handler('DiscoverVariables', {
  name: 'registry-variables',
  handle: (_, { answer }) => answer.done({ variables: variables.definitions }),
});

export const registryCredentials = handler('GeneratePatches', {
  name: 'registry-credentials',
  async handle(request, { answer, log }) {
    const { clusterConfig: { globalImageRegistryMirror: mirror, imageRegistries = [] } = {} } = variables.read(
      request,
      {},
    );
    const all = variablesOf(request.variables);
    const builtin = (name: string) => all.string(`builtin.cluster.${name}`);
    const read = ({ url, credentials }: NonNullable<typeof mirror>, isMirror: boolean) =>
      readRegistry(url, isMirror, credentials?.secretRef?.name, owner);
    if (mirror === undefined && imageRegistries.length === 0) {
      return answer.done({ items: [] });
    }
    const owner = { namespace: builtin('namespace'), name: builtin('name'), uid: builtin('uid') };
    // Patchers cannot wait: what they need is read before.
    const registries = await Promise.all([
      ...imageRegistries.map((one) => read(one, false)),
      ...(mirror === undefined ? [] : [read(mirror, true)]),
    ]);
    const configured = registries.filter(needsConfiguration);
    if (configured.length === 0) {
      return answer.done({ items: [] });
    }
    const statics = configured.filter(isStatic);
    const files = [
      { path: installScript, content: installContent, permissions: '0700' },
      ...configurationFiles(configured),
      ...(statics.length > 0 ? [await writeStatic(statics, owner)] : []),
    ];
    const phases = ['initConfiguration', 'joinConfiguration'];
    const items = walkTemplates(
      request,
      [
        {
          match: { kind: 'KubeadmControlPlaneTemplate', matchResources: { controlPlane: true } },
          mutate: (template) => configure(template, 'spec.template.spec.kubeadmConfigSpec', phases, files),
        },
        {
          match: { kind: 'KubeadmConfigTemplate', matchResources: { machineDeploymentClass: { names: ['*'] } } },
          mutate: (template) => configure(template, 'spec.template.spec', ['joinConfiguration'], files),
        },
      ],
      { variables, log },
    );
    return answer.done({ items });
  },
});
