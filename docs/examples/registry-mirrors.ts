// What CAREN's handler of registry mirrors does (nutanix-cloud-native/cluster-api-runtime-extensions-nutanix, in Go:
// pkg/handlers/generic/mutation/generic/mirrors, 593 lines and two templates): containerd of all nodes pulls through the
// mirrors of `clusterConfig`, and trusts the CAs in the Secrets of registries.
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
const addons = {
  type: 'object',
  properties: { registry: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const;
const variables = defineVariables({
  clusterConfig: {
    schema: {
      type: 'object',
      properties: {
        globalImageRegistryMirror: registry,
        imageRegistries: { type: 'array', items: registry },
        addons,
      },
    },
  },
});

interface Registry {
  url: URL;
  isMirror: boolean;
  secretName?: string | undefined;
  ca?: string | undefined;
}

const clusters = createClusters();
const folder = '/etc/containerd/certs.d';
const caFile = ({ url }: Registry) => `${folder}/${url.host}/ca.crt`;
const dropIn = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images']
  .map((plugin) => `[plugins."${plugin}".registry]\n  config_path = "${folder}"\n`)
  .join('');

/** Address 20 of the first network of Services, where CAREN puts its own registry (IPv4 here). */
function registryAddress([network = '']: readonly string[] = []): string {
  const [base = '', length] = network.split('/');
  const bytes = base.split('.').map(Number);
  if (bytes.length !== 4 || !length) {
    throw new HandlerFailure(`the addon registry needs an IPv4 network of Services, not ${JSON.stringify(network)}`);
  }
  const host = 2 ** (32 - Number(length));
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const address = number - (number % host) + 20;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

/** A registry with the CA in its Secret, if it has one. */
async function withCa(one: Registry, namespace: string): Promise<Registry> {
  if (one.secretName === undefined) {
    return one;
  }
  const { request } = await clusters.management();
  const secret = await request('GET', `/api/v1/namespaces/${namespace}/secrets/${one.secretName}`);
  const ca = getField(secret, 'data["ca.crt"]');
  return { ...one, ca: typeof ca === 'string' ? Buffer.from(ca, 'base64').toString() : undefined };
}

function hostsFile(mirrors: readonly Registry[]): string {
  const hosts = mirrors.map((mirror) => {
    const { origin, pathname } = mirror.url;
    const ca = mirror.ca === undefined ? '' : `  ca = "${caFile(mirror)}"\n`;
    // containerd would put v2 behind the path, where mirrors do not have it.
    return `[host."${origin}/v2${pathname.replace(/\/$/, '')}"]\n  capabilities = ["pull", "resolve"]\n${ca}  override_path = true\n`;
  });
  return hosts.join('');
}

function filesOf(registries: readonly Registry[]): object[] {
  const mirrors = registries.filter(({ isMirror }) => isMirror);
  const withCas = new Map<string, Registry>();
  for (const one of registries.filter(({ ca }) => ca !== undefined)) {
    const other = withCas.get(one.url.host) ?? one;
    if (other.ca !== one.ca) {
      throw new HandlerFailure(
        `the Secrets ${other.secretName} and ${one.secretName} have different CAs for ${one.url.host}`,
      );
    }
    withCas.set(one.url.host, other);
  }
  if (mirrors.length === 0 && withCas.size === 0) {
    return [];
  }
  const file = (path: string, content: object) => ({ path, permissions: '0600', ...content });
  return [
    ...(mirrors.length > 0 ? [file(`${folder}/_default/hosts.toml`, { content: hostsFile(mirrors) })] : []),
    ...[...withCas.values()].map((one) =>
      file(caFile(one), { contentFrom: { secret: { name: one.secretName, key: 'ca.crt' } } }),
    ),
    file('/etc/caren/containerd/patches/registry-config.toml', { content: dropIn }),
  ];
}

function appendFiles(template: Template, path: string, files: readonly object[]): void {
  if (files.length > 0) {
    setField(template, path, [...((getField(template, path) as object[] | undefined) ?? []), ...files]);
  }
}

export const discoverRegistryVariables = handler('DiscoverVariables', {
  name: 'registry-variables',
  handle: (_, { answer }) => answer.done({ variables: variables.definitions }),
});

export const registryMirrors = handler('GeneratePatches', {
  name: 'registry-mirrors',
  async handle(request, { answer, log }) {
    const {
      clusterConfig: { globalImageRegistryMirror: mirror, imageRegistries = [], addons: { registry: addon } = {} } = {},
    } = variables.read(request, {});
    const all = variablesOf(request.variables);
    const made = (one: NonNullable<typeof mirror>, isMirror: boolean): Registry => ({
      url: new URL(one.url),
      isMirror,
      secretName: one.credentials?.secretRef?.name,
    });
    const registries = [
      ...(mirror === undefined ? [] : [made(mirror, true)]),
      ...imageRegistries.map((one) => made(one, false)),
    ];
    if (addon !== undefined) {
      const address = registryAddress(all.list('builtin.cluster.network.services', []) as string[]);
      const secretName = `${all.string('builtin.cluster.name')}-registry-addon-ca`;
      registries.push({ url: new URL(`https://${address}`), isMirror: true, secretName });
    }
    // Patchers cannot wait: what they need is read before.
    const files = filesOf(
      await Promise.all(registries.map((one) => withCa(one, all.string('builtin.cluster.namespace')))),
    );
    const items = walkTemplates(
      request,
      [
        {
          match: { kind: 'KubeadmControlPlaneTemplate', matchResources: { controlPlane: true } },
          mutate: (template) => appendFiles(template, 'spec.template.spec.kubeadmConfigSpec.files', files),
        },
        {
          match: { kind: 'KubeadmConfigTemplate', matchResources: { machineDeploymentClass: { names: ['*'] } } },
          mutate: (template) => appendFiles(template, 'spec.template.spec.files', files),
        },
      ],
      { variables, log },
    );
    return answer.done({ items });
  },
});
