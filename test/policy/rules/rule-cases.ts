import { allowDeletionAnnotation, injectCaFromSecretAnnotation as inject } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { formatRelease, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import type { Situation } from './example-reports.ts';
import {
  deprecatedHook,
  example,
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleClass,
  exampleCluster,
  exampleExpiredCaBundle,
  exampleForeignSecret,
  exampleFutureCaBundle,
  exampleHandler,
  exampleNamespace,
  exampleSecret,
  exampleService,
  exampleServiceObject,
  exampleServingCertificate,
  futureHook,
  removedHook,
} from './examples.ts';

/** An object, and the findings of the rule in it, as `lineOf` writes them. */
type Case = readonly [object: JsonObject, ...findings: string[]];

/** The cases of a rule. */
interface RuleCases {
  /** Objects in which the rule finds nothing. */
  valid: readonly JsonObject[];
  /** Objects in which the rule finds something. */
  invalid: readonly Case[];
  /** A merge patch of the first invalid object, in which no rule finds anything then. */
  fix: JsonObject;
  /** What the findings depend on besides the object. */
  situation?: Situation;
}

/** Cases of one finding each at one place (FIELD REASON), by the value there, with their messages. */
const each = <T extends Json>(
  make: (value: T) => JsonObject,
  at: string,
  ...cases: readonly (readonly [T, string])[]
) => cases.map(([value, message]): Case => [make(value), `${at} ${JSON.stringify(value)}: ${message}`]);
/** The same, with the same message. */
const all = <T extends Json>(make: (value: T) => JsonObject, at: string, message: string, ...values: readonly T[]) =>
  each(make, at, ...values.map((value) => [value, message] as const));
/** Objects that have the same findings. */
const same = (objects: readonly JsonObject[], ...findings: string[]) =>
  objects.map((object): Case => [object, ...findings]);

const withMetadata = (metadata: JsonObject) => example({ metadata });
const versioned = (apiVersion: string) => example({ apiVersion });
const named = (name: string) => example({ name });
const generated = (generateName: string): JsonObject => ({ ...example(), metadata: { generateName } });
const annotated = (text: string) => example({ annotations: { [inject]: text } });
const url = (text: string) => example({ clientConfig: { url: text } });
const service = (parts: JsonObject) => example({ clientConfig: { service: { ...exampleService, ...parts } } });
const bundle = (text: string) =>
  example({ annotations: {}, clientConfig: { service: exampleService, caBundle: text } });
const injectedBundle = example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } });
const settings = (map: JsonObject) => example({ spec: { settings: map } });
const selector = (namespaceSelector: JsonObject) => example({ spec: { namespaceSelector } });
const requirement = (operator: string, ...values: string[]) =>
  selector({
    matchLabels: { a: 'x' },
    matchExpressions: [{ key: 'a', operator, ...(values.length > 0 ? { values } : {}) }],
  });
const withHandler = (field: string) => (value: Json) => example({ handler: { [field]: value } });
const handlers = (...parts: JsonObject[]) => example({ handlers: parts.map(exampleHandler) });
const hook = (apiVersion: string, name: string) => handlers({ requestHook: { apiVersion, hook: name } });
const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
/** Handlers of one hook, with these names. */
const serving = (name: string, names: readonly (string | null)[], apiVersion = capi) =>
  handlers(...names.map((handler) => ({ name: handler, requestHook: { apiVersion, hook: name } })));
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `h${i}.my-extension` }));

const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (text: string) => Buffer.from(text, 'base64').toString();
const pem = decode(exampleCaBundle);
/** A bundle alone, and behind one without findings. */
const bundled = (text: string) => [bundle(text), bundle(encode(pem + decode(text)))];

const useUrl = (text: string): JsonObject => ({ spec: { clientConfig: { url: text } } });
const useService = (parts: JsonObject): JsonObject => ({ spec: { clientConfig: { service: parts } } });
const useBundle: JsonObject = { spec: { clientConfig: { caBundle: exampleCaBundle } } };
const annotatedWith = (text: string): JsonObject => ({ metadata: { annotations: { [inject]: text } } });
const useAnnotation = annotatedWith('capi-extensions/my-extension-cert');
const useHandlers = (...parts: JsonObject[]): JsonObject => ({ status: { handlers: parts.map(exampleHandler) } });
const allowDeletion: JsonObject = { metadata: { annotations: { [allowDeletionAnnotation]: 'true' } } };

const charset = "must consist of lower case letters, digits and '-'";
const label = `${charset}, and begin and end with a letter or digit (e.g. 'my-name')`;
const serviceLabel = `${charset}, begin with a letter and end with a letter or digit (e.g. 'my-name')`;
const namePart =
  "name part must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')";
const placeholder = 'is a placeholder';
const renderIt = 'lint the output of envsubst, clusterctl, helm template or kustomize';
const urlAt = 'spec.clientConfig.url Invalid';
const nameAt = 'spec.clientConfig.service.name';
const namespaceAt = 'spec.clientConfig.service.namespace';
const pathAt = 'spec.clientConfig.service.path Invalid';
const bundleAt = 'spec.clientConfig.caBundle';
const injectAt = `metadata.annotations[${inject}] Invalid`;
const selectorAt = 'spec.namespaceSelector Invalid -:';
const writeUrl = 'write a URL like https://extensions.example.com:8443/path';
const writePath = 'write a path like /runtime-extensions';
const noTarget = 'spec.clientConfig Required -: set url (a server outside the cluster) or service (a Service in it)';
const missingName = [`${nameAt} Required -: set the name of the Service`, `${nameAt} Invalid "": ${serviceLabel}`];
const missingNamespace = [
  `${namespaceAt} Required -: set the namespace of the Service`,
  `${namespaceAt} Invalid "": ${label}`,
];
const writeBundle =
  'put the base64 of the CA\'s PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it';
