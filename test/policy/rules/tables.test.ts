import { expect, test } from 'vitest';
import { allowDeletionAnnotation, injectCaFromSecretAnnotation as inject } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { rules } from '../../../src/policy/index.ts';
import { formatRelease, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { exampleOf, exampleReports } from './example-reports.ts';
import {
  deprecatedHook,
  example,
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleHandler,
  exampleService,
  exampleServingCertificate,
  futureHook,
  removedHook,
} from './examples.ts';
import { lineOf, linesWith, ruleOf } from './lines.ts';

const withMetadata = (metadata: JsonObject) => example({ metadata });
const renderIt = 'lint the output of envsubst, clusterctl, helm template or kustomize';
const url = (text: string) => example({ clientConfig: { url: text } });
const service = (parts: JsonObject) => example({ clientConfig: { service: { ...exampleService, ...parts } } });
const bundle = (text: string) =>
  example({ annotations: {}, clientConfig: { service: exampleService, caBundle: text } });
const encode = (text: string) => Buffer.from(text).toString('base64');
const pem = Buffer.from(exampleCaBundle, 'base64').toString();
const generated = (generateName: string): JsonObject => ({ ...example(), metadata: { generateName } });
const annotated = (text: string) => example({ annotations: { [inject]: text } });
const settings = (map: JsonObject) => example({ spec: { settings: map } });
const selector = (namespaceSelector: JsonObject) => example({ spec: { namespaceSelector } });
const requirement = (operator: string, ...values: string[]) =>
  selector({
    matchLabels: { a: 'x' },
    matchExpressions: [{ key: 'a', operator, ...(values.length > 0 ? { values } : {}) }],
  });

const decode = (text: string) => Buffer.from(text, 'base64').toString();
const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
const handlers = (...parts: JsonObject[]) => example({ handlers: parts.map(exampleHandler) });
const hook = (apiVersion: string, name: string) => handlers({ requestHook: { apiVersion, hook: name } });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `h${i}.my-extension` }));

interface Table {
  /** Objects in which the rule finds nothing. */
  valid: JsonObject[];
  /** Objects in which the rule finds something. */
  invalid: JsonObject[];
  /** The message of all findings, if they share one. */
  message?: string;
  /** The findings of each invalid object, as `lineOf` writes them; without the message if it is given above. */
  findings: string[][];
}

const credentialKeys = [
  ...['password', 'passwd', 'passphrase', 'pwd', 'secret', 'token', 'credential', 'credentials', 'bearer'],
  ...['apiKey', 'api.key', 'access_key', 'privateKey', 'client-secret', 'clientSecret', 'AUTH_TOKEN', 's3AccessKey'],
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

const tenWithoutValues = Array.from(
  { length: 10 },
  (_, index) => `matchExpressions[${index}].values: values must not be empty for operator In`,
).join('; ');

const namedByClass =
  'metadata.name Forbidden -: cannot be deleted, because its handlers are named by ClusterClass clusters/quick-start (spec.patches[0].external.generatePatchesExtension): their Clusters would stop reconciling; remove them there first, or allow it with kubectl';

/** By the id of the rule. */
const cases: Record<string, Table> = {
  'api-version-unknown': {
    valid: [example(), example({ apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' })],
    invalid: ['runtime.cluster.x-k8s.io/v1beta1', 'runtime.cluster.x-k8s.io/', ''].map((apiVersion) =>
      example({ apiVersion }),
    ),
    message:
      'is not a version of ExtensionConfig; write runtime.cluster.x-k8s.io/v1beta2 or runtime.cluster.x-k8s.io/v1alpha1',
    findings: [
      ['apiVersion NotSupported "runtime.cluster.x-k8s.io/v1beta1"'],
      ['apiVersion NotSupported "runtime.cluster.x-k8s.io/"'],
      ['apiVersion NotSupported ""'],
    ],
  },
  'name-dns-label': {
    valid: [...['0', 'a'.repeat(63)].map((name) => example({ name })), ...['0-', 'a'.repeat(60)].map(generated)],
    invalid: [
      ...['', 'A', 'ä', '-a', 'a'.repeat(64)].map((name) => example({ name })),
      ...['A-', `${'a'.repeat(57)}A-`].map(generated),
      { ...generated('a'), metadata: { name: 'B', generateName: 'A' } },
    ],
    findings: [
      [
        "metadata.name Invalid \"\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "metadata.name Invalid \"A\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "metadata.name Invalid \"ä\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "metadata.name Invalid \"-a\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        'metadata.name Invalid "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 63 bytes',
      ],
      [
        "metadata.generateName Invalid \"A-\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        `metadata.generateName Invalid "${'a'.repeat(57)}A-": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')`,
      ],
      [
        "metadata.name Invalid \"B\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
    ],
  },
  'client-config-target': {
    valid: [url('x')],
    invalid: [
      example({ clientConfig: {} }),
      example({ clientConfig: { service: {} } }),
      url(''),
      example({ clientConfig: { url: 'x', service: { port: 1 } } }),
    ],
    findings: [
      ['spec.clientConfig Required -: set url (a server outside the cluster) or service (a Service in it)'],
      ['spec.clientConfig Required -: set url (a server outside the cluster) or service (a Service in it)'],
      ['spec.clientConfig Required -: set url (a server outside the cluster) or service (a Service in it)'],
      ['spec.clientConfig Forbidden -: url and service are both set; keep one and remove the other'],
    ],
  },
  'url-valid': {
    valid: ['HTTPS://h', 'https://'].map(url),
    invalid: ['ftp://h', '/h', 'https://%zz', ' https://h', 'https://[::1'].map(url),
    findings: [
      [
        'spec.clientConfig.url Invalid "ftp://h": has the scheme ftp; the only one allowed is https, as in https://extensions.example.com',
      ],
      [
        'spec.clientConfig.url Invalid "/h": has no scheme; the only one allowed is https, as in https://extensions.example.com',
      ],
      [
        'spec.clientConfig.url Invalid "https://%zz": has the invalid escape "%zz"; write a URL like https://extensions.example.com:8443/path',
      ],
      [
        'spec.clientConfig.url Invalid " https://h": has neither a scheme nor a leading "/"; write a URL like https://extensions.example.com:8443/path',
      ],
      [
        'spec.clientConfig.url Invalid "https://[::1": has the host "[::1", whose brackets do not enclose an IPv6 address; write a URL like https://extensions.example.com:8443/path',
      ],
    ],
  },
  'url-host': {
    valid: ['https://h', 'https://[::1]'].map(url),
    invalid: ['https://', 'https:///x', 'https://:443', 'https:h'].map(url),
    message: 'has no host; write a URL like https://extensions.example.com',
    findings: [
      ['spec.clientConfig.url Invalid "https://"'],
      ['spec.clientConfig.url Invalid "https:///x"'],
      ['spec.clientConfig.url Invalid "https://:443"'],
      ['spec.clientConfig.url Invalid "https:h"'],
    ],
  },
  'url-port': {
    valid: ['https://h:', 'https://h:1', 'https://[::1]:65535'].map(url),
    invalid: ['https://h:0', 'https://h:65536', 'https://[::1]:99999', `https://h:${'1234567890'.repeat(3)}`].map(url),
    findings: [
      ['spec.clientConfig.url Invalid "https://h:0": has the port 0; it must be between 1 and 65535'],
      ['spec.clientConfig.url Invalid "https://h:65536": has the port 65536; it must be between 1 and 65535'],
      ['spec.clientConfig.url Invalid "https://[::1]:99999": has the port 99999; it must be between 1 and 65535'],
      [
        'spec.clientConfig.url Invalid "https://h:123456789012345678901234567890": has the port 12345678901234567890; it must be between 1 and 65535',
      ],
    ],
  },
  'url-query': {
    valid: ['https://h/%3F', 'https://h/#?'].map(url),
    invalid: ['https://h?', 'https://h/?a#b'].map(url),
    message: 'has a query; remove the "?" and everything after it, and pass settings in spec.settings',
    findings: [['spec.clientConfig.url Invalid "https://h?"'], ['spec.clientConfig.url Invalid "https://h/?a#b"']],
  },
  'url-fragment': {
    // An invalid URL is the only thing reported.
    valid: ['https://h/%23'].map(url),
    invalid: ['https://h/#', 'https://h/?a#b'].map(url),
    message: 'has a fragment; remove the "#" and everything after it',
    findings: [['spec.clientConfig.url Invalid "https://h/#"'], ['spec.clientConfig.url Invalid "https://h/?a#b"']],
  },
  'url-user-info': {
    valid: [url('https://h/a@b')],
    invalid: ['https://@h', 'https://u@h', 'https://u:p@h'].map(url),
    message: 'has user info before the host; remove it and the "@"',
    findings: [
      ['spec.clientConfig.url Invalid "https://@h"'],
      ['spec.clientConfig.url Invalid "https://u@h"'],
      ['spec.clientConfig.url Invalid "https://u:xxxxx@h"'],
    ],
  },
  'url-local-host': {
    valid: [
      'https://localhost.example.com',
      'https://notlocalhost',
      'https://[2001:db8::1]',
      'https://10.0.0.1',
      'https://126.255.255.255',
      'https://128.0.0.1',
      'https://169.255.0.1',
      'https://[fec0::1]',
      'https://[::2]',
      'https://128.1',
      'https://0x80.1',
      'https://[::128.0.0.1]',
    ].map(url),
    invalid: [
      'https://LOCALHOST.',
      'https://a.localhost',
      'https://127.1.2.3',
      'https://[::1]:1',
      'https://[fe80::1%25eth0]',
      'https://169.254.169.254',
      'https://0.0.0.0',
      'https://[::]',
      'https://[febf::1]',
      'https://127.255.255.255',
      'https://127.1',
      'https://0x7f.1',
      'https://2130706433',
      'https://0177.0.0.1',
      'https://[::127.0.0.1]',
      'https://[::ffff:127.0.0.1]',
      'https://[::ffff:169.254.1.1]',
      'https://localhost.',
      'https://a.localhost.',
      'https://0',
    ].map(url),
    findings: [
      [
        'spec.clientConfig.url Invalid "https://LOCALHOST.": localhost is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://a.localhost": a.localhost is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://127.1.2.3": 127.1.2.3 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://[::1]:1": ::1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://[fe80::1%25eth0]": fe80::1%25eth0 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://169.254.169.254": 169.254.169.254 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      ...[
        ['https://0.0.0.0', '0.0.0.0'],
        ['https://[::]', '::'],
        ['https://[febf::1]', 'febf::1'],
        ['https://127.255.255.255', '127.255.255.255'],
      ].map(([text, host]) => [
        `spec.clientConfig.url Invalid "${text}": ${host} is the machine or network segment that Cluster API's controller runs on; use an address that every node can reach`,
      ]),
      [
        'spec.clientConfig.url Invalid "https://127.1": 127.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://0x7f.1": 0x7f.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://2130706433": 2130706433 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://0177.0.0.1": 0177.0.0.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://[::127.0.0.1]": ::127.0.0.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://[::ffff:127.0.0.1]": ::ffff:127.0.0.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://[::ffff:169.254.1.1]": ::ffff:169.254.1.1 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://localhost.": localhost is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://a.localhost.": a.localhost is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
      [
        'spec.clientConfig.url Invalid "https://0": 0 is the machine or network segment that Cluster API\'s controller runs on; use an address that every node can reach',
      ],
    ],
  },
  'url-cluster-host': {
    valid: ['https://svc.example.com', 'https://mysvc'].map(url),
    invalid: [
      'https://svc',
      'https://a.svc',
      'https://svc.cluster.local',
      'https://a.b.svc',
      'https://A.B.SVC.cluster.local.:443',
    ].map(url),
    findings: [
      [
        'spec.clientConfig.url Invalid "https://svc": is a Service in the cluster; use service with the name and namespace of the Service instead of url',
      ],
      ...['a.svc', 'svc.cluster.local'].map((host) => [
        `spec.clientConfig.url Invalid "https://${host}": is a Service in the cluster; use service with the name and namespace of the Service instead of url`,
      ]),
      [
        'spec.clientConfig.url Invalid "https://a.b.svc": is a Service in the cluster; use service with name a and namespace b instead of url',
      ],
      [
        'spec.clientConfig.url Invalid "https://A.B.SVC.cluster.local.:443": is a Service in the cluster; use service with name a and namespace b instead of url',
      ],
    ],
  },
  'service-name': {
    valid: [service({ name: 'a0' }), example({ clientConfig: { service: { name: '', namespace: '', path: '' } } })],
    invalid: [
      ...['', '0a', 'a.b', 'a'.repeat(64)].map((name) => service({ name })),
      ...[{ namespace: 'a' }, { path: '/' }, { port: 1 }].map((alone) => example({ clientConfig: { service: alone } })),
    ],
    findings: [
      [
        'spec.clientConfig.service.name Required -: set the name of the Service',
        "spec.clientConfig.service.name Invalid \"\": must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "spec.clientConfig.service.name Invalid \"0a\": must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "spec.clientConfig.service.name Invalid \"a.b\": must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        'spec.clientConfig.service.name Invalid "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 63 bytes',
      ],
      ...Array.from({ length: 3 }, () => [
        'spec.clientConfig.service.name Required -: set the name of the Service',
        "spec.clientConfig.service.name Invalid \"\": must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
      ]),
    ],
  },
  'service-namespace': {
    valid: [service({ namespace: '0' })],
    invalid: [
      ...['', 'A', 'a.b'].map((namespace) => service({ namespace })),
      example({ clientConfig: { service: { name: 'a' } } }),
    ],
    findings: [
      [
        'spec.clientConfig.service.namespace Required -: set the namespace of the Service',
        "spec.clientConfig.service.namespace Invalid \"\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "spec.clientConfig.service.namespace Invalid \"A\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        "spec.clientConfig.service.namespace Invalid \"a.b\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
      [
        'spec.clientConfig.service.namespace Required -: set the namespace of the Service',
        "spec.clientConfig.service.namespace Invalid \"\": must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
      ],
    ],
  },
  'service-path': {
    valid: ['/', '/%41'].map((path) => service({ path })),
    invalid: ['x', '/%', '/\n', 'https://h/x'].map((path) => service({ path })),
    findings: [
      [
        'spec.clientConfig.service.path Invalid "x": has neither a scheme nor a leading "/"; write a path like /runtime-extensions',
      ],
      [
        'spec.clientConfig.service.path Invalid "/%": has the invalid escape "%"; write a path like /runtime-extensions',
      ],
      ['spec.clientConfig.service.path Invalid "/\\n": has a control character; write a path like /runtime-extensions'],
      [
        'spec.clientConfig.service.path Invalid "https://h/x": must begin with "/"; the host comes from the Service and is not part of the path',
      ],
    ],
  },
  'service-path-plain': {
    valid: [service({ path: '/%3f' })],
    invalid: ['/?', '/#', '/a?b#c'].map((path) => service({ path })),
    findings: [
      ['spec.clientConfig.service.path Invalid "/?": has a query; remove the "?" and everything after it'],
      ['spec.clientConfig.service.path Invalid "/#": has a fragment; remove the "#" and everything after it'],
      ['spec.clientConfig.service.path Invalid "/a?b#c": has a query; remove the "?" and everything after it'],
    ],
  },
  'service-port': {
    valid: [1, 65535].map((port) => service({ port })),
    invalid: [0, -1, 65536].map((port) => service({ port })),
    message: 'must be a port number between 1 and 65535',
    findings: [
      ['spec.clientConfig.service.port Invalid 0'],
      ['spec.clientConfig.service.port Invalid -1'],
      ['spec.clientConfig.service.port Invalid 65536'],
    ],
  },
  'field-type': {
    valid: [service({ path: null })],
    invalid: [
      service({ port: '1' }),
      example({ spec: { settings: { a: 1 } } }),
      example({ clientConfig: { url: ['x'] } }),
      withMetadata({ name: true }),
    ],
    findings: [
      ['spec.clientConfig.service.port TypeInvalid "1": must be of type integer'],
      ['spec.settings.a TypeInvalid 1: must be of type string'],
      ['spec.clientConfig.url TypeInvalid ["x"]: must be of type string'],
      [
        'metadata.name TypeInvalid true: must be of type string; YAML reads y, yes, on and true as a boolean: put the text in quotes',
      ],
    ],
  },
  'ca-bundle-pem': {
    valid: [bundle('Cg=='), bundle(encode(pem.replaceAll('\n', '\r\n'))), bundle(encode(pem + pem))],
    invalid: [
      bundle('!!'),
      bundle(encode('x')),
      bundle(encode('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')),
    ],
    findings: [
      [
        'spec.clientConfig.caBundle Invalid -: is not base64; put the base64 of the CA\'s PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it',
      ],
      [
        'spec.clientConfig.caBundle Invalid -: contains no PEM certificate; put the base64 of the CA\'s PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it',
      ],
      [
        'spec.clientConfig.caBundle Invalid -: has a certificate that cannot be parsed (number 1); put the base64 of the CA\'s PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it',
      ],
    ],
  },
  'ca-bundle-private-key': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleCaBundleWithKey), bundle(encode(`${pem}-----BEGIN EC PRIVATE KEY-----\n`))],
    message:
      'contains a private key, which everyone with read access to this object can now read; replace that key, and put only certificates here',
    findings: [['spec.clientConfig.caBundle Forbidden -'], ['spec.clientConfig.caBundle Forbidden -']],
  },
  'ca-missing': {
    valid: [annotated('a/b'), bundle('')],
    invalid: [bundle('Cg=='), annotated('')],
    message:
      'neither caBundle nor the annotation runtime.cluster.x-k8s.io/inject-ca-from-secret is set; calls succeed only if a system-wide CA signed the serving certificate',
    findings: [['spec.clientConfig.caBundle Required -'], ['spec.clientConfig.caBundle Required -']],
  },
  'cert-manager-annotation': {
    valid: [annotated('a/b')],
    invalid: ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map((name) =>
      example({ annotations: { [`cert-manager.io/${name}`]: 'a/b' } }),
    ),
    findings: ['inject-ca-from', 'inject-ca-from-secret', 'inject-apiserver-ca'].map((name) => [
      `metadata.annotations[cert-manager.io/${name}] Forbidden -: cert-manager does not inject CAs into ExtensionConfigs: write runtime.cluster.x-k8s.io/inject-ca-from-secret with the NAMESPACE/NAME of the Certificate's Secret instead`,
    ]),
  },
  'inject-annotation': {
    valid: [annotated('a/b.c')],
    invalid: ['', '/', 'a/', '/b', 'a/b/c', 'A/b', ' a/b', 'a/b/', 'a/B'].map(annotated),
    message: 'must be the NAMESPACE/NAME of a Secret with the CA in ca.crt (e.g. capi-extensions/my-extension-cert)',
    findings: [
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid ""'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "/"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "a/"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "/b"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "a/b/c"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "A/b"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid " a/b"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "a/b/"'],
      ['metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "a/B"'],
    ],
  },
  'api-group': {
    valid: [example(), example({ apiVersion: 'runtime.cluster.x-k8s.io/v1' }), example({ apiVersion: 'v1' })],
    invalid: [
      example({ apiVersion: 'cluster.x-k8s.io/v1beta2' }),
      example({ apiVersion: 'runtime.clusters.x-k8s.io/v1beta2' }),
    ],
    message: 'ExtensionConfig is a kind of runtime.cluster.x-k8s.io; write runtime.cluster.x-k8s.io/v1beta2',
    findings: [
      ['apiVersion NotSupported "cluster.x-k8s.io/v1beta2"'],
      ['apiVersion NotSupported "runtime.clusters.x-k8s.io/v1beta2"'],
    ],
  },
  metadata: {
    valid: [
      withMetadata({ labels: { 'example.com/Team': 'a_b.C', empty: '' } }),
      withMetadata({ annotations: { 'Example.COM/any': 'any text, also: {{ this }}' } }),
    ],
    invalid: [
      withMetadata({ labels: { team: 'platform team' } }),
      withMetadata({ labels: { '-team': 'a', 'Example.com/team': 'a' } }),
      withMetadata({ annotations: { 'a b': '' } }),
    ],
    findings: [
      [
        `metadata.labels.team Invalid "platform team": must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')`,
      ],
      [
        `metadata.labels[-team] Invalid "-team": name part must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')`,
        `metadata.labels[Example.com/team] Invalid "Example.com/team": prefix part must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')`,
      ],
      [
        `metadata.annotations[a b] Invalid "a b": name part must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')`,
      ],
    ],
  },
  'metadata-namespace': {
    valid: [example(), withMetadata({ namespace: '' })],
    invalid: [withMetadata({ namespace: 'default' })],
    findings: [
      [
        'metadata.namespace Forbidden "default": ExtensionConfigs are cluster-scoped, so the API server drops this: remove it',
      ],
    ],
  },
  'name-repeated': {
    valid: [example({ name: 'another-extension' })],
    invalid: [example()],
    findings: [
      [
        'metadata.name Duplicate "my-extension": is also the name of the ExtensionConfig in extensions.yaml:1: applied to the same cluster, this one replaces it',
      ],
    ],
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
      service({ name: `\${NAME}` }),
      service({ port: `\${PORT:=443}` }),
      example({ name: '{{ .Release.Name }}', clientConfig: { url: `https://\${HOST}` } }),
      selector({ matchLabels: { team: `\${TEAM}` } }),
      example({ name: '{{ .Release.Name }}', clientConfig: { url: 'https://a', caBundle: '{{ .Values.ca }}' } }),
      selector({ matchExpressions: [{ key: 'a', operator: 'In', values: ['b', `\${TEAM}`] }] }),
      withMetadata({ generateName: `\${NAME}-` }),
      withMetadata({ labels: { team: `\${TEAM}` } }),
      withMetadata({ annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `\${SECRET}` } }),
    ],
    findings: [
      [`spec.clientConfig.service.name Invalid "\${NAME}": is a placeholder: ${renderIt}`],
      [`spec.clientConfig.service.port Invalid "\${PORT:=443}": is a placeholder: ${renderIt}`],
      [`metadata.name Invalid "{{ .Release.Name }}": is a placeholder, and so is spec.clientConfig.url: ${renderIt}`],
      [`spec.namespaceSelector.matchLabels.team Invalid "\${TEAM}": is a placeholder: ${renderIt}`],
      [
        `metadata.name Invalid "{{ .Release.Name }}": is a placeholder, and so is spec.clientConfig.caBundle: ${renderIt}`,
      ],
      [`spec.namespaceSelector.matchExpressions[0].values[1] Invalid "\${TEAM}": is a placeholder: ${renderIt}`],
      [`metadata.generateName Invalid "\${NAME}-": is a placeholder: ${renderIt}`],
      [`metadata.labels.team Invalid "\${TEAM}": is a placeholder: ${renderIt}`],
      [
        `metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "\${SECRET}": is a placeholder: ${renderIt}`,
      ],
    ],
  },
  'settings-credentials': {
    valid: [
      settings({ tokenBucketSize: '5', secretName: 'x', password: '', monkey: 'x', compass: 'x', mytoken: 'x' }),
      settings({ a: 'AKIAIOSFODNN7', b: 'ghp_abc', c: 'eyJhbGciOiJIUzI1NiJ9', d: 'https://u@h', e: 'https://h/u:p@x' }),
      settings({ f: '-----BEGIN CERTIFICATE-----' }),
    ],
    invalid: [
      settings({ DB_PASSWORD: 'x' }),
      settings({ 'api-key': 'x' }),
      settings({ x: 'https://u:p@h' }),
      settings(Object.fromEntries(credentialKeys.map((key) => [key, 'x']))),
      settings(Object.fromEntries(credentialValues.map((value, index) => [`k${index}`, value]))),
    ],
    message:
      'looks like a credential, but settings are stored in clear text and sent with every call; keep it in a Secret that the extension server mounts',
    findings: [
      ['spec.settings.DB_PASSWORD Forbidden -'],
      ['spec.settings[api-key] Forbidden -'],
      ['spec.settings.x Forbidden -'],
      credentialKeys.toSorted().map((key) => `spec.settings${/\W/.test(key) ? `[${key}]` : `.${key}`} Forbidden -`),
      credentialValues.map((_, index) => `spec.settings.k${index} Forbidden -`),
    ],
  },
  'namespace-selector': {
    valid: [selector({}), requirement('Exists')],
    invalid: [
      requirement('in', 'x'),
      requirement('In'),
      requirement('Exists', 'x'),
      selector({ matchLabels: { '-': 'x' } }),
      example({ spec: { namespaceSelector: null } }),
      ...[10, 11].map((count) => selector({ matchExpressions: Array(count).fill({ key: 'a', operator: 'In' }) })),
    ],
    findings: [
      [
        'spec.namespaceSelector Invalid -: matchExpressions[0].operator: operator "in" is not one of In, NotIn, Exists, DoesNotExist',
      ],
      ['spec.namespaceSelector Invalid -: matchExpressions[0].values: values must not be empty for operator In'],
      ['spec.namespaceSelector Invalid -: matchExpressions[0].values: values must be empty for operator Exists'],
      [
        "spec.namespaceSelector Invalid -: matchLabels: key \"-\": name part must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')",
      ],
      ['spec.namespaceSelector Required -: set a label selector; {} selects all namespaces'],
      [`spec.namespaceSelector Invalid -: ${tenWithoutValues}`],
      [`spec.namespaceSelector Invalid -: ${tenWithoutValues}; and more`],
    ],
  },
  'namespace-selector-contradiction': {
    // An invalid selector is the only thing reported.
    valid: [requirement('In', 'x', 'y'), requirement('NotIn', 'y'), requirement('In', '-')],
    invalid: [requirement('NotIn', 'x'), requirement('DoesNotExist'), requirement('In', 'y')],
    findings: [
      [
        'spec.namespaceSelector Invalid -: can never match, so the extension is never called: no value of label "a" satisfies all requirements on it; remove one of the requirements',
      ],
      [
        'spec.namespaceSelector Invalid -: can never match, so the extension is never called: label "a" must both be present and absent; remove one of the requirements',
      ],
      [
        'spec.namespaceSelector Invalid -: can never match, so the extension is never called: no value of label "a" satisfies all requirements on it; remove one of the requirements',
      ],
    ],
  },
  'handler-timeout': {
    valid: [1, 10, null].map((timeoutSeconds) => example({ handler: { timeoutSeconds } })),
    invalid: [0, -1, 11].map((timeoutSeconds) => example({ handler: { timeoutSeconds } })),
    message: 'must be between 1 and 10 seconds; the extension server sets it in its Discovery response',
    findings: [
      ['status.handlers[0].timeoutSeconds Invalid 0'],
      ['status.handlers[0].timeoutSeconds Invalid -1'],
      ['status.handlers[0].timeoutSeconds Invalid 11'],
    ],
  },
  'handler-failure-policy': {
    valid: [example({ handler: { failurePolicy: 'Ignore' } })],
    invalid: ['', 'fail'].map((failurePolicy) => example({ handler: { failurePolicy } })),
    message: 'must be Ignore or Fail (the default)',
    findings: [
      ['status.handlers[0].failurePolicy NotSupported ""'],
      ['status.handlers[0].failurePolicy NotSupported "fail"'],
    ],
  },
  'handler-name': {
    valid: [
      handlers({ name: '0.my-extension' }),
      handlers({ name: `${'a'.repeat(63)}.my-extension` }),
      // Its name is not generated yet.
      { ...handlers({ name: 'a.b' }), metadata: { generateName: 'my-' } },
    ],
    invalid: ['', '.my-extension', 'A.my-extension', 'a.b.my-extension', 'a.other', null].map((name) =>
      example({ handler: { name } }),
    ),
    message: "must be HANDLER.my-extension, with lower case letters, digits and '-' (at most 63) for HANDLER",
    findings: [
      ['status.handlers[0].name Invalid ""'],
      ['status.handlers[0].name Invalid ".my-extension"'],
      ['status.handlers[0].name Invalid "A.my-extension"'],
      ['status.handlers[0].name Invalid "a.b.my-extension"'],
      ['status.handlers[0].name Invalid "a.other"'],
      ['status.handlers[0].name Invalid ""'],
    ],
  },
  'handler-name-unique': {
    valid: [handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' })],
    invalid: [
      handlers({}, { name: 'b.my-extension' }, {}),
      handlers({ name: '' }, { name: '' }),
      handlers({ name: null }, { name: null }),
    ],
    message: 'status.handlers[0] already has this name; rename or remove one of them',
    findings: [
      ['status.handlers[2].name Duplicate "before-upgrade.my-extension"'],
      ['status.handlers[1].name Duplicate ""'],
      ['status.handlers[1].name Duplicate ""'],
    ],
  },
  'handler-hook-version': {
    valid: [hook('hooks.example.com/v1', removedHook), handlers({ requestHook: {} })],
    invalid: ['', 'v1', '/v1', 'a/', 'a/b/c', 'a//b'].map((apiVersion) => hook(apiVersion, 'Discovery')),
    message: 'must be GROUP/VERSION (e.g. hooks.runtime.cluster.x-k8s.io/v1alpha1)',
    findings: [
      ['status.handlers[0].requestHook.apiVersion Invalid ""'],
      ['status.handlers[0].requestHook.apiVersion Invalid "v1"'],
      ['status.handlers[0].requestHook.apiVersion Invalid "/v1"'],
      ['status.handlers[0].requestHook.apiVersion Invalid "a/"'],
      ['status.handlers[0].requestHook.apiVersion Invalid "a/b/c"'],
      ['status.handlers[0].requestHook.apiVersion Invalid "a//b"'],
    ],
  },
  'handler-hook-in-place': {
    valid: [
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: capi, hook: 'CanUpdateMachine' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
      ),
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: 'hooks.example.com/v1', hook: 'UpdateMachine' } },
        { name: 'b.my-extension', requestHook: { apiVersion: 'hooks.example.com/v1', hook: 'UpdateMachine' } },
      ),
    ],
    invalid: [
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
      ),
      handlers(
        { name: null, requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } },
      ),
    ],
    findings: [
      [
        'status.handlers[1].requestHook.hook Duplicate "UpdateMachine": handler "a.my-extension" already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them',
      ],
      [
        'status.handlers[1].requestHook.hook Duplicate "UpdateMachine": handler "" already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them',
      ],
    ],
  },
  'handler-hook-singleton': {
    valid: [
      handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' }),
      handlers({ requestHook: { apiVersion: capi, hook: 'Discovery' } }),
    ],
    invalid: [
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: capi, hook: 'Discovery' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'Discovery' } },
      ),
      handlers(
        { name: null, requestHook: { apiVersion: capi, hook: 'Discovery' } },
        { requestHook: { apiVersion: capi, hook: 'Discovery' } },
        { name: 'c.my-extension', requestHook: { apiVersion: capi, hook: 'Discovery' } },
      ),
    ],
    findings: [
      [
        'status.handlers[1].requestHook.hook Duplicate "Discovery": handler "a.my-extension" already serves Discovery (hooks.runtime.cluster.x-k8s.io/v1alpha1), which only one handler may serve; remove one of them',
      ],
      [1, 2].map(
        (index) =>
          `status.handlers[${index}].requestHook.hook Duplicate "Discovery": handler "" already serves Discovery (hooks.runtime.cluster.x-k8s.io/v1alpha1), which only one handler may serve; remove one of them`,
      ),
    ],
  },
  'hook-version-removed': {
    valid: [hook('hooks.example.com/v1beta1', removedHook), hook(capi, 'GeneratePatches')],
    invalid: [hook('hooks.example.com/v1alpha1', removedHook)],
    findings: [
      [
        `status.handlers[0].requestHook.apiVersion NotSupported "hooks.example.com/v1alpha1": BeforeThing in this version was removed in Cluster API v1.5 and is never called by ${formatRelease(newestKnownRelease)}; serve BeforeThing (hooks.example.com/v1beta1) instead`,
      ],
    ],
  },
  'hook-version-deprecated': {
    valid: [hook('hooks.example.com/v1', deprecatedHook), hook('hooks.example.com/v1alpha1', removedHook)],
    invalid: [hook('hooks.example.com/v1beta1', deprecatedHook)],
    findings: [
      [
        'status.handlers[0].requestHook.apiVersion Invalid "hooks.example.com/v1beta1": AfterThing in this version has been deprecated since v1.11 (2025-08), any later release may remove it; serve AfterThing (hooks.example.com/v1) instead',
      ],
    ],
  },
  'hook-unknown': {
    valid: [
      hook(capi, 'CanUpdateMachineSet'),
      hook('not-a-version', 'X'),
      handlers({ requestHook: { apiVersion: capi } }, { requestHook: { apiVersion: capi, hook: '' } }),
    ],
    invalid: [
      hook(capi, 'generatePatches'),
      hook('hook.runtime.cluster.x-k8s.io/v1alpha1', 'GeneratePatches'),
      hook('hooks.runtime.cluster.x-k8s.io/v1', 'GeneratePatches'),
      hook(capi, '__proto__'),
    ],
    findings: [
      [
        'status.handlers[0].requestHook.hook NotFound "generatePatches": no such hook is known in hooks.runtime.cluster.x-k8s.io/v1alpha1; did you mean GeneratePatches (hooks.runtime.cluster.x-k8s.io/v1alpha1)?',
      ],
      [
        'status.handlers[0].requestHook.hook NotFound "GeneratePatches": no such hook is known in hook.runtime.cluster.x-k8s.io/v1alpha1; did you mean GeneratePatches (hooks.runtime.cluster.x-k8s.io/v1alpha1)?',
      ],
      [
        'status.handlers[0].requestHook.hook NotFound "GeneratePatches": no such hook is known in hooks.runtime.cluster.x-k8s.io/v1; check its group, version and name',
      ],
      [
        'status.handlers[0].requestHook.hook NotFound "__proto__": no such hook is known in hooks.runtime.cluster.x-k8s.io/v1alpha1; check its group, version and name',
      ],
    ],
  },
  'hook-too-new': {
    valid: [hook(capi, 'GenerateUpgradePlan')],
    invalid: [hook('hooks.example.com/v1', futureHook)],
    findings: [
      [
        `status.handlers[0].requestHook.hook NotSupported "DuringThing": was introduced in Cluster API v1.99; ${formatRelease(newestKnownRelease)} never calls it`,
      ],
    ],
  },
  'failure-policy-blocking': {
    valid: [
      handlers({ failurePolicy: 'Fail' }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'AfterControlPlaneInitialized' } }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'Unknown' } }),
    ],
    invalid: [
      handlers({ failurePolicy: 'Ignore' }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } }),
    ],
    findings: [
      [
        'status.handlers[0].failurePolicy Invalid "Ignore": BeforeClusterUpgrade is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail',
      ],
      [
        'status.handlers[0].failurePolicy Invalid "Ignore": AfterClusterUpgrade is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail',
      ],
    ],
  },
  'api-version-deprecated': {
    valid: [example()],
    invalid: [example({ apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' })],
    findings: [
      [
        'apiVersion Invalid -: runtime.cluster.x-k8s.io/v1alpha1 ExtensionConfig is deprecated; use runtime.cluster.x-k8s.io/v1beta2 ExtensionConfig',
      ],
    ],
  },
  'ca-bundle-and-annotation': {
    valid: [
      bundle(exampleCaBundle),
      example(),
      service({}),
      example({ clientConfig: { service: exampleService, caBundle: 'Cg==' } }),
    ],
    invalid: [example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } })],
    findings: [
      [
        'spec.clientConfig.caBundle Forbidden -: will be overwritten, because the annotation runtime.cluster.x-k8s.io/inject-ca-from-secret injects the CA from its Secret; remove one of the two',
      ],
    ],
  },
  'ca-certificate-expired': {
    valid: [bundle(exampleCaBundle), bundle('Cg==')],
    invalid: [bundle(exampleExpiredCaBundle), bundle(encode(pem + decode(exampleExpiredCaBundle)))],
    message: 'the certificate of CN=Expired CA expired on 2021-01-01T00:00:00.000Z; put its successor here',
    findings: [['spec.clientConfig.caBundle Invalid -'], ['spec.clientConfig.caBundle Invalid -']],
  },
  'ca-certificate-not-yet-valid': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleFutureCaBundle), bundle(encode(pem + decode(exampleFutureCaBundle)))],
    message:
      'the certificate of CN=Future CA is not valid before 2100-01-01T00:00:00.000Z; check the clocks, or put the current one here',
    findings: [['spec.clientConfig.caBundle Invalid -'], ['spec.clientConfig.caBundle Invalid -']],
  },
  'ca-certificate-expiring': {
    valid: [bundle(exampleCaBundle), bundle(exampleFutureCaBundle)],
    invalid: [bundle(exampleExpiredCaBundle)],
    findings: [
      [
        'spec.clientConfig.caBundle Invalid -: the certificate of CN=Expired CA expires on 2021-01-01T00:00:00.000Z; add its successor next to it now',
      ],
    ],
  },
  'ca-certificate-not-ca': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleServingCertificate), bundle(encode(pem + decode(exampleServingCertificate)))],
    message:
      'the certificate of CN=my-extension.capi-extensions.svc is not a CA certificate; put the certificate of the CA that signed the serving certificate here',
    findings: [['spec.clientConfig.caBundle Invalid -'], ['spec.clientConfig.caBundle Invalid -']],
  },
  'schema-limits': {
    valid: [url(`https://h/${'a'.repeat(502)}`), handlers(...many(512))],
    invalid: [
      url(`https://h/${'a'.repeat(503)}`),
      handlers(...many(513)),
      service({ path: `/${'a'.repeat(512)}` }),
      bundle(`${exampleCaBundle}${'A'.repeat(51_200)}`),
      hook(capi, 'A'.repeat(257)),
      example({ handler: { requestHook: { hook: 'Discovery' } } }),
      example({ spec: { settings: null } }),
    ],
    findings: [
      [
        'spec.clientConfig.url TooLong "https://h/aaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (515): must be at most 512 characters long',
      ],
      ['status.handlers TooMany [{"name":"h0.my-extension","requestHook"… (88127): must have at most 512 items'],
      [
        'spec.clientConfig.service.path TooLong "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (515): must be at most 512 characters long',
      ],
      ['spec.clientConfig.caBundle TooLong -: must be at most 51200 characters long'],
      [
        'status.handlers[0].requestHook.hook TooLong "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA… (259): must be at most 256 characters long',
      ],
      ['status.handlers[0].requestHook.apiVersion Required -: must be set'],
      ['spec.settings TypeInvalid -: must be of type object'],
    ],
  },
  'unknown-field': {
    valid: [settings({ anything: 'x' })],
    invalid: [
      example({ spec: { extra: 1 } }),
      service({ targetPort: 1 }),
      handlers({ timeout: 1 }),
      withMetadata({ lables: { a: 'b' }, finalizers: [] }),
      example({ spec: JSON.parse('{"__proto__": {"a": 1}}') }),
    ],
    findings: [
      ['spec.extra', ''],
      ['spec.clientConfig.service.targetPort', ''],
      ['status.handlers[0].timeout', '; did you mean timeoutSeconds?'],
      ['metadata.lables', '; did you mean labels?'],
      ['spec.__proto__', ''],
    ].map(([field, remedy]) => [
      `${field} Forbidden -: is not a field of ExtensionConfig v1beta2; kubectl rejects it, and the API server drops it${remedy}`,
    ]),
  },
  'deletion-named-by-class': {
    valid: [example({ name: 'other' })],
    invalid: [
      example(),
      example({ annotations: {} }),
      ...['yes', ''].map((value) => example({ annotations: { [allowDeletionAnnotation]: value } })),
    ],
    findings: [
      [`${namedByClass} annotate extensionconfig my-extension ${allowDeletionAnnotation}=true`],
      [`${namedByClass} annotate extensionconfig my-extension ${allowDeletionAnnotation}=true`],
      ...['yes', ''].map((value) => [
        `${namedByClass} annotate --overwrite extensionconfig my-extension ${allowDeletionAnnotation}=true (the annotation is "${value}": only "true" counts)`,
      ]),
    ],
  },
  'deletion-awaited-by-cluster': {
    valid: [
      example(),
      handlers({ requestHook: { apiVersion: 'hooks.example.com/v1', hook: 'AfterClusterUpgrade' } }),
      example({
        handler: { requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } },
        spec: { namespaceSelector: { matchLabels: { team: 'a' } } },
      }),
    ],
    invalid: [hook(capi, 'AfterClusterUpgrade')],
    findings: [
      [
        'metadata.name Forbidden "AfterClusterUpgrade": cannot be deleted, because its hook AfterClusterUpgrade is still pending for Cluster clusters/prod-1; wait until their annotation runtime.cluster.x-k8s.io/pending-hooks is gone, or allow it with kubectl annotate extensionconfig my-extension extensionconfig-webhook.runtime.cluster.x-k8s.io/allow-deletion=true',
      ],
    ],
  },
  'handler-named-by-class': {
    valid: [handlers({}, { name: 'generate.my-extension' }), example({ name: 'other' })],
    invalid: [handlers({})],
    findings: [
      [
        'status.handlers Required "generate.my-extension": is no longer served, but is still named by ClusterClass clusters/quick-start (spec.patches[0].external.generatePatchesExtension), whose Clusters now fail; serve it again, or change the ClusterClass',
      ],
    ],
  },
  'namespace-selector-excludes': {
    valid: [selector({}), selector({ matchExpressions: [{ key: 'team', operator: 'Exists' }] })],
    invalid: [selector({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] })],
    findings: [
      [
        'spec.namespaceSelector Invalid -: now excludes clusters, which have Clusters of a ClusterClass that names the extension (clusters/quick-start): those Clusters fail; select these namespaces too',
      ],
    ],
  },
  'server-registered-twice': {
    valid: [
      service({ name: 'second' }),
      service({ port: 8443 }),
      service({ path: '/a' }),
      example({ name: 'other-extension' }),
    ],
    invalid: [example(), service({ path: '/' }), url('https://MY-extension.capi-extensions.svc.cluster.local.:443/')],
    message:
      'is registered by other-extension too, so every hook is called twice; delete one, or make their namespaceSelectors exclude each other',
    findings: [
      ['spec.clientConfig Duplicate "my-extension.capi-extensions.svc:443"'],
      ['spec.clientConfig Duplicate "my-extension.capi-extensions.svc:443"'],
      ['spec.clientConfig Duplicate "my-extension.capi-extensions.svc:443"'],
    ],
  },
  'in-place-hook-twice': {
    valid: [hook(capi, 'CanUpdateMachineSet'), hook('hooks.example.com/v1', 'CanUpdateMachine')],
    invalid: [hook(capi, 'CanUpdateMachine')],
    findings: [
      [
        'status.handlers[0].requestHook.hook Duplicate "CanUpdateMachine": is served by other too, and Cluster API fails every in-place update when there are two; keep one of them',
      ],
    ],
  },
  'service-missing': {
    valid: [example(), url('https://h')],
    invalid: [service({ name: 'x' }), service({ name: 'y' })],
    findings: [
      [
        'spec.clientConfig.service.name NotFound "x": there is no such Service; Cluster API will not report this: look with kubectl -n capi-extensions get services',
      ],
      [
        'spec.clientConfig.service.name NotFound "y": there is no such Service; Cluster API will not report this: look with kubectl -n capi-extensions get services',
      ],
    ],
  },
  'service-port-missing': {
    valid: [example(), example({ clientConfig: { service: { namespace: 'capi-extensions', name: 'my-extension' } } })],
    invalid: [service({ port: 9443 })],
    findings: [
      [
        'spec.clientConfig.service.port NotFound 9443: the Service has no such TCP port, only 443: look with kubectl -n capi-extensions get service my-extension',
      ],
    ],
  },
  'certificate-secret': {
    valid: [
      example(),
      bundle(exampleCaBundle),
      example({ annotations: { [inject]: 'x/y' }, clientConfig: { service: { ...exampleService, name: 'other' } } }),
    ],
    invalid: [annotated('capi-extensions/my-extension')],
    findings: [
      [
        `metadata.annotations[${inject}] Invalid "capi-extensions/my-extension": the Service's Certificate capi-extensions/my-extension is stored in Secret capi-extensions/my-extension-cert (spec.secretName): name that`,
      ],
    ],
  },
  'secret-missing': {
    valid: [example(), annotated('capi-extensions/unknown'), annotated('')],
    invalid: [annotated('capi-extensions/without-ca')],
    findings: [
      [
        'metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "capi-extensions/without-ca": this Secret has no ca.crt; Cluster API will not report this: look with kubectl -n capi-extensions describe secret without-ca',
      ],
    ],
  },
  'secret-not-signer': {
    valid: [example()],
    invalid: [annotated('capi-extensions/mixed')],
    findings: [
      [
        'metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "capi-extensions/mixed": ca.crt of this Secret did not sign its tls.crt, so calls fail if the server serves that: compare them, kubectl -n capi-extensions get secret mixed -o yaml',
      ],
    ],
  },
  'secret-expiring': {
    valid: [example(), example({ name: 'other', annotations: { [inject]: 'capi-extensions/old' } })],
    invalid: [annotated('capi-extensions/old')],
    findings: [
      [
        'metadata.annotations[runtime.cluster.x-k8s.io/inject-ca-from-secret] Invalid "capi-extensions/old": a CA in this Secret expires on 2021-01-01T00:00:00.000Z, and then calls to other fail too; add its successor to ca.crt now',
      ],
    ],
  },
  'ca-bundle-outdated': {
    valid: [example(), bundle(exampleCaBundle)],
    invalid: [example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } })],
    findings: [
      [
        'spec.clientConfig.caBundle Invalid -: is older than ca.crt of Secret capi-extensions/my-extension-cert, which Cluster API has not injected yet: check whether the object is paused, and the log of its controller',
      ],
    ],
  },
};