const wrongHandlerName =
  "must be HANDLER.my-extension, with lower case letters, digits and '-' (at most 63) for HANDLER";
const sameHandlerName = 'status.handlers[0] already has this name; rename or remove one of them';
const neverMatches = `${selectorAt} can never match, so the extension is never called:`;
const twiceInPlace = 'and Cluster API fails every in-place update when there are two; keep one of them';
const withoutValues = 'values must not be empty for operator In';
const tenWithoutValues = Array.from({ length: 10 }, (_, i) => `matchExpressions[${i}].values: ${withoutValues}`);
const namedByClass =
  'metadata.name Forbidden -: cannot be deleted, because its handlers are named by ClusterClass clusters/quick-start (spec.patches[0].external.generatePatchesExtension): their Clusters would stop reconciling; remove them there first, or allow it with kubectl';

const credentialKeys = [
  ...['password', 'passwd', 'passphrase', 'pwd', 'secret', 'token', 'credential', 'credentials', 'bearer'],
  ...['apiKey', 'api.key', 'access_key', 'privateKey', 'client-secret', 'clientSecret', 'AUTH_TOKEN', 's3AccessKey'],
  ...['password ', ' api key', 'db password'],
  `${'x'.repeat(100)}-token`,
];
const credentialValues = [
  'x -----BEGIN EC PRIVATE KEY-----',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
  'AKIAIOSFODNN7EXAMPLE',
  'x ASIAIOSFODNN7EXAMPLE x',
  `ghp_${'a'.repeat(36)}`,
  'postgres://u:p@h/db',
];
const isCredential =
  'Forbidden -: looks like a credential, but settings are stored in clear text and sent with every call; keep it in a Secret that the extension server mounts';

const other = (parts: Parameters<typeof example>[0]) =>
  example({ name: 'other', clientConfig: { url: 'https://other.example.com' }, ...parts });
const theService: Situation = { context: [exampleServiceObject] };
const theCertificate: JsonObject = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { namespace: 'capi-extensions', name: 'my-extension' },
  spec: { secretName: 'my-extension-cert', dnsNames: ['my-extension.capi-extensions.svc'] },
};

/** By the id of the rule. */
export const ruleCases: Readonly<Record<string, RuleCases>> = {
  'api-version-unknown': {
    valid: [example(), versioned('runtime.cluster.x-k8s.io/v1alpha1')],
    invalid: all(
      versioned,
      'apiVersion NotSupported',
      'is not a version of ExtensionConfig; write runtime.cluster.x-k8s.io/v1beta2 or runtime.cluster.x-k8s.io/v1alpha1',
      ...['runtime.cluster.x-k8s.io/v1beta1', 'runtime.cluster.x-k8s.io/', ''],
    ),
    fix: { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' },
  },
  'name-dns-label': {
    valid: [...['0', 'a'.repeat(63)].map(named), ...['0-', 'a'.repeat(60)].map(generated)],
    invalid: [
      ...all(named, 'metadata.name Invalid', label, 'my.extension', '', 'A', 'ä', '-a'),
      ...all(named, 'metadata.name Invalid', 'must be no more than 63 bytes', 'a'.repeat(64)),
      ...all(generated, 'metadata.generateName Invalid', label, 'A-', `${'a'.repeat(57)}A-`),
      [{ ...generated('a'), metadata: { name: 'B', generateName: 'A' } }, `metadata.name Invalid "B": ${label}`],
    ],
    fix: { metadata: { name: 'my-extension' } },
  },
  'client-config-target': {
    valid: [url('x')],
    invalid: [
      ...same(
        [exampleService, { port: 1 }].map((both) => example({ clientConfig: { url: 'x', service: both } })),
        'spec.clientConfig Forbidden -: url and service are both set; keep one and remove the other',
      ),
      ...same([example({ clientConfig: {} }), example({ clientConfig: { service: {} } }), url('')], noTarget),
    ],
    fix: { spec: { clientConfig: { url: null } } },
  },
  'url-valid': {
    valid: ['HTTPS://h', 'https://'].map(url),
    invalid: each(
      url,
      urlAt,
      ['ftp://h', 'has the scheme ftp; the only one allowed is https, as in https://extensions.example.com'],
      ['/h', 'has no scheme; the only one allowed is https, as in https://extensions.example.com'],
      ['https://%zz', `has the invalid host "%zz"; ${writeUrl}`],
      [' https://h', `has neither a scheme nor a leading "/"; ${writeUrl}`],
      ['https://[::1', `has the invalid host "[::1"; ${writeUrl}`],
    ),
    fix: useUrl('https://h'),
  },
  'url-host': {
    valid: ['https://h', 'https://[::1]'].map(url),
    invalid: all(
      url,
      urlAt,
      'has no host; write a URL like https://extensions.example.com',
      ...['https://', 'https:///x', 'https://:443', 'https:h'],
    ),
    fix: useUrl('https://h'),
  },
  'url-port': {
    valid: ['https://h:', 'https://h:1', 'https://[::1]:65535'].map(url),
    invalid: each(
      url,
      urlAt,
      ...['0', '65536', '99999'].map(
        (port) => [`https://h:${port}`, `has the port ${port}; it must be between 1 and 65535`] as const,
      ),
      ['https://[::1]:99999', 'has the port 99999; it must be between 1 and 65535'],
      [`https://h:${'1234567890'.repeat(3)}`, 'has the port 12345678901234567890; it must be between 1 and 65535'],
    ),
    fix: useUrl('https://h:9443'),
  },
  'url-query': {
    valid: ['https://h/%3F', 'https://h/#?'].map(url),
    invalid: all(
      url,
      urlAt,
      'has a query; remove the "?" and everything after it, and pass settings in spec.settings',
      ...['https://h?', 'https://h/?a#b'],
    ),
    fix: useUrl('https://h'),
  },
  'url-fragment': {
    valid: [url('https://h/%23')],
    invalid: all(
      url,
      urlAt,
      'has a fragment; remove the "#" and everything after it',
      ...['https://h/#', 'https://h/?a#b'],
    ),
    fix: useUrl('https://h/'),
  },
  'url-user-info': {
    valid: [url('https://h/a@b')],
    invalid: [
      ...all(url, urlAt, 'has user info before the host; remove it and the "@"', 'https://@h', 'https://u@h'),
      [url('https://u:p@h'), `${urlAt} "https://u:xxxxx@h": has user info before the host; remove it and the "@"`],
    ],
    fix: useUrl('https://h'),
  },
  'url-local-host': {
    valid: [
      ...['localhost.example.com', 'notlocalhost', '[2001:db8::1]', '10.0.0.1', '126.255.255.255', '128.0.0.1'],
      ...['169.255.0.1', '[fec0::1]', '[::2]', '128.1', '0x80.1', '[::128.0.0.1]'],
    ].map((host) => url(`https://${host}`)),
    invalid: each(
      url,
      urlAt,
      ...[
        ...['a.localhost', '127.1.2.3', '169.254.169.254', '0.0.0.0', '127.255.255.255', '127.1', '0x7f.1'],
        ...['2130706433', '0177.0.0.1', '0', 'LOCALHOST.', 'localhost.', 'a.localhost.', '[::1]:1', '[fe80::1%25eth0]'],
        ...['[::]', '[febf::1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:169.254.1.1]'],
      ].map((host) => {
        const shown = host
          .replace(/^\[(.*)\].*/, '$1')
          .replace(/\.$/, '')
          .replace('LOCALHOST', 'localhost');
        return [
          `https://${host}`,
          `${shown} is the machine or network segment that Cluster API's controller runs on; use an address that every node can reach`,
        ] as const;
      }),
    ),
    fix: useUrl('https://h'),
  },
  'url-cluster-host': {
    valid: ['https://svc.example.com', 'https://mysvc'].map(url),
    invalid: [
      ...all(
        url,
        urlAt,
        'is a Service in the cluster; use service with name a and namespace b instead of url',
        ...['https://a.b.svc', 'https://A.B.SVC.cluster.local.:443'],
      ),
      ...all(
        url,
        urlAt,
        'is a Service in the cluster; use service with the name and namespace of the Service instead of url',
        ...['https://svc', 'https://a.svc', 'https://svc.cluster.local'],
      ),
    ],
    fix: { spec: { clientConfig: { url: null, service: { name: 'a', namespace: 'b' } } } },
  },
  'service-name': {
    valid: [service({ name: 'a0' }), example({ clientConfig: { service: { name: '', namespace: '', path: '' } } })],
    invalid: [
      ...all((name) => service({ name }), `${nameAt} Invalid`, serviceLabel, '0a', 'a.b'),
      ...all((name) => service({ name }), `${nameAt} Invalid`, 'must be no more than 63 bytes', 'a'.repeat(64)),
      [service({ name: '' }), ...missingName],
      ...same(
        [{ namespace: 'a' }, { path: '/' }, { port: 1 }].map((alone) => example({ clientConfig: { service: alone } })),
        ...missingName,
      ),
    ],
    fix: useService({ name: 'a0' }),
  },
  'service-namespace': {
    valid: [service({ namespace: '0' })],
    invalid: [
      ...all((namespace) => service({ namespace }), `${namespaceAt} Invalid`, label, 'A', 'a.b'),
      ...same([service({ namespace: '' }), example({ clientConfig: { service: { name: 'a' } } })], ...missingNamespace),
    ],
    fix: useService({ namespace: '0' }),
  },
  'service-path': {
    valid: ['/', '/%41'].map((path) => service({ path })),
    invalid: each(
      (path) => service({ path }),
      pathAt,
      ['x', `has neither a scheme nor a leading "/"; ${writePath}`],
      ['/%', `has the invalid escape "%"; ${writePath}`],
      ['/\n', `has a control character; ${writePath}`],
      ['https://h/x', 'must begin with "/"; the host comes from the Service and is not part of the path'],
    ),
    fix: useService({ path: '/x' }),
  },
  'service-path-plain': {
    valid: [service({ path: '/%3f' })],
    invalid: each(
      (path) => service({ path }),
      pathAt,
      ['/?', 'has a query; remove the "?" and everything after it'],
      ['/#', 'has a fragment; remove the "#" and everything after it'],
      ['/a?b#c', 'has a query; remove the "?" and everything after it'],
    ),
    fix: useService({ path: '/' }),
  },
  'service-port': {
    valid: [1, 65535].map((port) => service({ port })),
    invalid: all(
      (port) => service({ port }),
      'spec.clientConfig.service.port Invalid',
      'must be a port number between 1 and 65535',
      ...[0, -1, 65536],
    ),
    fix: useService({ port: 8443 }),
  },
  'field-type': {
    valid: [service({ path: null })],
    invalid: [
      [service({ port: '1' }), 'spec.clientConfig.service.port TypeInvalid "1": must be of type integer'],
      [settings({ a: 1 }), 'spec.settings.a TypeInvalid 1: must be of type string'],
      [example({ clientConfig: { url: ['x'] } }), 'spec.clientConfig.url TypeInvalid ["x"]: must be of type string'],
      [
        withMetadata({ name: true }),
        'metadata.name TypeInvalid true: must be of type string; YAML reads y, yes, on and true as a boolean: put the text in quotes',
      ],
    ],
    fix: useService({ port: 1 }),
  },
  'ca-bundle-pem': {
    valid: [bundle('Cg=='), bundle(encode(pem.replaceAll('\n', '\r\n'))), bundle(encode(pem + pem))],
    invalid: [
      [bundle('!!'), `${bundleAt} Invalid -: is not base64; ${writeBundle}`],
      [bundle(encode('x')), `${bundleAt} Invalid -: contains no PEM certificate; ${writeBundle}`],
      [
        bundle(encode('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')),
        `${bundleAt} Invalid -: has a certificate that cannot be parsed (number 1); ${writeBundle}`,
      ],
    ],
    fix: useBundle,
  },
  'ca-bundle-private-key': {
    valid: [bundle(exampleCaBundle)],
    invalid: same(
      [bundle(exampleCaBundleWithKey), bundle(encode(`${pem}-----BEGIN EC PRIVATE KEY-----\n`))],
      `${bundleAt} Forbidden -: contains a private key, which everyone with read access to this object can now read; replace that key, and put only certificates here`,
    ),
    fix: useBundle,
  },
  'ca-missing': {
    valid: [annotated('a/b'), bundle('')],
    invalid: same(
      [bundle('Cg=='), annotated('')],
      `${bundleAt} Required -: neither caBundle nor the annotation ${inject} is set; calls succeed only if a system-wide CA signed the serving certificate`,
    ),
    fix: { ...useAnnotation, spec: { clientConfig: { caBundle: null } } },
  },
  'cert-manager-annotation': {
    valid: [annotated('a/b')],
    invalid: ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map(
      (name): Case => [
        example({ annotations: { [`cert-manager.io/${name}`]: 'a/b' } }),
        `metadata.annotations[cert-manager.io/${name}] Forbidden -: cert-manager does not inject CAs into ExtensionConfigs: write ${inject} with the NAMESPACE/NAME of the Certificate's Secret instead`,
      ],
    ),
    fix: { metadata: { annotations: { 'cert-manager.io/inject-ca-from': null, [inject]: 'a/b' } } },
  },
  'inject-annotation': {
    valid: [annotated('a/b.c')],
    invalid: all(
      annotated,
      injectAt,
      'must be the NAMESPACE/NAME of a Secret with the CA in ca.crt (e.g. capi-extensions/my-extension-cert)',
      ...['', '/', 'a/', '/b', 'a/b/c', 'A/b', ' a/b', 'a/b/', 'a/B'],
    ),
    fix: useAnnotation,
  },
  'api-group': {
    valid: [example(), versioned('runtime.cluster.x-k8s.io/v1'), versioned('v1')],
    invalid: all(
      versioned,
      'apiVersion NotSupported',
      'ExtensionConfig is a kind of runtime.cluster.x-k8s.io; write runtime.cluster.x-k8s.io/v1beta2',
      ...['cluster.x-k8s.io/v1beta2', 'runtime.clusters.x-k8s.io/v1beta2'],
    ),
    fix: { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' },
  },
  metadata: {
    valid: [
      withMetadata({ labels: { 'example.com/Team': 'a_b.C', empty: '' } }),
      withMetadata({ annotations: { 'Example.COM/any': 'any text, also: {{ this }}' } }),
    ],
    invalid: [
      [
        withMetadata({ labels: { team: 'platform team' } }),
        `metadata.labels.team Invalid "platform team": must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')`,
      ],
      [
        withMetadata({ labels: { '-team': 'a', 'Example.com/team': 'a' } }),
        `metadata.labels[-team] Invalid "-team": ${namePart}`,
        `metadata.labels[Example.com/team] Invalid "Example.com/team": prefix part must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')`,
      ],
      [withMetadata({ annotations: { 'a b': '' } }), `metadata.annotations[a b] Invalid "a b": ${namePart}`],
    ],
    fix: { metadata: { labels: { team: 'platform-team' } } },
  },
  'metadata-namespace': {
    valid: [example(), withMetadata({ namespace: '' })],
    invalid: all(
      (namespace) => withMetadata({ namespace }),
      'metadata.namespace Forbidden',
      'ExtensionConfigs are cluster-scoped, so the API server drops this: remove it',
      'default',
    ),
    fix: { metadata: { namespace: null } },
  },
  'name-repeated': {
    valid: [named('another-extension')],
    invalid: all(
      named,
      'metadata.name Duplicate',
      'is also the name of the ExtensionConfig in extensions.yaml:1: applied to the same cluster, this one replaces it',
      'my-extension',
    ),
    fix: { metadata: { name: 'another-extension' } },
    situation: { namesake: 'extensions.yaml:1' },
  },
  'not-rendered': {
    valid: [
      settings({ template: `{{ .name }} \${X}` }),
      withMetadata({ annotations: { a: `\${X}` } }),
      url('https://a/$x/{y}'),
      // Of the wrong type, which is another finding.
      settings({ template: [`\${X}`] }),
      { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name: 'no-spec' } },
    ],
    invalid: [
      [service({ name: `\${NAME}` }), `${nameAt} Invalid "\${NAME}": ${placeholder}: ${renderIt}`],
      [
        service({ port: `\${PORT:=443}` }),
        `spec.clientConfig.service.port Invalid "\${PORT:=443}": ${placeholder}: ${renderIt}`,
      ],
      [
        example({ name: '{{ .Release.Name }}', clientConfig: { url: `https://\${HOST}` } }),
        `metadata.name Invalid "{{ .Release.Name }}": ${placeholder}, and so is spec.clientConfig.url: ${renderIt}`,
      ],
      [
        example({ name: '{{ .Release.Name }}', clientConfig: { url: 'https://a', caBundle: '{{ .Values.ca }}' } }),
        `metadata.name Invalid "{{ .Release.Name }}": ${placeholder}, and so is ${bundleAt}: ${renderIt}`,
      ],
      ...all(
        (value) => selector({ matchLabels: { team: value } }),
        'spec.namespaceSelector.matchLabels.team Invalid',
        `${placeholder}: ${renderIt}`,
        `\${TEAM}`,
      ),
      ...all(
        (value) => selector({ matchExpressions: [{ key: 'a', operator: 'In', values: ['b', value] }] }),
        'spec.namespaceSelector.matchExpressions[0].values[1] Invalid',
        `${placeholder}: ${renderIt}`,
        `\${TEAM}`,
      ),
      ...all(
        (generateName) => withMetadata({ generateName }),
        'metadata.generateName Invalid',
        `${placeholder}: ${renderIt}`,
        `\${NAME}-`,
      ),
      ...all(
        (team) => withMetadata({ labels: { team } }),
        'metadata.labels.team Invalid',
        `${placeholder}: ${renderIt}`,
        `\${TEAM}`,
      ),
      ...all(annotated, injectAt, `${placeholder}: ${renderIt}`, `\${SECRET}`),
    ],
    fix: useService({ name: 'my-extension' }),
  },
  'settings-credentials': {
    valid: [
      settings({ tokenBucketSize: '5', secretName: 'x', password: '', monkey: 'x', compass: 'x' }),
      settings({ a: 'AKIAIOSFODNN7', b: 'ghp_abc', c: 'eyJhbGciOiJIUzI1NiJ9', d: 'https://u@h', e: 'https://h/u:p@x' }),
      settings({ f: '-----BEGIN CERTIFICATE-----' }),
    ],
    invalid: [
      [settings({ DB_PASSWORD: 'x' }), `spec.settings.DB_PASSWORD ${isCredential}`],
      [settings({ 'api-key': 'x' }), `spec.settings[api-key] ${isCredential}`],
      [settings({ x: 'https://u:p@h' }), `spec.settings.x ${isCredential}`],
      [
        settings(Object.fromEntries(credentialKeys.map((key) => [key, 'x']))),
        ...credentialKeys
          .toSorted()
          .map((key) => `spec.settings${/\W/.test(key) ? `[${key}]` : `.${key}`} ${isCredential}`),
      ],
      [
        settings(Object.fromEntries(credentialValues.map((value, index) => [`k${index}`, value]))),
        ...credentialValues.map((_, index) => `spec.settings.k${index} ${isCredential}`),
      ],
    ],
    fix: { spec: { settings: { DB_PASSWORD: null, secretName: 'x' } } },
  },
  'namespace-selector': {
    valid: [selector({}), requirement('Exists')],
    invalid: [
      [
        requirement('in', 'x'),
        `${selectorAt} matchExpressions[0].operator: operator "in" is not one of In, NotIn, Exists, DoesNotExist`,
      ],
      [requirement('In'), `${selectorAt} matchExpressions[0].values: ${withoutValues}`],
      [
        requirement('Exists', 'x'),
        `${selectorAt} matchExpressions[0].values: values must be empty for operator Exists`,
      ],
      [selector({ matchLabels: { '-': 'x' } }), `${selectorAt} matchLabels: key "-": ${namePart}`],
      [
        example({ spec: { namespaceSelector: null } }),
        'spec.namespaceSelector Required -: set a label selector; {} selects all namespaces',
      ],
      ...[10, 11].map(
        (count): Case => [
          selector({ matchExpressions: Array(count).fill({ key: 'a', operator: 'In' }) }),
          `${selectorAt} ${tenWithoutValues.join('; ')}${count === 10 ? '' : '; and more'}`,
        ],
      ),
    ],
    fix: { spec: { namespaceSelector: { matchExpressions: null } } },
  },
  'namespace-selector-contradiction': {
    // An invalid selector is the only thing reported.
    valid: [requirement('In', 'x', 'y'), requirement('NotIn', 'y'), requirement('In', '-')],
    invalid: [
      ...same(
        [requirement('NotIn', 'x'), requirement('In', 'y')],
        `${neverMatches} no value of label "a" satisfies all requirements on it; remove one of the requirements`,
      ),
      [
        requirement('DoesNotExist'),
        `${neverMatches} label "a" must both be present and absent; remove one of the requirements`,
      ],
    ],
    fix: { spec: { namespaceSelector: { matchLabels: null } } },
  },
  'handler-timeout': {
    valid: [1, 10, null].map(withHandler('timeoutSeconds')),
    invalid: all(
      withHandler('timeoutSeconds'),
      'status.handlers[0].timeoutSeconds Invalid',
      'must be between 1 and 10 seconds; the extension server sets it in its Discovery response',
      ...[0, -1, 11],
    ),
    fix: useHandlers({ timeoutSeconds: 10 }),
  },
  'handler-failure-policy': {
    valid: [withHandler('failurePolicy')('Ignore')],
    invalid: all(
      withHandler('failurePolicy'),
      'status.handlers[0].failurePolicy NotSupported',
      'must be Ignore or Fail (the default)',
      ...['', 'fail'],
    ),
    fix: useHandlers({}),
  },
  'handler-name': {
    valid: [
      handlers({ name: '0.my-extension' }),
      handlers({ name: `${'a'.repeat(63)}.my-extension` }),
      // Its name is not generated yet.
      { ...handlers({ name: 'a.b' }), metadata: { generateName: 'my-' } },
    ],
    invalid: [
      ...all(
        withHandler('name'),
        'status.handlers[0].name Invalid',
        wrongHandlerName,
        ...['', '.my-extension', 'A.my-extension', 'a.b.my-extension', 'a.other'],
      ),
      [handlers({ name: null }), `status.handlers[0].name Invalid "": ${wrongHandlerName}`],
    ],
    fix: useHandlers({}),
  },
  'handler-name-unique': {
    valid: [handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' })],
    invalid: [
      [
        handlers({}, { name: 'b.my-extension' }, {}),
        `status.handlers[2].name Duplicate "before-upgrade.my-extension": ${sameHandlerName}`,
      ],
      ...same(
        ['', null].map((name) => handlers({ name }, { name })),
        `status.handlers[1].name Duplicate "": ${sameHandlerName}`,
      ),
    ],
    fix: useHandlers({}),
  },
  'handler-hook-version': {
    valid: [hook('hooks.example.com/v1', removedHook), handlers({ requestHook: {} })],
    invalid: all(
      (apiVersion) => hook(apiVersion, 'Discovery'),
      'status.handlers[0].requestHook.apiVersion Invalid',
      `must be GROUP/VERSION (e.g. ${capi})`,
      ...['', 'v1', '/v1', 'a/', 'a/b/c', 'a//b'],
    ),
    fix: useHandlers({}),
  },
  'handler-hook-in-place': {
    valid: [
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: capi, hook: 'CanUpdateMachine' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
      ),
      serving('UpdateMachine', ['a.my-extension', 'b.my-extension'], 'hooks.example.com/v1'),
    ],
    invalid: ['a.my-extension', null].map(
      (first): Case => [
        serving('UpdateMachine', [first, 'b.my-extension']),
        `status.handlers[1].requestHook.hook Duplicate "UpdateMachine": handler "${first ?? ''}" already serves this hook, ${twiceInPlace}`,
      ],
    ),
    fix: useHandlers({}),
  },
  'handler-hook-singleton': {
    valid: [handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' }), serving('Discovery', ['a.my-extension'])],
    invalid: [['a.my-extension', 'b.my-extension'] as const, [null, 'b.my-extension', 'c.my-extension'] as const].map(
      (names): Case => [
        serving('Discovery', names),
        ...names
          .slice(1)
          .map(
            (_, index) =>
              `status.handlers[${index + 1}].requestHook.hook Duplicate "Discovery": handler "${names[0] ?? ''}" already serves Discovery (${capi}), which only one handler may serve; remove one of them`,
          ),
      ],
    ),
    fix: useHandlers({}),
  },
  'hook-version-removed': {
    valid: [hook('hooks.example.com/v1beta1', removedHook), hook(capi, 'GeneratePatches')],
    invalid: all(
      (apiVersion) => hook(apiVersion, removedHook),
      'status.handlers[0].requestHook.apiVersion NotSupported',
      `BeforeThing in this version was removed in Cluster API v1.5 and is never called by ${formatRelease(newestKnownRelease)}; serve BeforeThing (hooks.example.com/v1beta1) instead`,
      'hooks.example.com/v1alpha1',
    ),
    fix: useHandlers({ requestHook: { apiVersion: 'hooks.example.com/v1beta1', hook: removedHook } }),
  },
  'hook-version-deprecated': {
    valid: [hook('hooks.example.com/v1', deprecatedHook), hook('hooks.example.com/v1alpha1', removedHook)],
    invalid: all(
      (apiVersion) => hook(apiVersion, deprecatedHook),
      'status.handlers[0].requestHook.apiVersion Invalid',
      'AfterThing in this version has been deprecated since v1.11 (2025-08), any later release may remove it; serve AfterThing (hooks.example.com/v1) instead',
      'hooks.example.com/v1beta1',
    ),
    fix: useHandlers({ requestHook: { apiVersion: 'hooks.example.com/v1', hook: deprecatedHook } }),
  },
  'hook-unknown': {
    valid: [
      hook(capi, 'CanUpdateMachineSet'),
      hook('not-a-version', 'X'),
      handlers({ requestHook: { apiVersion: capi } }, { requestHook: { apiVersion: capi, hook: '' } }),
    ],
    invalid: [
      [capi, 'generatePatches', `did you mean GeneratePatches (${capi})?`],
      ['hook.runtime.cluster.x-k8s.io/v1alpha1', 'GeneratePatches', `did you mean GeneratePatches (${capi})?`],
      ['hooks.runtime.cluster.x-k8s.io/v1', 'GeneratePatches', 'check its group, version and name'],
      [capi, '__proto__', 'check its group, version and name'],
    ].map(
      ([apiVersion = '', name = '', remedy]): Case => [
        hook(apiVersion, name),
        `status.handlers[0].requestHook.hook NotFound "${name}": no such hook is known in ${apiVersion}; ${remedy}`,
      ],
    ),
    fix: useHandlers({}),
  },
  'hook-too-new': {
    valid: [hook(capi, 'GenerateUpgradePlan')],
    invalid: all(
      (name) => hook('hooks.example.com/v1', name),
      'status.handlers[0].requestHook.hook NotSupported',
      `was introduced in Cluster API v1.99; ${formatRelease(newestKnownRelease)} never calls it`,
      futureHook,
    ),
    fix: useHandlers({}),
  },
  'failure-policy-blocking': {
    valid: [
      handlers({ failurePolicy: 'Fail' }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'AfterControlPlaneInitialized' } }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'Unknown' } }),
    ],
    invalid: ['BeforeClusterUpgrade', 'AfterClusterUpgrade'].map(
      (name): Case => [
        handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: name } }),
        `status.handlers[0].failurePolicy Invalid "Ignore": ${name} is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail`,
      ],
    ),
    fix: useHandlers({}),
  },
  'api-version-deprecated': {
    valid: [example()],
    invalid: [
      [
        versioned('runtime.cluster.x-k8s.io/v1alpha1'),
        'apiVersion Invalid -: runtime.cluster.x-k8s.io/v1alpha1 ExtensionConfig is deprecated; use runtime.cluster.x-k8s.io/v1beta2 ExtensionConfig',
      ],
    ],
    fix: { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' },
  },
  'ca-bundle-and-annotation': {
    valid: [
      bundle(exampleCaBundle),
      example(),
      service({}),
      example({ clientConfig: { service: exampleService, caBundle: 'Cg==' } }),
    ],
    invalid: [
      [
        injectedBundle,
        `${bundleAt} Forbidden -: will be overwritten, because the annotation ${inject} injects the CA from its Secret; remove one of the two`,
      ],
    ],
    fix: { spec: { clientConfig: { caBundle: null } } },
  },
  'ca-certificate-expired': {
    valid: [bundle(exampleCaBundle), bundle('Cg==')],
    invalid: same(
      bundled(exampleExpiredCaBundle),
      `${bundleAt} Invalid -: the certificate of CN=Expired CA expired on 2021-01-01T00:00:00.000Z; put its successor here`,
    ),
    fix: useBundle,
  },
  'ca-certificate-not-yet-valid': {
    valid: [bundle(exampleCaBundle)],
    invalid: same(
      bundled(exampleFutureCaBundle),
      `${bundleAt} Invalid -: the certificate of CN=Future CA is not valid before 2100-01-01T00:00:00.000Z; check the clocks, or put the current one here`,
    ),
    fix: useBundle,
  },
  'ca-certificate-expiring': {
    valid: [bundle(exampleCaBundle), bundle(exampleFutureCaBundle)],
    invalid: [
      [
        bundle(exampleExpiredCaBundle),
        `${bundleAt} Invalid -: the certificate of CN=Expired CA expires on 2021-01-01T00:00:00.000Z; add its successor next to it now`,
      ],
    ],
    fix: useBundle,
    situation: { checkedAt: '2020-12-15T00:00:00.000Z' },
  },
  'ca-certificate-not-ca': {
    valid: [bundle(exampleCaBundle)],
    invalid: same(
      bundled(exampleServingCertificate),
      `${bundleAt} Invalid -: the certificate of CN=my-extension.capi-extensions.svc is not a CA certificate; put the certificate of the CA that signed the serving certificate here`,
    ),
    fix: useBundle,
  },
  'schema-limits': {
    valid: [url(`https://h/${'a'.repeat(502)}`), handlers(...many(512))],
    invalid: [
      [
        url(`https://h/${'a'.repeat(503)}`),
        'spec.clientConfig.url TooLong "https://h/aaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (515): must be at most 512 characters long',
      ],
      [
        handlers(...many(513)),
        'status.handlers TooMany [{"name":"h0.my-extension","requestHook"… (88127): must have at most 512 items',
      ],
      [
        service({ path: `/${'a'.repeat(512)}` }),
        'spec.clientConfig.service.path TooLong "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (515): must be at most 512 characters long',
      ],
      [
        bundle(`${exampleCaBundle}${'A'.repeat(51_200)}`),
        `${bundleAt} TooLong -: must be at most 51200 characters long`,
      ],
      [
        hook(capi, 'A'.repeat(257)),
        'status.handlers[0].requestHook.hook TooLong "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA… (259): must be at most 256 characters long',
      ],
      [
        handlers({ requestHook: { hook: 'Discovery' } }),
        'status.handlers[0].requestHook.apiVersion Required -: must be set',
      ],
      [example({ spec: { settings: null } }), 'spec.settings TypeInvalid -: must be of type object'],
    ],
    fix: useUrl('https://h/a'),
  },
  'unknown-field': {
    valid: [settings({ anything: 'x' })],
    invalid: [
      [example({ spec: { extra: 1 } }), 'spec.extra', ''] as const,
      [service({ targetPort: 1 }), 'spec.clientConfig.service.targetPort', ''] as const,
      [handlers({ timeout: 1 }), 'status.handlers[0].timeout', '; did you mean timeoutSeconds?'] as const,
      [withMetadata({ lables: { a: 'b' }, finalizers: [] }), 'metadata.lables', '; did you mean labels?'] as const,
      [example({ spec: JSON.parse('{"__proto__": {"a": 1}}') }), 'spec.__proto__', ''] as const,
    ].map(
      ([object, field, remedy]): Case => [
        object,
        `${field} Forbidden -: is not a field of ExtensionConfig v1beta2; kubectl rejects it, and the API server drops it${remedy}`,
      ],
    ),
    fix: { spec: { extra: null } },
  },
  'deletion-named-by-class': {
    valid: [named('other')],
    invalid: [
      ...same(
        [example(), example({ annotations: {} })],
        `${namedByClass} annotate extensionconfig my-extension ${allowDeletionAnnotation}=true`,
      ),
      ...['yes', ''].map(
        (value): Case => [
          example({ annotations: { [allowDeletionAnnotation]: value } }),
          `${namedByClass} annotate --overwrite extensionconfig my-extension ${allowDeletionAnnotation}=true (the annotation is "${value}": only "true" counts)`,
        ],
      ),
    ],
    fix: allowDeletion,
    situation: { subject: 'deletion', context: [exampleClass()] },
  },
  'deletion-awaited-by-cluster': {
    valid: [
      example(),
      hook('hooks.example.com/v1', 'AfterClusterUpgrade'),
      example({
        handler: { requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } },
        spec: { namespaceSelector: { matchLabels: { team: 'a' } } },
      }),
    ],
    invalid: [
      [
        hook(capi, 'AfterClusterUpgrade'),
        `metadata.name Forbidden "AfterClusterUpgrade": cannot be deleted, because its hook AfterClusterUpgrade is still pending for Cluster clusters/prod-1; wait until their annotation runtime.cluster.x-k8s.io/pending-hooks is gone, or allow it with kubectl annotate extensionconfig my-extension ${allowDeletionAnnotation}=true`,
      ],
    ],
    fix: allowDeletion,
    situation: {
      subject: 'deletion',
      context: [exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' })],
    },
  },
  'handler-named-by-class': {
    valid: [handlers({}, { name: 'generate.my-extension' }), named('other')],
    invalid: [
      [
        handlers({}),
        'status.handlers Required "generate.my-extension": is no longer served, but is still named by ClusterClass clusters/quick-start (spec.patches[0].external.generatePatchesExtension), whose Clusters now fail; serve it again, or change the ClusterClass',
      ],
    ],
    fix: useHandlers({ name: 'generate.my-extension' }),
    situation: {
      subject: 'status',
      context: [exampleClass('generate.my-extension')],
      old: handlers({ name: 'generate.my-extension' }, {}),
    },
  },
  'namespace-selector-excludes': {
    valid: [selector({}), selector({ matchExpressions: [{ key: 'team', operator: 'Exists' }] })],
    invalid: [
      [
        selector({ matchLabels: { team: 'b' } }),
        `${selectorAt} now excludes clusters, which have Clusters of a ClusterClass that names the extension (clusters/quick-start): those Clusters fail; select these namespaces too`,
      ],
      [
        selector({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }),
        `${selectorAt} now excludes clusters, which have Clusters of a ClusterClass that names the extension (clusters/quick-start): those Clusters fail; select these namespaces too`,
      ],
    ],
    fix: { spec: { namespaceSelector: { matchLabels: { team: 'a' } } } },
    situation: { context: [exampleClass(), exampleCluster(), exampleNamespace], old: example() },
  },
  'server-registered-twice': {
    valid: [service({ name: 'second' }), service({ port: 8443 }), service({ path: '/a' }), named('other-extension')],
    invalid: same(
      [example(), service({ path: '/' }), url('https://MY-extension.capi-extensions.svc.cluster.local.:443/')],
      'spec.clientConfig Duplicate "my-extension.capi-extensions.svc:443": is registered by other-extension too, so every hook is called twice; delete one, or make their namespaceSelectors exclude each other',
    ),
    fix: useService({ path: '/second' }),
    situation: {
      context: [
        example({ name: 'other-extension', clientConfig: { url: 'https://my-extension.capi-extensions.svc' } }),
      ],
    },
  },
  'in-place-hook-twice': {
    valid: [hook(capi, 'CanUpdateMachineSet'), hook('hooks.example.com/v1', 'CanUpdateMachine')],
    invalid: all(
      (name) => hook(capi, name),
      'status.handlers[0].requestHook.hook Duplicate',
      `is served by other too, ${twiceInPlace}`,
      'CanUpdateMachine',
    ),
    fix: useHandlers({}),
    situation: {
      context: [
        other({ handler: { name: 'can-update.other', requestHook: { apiVersion: capi, hook: 'CanUpdateMachine' } } }),
      ],
    },
  },
  'service-missing': {
    valid: [example(), url('https://h')],
    invalid: all(
      (name) => service({ name }),
      `${nameAt} NotFound`,
      'there is no such Service; Cluster API will not report this: look with kubectl -n capi-extensions get services',
      ...['x', 'y'],
    ),
    fix: useService({ name: 'my-extension' }),
    situation: theService,
  },
  'service-port-missing': {
    valid: [example(), example({ clientConfig: { service: { namespace: 'capi-extensions', name: 'my-extension' } } })],
    invalid: all(
      (port) => service({ port }),
      'spec.clientConfig.service.port NotFound',
      'the Service has no such TCP port, only 443: look with kubectl -n capi-extensions get service my-extension',
      9443,
    ),
    fix: useService({ port: 443 }),
    situation: theService,
  },
  'certificate-secret': {
    valid: [
      example(),
      bundle(exampleCaBundle),
      example({ annotations: { [inject]: 'x/y' }, clientConfig: { service: { ...exampleService, name: 'other' } } }),
    ],
    invalid: all(
      annotated,
      injectAt,
      "the Service's Certificate capi-extensions/my-extension is stored in Secret capi-extensions/my-extension-cert (spec.secretName): name that",
      'capi-extensions/my-extension',
    ),
    fix: useAnnotation,
    situation: { context: [theCertificate] },
  },
  'secret-missing': {
    valid: [example(), annotated('capi-extensions/unknown'), annotated('')],
    invalid: all(
      annotated,
      injectAt,
      'this Secret has no ca.crt; Cluster API will not report this: look with kubectl -n capi-extensions describe secret without-ca',
      'capi-extensions/without-ca',
    ),
    fix: useAnnotation,
    situation: { context: [exampleSecret(), exampleSecret({ 'tls.crt': '' }, 'without-ca')] },
  },
  'secret-not-signer': {
    valid: [example()],
    invalid: all(
      annotated,
      injectAt,
      'ca.crt of this Secret did not sign its tls.crt, so calls fail if the server serves that: compare them, kubectl -n capi-extensions get secret mixed -o yaml',
      'capi-extensions/mixed',
    ),
    fix: useAnnotation,
    situation: { context: [exampleSecret(), exampleSecret(exampleForeignSecret, 'mixed')] },
  },
  'secret-expiring': {
    valid: [example(), example({ name: 'other', annotations: { [inject]: 'capi-extensions/old' } })],
    invalid: all(
      annotated,
      injectAt,
      'a CA in this Secret expires on 2021-01-01T00:00:00.000Z, and then calls to other fail too; add its successor to ca.crt now',
      'capi-extensions/old',
    ),
    fix: useAnnotation,
    situation: {
      context: [
        exampleSecret({ 'ca.crt': exampleExpiredCaBundle }, 'old'),
        other({ annotations: { [inject]: 'capi-extensions/old' } }),
      ],
      checkedAt: '2020-12-15T00:00:00.000Z',
    },
  },
  'ca-bundle-outdated': {
    valid: [example(), bundle(exampleCaBundle)],
    invalid: [
      [
        injectedBundle,
        `${bundleAt} Invalid -: is older than ca.crt of Secret capi-extensions/my-extension-cert, which Cluster API has not injected yet: check whether the object is paused, and the log of its controller`,
      ],
    ],
    fix: annotatedWith('capi-extensions/old'),
    situation: {
      context: [
        exampleSecret({ 'ca.crt': exampleFutureCaBundle }),
        exampleSecret({ 'ca.crt': exampleCaBundle }, 'old'),
      ],
      old: injectedBundle,
    },
  },
};