test('every rule has a table', () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ id }) => id).sort());
});

test.each(Object.entries(cases))('%s', (id, { valid, invalid, message, findings }) => {
  const rule = ruleOf(id);
  const found = (object: JsonObject) =>
    exampleReports(id, object)
      .filter((report) => report.rule.id === id)
      .map((report) => {
        expect(report.severity).toBe(rule.severity);
        return lineOf(report);
      });
  expect(valid.flatMap(found)).toEqual([]);
  expect(invalid.map(found)).toEqual(
    findings.map((lines) => lines.map((line) => (message === undefined ? line : `${line}: ${message}`))),
  );
});

test.each([
  'api-version-unknown',
  'api-group',
  'metadata',
  'unknown-field',
  'not-rendered',
])('%s reports nothing that the API server has seen to', (id) => {
  expect(linesWith(id, exampleOf(id).bad, { isPruned: false })).not.toEqual([]);
  expect(linesWith(id, exampleOf(id).bad, { isPruned: true })).toEqual([]);
});

test('no message names something that does not exist', () => {
  const messages = Object.entries(cases).flatMap(([id, { valid, invalid }]) =>
    [...valid, ...invalid].flatMap((object) => exampleReports(id, object).map(({ message }) => message)),
  );
  expect(messages.length).toBeGreaterThan(100);
  expect(messages.filter((message) => /undefined|\[object|NaN/.test(message))).toEqual([]);
});
